//! What was read before: the orders of a set share their statements and the sets of a schema its tables, and reading them
//! costs far more than judging.
//!
//! It is only a memory: with or without it the same is said.

use std::sync::{Arc, Mutex};

use history::{History, Statements};
use model::{Case, Execution, Product, Reason, sync::lock};

use super::Tables;

/// A setup that was read.
pub type ReadTables = Arc<Result<Tables, Reason>>;

/// So many setups are remembered: one for each worker at work, and some.
const SETUPS: usize = 8;

/// What was read before. Several judges at work may share it.
#[derive(Debug, Default)]
pub struct Memory {
    setups: Mutex<Vec<(Product, Vec<String>, ReadTables)>>,
    statements: Statements,
}

impl Memory {
    /// The tables that the setup of a case makes.
    pub fn tables(&self, product: Product, case: &Case) -> ReadTables {
        let texts = &case.setup.statements;
        let mut known = lock(&self.setups);
        if let Some(at) = known.iter().position(|(of, setup, _)| *of == product && setup == texts) {
            return known[at].2.clone();
        }
        let read = Arc::new(Tables::read(product, texts));
        if known.len() >= SETUPS {
            known.remove(0);
        }
        known.push((product, texts.clone(), read.clone()));
        read
    }

    pub fn history<'a>(&self, seen: &'a Execution) -> History<'a> {
        let parsed = self.statements.of(seen.trace.server.product, &seen.case);
        History::new(&seen.case, &seen.trace, parsed)
    }
}
