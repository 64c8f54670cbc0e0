//! Drops a column, from the table and from every statement that names it: whoever inserts into the table inserts one value less, a
//! SELECT shows it no more, an UPDATE sets something else, and conditions about it are gone. Or another column does its work: what
//! named the one names the other.

use model::{
    Case,
    sql::{CreateTable, Insert, InsertSource, Statement, TableItem},
};

use super::{drop_column::DropColumn, merge_columns::MergeColumns};
use crate::{
    names::mentions,
    view::{Candidate, View},
};

/// Without one of the columns.
pub fn list(view: View<'_>) -> Vec<Candidate> {
    each(view, |table, names, column| {
        let case = without(view, table, names, column, None);
        case.map(|case| Candidate { operation: "drop column", case }).into_iter().collect()
    })
}

/// At most this many other values are tried for what a merged column is set to.
const VALUES: u64 = 4;

/// With one column where there were two of a table.
pub fn merged(view: View<'_>) -> Vec<Candidate> {
    each(view, |table, names, column| {
        let mut found = Vec::new();
        for other in (0..names.len()).filter(|other| *other != column) {
            for value in std::iter::once(None).chain((0..VALUES).map(Some)) {
                let merge = MergeColumns { column: &names[column], other: &names[other], value };
                let case = without(view, table, names, column, Some(merge));
                found.extend(case.map(|case| Candidate { operation: "merge columns", case }));
            }
        }
        found
    })
}

/// What can be done about each column of each table that has more than one, the last one first.
fn each(view: View<'_>, what: impl Fn(&str, &[String], usize) -> Vec<Candidate>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (_, tree) in view.setup_trees().rev() {
        let Statement::CreateTable(create) = &*tree else { continue };
        let names = columns(create);
        if names.len() < 2 {
            continue;
        }
        for column in (0..names.len()).rev() {
            found.extend(what(&create.name.name.name, &names, column));
        }
    }
    found
}

/// The columns of a table, in their order; none if the setup does not say.
pub fn of_table(view: View<'_>, table: &str) -> Option<Vec<String>> {
    view.setup_trees().find_map(|(_, tree)| match &*tree {
        Statement::CreateTable(create) if create.name.name.name.eq_ignore_ascii_case(table) => {
            Some(columns(create))
        }
        _ => None,
    })
}

fn columns(create: &CreateTable) -> Vec<String> {
    let columns = create.items.iter().filter_map(|item| match item {
        TableItem::Column(column) => Some(column.name.name.clone()),
        TableItem::Constraint(_) => None,
    });
    columns.collect()
}

/// The case without a column, or with another one instead of it. Where statements name it in a way that cannot be left out,
/// there is none.
fn without(
    view: View<'_>,
    table: &str,
    names: &[String],
    at: usize,
    mut merge: Option<MergeColumns<'_>>,
) -> Option<Case> {
    let drop = DropColumn { table, column: &names[at] };
    let mut change = |text: &String| -> Option<String> {
        if !mentions(view.product(), text, table) {
            return Some(text.clone());
        }
        let Some(tree) = view.tree(text) else {
            return (!mentions(view.product(), text, &names[at])).then(|| text.clone());
        };
        let mut tree = (*tree).clone();
        if let Statement::Insert(insert) = &mut tree
            && insert.table.name.name.eq_ignore_ascii_case(table)
        {
            shorten(insert, names, at)?;
        }
        if let Some(merge) = &mut merge {
            merge.in_statement(&mut tree);
        }
        drop.in_statement(&mut tree)?;
        Some(view.print(&tree))
    };
    let mut smaller = view.case.clone();
    for text in &mut smaller.setup.statements {
        *text = change(text)?;
    }
    for step in &mut smaller.steps {
        step.sql = change(&step.sql)?;
    }
    Some(smaller)
}

/// Takes the column's value out of an insertion; none if that cannot be done.
fn shorten(insert: &mut Insert, names: &[String], at: usize) -> Option<()> {
    let same = |name: &str| name.eq_ignore_ascii_case(&names[at]);
    let listed = insert.columns.as_ref().map(|columns| {
        let place = columns.iter().position(|column| same(&column.name));
        (columns.len(), place)
    });
    let (count, place) = listed.unwrap_or((names.len(), Some(at)));
    let Some(place) = place else { return Some(()) };
    match &mut insert.source {
        InsertSource::Values { rows, .. } => {
            if count < 2 || rows.iter().any(|row| row.len() != count) {
                return None;
            }
            rows.iter_mut().for_each(|row| {
                row.remove(place);
            });
        }
        InsertSource::Set(assignments) => {
            assignments.retain(|assignment| !same(&assignment.column.name.name));
            if assignments.is_empty() {
                return None;
            }
        }
        InsertSource::Query(query) => match &mut query.first {
            model::sql::QueryPart::Select(select) if query.rest.is_empty() && select.items.len() == count => {
                if count < 2 {
                    return None;
                }
                select.items.remove(place);
            }
            // `SELECT *` becomes shorter by itself.
            model::sql::QueryPart::Select(select) if select.items == [model::sql::SelectItem::Star] => {}
            model::sql::QueryPart::Select(_) | model::sql::QueryPart::Paren(_) => return None,
        },
        InsertSource::DefaultValues => {}
    }
    insert.columns.iter_mut().for_each(|columns| {
        columns.remove(place);
    });
    Some(())
}
