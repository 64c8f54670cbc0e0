//! Drops a column that nobody names. Whoever inserts into its table inserts one value less.

use dialect::sql;
use model::{
    Case, Product,
    sql::{CreateTable, Insert, InsertSource, Statement, TableItem},
};

use crate::names::mentions;

/// Without one of the columns.
pub fn list(case: &Case, product: Product) -> Vec<Case> {
    let mut found = Vec::new();
    for text in case.setup.statements.iter().rev() {
        let Some(Statement::CreateTable(create)) = sql::parse(product, text).tree() else { continue };
        let names = columns(&create);
        if names.len() < 2 {
            continue;
        }
        for at in (0..names.len()).rev() {
            found.extend(without(case, product, &create.name.name.name, &names, at));
        }
    }
    found
}

fn columns(create: &CreateTable) -> Vec<String> {
    let columns = create.items.iter().filter_map(|item| match item {
        TableItem::Column(column) => Some(column.name.name.clone()),
        TableItem::Constraint(_) => None,
    });
    columns.collect()
}

/// The case without a column, unless somebody still names it.
fn without(case: &Case, product: Product, table: &str, names: &[String], at: usize) -> Option<Case> {
    let change = |text: &String| -> Option<String> {
        if !mentions(product, text, table) {
            return Some(text.clone());
        }
        let changed = match sql::parse(product, text).tree() {
            Some(Statement::CreateTable(mut create)) if same(&create.name.name.name, table) => {
                create.items.retain(|item| match item {
                    TableItem::Column(column) => column.name.name != names[at],
                    TableItem::Constraint(_) => true,
                });
                sql::print(product, &Statement::CreateTable(create))
            }
            Some(Statement::Insert(mut insert)) if same(&insert.table.name.name, table) => {
                shorten(&mut insert, names, at)?;
                sql::print(product, &Statement::Insert(insert))
            }
            Some(_) | None => text.clone(),
        };
        (!mentions(product, &changed, &names[at])).then_some(changed)
    };
    let mut smaller = case.clone();
    for text in &mut smaller.setup.statements {
        *text = change(text)?;
    }
    for step in &mut smaller.steps {
        step.sql = change(&step.sql)?;
    }
    Some(smaller)
}

fn same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Takes the column's value out of an insertion; none if that cannot be done.
fn shorten(insert: &mut Insert, names: &[String], at: usize) -> Option<()> {
    let listed = insert.columns.as_ref().map(|columns| {
        let place = columns.iter().position(|column| same(&column.name, &names[at]));
        (columns.len(), place)
    });
    let (count, place) = match listed {
        Some((count, place)) => (count, place),
        None => (names.len(), Some(at)),
    };
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
            assignments.retain(|assignment| !same(&assignment.column.name.name, &names[at]));
            if assignments.is_empty() {
                return None;
            }
        }
        InsertSource::Query(_) => return None,
        InsertSource::DefaultValues => {}
    }
    insert.columns.iter_mut().for_each(|columns| {
        columns.remove(place);
    });
    Some(())
}
