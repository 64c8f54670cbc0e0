//! What kind of statement a tree is: once for everybody, so that a new statement is placed here and nowhere else.
//!
//! A text without a tree has no kind: it is an `Option<StatementKind>`, and [`StatementKind::label`] is the one place that
//! has a word for it.

use serde::{Deserialize, Serialize};

use super::Statement;

crate::named! {
    /// The kind of a statement, as finely as fingerprints and signatures tell statements apart.
    pub enum StatementKind {
        Begin = "begin",
        Commit = "commit",
        /// The whole transaction; back to a savepoint is [`StatementKind::Savepoint`].
        Rollback = "rollback",
        /// SAVEPOINT, ROLLBACK TO, RELEASE.
        Savepoint = "savepoint",
        Select = "select",
        /// Its outermost query locks what it reads.
        LockingSelect = "locking-select",
        /// REPLACE too.
        Insert = "insert",
        Update = "update",
        Delete = "delete",
        Ddl = "ddl",
        LockTable = "lock-table",
        /// SET TRANSACTION and PRAGMA too.
        Set = "set",
    }
}

/// What a kind of statement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatementClass {
    /// Rows are read or changed.
    Data,
    /// Transactions and savepoints.
    Control,
    /// What a session sets for itself, and whole tables that it locks.
    Session,
    Ddl,
}

impl StatementKind {
    /// The name of a kind, or the word for a text that has no tree and so none.
    pub fn label(kind: Option<StatementKind>) -> &'static str {
        kind.map_or("unread", StatementKind::name)
    }

    pub fn class(self) -> StatementClass {
        match self {
            StatementKind::Select
            | StatementKind::LockingSelect
            | StatementKind::Insert
            | StatementKind::Update
            | StatementKind::Delete => StatementClass::Data,
            StatementKind::Begin
            | StatementKind::Commit
            | StatementKind::Rollback
            | StatementKind::Savepoint => StatementClass::Control,
            StatementKind::LockTable | StatementKind::Set => StatementClass::Session,
            StatementKind::Ddl => StatementClass::Ddl,
        }
    }

    /// Does it read or change rows?
    pub fn is_data(self) -> bool {
        self.class() == StatementClass::Data
    }

    /// Does it change rows?
    pub fn writes(self) -> bool {
        matches!(self, StatementKind::Insert | StatementKind::Update | StatementKind::Delete)
    }

    /// Does it end a transaction by its own words?
    pub fn ends_transaction(self) -> bool {
        matches!(self, StatementKind::Commit | StatementKind::Rollback)
    }
}

impl Statement {
    pub fn kind(&self) -> StatementKind {
        match self {
            Statement::Query(query) if query.locks.is_empty() => StatementKind::Select,
            Statement::Query(_) => StatementKind::LockingSelect,
            Statement::Insert(_) => StatementKind::Insert,
            Statement::Update(_) => StatementKind::Update,
            Statement::Delete(_) => StatementKind::Delete,
            Statement::CreateTable(_)
            | Statement::CreatePartition(_)
            | Statement::CreateIndex(_)
            | Statement::AlterTable(_)
            | Statement::DropTable(_)
            | Statement::DropIndex(_)
            | Statement::Truncate(_) => StatementKind::Ddl,
            Statement::Begin(_) => StatementKind::Begin,
            Statement::Commit(_) => StatementKind::Commit,
            Statement::Rollback(rollback) if rollback.to.is_none() => StatementKind::Rollback,
            Statement::Rollback(_) | Statement::Savepoint(_) | Statement::Release(_) => {
                StatementKind::Savepoint
            }
            Statement::LockTable(_) => StatementKind::LockTable,
            Statement::Set(_) | Statement::SetTransaction(_) | Statement::Pragma(_) => StatementKind::Set,
        }
    }

    pub fn class(&self) -> StatementClass {
        self.kind().class()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_written_in_files_by_its_name() {
        for kind in StatementKind::ALL.iter().copied() {
            let text = serde_json::to_string(&kind).unwrap();
            assert_eq!(text, format!("\"{}\"", kind.name()));
            assert_eq!(serde_json::from_str::<StatementKind>(&text).unwrap(), kind);
        }
        assert_eq!(StatementKind::label(None), "unread");
        assert_eq!(StatementKind::label(Some(StatementKind::LockTable)), "lock-table");
    }

    #[test]
    fn each_kind_stands_in_the_list_once() {
        let mut names: Vec<&str> = StatementKind::ALL.iter().map(|kind| kind.name()).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
