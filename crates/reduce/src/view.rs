//! A case with its syntax trees, which are read once for each text.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use dialect::sql;
use model::{Case, Product, sql::Statement};

/// Reads statements, and remembers what it has read.
pub struct Reader {
    pub product: Product,
    known: RefCell<BTreeMap<String, Option<Rc<Statement>>>>,
}

/// So many texts are remembered.
const REMEMBERED: usize = 20_000;

impl Reader {
    pub fn new(product: Product) -> Reader {
        Reader { product, known: RefCell::default() }
    }

    pub fn tree(&self, text: &str) -> Option<Rc<Statement>> {
        let mut known = self.known.borrow_mut();
        if let Some(tree) = known.get(text) {
            return tree.clone();
        }
        if known.len() >= REMEMBERED {
            known.clear();
        }
        let tree = sql::parse(self.product, text).tree().map(Rc::new);
        known.insert(text.to_string(), tree.clone());
        tree
    }
}

/// A case that smaller ones are made of.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub case: &'a Case,
    pub reader: &'a Reader,
}

/// A smaller case, and what was done to get it. Strategies learn by these words.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub operation: &'static str,
    pub case: Case,
}

impl View<'_> {
    pub fn product(&self) -> Product {
        self.reader.product
    }

    pub fn print(&self, statement: &Statement) -> String {
        sql::print(self.product(), statement)
    }

    /// The tree of a statement of the setup.
    pub fn setup(&self, at: usize) -> Option<Rc<Statement>> {
        self.reader.tree(&self.case.setup.statements[at])
    }

    /// The tree of a step.
    pub fn step(&self, at: usize) -> Option<Rc<Statement>> {
        self.reader.tree(&self.case.steps[at].sql)
    }
}
