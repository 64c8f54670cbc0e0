//! One statement that was parsed.

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use model::{
    Product,
    sql::{Statement, StatementKind},
};

use super::AccessSet;
use crate::outside;

/// A tree, and what is worked out about it at most once. It reads as the tree.
#[derive(Debug)]
pub struct ParsedStatement {
    tree: Arc<Statement>,
    pub kind: StatementKind,
    access: OnceLock<AccessSet>,
    outside: OnceLock<Option<String>>,
}

impl ParsedStatement {
    pub fn new(tree: Statement) -> ParsedStatement {
        ParsedStatement {
            kind: tree.kind(),
            tree: Arc::new(tree),
            access: OnceLock::new(),
            outside: OnceLock::new(),
        }
    }

    pub fn tree(&self) -> &Statement {
        &self.tree
    }

    /// The tree, for those that outlive the statement.
    pub fn shared_tree(&self) -> Arc<Statement> {
        self.tree.clone()
    }

    /// What of it reaches outside of the database; `product` is whose grammar it was parsed by.
    pub fn outside(&self, product: Product) -> Option<&str> {
        self.outside.get_or_init(|| outside::of_tree(product, &self.tree)).as_deref()
    }

    pub fn access(&self) -> &AccessSet {
        self.access.get_or_init(|| AccessSet::of(&self.tree))
    }
}

impl Deref for ParsedStatement {
    type Target = Statement;

    fn deref(&self) -> &Statement {
        &self.tree
    }
}

impl PartialEq for ParsedStatement {
    fn eq(&self, other: &ParsedStatement) -> bool {
        self.tree == other.tree
    }
}

impl Eq for ParsedStatement {}
