//! A statement that was read once: its tree and what is worth knowing of it before it runs.

use std::{collections::HashMap, rc::Rc};

use dialect::sql::{Parsed, parse};
use model::sql::{Expr, Insert, InsertSource, Statement};

use crate::server::PRODUCT;

/// A statement as text and as a tree.
#[derive(Debug)]
pub struct Prepared {
    pub text: String,
    /// Its tree, or why there is none.
    pub tree: Result<Statement, String>,
    pub nested: bool,
    /// The columns that it names in expressions, with the table if it is named too. Empty where queries are nested: those
    /// have names of their own.
    pub names: Vec<(Option<String>, String)>,
}

impl Prepared {
    pub fn new(text: &str) -> Prepared {
        let tree = match parse(PRODUCT, text) {
            Parsed::Tree(tree) => Ok(tree),
            Parsed::Opaque(why) => Err(why.to_string()),
        };
        let mut found = NameCollector::default();
        if let Ok(tree) = &tree {
            tree.for_each_expr(|expr| found.note(expr));
        }
        // The names in the source of an INSERT are those of another table.
        found.nested |= matches!(&tree, Ok(Statement::Insert(Insert { source: InsertSource::Query(_), .. })));
        if found.nested {
            found.names.clear();
        }
        Prepared { text: text.to_string(), tree, nested: found.nested, names: found.names }
    }
}

/// Collects names, and sees queries.
#[derive(Default)]
pub struct NameCollector {
    pub nested: bool,
    /// The names of columns.
    pub names: Vec<(Option<String>, String)>,
}

impl NameCollector {
    pub fn note(&mut self, expr: &Expr) {
        if let Expr::Column(column) = expr {
            let table = column.table.as_ref().map(|table| table.name.name.clone());
            self.names.push((table, column.name.name.clone()));
        }
        self.nested |= expr.subquery().is_some();
    }
}

/// The statements that were read lately. A hunt sends the same ones again and again.
#[derive(Debug, Default)]
pub struct Cache {
    known: HashMap<String, Rc<Prepared>>,
}

/// At most this many statements are cached.
const MANY: usize = 4_000;

impl Cache {
    /// A statement, read now or before.
    pub fn get(&mut self, text: &str) -> Rc<Prepared> {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        if self.known.len() >= MANY {
            self.known.clear();
        }
        let new = Rc::new(Prepared::new(text));
        self.known.insert(text.to_string(), new.clone());
        new
    }
}
