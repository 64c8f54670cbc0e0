//! Lets an UPDATE be an INSERT: a row that the setup makes only for a step to change it goes, and the step inserts what it makes of
//! it. Rows without a past are the simpler ones, and others that come upon them find the same.

use model::sql::{Insert, InsertSource, Statement, TableFactor, Update};

use super::super::constants;
use crate::{
    edit::{with_setup, with_setup_at},
    view::{Candidate, View},
};

/// With an INSERT in place of an UPDATE and of a row of the setup.
pub fn list(view: View<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for step in 0..view.case.steps.len() {
        let Some(tree) = view.step(step) else { continue };
        let Statement::Update(update) = &*tree else { continue };
        for (at, tree) in view.setup_trees().rev() {
            let Statement::Insert(insert) = &*tree else { continue };
            let InsertSource::Values { word, rows } = &insert.source else { continue };
            for row in (0..rows.len()).rev() {
                let Some(inserts) = instead(view, update, insert, row) else { continue };
                let mut left = rows.clone();
                left.remove(row);
                let source = InsertSource::Values { word: *word, rows: left };
                let mut case = match rows.len() {
                    1 => {
                        let mut rest = view.case.setup.statements.clone();
                        rest.remove(at);
                        with_setup(view.case, rest)
                    }
                    _ => with_setup_at(view, at, &Statement::Insert(Insert { source, ..insert.clone() })),
                };
                case.steps[step].sql = view.print(&Statement::Insert(inserts));
                found.push(Candidate { operation: "insert for update", case });
            }
        }
    }
    found
}

/// What inserts the row as the UPDATE makes it; none where that is not said by constants.
fn instead(view: View<'_>, update: &Update, insert: &Insert, row: usize) -> Option<Insert> {
    let [table] = &update.tables[..] else { return None };
    let TableFactor::Table { name, .. } = &table.first else { return None };
    let InsertSource::Values { word, rows } = &insert.source else { return None };
    if !name.name.name.eq_ignore_ascii_case(&insert.table.name.name) || !table.joins.is_empty() {
        return None;
    }
    let names = match &insert.columns {
        Some(columns) => columns.iter().map(|column| column.name.clone()).collect(),
        None => super::columns::of_table(view, &insert.table.name.name)?,
    };
    let mut values = rows[row].clone();
    for assignment in &update.assignments {
        let column = &assignment.column.name.name;
        let place = names.iter().position(|name: &String| name.eq_ignore_ascii_case(column))?;
        constants::value(&assignment.value)?;
        *values.get_mut(place)? = assignment.value.clone();
    }
    let source = InsertSource::Values { word: *word, rows: vec![values] };
    Some(Insert { source, ..insert.clone() })
}
