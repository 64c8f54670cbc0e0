//! Which tables a statement names, and what for.
//!
//! ```text
//! UPDATE t JOIN u ON t.a = u.a SET t.b = (SELECT MAX(b) FROM v)      writes t, reads t and u, inner v
//! INSERT INTO t SELECT * FROM u                                     writes t, inner u
//! ```

use super::{ObjectName, Query, Statement, TableFactor, TableRef, Update};

/// The tables that a statement names, as written; one that is named twice stands there twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint<'t> {
    /// Those whose rows or definition it changes.
    pub writes: Vec<&'t ObjectName>,
    /// Those whose rows its own clauses are about: what an UPDATE or a DELETE searches is read, too.
    pub reads: Vec<&'t ObjectName>,
    /// Those of the queries inside it; what an INSERT ... SELECT reads, too.
    pub inner: Vec<&'t ObjectName>,
}

impl<'t> Footprint<'t> {
    pub fn tables(&self) -> impl Iterator<Item = &'t ObjectName> {
        self.writes.iter().chain(&self.reads).chain(&self.inner).copied()
    }
}

impl Statement {
    pub fn footprint(&self) -> Footprint<'_> {
        let mut found = Footprint::default();
        match self {
            Statement::Query(query) => query.tables(&mut found.reads),
            Statement::Insert(insert) => found.writes.push(&insert.table),
            Statement::Update(update) => {
                update.tables.iter().for_each(|table| table.tables(&mut found.reads));
                found.writes = update.written(&found.reads);
                update.from.iter().for_each(|table| table.tables(&mut found.reads));
            }
            Statement::Delete(delete) => {
                delete.table.tables(&mut found.reads);
                found.writes.clone_from(&found.reads);
                delete.using.iter().for_each(|table| table.tables(&mut found.reads));
            }
            Statement::CreateTable(create) => found.writes.push(&create.name),
            Statement::CreatePartition(create) => found.writes.push(&create.of),
            Statement::CreateIndex(create) => found.writes.push(&create.table),
            Statement::AlterTable(alter) => found.writes.push(&alter.table),
            Statement::DropTable(drop) => found.writes.extend(&drop.names),
            Statement::DropIndex(drop) => found.writes.extend(&drop.table),
            Statement::Truncate(truncate) => found.writes.extend(&truncate.names),
            Statement::LockTable(lock) => found.reads.extend(&lock.names),
            Statement::Begin(_)
            | Statement::Commit(_)
            | Statement::Rollback(_)
            | Statement::Savepoint(_)
            | Statement::Release(_)
            | Statement::Set(_)
            | Statement::SetTransaction(_)
            | Statement::Pragma(_) => {}
        }
        let own = match self {
            Statement::Query(query) => Some(query),
            _ => None,
        };
        self.for_each_query(|query| {
            if !own.is_some_and(|own| std::ptr::eq(own, query)) {
                query.tables(&mut found.inner);
            }
        });
        found
    }
}

impl Update {
    /// Of several tables only those are changed whose columns are set, where each column says whose it is.
    fn written<'t>(&self, tables: &[&'t ObjectName]) -> Vec<&'t ObjectName> {
        let named = self.assignments.iter().map(|assignment| assignment.column.table.as_ref());
        let named: Option<Vec<&ObjectName>> = named.collect();
        let set = |table: &&&'t ObjectName| match &named {
            Some(named) if tables.len() > 1 => named.iter().any(|name| name.name.name == table.name.name),
            Some(_) | None => true,
        };
        tables.iter().filter(set).copied().collect()
    }
}

impl Query {
    /// Those in its own FROM, without those of queries in FROM.
    fn tables<'t>(&'t self, found: &mut Vec<&'t ObjectName>) {
        self.selects().flat_map(|select| &select.from).for_each(|table| table.tables(found));
    }
}

impl TableRef {
    fn tables<'t>(&'t self, found: &mut Vec<&'t ObjectName>) {
        self.first.tables(found);
        self.joins.iter().for_each(|join| join.table.tables(found));
    }
}

impl TableFactor {
    fn tables<'t>(&'t self, found: &mut Vec<&'t ObjectName>) {
        match self {
            TableFactor::Table { name, .. } => found.push(name),
            TableFactor::Derived { .. } => {}
            TableFactor::Paren(table) => table.tables(found),
        }
    }
}
