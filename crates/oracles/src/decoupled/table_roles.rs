//! Which tables a statement reads or changes, and by which rules of the contract.
//!
//! A table may be read in several ways at once: an UPDATE works on the newest committed rows of its own table while a query
//! inside it reads by another rule. And of a text without a tree only the first word is known. So each table has a list of rules;
//! if they do not all give the same rows, nothing is said of the statement.

use dialect::contract::{LevelRules, Visibility};
use history::StepInfo;
use model::sql::{Footprint, InsertSource, ObjectName, Statement, StatementClass, StatementKind};

use super::scratch::ScratchTables;

/// What a statement does to tables.
#[derive(Clone, Debug, Default)]
pub struct TableRoles {
    /// For each table that it names, or that a foreign key brings in: how it is seen.
    pub tables: Vec<(usize, Vec<Visibility>)>,
    /// Does it read without locks?
    pub consistent: bool,
    /// May it change rows?
    pub changes: bool,
    /// Is there a query inside it?
    pub nested: bool,
    /// The tables that queries inside it name.
    pub inside: Vec<usize>,
}

/// What a text without a tree is, by its first words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnparsedKind {
    /// It reads.
    Select,
    /// It reads and locks.
    LockingSelect,
    /// It changes rows.
    Change,
    Other,
}

impl UnparsedKind {
    /// Of a text.
    pub fn of(text: &str) -> UnparsedKind {
        let upper = text.trim_start_matches(['(', ' ', '\n', '\t']).to_ascii_uppercase();
        let word: String = upper.chars().take_while(char::is_ascii_alphabetic).collect();
        let locks = ["FOR UPDATE", "FOR SHARE", "LOCK IN SHARE MODE"].iter().any(|lock| upper.contains(lock));
        match word.as_str() {
            "SELECT" | "TABLE" | "VALUES" if upper.contains(" INTO ") => UnparsedKind::Other,
            "SELECT" | "TABLE" | "VALUES" if locks => UnparsedKind::LockingSelect,
            "SELECT" | "TABLE" | "VALUES" => UnparsedKind::Select,
            "INSERT" | "REPLACE" | "UPDATE" | "DELETE" => UnparsedKind::Change,
            _ => UnparsedKind::Other,
        }
    }
}

/// Reads a statement. `single`: it is a transaction by itself.
pub fn roles(
    scratch: &ScratchTables,
    step: &StepInfo<'_>,
    text: &str,
    rules: &LevelRules,
    single: bool,
) -> Option<TableRoles> {
    let read = if single { rules.single_read.is } else { rules.read.is };
    let (change, source, inner) = (rules.change.is, rules.source_read.is, rules.inner_read.is);
    let mut roles = TableRoles::default();
    let (mut own, mut other): (Vec<Visibility>, Vec<Visibility>) = (Vec::new(), Vec::new());
    let (own_tables, nested) = match step.statement() {
        Some(statement) => named(statement),
        None => (all(scratch), all(scratch)),
    };
    let verb = match step.kind() {
        Some(StatementKind::Select) => UnparsedKind::Select,
        Some(StatementKind::LockingSelect) => UnparsedKind::LockingSelect,
        Some(kind) if kind.writes() => UnparsedKind::Change,
        None => UnparsedKind::of(text),
        Some(_) => return None,
    };
    match verb {
        UnparsedKind::Select => {
            own.push(read);
            other.push(read);
            roles.consistent = read != Visibility::Committed;
        }
        UnparsedKind::LockingSelect => {
            own.push(change);
            other.extend([read, change]);
        }
        UnparsedKind::Change => {
            own.push(change);
            match step.statement() {
                Some(Statement::Insert(insert)) => match &insert.source {
                    InsertSource::Query(_) if insert.on_duplicate.is_empty() => other.push(source),
                    InsertSource::Query(_) => other.extend([source, inner]),
                    InsertSource::Values { .. } | InsertSource::Set(_) | InsertSource::DefaultValues => {
                        other.push(inner)
                    }
                },
                Some(Statement::Delete(_)) => other.push(inner),
                Some(_) | None => other.extend([source, inner]),
            }
            roles.changes = true;
        }
        UnparsedKind::Other => return None,
    }
    roles.nested = !nested.is_empty();
    roles.inside = nested.iter().filter_map(|name| scratch.find(name)).collect();
    for (names, sees) in [(own_tables, own), (nested, other)] {
        for at in names.iter().filter_map(|name| scratch.find(name)) {
            roles.add(at, &sees);
            // A foreign key looks at the newest rows of the tables that it joins.
            for (joined, table) in scratch.tables.iter().enumerate() {
                if roles.changes && joined != at && table.group == scratch.tables[at].group {
                    roles.add(joined, &[change]);
                }
            }
        }
    }
    roles.tables.sort_by_key(|(at, _)| *at);
    Some(roles)
}

