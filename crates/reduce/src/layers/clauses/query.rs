//! SELECT: its clauses one by one.

use model::sql::{Lock, Query, QueryPart, Select, SelectItem};

use super::tables;
use crate::edit::less;

/// Simpler queries, without looking into inner ones.
pub fn simpler(query: &Query) -> Vec<(&'static str, Query)> {
    let mut found = Vec::new();
    let mut push = |operation: &'static str, other: Query| found.push((operation, other));
    if !query.rest.is_empty() {
        for part in query.parts() {
            push("drop union", Query { first: part.clone(), rest: Vec::new(), ..query.clone() });
        }
    }
    if let QueryPart::Paren(inner) = &query.first
        && query.rest.is_empty()
    {
        push("drop parentheses", (**inner).clone());
    }
    if !query.order_by.is_empty() {
        push("drop ORDER BY", Query { order_by: Vec::new(), ..query.clone() });
    }
    if query.limit.is_some() {
        push("drop LIMIT", Query { limit: None, ..query.clone() });
        push("drop ORDER BY", Query { limit: None, order_by: Vec::new(), ..query.clone() });
    }
    for order_by in less(&query.order_by) {
        push("drop ORDER BY", Query { order_by, ..query.clone() });
    }
    if !query.locks.is_empty() {
        push("drop locking clause", Query { locks: Vec::new(), ..query.clone() });
        let plain: Vec<Lock> = query
            .locks
            .iter()
            .map(|lock| Lock { strength: lock.strength, of: Vec::new(), wait: None })
            .collect();
        if plain != query.locks {
            push("plain locking clause", Query { locks: plain, ..query.clone() });
        }
    }
    if let QueryPart::Select(select) = &query.first {
        for (operation, select) in selects(select) {
            push(operation, Query { first: QueryPart::Select(Box::new(select)), ..query.clone() });
        }
    }
    found
}

fn selects(select: &Select) -> Vec<(&'static str, Select)> {
    let mut found = Vec::new();
    if select.filter.is_some() {
        found.push(("drop WHERE", Select { filter: None, ..select.clone() }));
    }
    for from in tables::simpler_list(&select.from) {
        found.push(("drop join", Select { from, ..select.clone() }));
    }
    if select.hint.is_some() {
        found.push(("drop hint", Select { hint: None, ..select.clone() }));
    }
    for from in tables::plainer_list(&select.from) {
        found.push(("drop hint", Select { from, ..select.clone() }));
    }
    if select.quantifier.is_some() {
        found.push(("drop DISTINCT", Select { quantifier: None, ..select.clone() }));
    }
    if select.having.is_some() {
        found.push(("drop HAVING", Select { having: None, ..select.clone() }));
    }
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
