//! Gives everything its usual name: tables t, u, v; columns a, b, c; indexes i, j, k; sessions T1, T2 in the order of their first
//! step. Columns of one name keep one name, so that natural joins and unqualified names mean the same.

use std::collections::BTreeMap;

use dialect::sql;
use model::{
    Case, Product,
    sql::{Constraint, Statement, TableItem},
};

use super::constants::letter;
use crate::view::View;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Tables,
    Columns,
    Indexes,
    Sessions,
}

/// What is renamed together: all at once first.
pub const KINDS: [&[Kind]; 5] = [
    &[Kind::Tables, Kind::Columns, Kind::Indexes, Kind::Sessions],
    &[Kind::Sessions],
    &[Kind::Tables],
    &[Kind::Columns],
    &[Kind::Indexes],
];

/// The case with usual names.
pub fn renamed(view: View<'_>, kinds: &[Kind]) -> Case {
    let mut case = view.case.clone();
    let mut to: BTreeMap<String, String> = BTreeMap::new();
    let mut doubtful: Vec<String> = Vec::new();
    for (kind, first) in [(Kind::Tables, b't'), (Kind::Columns, b'a'), (Kind::Indexes, b'i')] {
        for (at, name) in named(view, kind).into_iter().enumerate() {
            let first = usize::from(first - b'a');
            let new = if kinds.contains(&kind) { letter(at + first) } else { name.clone() };
            // A name of two things is nobody's.
            if to.insert(name.clone(), new).is_some() {
                doubtful.push(name);
            }
        }
    }
    doubtful.iter().for_each(|name| {
        to.remove(name);
    });
    to.retain(|name, new| name != new);
    let product = view.product();
    if !to.is_empty() {
        let texts = case.steps.iter_mut().map(|step| &mut step.sql).chain(&mut case.setup.statements);
        texts.for_each(|text| *text = words(product, text, &to));
    }
    if kinds.contains(&Kind::Sessions) {
        order_sessions(&mut case);
    }
    case
}

/// The names of a kind, as the setup makes them, in lower case.
fn named(view: View<'_>, kind: Kind) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut note = |name: &str| {
        let name = name.to_ascii_lowercase();
        if !found.contains(&name) {
            found.push(name);
        }
    };
    for (_, tree) in view.setup_trees() {
        match &*tree {
            Statement::CreateTable(create) => {
                if kind == Kind::Tables {
                    note(&create.name.name.name);
                }
                for item in &create.items {
                    match (item, kind) {
                        (TableItem::Column(column), Kind::Columns) => note(&column.name.name),
                        (TableItem::Constraint(constraint), Kind::Indexes) => {
                            let index = match &constraint.kind {
                                Constraint::Unique { index, .. } | Constraint::Index { index, .. } => index,
                                _ => &None,
                            };
                            index.iter().chain(&constraint.name).for_each(|name| note(&name.name));
                        }
                        _ => {}
                    }
                }
            }
            Statement::CreateIndex(create) if kind == Kind::Indexes => note(&create.name.name.name),
            _ => {}
        }
    }
    found
}

/// A text with other names in it.
fn words(product: Product, text: &str, to: &BTreeMap<String, String>) -> String {
    let Ok(tokens) = sql::split_tokens(product, text) else { return text.to_string() };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    for token in &tokens {
        let Some(at) = rest.find(token.as_str()) else { return text.to_string() };
        out.push_str(&rest[..at]);
        let bare = token.trim_matches(['`', '"', '[', ']']);
        let name = !token.starts_with('\'') && !bare.is_empty();
        match to.get(&bare.to_ascii_lowercase()).filter(|_| name) {
            Some(new) => out.push_str(&token.replace(bare, new)),
            None => out.push_str(token),
        }
        rest = &rest[at + token.len()..];
    }
    out.push_str(rest);
    out
}

/// Sessions by their first step, as T1, T2 and so on.
fn order_sessions(case: &mut Case) {
    let mut order: Vec<usize> = Vec::new();
    for step in &case.steps {
        if !order.contains(&step.session) {
            order.push(step.session);
        }
    }
    if order.len() != case.sessions.len() {
        return;
    }
    let place = |session: usize| order.iter().position(|known| *known == session).unwrap_or(session);
    case.steps.iter_mut().for_each(|step| step.session = place(step.session));
    let sessions = order.iter().enumerate().map(|(at, session)| {
        let mut spec = case.sessions[*session].clone();
        spec.name = format!("T{}", at + 1);
        spec
    });
    case.sessions = sessions.collect();
}