impl TableRoles {
    fn add(&mut self, at: usize, sees: &[Visibility]) {
        let position = self.tables.iter().position(|(table, _)| *table == at);
        let list = match position {
            Some(position) => &mut self.tables[position].1,
            None => {
                self.tables.push((at, Vec::new()));
                let last = self.tables.len() - 1;
                &mut self.tables[last].1
            }
        };
        for one in sees {
            if !list.contains(one) {
                list.push(*one);
            }
        }
    }
}

fn all(scratch: &ScratchTables) -> Vec<String> {
    scratch.tables.iter().map(|table| table.name.clone()).collect()
}

/// The tables that a statement names itself, and those that queries inside it name.
fn named(statement: &Statement) -> (Vec<String>, Vec<String>) {
    let Footprint { writes, reads, inner } = statement.footprint();
    let names = |list: &[&ObjectName]| list.iter().map(|name| name.name.name.clone()).collect();
    match statement.class() {
        StatementClass::Data => (names(&[writes, reads].concat()), names(&inner)),
        StatementClass::Control | StatementClass::Session | StatementClass::Ddl => {
            (Vec::new(), names(&inner))
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Product;

    use super::*;

    fn names(text: &str) -> (Vec<String>, Vec<String>) {
        named(&dialect::sql::parse(Product::Mysql, text).tree().unwrap())
    }

    #[test]
    fn what_stands_inside_is_told_from_what_stands_outside() {
        let pair = |own: &[&str], inner: &[&str]| {
            let list = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
            (list(own), list(inner))
        };
        assert_eq!(names("SELECT * FROM t WHERE a IN (SELECT a FROM u) FOR UPDATE"), pair(&["t"], &["u"]));
        assert_eq!(names("UPDATE t SET a = (SELECT MAX(a) FROM u)"), pair(&["t", "t"], &["u"]));
        assert_eq!(names("INSERT INTO t SELECT * FROM u"), pair(&["t"], &["u"]));
        assert_eq!(names("DELETE FROM t USING t JOIN u ON t.a = u.a"), pair(&["t", "t", "t", "u"], &[]));
    }

    #[test]
    fn a_text_without_a_tree_is_known_by_its_first_word() {
        assert_eq!(UnparsedKind::of("SELECT /*+ NO_ICP(t) */ a FROM t"), UnparsedKind::Select);
        assert_eq!(UnparsedKind::of("(select 1) union (select 2)"), UnparsedKind::Select);
        assert_eq!(UnparsedKind::of("SELECT a FROM t FOR UPDATE"), UnparsedKind::LockingSelect);
        assert_eq!(UnparsedKind::of("SELECT a FROM t INTO @x"), UnparsedKind::Other);
        assert_eq!(UnparsedKind::of("WITH x AS (SELECT 1) SELECT * FROM x"), UnparsedKind::Other);
        assert_eq!(UnparsedKind::of("ALTER TABLE t ADD b INT"), UnparsedKind::Other);
    }
}
