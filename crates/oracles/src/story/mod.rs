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
    Level, Product, Reason, RowSet,
    sql::{Query, Statement, StatementKind},
};

pub use memory::{Memory, ReadTables};
pub use projection::{Projection, projection};
pub use tables::{Column, Key, Table, Tables, Type};
pub use transactions::{Fate, Transaction};

use crate::Answer;

/// One step.
#[derive(Clone, Debug)]
pub struct Told {
    /// Its tree, if it has one.
    pub tree: Option<Arc<Statement>>,
    /// What it is; none if it has no tree.
    pub kind: Option<StatementKind>,
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

    pub fn is(&self, kind: StatementKind) -> bool {
        self.kind == Some(kind)
    }

    pub fn writes(&self) -> bool {
        self.kind.is_some_and(StatementKind::writes)
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
    pub tables: &'a Result<Tables, Reason>,
    /// For each step.
    pub steps: Vec<Told>,
    /// All transactions; those of one session in order.
    pub transactions: Vec<Transaction>,
}

impl<'a> Story<'a> {
    /// Reads a run. `tables` is what its setup makes, as the memory has it.
    pub fn new(seen: &'a Answer, tables: &'a Result<Tables, Reason>, memory: &Memory) -> Story<'a> {
        let product = seen.trace.server.product;
        let trees = memory.trees(product, &seen.case);
        let (steps, transactions) = transactions::tell(seen, product, trees);
        Story { seen, product, tables, steps, transactions }
    }

    /// What came of a step as rows.
    pub fn rows(&self, step: usize) -> Option<&'a RowSet> {
        self.seen.trace.outcomes[step].rows()
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

    /// Why it cannot be told from the trees who wrote what.
    pub fn unclear(&self) -> Option<Reason> {
        if let Err(why) = self.tables {
            return Some(*why);
        }
        self.steps.iter().find_map(|step| match step.kind {
            None => Some(Reason::Unparsed),
            Some(StatementKind::Ddl) => Some(Reason::SchemaChanged),
            Some(StatementKind::Set) if enforces_foreign_keys(step.statement()) => None,
            Some(StatementKind::Set) => Some(Reason::SettingsChanged),
            Some(_) => None,
        })
    }
}

/// SQLite enforces foreign keys only where a session asks for it. That changes what is refused, not who wrote what.
fn enforces_foreign_keys(tree: Option<&Statement>) -> bool {
    matches!(tree, Some(Statement::Pragma(pragma)) if pragma.name.name.eq_ignore_ascii_case("foreign_keys"))
}
