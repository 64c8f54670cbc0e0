//! INSERT, UPDATE and DELETE: their clauses one by one.

use model::sql::{Delete, Insert, InsertSource, InsertVerb, Statement, Update};

use super::{Simpler, tables};
use crate::edit::{changed, less};

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
    found.extend(changed(insert, "drop ON DUPLICATE", |other| other.on_duplicate.clear()));
    for on_duplicate in less(&insert.on_duplicate) {
        found.push(("drop ON DUPLICATE", Insert { on_duplicate, ..insert.clone() }));
    }
    for on_conflict in less(&insert.on_conflict) {
        found.push(("drop ON CONFLICT", Insert { on_conflict, ..insert.clone() }));
    }
    found.extend(changed(insert, "drop ON CONFLICT", |other| other.on_conflict.clear()));
    found.extend(changed(insert, "drop IGNORE", |other| other.modifier = None));
    if insert.verb == InsertVerb::Replace {
        found.extend(changed(insert, "plain INSERT", |other| other.verb = InsertVerb::Insert));
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
    found.extend(changed(insert, "drop column list", |other| other.columns = None));
    found.extend(changed(insert, "drop RETURNING", |other| other.returning.clear()));
    found
}

fn updates(update: &Update) -> Vec<(&'static str, Update)> {
    let mut found = Vec::new();
    found.extend(changed(update, "drop WHERE", |other| other.filter = None));
    for assignments in less(&update.assignments) {
        found.push(("drop SET", Update { assignments, ..update.clone() }));
    }
    for tables in tables::simpler_list(&update.tables) {
        found.push(("drop join", Update { tables, ..update.clone() }));
    }
    found.extend(changed(update, "drop join", |other| other.from.clear()));
    for tables in tables::plainer_list(&update.tables) {
        found.push(("drop hint", Update { tables, ..update.clone() }));
    }
    found.extend(changed(update, "drop IGNORE", |other| other.modifier = None));
    found
        .extend(changed(update, "drop ORDER BY", |other| (other.order_by, other.limit) = (Vec::new(), None)));
    found.extend(changed(update, "drop LIMIT", |other| other.limit = None));
    for order_by in less(&update.order_by) {
        found.push(("drop ORDER BY", Update { order_by, ..update.clone() }));
    }
    found.extend(changed(update, "drop RETURNING", |other| other.returning.clear()));
    found
}

fn deletes(delete: &Delete) -> Vec<(&'static str, Delete)> {
    let mut found = Vec::new();
    found.extend(changed(delete, "drop WHERE", |other| other.filter = None));
    if !delete.using.is_empty() {
        found.push(("drop join", Delete { using: Vec::new(), filter: None, ..delete.clone() }));
        found.push(("drop join", Delete { using: Vec::new(), ..delete.clone() }));
    }
    for (no_hints, no_alias) in [(true, false), (false, true)] {
        let plainer = |other: &mut Delete| tables::plainer(&mut other.table, no_hints, no_alias);
        found.extend(changed(delete, "drop hint", plainer));
    }
    found.extend(changed(delete, "drop IGNORE", |other| other.ignore = false));
    found
        .extend(changed(delete, "drop ORDER BY", |other| (other.order_by, other.limit) = (Vec::new(), None)));
    found.extend(changed(delete, "drop LIMIT", |other| other.limit = None));
    found.extend(changed(delete, "drop RETURNING", |other| other.returning.clear()));
    found
}
