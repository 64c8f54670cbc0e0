//! SELECT: its clauses one by one.

use model::sql::{Query, QueryPart, Select, SelectItem};

use super::tables;
use crate::edit::{changed, less};

/// Simpler queries, without looking into inner ones.
pub fn simpler(query: &Query) -> Vec<(&'static str, Query)> {
    let mut found = Vec::new();
    if !query.rest.is_empty() {
        for part in query.parts() {
            found.push(("drop union", Query { first: part.clone(), rest: Vec::new(), ..query.clone() }));
        }
    }
    if let QueryPart::Paren(inner) = &query.first
        && query.rest.is_empty()
    {
        found.push(("drop parentheses", (**inner).clone()));
    }
    found.extend(changed(query, "drop ORDER BY", |other| other.order_by.clear()));
    if query.limit.is_some() {
        found.push(("drop LIMIT", Query { limit: None, ..query.clone() }));
        found.push(("drop ORDER BY", Query { limit: None, order_by: Vec::new(), ..query.clone() }));
    }
    for order_by in less(&query.order_by) {
        found.push(("drop ORDER BY", Query { order_by, ..query.clone() }));
    }
    found.extend(changed(query, "drop locking clause", |other| other.locks.clear()));
    found.extend(changed(query, "plain locking clause", |other| {
        other.locks.iter_mut().for_each(|lock| (lock.of, lock.wait) = (Vec::new(), None));
    }));
    if let QueryPart::Select(select) = &query.first {
        for (operation, select) in selects(select) {
            found.push((operation, Query { first: QueryPart::Select(Box::new(select)), ..query.clone() }));
        }
    }
    found
}

fn selects(select: &Select) -> Vec<(&'static str, Select)> {
    let mut found = Vec::new();
    found.extend(changed(select, "drop WHERE", |other| other.filter = None));
    for from in tables::simpler_list(&select.from) {
        found.push(("drop join", Select { from, ..select.clone() }));
    }
    found.extend(changed(select, "drop hint", |other| other.hint = None));
    found.extend(changed(select, "drop hint", |other| other.no_cache = false));
    for from in tables::plainer_list(&select.from) {
        found.push(("drop hint", Select { from, ..select.clone() }));
    }
    found.extend(changed(select, "drop DISTINCT", |other| other.quantifier = None));
    found.extend(changed(select, "drop HAVING", |other| other.having = None));
    if !select.group_by.is_empty() {
        found.push(("drop GROUP BY", Select { group_by: Vec::new(), having: None, ..select.clone() }));
    }
    if select.items != [SelectItem::Star] && !select.from.is_empty() {
        found.push(("select all", Select { items: vec![SelectItem::Star], ..select.clone() }));
    }
    for items in less(&select.items) {
        found.push(("drop projection", Select { items, ..select.clone() }));
    }
    for at in 0..select.items.len() {
        if let SelectItem::Expr { expr, alias: Some(_) } = &select.items[at] {
            let mut other = select.clone();
            other.items[at] = SelectItem::Expr { expr: expr.clone(), alias: None };
            found.push(("drop alias", other));
        }
    }
    found
}
