//! The texts and setups that were parsed lately. With or without it the same comes out.

use std::{collections::BTreeMap, sync::Arc};

use model::{Case, Product, hash64};

use super::{ParsedCase, ParsedSetup, ParsedStatement};
use crate::sql;

/// At most this many texts; then they are forgotten. A tree takes some kilobytes.
pub(super) const TEXTS: usize = 4_000;

/// At most this many setups; the oldest goes.
const SETUPS: usize = 8;

type Parsed = Option<Arc<ParsedStatement>>;

/// What was parsed by the grammar of one product.
#[derive(Debug)]
pub struct ParseCache {
    product: Product,
    /// By a hash of the text, which stands beside its tree.
    texts: BTreeMap<u64, (String, Parsed)>,
    setups: Vec<Arc<ParsedSetup>>,
}

impl ParseCache {
    pub fn new(product: Product) -> ParseCache {
        ParseCache { product, texts: BTreeMap::new(), setups: Vec::new() }
    }

    pub fn product(&self) -> Product {
        self.product
    }

    pub fn case(&mut self, case: Case) -> Arc<ParsedCase> {
        let parsed_setup = self.setup(&case.setup.statements);
        let statements = case.steps.iter().map(|step| self.statement(&step.sql)).collect();
        Arc::new(ParsedCase { case, product: self.product, statements, parsed_setup })
    }

    /// None for a text that has no tree.
    pub fn statement(&mut self, text: &str) -> Parsed {
        let hash = hash64(text.as_bytes());
        match self.texts.get(&hash) {
            Some((known, parsed)) if known == text => return parsed.clone(),
            Some(_) | None => {}
        }
        if self.texts.len() >= TEXTS {
            self.texts.clear();
        }
        let parsed = sql::parse(self.product, text).tree().map(|tree| Arc::new(ParsedStatement::new(tree)));
        self.texts.insert(hash, (text.to_string(), parsed.clone()));
        parsed
    }

    fn setup(&mut self, texts: &[String]) -> Arc<ParsedSetup> {
        // The newest is the likeliest.
        if let Some(known) = self.setups.iter().rev().find(|known| known.texts == texts) {
            return known.clone();
        }
        let statements = texts.iter().map(|text| self.statement(text)).collect();
        let setup = Arc::new(ParsedSetup::new(self.product, texts, statements));
        if self.setups.len() >= SETUPS {
            self.setups.remove(0);
        }
        self.setups.push(setup.clone());
        setup
    }
}
