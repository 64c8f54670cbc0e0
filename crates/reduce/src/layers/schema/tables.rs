//! Drops a table that no step names, with its rows, indexes and partitions, and the foreign keys that refer to it.

use model::sql::{CreateTable, Statement};

use super::references::drop_references;
use crate::{
    edit::with_setup,
    names::mentions,
    view::{Candidate, View},
};

/// Without one of the tables.
pub fn list(view: View<'_>) -> Vec<Candidate> {
    let (all, product) = (&view.case.setup.statements, view.product());
    let mut found = Vec::new();
    for (_, tree) in view.setup_trees().rev() {
        let Statement::CreateTable(create) = &*tree else { continue };
        let name = &create.name.name.name;
        if view.case.steps.iter().any(|step| mentions(product, &step.sql, name)) {
            continue;
        }
        let mut rest = Vec::new();
        for (i, text) in all.iter().enumerate() {
            match view.setup(i).as_deref() {
                Some(tree) if is_of(tree, name) => {}
                Some(Statement::CreateTable(other)) => {
                    rest.push(
                        unreferred(other, name)
                            .map_or(text.clone(), |other| view.print(&Statement::CreateTable(other))),
                    );
                }
                Some(_) | None => rest.push(text.clone()),
            }
        }
        // Something else may still need it.
        if !rest.iter().any(|text| mentions(product, text, name)) {
            found.push(Candidate { operation: "drop table", case: with_setup(view.case, rest) });
        }
    }
    found
}

/// A table without its foreign keys to another one; none if it has no such.
fn unreferred(create: &CreateTable, table: &str) -> Option<CreateTable> {
    let mut other = create.clone();
    drop_references(&mut other, |to| to.table.name.name.eq_ignore_ascii_case(table));
    (other != *create).then_some(other)
}

/// Is the statement there for this table: does it make it, an index or a part of it, or fill it?
fn is_of(tree: &Statement, table: &str) -> bool {
    tree.footprint().writes.iter().any(|name| name.name.name.eq_ignore_ascii_case(table))
}
