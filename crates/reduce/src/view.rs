//! A case with its syntax trees, which are read once for each text.

use std::{cell::RefCell, sync::Arc};

use dialect::{ParseCache, sql};
use model::{Case, Product, sql::Statement};

/// The case that candidates are made of.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub case: &'a Case,
    pub parsed: &'a RefCell<ParseCache>,
}

/// A smaller case, and what was done to get it. Strategies learn by these words.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub operation: &'static str,
    pub case: Case,
}

impl View<'_> {
    pub fn product(&self) -> Product {
        self.parsed.borrow().product()
    }

    pub fn print(&self, statement: &Statement) -> String {
        sql::print(self.product(), statement)
    }

    /// The tree of a text.
    pub fn tree(&self, text: &str) -> Option<Arc<Statement>> {
        self.parsed.borrow_mut().statement(text).map(|parsed| parsed.shared_tree())
    }

    /// The tree of a statement of the setup.
    pub fn setup(&self, at: usize) -> Option<Arc<Statement>> {
        self.tree(&self.case.setup.statements[at])
    }

    /// The statements of the setup that have a tree, each with its place.
    pub fn setup_trees(self) -> impl DoubleEndedIterator<Item = (usize, Arc<Statement>)> {
        (0..self.case.setup.statements.len()).filter_map(move |at| Some((at, self.setup(at)?)))
    }

    /// The tree of a step.
    pub fn step(&self, at: usize) -> Option<Arc<Statement>> {
        self.tree(&self.case.steps[at].sql)
    }
}
