//! Statements that were parsed before: the orders of a set share their texts, and parsing costs far more than judging.
//!
//! It is only a cache: with or without it the same is said.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock},
};

use model::{
    Case, Product,
    sql::{Statement, StatementKind},
    sync::lock,
};

use crate::access::AccessSet;

/// At most so many texts of a product are kept before it begins anew. A tree takes some kilobytes.
const TEXTS: usize = 2_000;

#[derive(Debug)]
pub struct ParsedStatement {
    pub tree: Statement,
    pub kind: StatementKind,
    access: OnceLock<AccessSet>,
}

impl ParsedStatement {
    pub fn access(&self) -> &AccessSet {
        self.access.get_or_init(|| AccessSet::of(&self.tree))
    }
}

type Texts = BTreeMap<String, Option<Arc<ParsedStatement>>>;

/// Several threads may share it.
#[derive(Debug, Default)]
pub struct Statements {
    known: Mutex<BTreeMap<Product, Texts>>,
}

impl Statements {
    /// The statements of the steps of a case; none for a text that has no tree.
    pub fn of(&self, product: Product, case: &Case) -> Vec<Option<Arc<ParsedStatement>>> {
        let mut known = lock(&self.known);
        let texts = known.entry(product).or_default();
        if texts.len() >= TEXTS {
            texts.clear();
        }
        let mut parse = |text: &String| {
            if let Some(parsed) = texts.get(text) {
                return parsed.clone();
            }
            let tree = dialect::sql::parse(product, text).tree();
            let parsed = tree
                .map(|tree| Arc::new(ParsedStatement { kind: tree.kind(), tree, access: OnceLock::new() }));
            texts.insert(text.clone(), parsed.clone());
            parsed
        };
        case.steps.iter().map(|step| parse(&step.sql)).collect()
    }
}
