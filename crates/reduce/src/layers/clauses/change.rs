//! INSERT, UPDATE and DELETE: their clauses one by one.

use model::sql::{Delete, Insert, InsertSource, InsertVerb, Statement, Update};

use super::{Simpler, tables};
use crate::edit::less;

/// Simpler statements, without looking into queries.
pub fn simpler(statement: &Statement) -> Vec<Simpler> {
    match statement {
        Statement::Insert(insert) => named(inserts(insert), Statement::Insert),
        Statement::Update(update) => named(updates(update), Statement::Update),
        Statement::Delete(delete) => named(deletes(delete), Statement::Delete),
        _ => Vec::new(),
    }
}

fn named<T>(list: Vec<(&'static str, T)>, make: impl Fn(T) -> Statement) -> Vec<Simpler> {
    list.into_iter().map(|(operation, statement)| (operation, make(statement))).collect()
}

fn inserts(insert: &Insert) -> Vec<(&'static str, Insert)> {
    let mut found = Vec::new();
    if !insert.on_duplicate.is_empty() {
        found.push(("drop ON DUPLICATE", Insert { on_duplicate: Vec::new(), ..insert.clone() }));
        for on_duplicate in less(&insert.on_duplicate) {
            found.push(("drop ON DUPLICATE", Insert { on_duplicate, ..insert.clone() }));
        }
    }
    for on_conflict in less(&insert.on_conflict) {
        found.push(("drop ON CONFLICT", Insert { on_conflict, ..insert.clone() }));
    }
    if !insert.on_conflict.is_empty() {
        found.push(("drop ON CONFLICT", Insert { on_conflict: Vec::new(), ..insert.clone() }));
    }
    if insert.modifier.is_some() {
        found.push(("drop IGNORE", Insert { modifier: None, ..insert.clone() }));
    }
    if insert.verb == InsertVerb::Replace {
        found.push(("plain INSERT", Insert { verb: InsertVerb::Insert, ..insert.clone() }));
    }
    if let InsertSource::Values { word, rows } = &insert.source {
        for row in rows.iter().filter(|_| rows.len() > 2) {
            let source = InsertSource::Values { word: *word, rows: vec![row.clone()] };
            found.push(("single row", Insert { source, ..insert.clone() }));
        }
        for rows in less(rows) {
            let source = InsertSource::Values { word: *word, rows };
            found.push(("drop inserted row", Insert { source, ..insert.clone() }));
        }
    }
    if insert.columns.is_some() {
        found.push(("drop column list", Insert { columns: None, ..insert.clone() }));
    }
    if !insert.returning.is_empty() {
        found.push(("drop RETURNING", Insert { returning: Vec::new(), ..insert.clone() }));
    }
    found
}

fn updates(update: &Update) -> Vec<(&'static str, Update)> {
    let mut found = Vec::new();
    if update.filter.is_some() {
        found.push(("drop WHERE", Update { filter: None, ..update.clone() }));
    }
    for assignments in less(&update.assignments) {
        found.push(("drop SET", Update { assignments, ..update.clone() }));
    }
    for tables in tables::simpler_list(&update.tables) {
        found.push(("drop join", Update { tables, ..update.clone() }));
    }
    if !update.from.is_empty() {
        found.push(("drop join", Update { from: Vec::new(), ..update.clone() }));
    }
    for tables in tables::plainer_list(&update.tables) {
        found.push(("drop hint", Update { tables, ..update.clone() }));
    }
    if update.modifier.is_some() {
        found.push(("drop IGNORE", Update { modifier: None, ..update.clone() }));
    }
    if !update.order_by.is_empty() || update.limit.is_some() {
        let (order_by, limit) = (Vec::new(), None);
        found.push(("drop ORDER BY", Update { order_by, limit, ..update.clone() }));
    }
    if update.limit.is_some() {
        found.push(("drop LIMIT", Update { limit: None, ..update.clone() }));
    }
    for order_by in less(&update.order_by) {
        found.push(("drop ORDER BY", Update { order_by, ..update.clone() }));
    }
    if !update.returning.is_empty() {
        found.push(("drop RETURNING", Update { returning: Vec::new(), ..update.clone() }));
    }
    found
}

fn deletes(delete: &Delete) -> Vec<(&'static str, Delete)> {
    let mut found = Vec::new();
    if delete.filter.is_some() {
        found.push(("drop WHERE", Delete { filter: None, ..delete.clone() }));
    }
    if !delete.using.is_empty() {
        found.push(("drop join", Delete { using: Vec::new(), filter: None, ..delete.clone() }));
        found.push(("drop join", Delete { using: Vec::new(), ..delete.clone() }));
    }
    for (no_hints, no_alias) in [(true, false), (false, true)] {
        let mut other = delete.clone();
        tables::plainer(&mut other.table, no_hints, no_alias);
        if other != *delete {
            found.push(("drop hint", other));
        }
    }
    if delete.ignore {
        found.push(("drop IGNORE", Delete { ignore: false, ..delete.clone() }));
    }
    if !delete.order_by.is_empty() || delete.limit.is_some() {
        let (order_by, limit) = (Vec::new(), None);
        found.push(("drop ORDER BY", Delete { order_by, limit, ..delete.clone() }));
    }
    if delete.limit.is_some() {
        found.push(("drop LIMIT", Delete { limit: None, ..delete.clone() }));
    }
    if !delete.returning.is_empty() {
        found.push(("drop RETURNING", Delete { returning: Vec::new(), ..delete.clone() }));
    }
    found
}
