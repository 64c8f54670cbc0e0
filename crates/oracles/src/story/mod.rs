//! A case and its trace, read once: which statement is what, which transaction it belongs to, and what became of that.
//!
//! A trace says for each statement what came back and whether a transaction was open afterwards. From that the
//! transactions can be told without knowing any rule of a product:
//!
//! ```text
//! T1: BEGIN                      transaction 0 of T1
//! T1: UPDATE t SET b = 2         in 0
//! T2: SELECT * FROM t            transaction 1 of T2: no transaction was open after it, so it committed by itself
//! T1: ROLLBACK                   0 is undone, and so is its UPDATE
//! ```
//!
//! Whoever asks for more than the trace says gets "unknown", never a guess: the fate of a transaction whose COMMIT lost its
//! connection, say.

mod memory;
mod projection;
mod tables;
mod transactions;

use std::sync::Arc;

use model::{
    Level, Product, Reply, RowSet,
    sql::{Query, Statement},
};

pub use memory::{Memory, ReadTables};
pub use projection::{Projection, projection};
pub use tables::{Column, Key, Table, Tables, Type};
pub use transactions::{Fate, Transaction};

use crate::Answer;

/// What kind of statement a step is, as far as a story needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Opens a transaction.
    Begin,
    /// Commits.
    Commit,
    /// Rolls back, all of it.
    Rollback,
    /// SAVEPOINT, ROLLBACK TO, RELEASE.
    Savepoint,
    /// Reads without locks of its own asking.
    Select,
    /// Reads and locks.
    LockingSelect,
    /// INSERT, REPLACE.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
    /// Changes the schema.
    Ddl,
    /// LOCK TABLE.
    LockTable,
    /// SET, PRAGMA.
    Set,
    /// Has no tree.
    Unread,
}

impl Kind {
    /// Of a statement; of one without a tree it is not known.
    pub fn of(statement: Option<&Statement>) -> Kind {
        match statement {
            None => Kind::Unread,
            Some(Statement::Query(query)) if query.locks.is_empty() => Kind::Select,
            Some(Statement::Query(_)) => Kind::LockingSelect,
            Some(Statement::Insert(_)) => Kind::Insert,
            Some(Statement::Update(_)) => Kind::Update,
            Some(Statement::Delete(_)) => Kind::Delete,
            Some(
                Statement::CreateTable(_)
                | Statement::CreateIndex(_)
                | Statement::CreatePartition(_)
                | Statement::DropTable(_)
                | Statement::DropIndex(_)
                | Statement::Truncate(_),
            ) => Kind::Ddl,
            Some(Statement::Begin(_)) => Kind::Begin,
            Some(Statement::Commit(_)) => Kind::Commit,
            Some(Statement::Rollback(rollback)) if rollback.to.is_none() => Kind::Rollback,
            Some(Statement::Rollback(_) | Statement::Savepoint(_) | Statement::Release(_)) => Kind::Savepoint,
            Some(Statement::LockTable(_)) => Kind::LockTable,
            Some(Statement::Set(_) | Statement::SetTransaction(_) | Statement::Pragma(_)) => Kind::Set,
        }
    }

    /// Its name in fingerprints.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Begin => "begin",
            Kind::Commit => "commit",
            Kind::Rollback => "rollback",
            Kind::Savepoint => "savepoint",
            Kind::Select => "select",
            Kind::LockingSelect => "locking-select",
            Kind::Insert => "insert",
            Kind::Update => "update",
            Kind::Delete => "delete",
            Kind::Ddl => "ddl",
            Kind::LockTable => "lock-table",
            Kind::Set => "set",
            Kind::Unread => "unread",
        }
    }

    /// Does it change rows?
    pub fn writes(self) -> bool {
        matches!(self, Kind::Insert | Kind::Update | Kind::Delete)
    }
}

/// One step.
#[derive(Clone, Debug)]
pub struct Told {
    /// Its tree, if it has one.
    pub tree: Option<Arc<Statement>>,
    /// What it is.
    pub kind: Kind,
    /// The transaction that it ran in, by index; none if it was never sent.
    pub transaction: Option<usize>,
    /// Is it certain that nothing of it stayed: it failed, a savepoint before it was gone back to, or its transaction was
    /// undone?
    pub undone: bool,
}

impl Told {
    /// Its tree, if it has one.
    pub fn statement(&self) -> Option<&Statement> {
        self.tree.as_deref()
    }
}

/// A case and its trace, read.
#[derive(Debug)]
pub struct Story<'a> {
    /// What was read.
    pub seen: &'a Answer,
    /// What it ran on.
    pub product: Product,
    /// The tables that the setup makes; why not, if it cannot be read.
    pub tables: &'a Result<Tables, &'static str>,
    /// For each step.
    pub steps: Vec<Told>,
    /// All transactions; those of one session in order.
    pub transactions: Vec<Transaction>,
}

impl<'a> Story<'a> {
    /// Reads a run. `tables` is what its setup makes, as the memory has it.
    pub fn new(seen: &'a Answer, tables: &'a Result<Tables, &'static str>, memory: &Memory) -> Story<'a> {
        let product = seen.trace.server.product;
        let trees = memory.trees(product, &seen.case);
        let (steps, transactions) = transactions::tell(seen, product, trees);
        Story { seen, product, tables, steps, transactions }
    }

    /// What came of a step as rows.
    pub fn rows(&self, step: usize) -> Option<&'a RowSet> {
        match &self.seen.trace.outcomes[step].reply {
            Reply::Rows(rows) => Some(rows),
            Reply::Done { .. }
            | Reply::RolledBack
            | Reply::Error(_)
            | Reply::ConnectionLost
            | Reply::ServerDied
            | Reply::Hung
            | Reply::Killed
            | Reply::NotSent => None,
        }
    }

    /// The query that a step is.
    pub fn query(&self, step: usize) -> Option<&Query> {
        match self.steps[step].statement() {
            Some(Statement::Query(query)) => Some(query),
            Some(_) | None => None,
        }
    }

    /// The level at which a step ran, if it is known.
    pub fn level(&self, step: usize) -> Option<Level> {
        self.transactions[self.steps[step].transaction?].level
    }

    /// Why it cannot be told from the trees who wrote what: the name of a reason, if there is one.
    pub fn unclear(&self) -> Option<&'static str> {
        if let Err(why) = self.tables {
            return Some(why);
        }
        self.steps.iter().find_map(|step| match step.kind {
            Kind::Unread => Some("unparsed"),
            Kind::Ddl => Some("schema-changed"),
            Kind::Set if enforces_foreign_keys(step.statement()) => None,
            Kind::Set => Some("settings-changed"),
            Kind::Begin
            | Kind::Commit
            | Kind::Rollback
            | Kind::Savepoint
            | Kind::Select
            | Kind::LockingSelect
            | Kind::Insert
            | Kind::Update
            | Kind::Delete
            | Kind::LockTable => None,
        })
    }
}

/// SQLite enforces foreign keys only where a session asks for it. That changes what is refused, not who wrote what.
fn enforces_foreign_keys(tree: Option<&Statement>) -> bool {
    matches!(tree, Some(Statement::Pragma(pragma)) if pragma.name.name.eq_ignore_ascii_case("foreign_keys"))
}
