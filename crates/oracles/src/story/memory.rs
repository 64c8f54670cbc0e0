//! What was read before: the orders of a set share their statements and the sets of a schema its tables, and reading them
//! costs far more than judging.
//!
//! It is only a memory: with or without it the same is said.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use model::{Case, Product, Reason, sql::Statement, sync::lock};

use super::Tables;

/// A setup that was read.
pub type ReadTables = Arc<Result<Tables, Reason>>;

/// So many setups are remembered: one for each worker at work, and some.
const SETUPS: usize = 8;

/// So many texts of a product are remembered before it begins anew: those of the schemas at work, and some. A tree takes some
/// kilobytes.
const TEXTS: usize = 2_000;

type Trees = BTreeMap<String, Option<Arc<Statement>>>;

/// What was read before. Several judges at work may share it.
#[derive(Debug, Default)]
pub struct Memory {
    setups: Mutex<Vec<(Product, Vec<String>, ReadTables)>>,
    trees: Mutex<BTreeMap<Product, Trees>>,
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

    /// The trees of the steps of a case; none for a text that cannot be read.
    pub fn trees(&self, product: Product, case: &Case) -> Vec<Option<Arc<Statement>>> {
        let mut all = lock(&self.trees);
        let known = all.entry(product).or_default();
        if known.len() >= TEXTS {
            known.clear();
        }
        let mut read = |text: &String| {
            if let Some(tree) = known.get(text) {
                return tree.clone();
            }
            let tree = dialect::sql::parse(product, text).tree().map(Arc::new);
            known.insert(text.clone(), tree.clone());
            tree
        };
        case.steps.iter().map(|step| read(&step.sql)).collect()
    }
}
