//! Simplifies constants: small numbers, short strings. One constant is first changed wherever it stands, since rows and conditions
//! often have to agree about it, then at single places.

use std::collections::BTreeMap;

use model::{
    Case,
    sql::{Expr, Literal, Statement, UnaryOp, VisitMut},
};

use crate::view::{Candidate, View};

/// With all constants numbered anew, or one of them changed everywhere.
pub fn everywhere(view: View<'_>) -> Vec<Candidate> {
    let all = distinct(view);
    let mut found = Vec::new();
    for renumbered in [ranked(&all, 0), ranked(&all, 1)] {
        let case = changed(view, |literal, _| renumbered.get(&key(literal)).cloned());
        found.push(Candidate { operation: "renumber constants", case });
    }
    for (from, literal) in all.iter().rev() {
        for to in simpler(literal) {
            let case = changed(view, |literal, _| (key(literal) == *from).then(|| to.clone()));
            found.push(Candidate { operation: "simplify constant everywhere", case });
        }
    }
    found
}

/// With one constant changed at one place.
pub fn single(view: View<'_>) -> Vec<Candidate> {
    let mut places: Vec<(usize, Literal)> = Vec::new();
    changed(view, |literal, place| {
        places.push((place, literal.clone()));
        None
    });
    let mut found = Vec::new();
    for (at, literal) in places {
        for to in simpler(&literal) {
            let case = changed(view, |_, place| (place == at).then(|| to.clone()));
            found.push(Candidate { operation: "simplify constant", case });
        }
    }
    found
}

/// What may stand instead.
fn simpler(literal: &Literal) -> Vec<Literal> {
    let numbers = ["0", "1", "2", "3"].map(|text| Literal::Number(text.into()));
    let strings = ["''", "'a'", "'b'"].map(|text| Literal::Text(text.into()));
    let all = match literal {
        Literal::Null => Vec::new(),
        Literal::Bool(_) => vec![Literal::Bool(true)],
        Literal::Number(_) => numbers.to_vec(),
        Literal::Text(_) => strings.to_vec(),
        Literal::Bytes(_) => ["x''", "x'00'", "x'01'"].map(|text| Literal::Bytes(text.into())).to_vec(),
    };
    all.into_iter().filter(|other| other != literal).collect()
}

/// Constants that sort by their value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Number(i128),
    Text(String),
    Bytes(String),
    Other(String),
}

fn key(literal: &Literal) -> Key {
    match literal {
        Literal::Null => Key::Other("NULL".into()),
        Literal::Bool(value) => Key::Other(value.to_string()),
        Literal::Number(text) => match text.parse() {
            Ok(number) => Key::Number(number),
            Err(_) => Key::Other(text.clone()),
        },
        Literal::Text(text) => Key::Text(text.clone()),
        Literal::Bytes(text) => Key::Bytes(text.clone()),
    }
}

/// Every constant of the case once.
fn distinct(view: View<'_>) -> BTreeMap<Key, Literal> {
    let mut found = BTreeMap::new();
    changed(view, |literal, _| {
        found.insert(key(literal), literal.clone());
        None
    });
    found
}

/// Numbers become 0, 1, 2 or 1, 2, 3, strings `'a'`, `'b'`, `'c'`, in the order that they have.
fn ranked(all: &BTreeMap<Key, Literal>, first: u64) -> BTreeMap<Key, Literal> {
    let mut found = BTreeMap::new();
    let (mut number, mut text) = (first, 0);
    for key in all.keys() {
        let to = match key {
            Key::Number(_) => {
                number += 1;
                Literal::number(number - 1)
            }
            Key::Text(_) => {
                text += 1;
                Literal::Text(format!("'{}'", letter(text - 1)))
            }
            Key::Bytes(_) | Key::Other(_) => continue,
        };
        found.insert(key.clone(), to);
    }
    found
}

/// `a`, `b`, and after `z` two of them.
pub fn letter(at: usize) -> String {
    let one = |at: usize| char::from(b'a' + (at % 26) as u8);
    match at / 26 {
        0 => one(at).to_string(),
        more => format!("{}{}", letter(more - 1), one(at)),
    }
}

/// The case with other constants. `to` is shown each constant with its place.
fn changed(view: View<'_>, mut to: impl FnMut(&Literal, usize) -> Option<Literal>) -> Case {
    let mut case = view.case.clone();
    let mut place = 0;
    let texts = case.steps.iter_mut().map(|step| &mut step.sql).chain(&mut case.setup.statements);
    for text in texts {
        let Some(tree) = view.tree(text) else { continue };
        let mut tree = (*tree).clone();
        let changed = change(&mut tree, &mut |literal| {
            place += 1;
            to(literal, place - 1)
        });
        if changed {
            *text = view.print(&tree);
        }
    }
    case
}

/// The statement with other constants, the first that fits; a text without a tree stays.
pub fn replaced(view: View<'_>, text: &str, to: &[(Literal, Literal)]) -> String {
    let Some(tree) = view.tree(text) else { return text.to_string() };
    let mut tree = (*tree).clone();
    let other = |literal: &Literal| to.iter().find(|(one, _)| one == literal).map(|(_, other)| other.clone());
    match change(&mut tree, &mut |literal| other(literal)) {
        true => view.print(&tree),
        false => text.to_string(),
    }
}

/// The constant that an expression is, with its sign.
pub fn value(expr: &Expr) -> Option<Literal> {
    match expr {
        Expr::Literal(literal) => Some(literal.clone()),
        Expr::Unary { op: UnaryOp::Neg, expr } => match &**expr {
            Expr::Literal(Literal::Number(text)) => Some(Literal::Number(format!("-{text}"))),
            _ => None,
        },
        _ => None,
    }
}

/// Changes constants of a statement; a negative number is one constant. Says whether there was anything to change.
pub fn change(statement: &mut Statement, to: &mut dyn FnMut(&Literal) -> Option<Literal>) -> bool {
    statement.visit_mut(&mut Signs);
    let mut walk = Walk { to, changed: false };
    statement.visit_mut(&mut walk);
    walk.changed
}

/// Takes the sign into the number, where the walk sees it.
struct Signs;

impl VisitMut for Signs {
    fn expr(&mut self, expr: &mut Expr) {
        if let Expr::Unary { op: UnaryOp::Neg, expr: inner } = expr
            && let Expr::Literal(Literal::Number(text)) = &**inner
        {
            *expr = Expr::Literal(Literal::Number(format!("-{text}")));
        }
    }
}

struct Walk<'a> {
    to: &'a mut dyn FnMut(&Literal) -> Option<Literal>,
    changed: bool,
}

impl VisitMut for Walk<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        let Expr::Literal(literal) = expr else { return };
        if let Some(other) = (self.to)(literal) {
            self.changed |= other != *literal;
            *literal = other;
        }
        if let Literal::Number(text) = literal
            && let Some(size) = text.strip_prefix('-')
        {
            let size = Expr::Literal(Literal::Number(size.to_string()));
            *expr = Expr::Unary { op: UnaryOp::Neg, expr: Box::new(size) };
        }
    }
}
