//! Drops foreign keys of a table, be they said at a column or for the whole table.

use model::sql::{ColumnOption, Constraint, CreateTable, References, TableItem};

/// Drops those that refer to something that goes.
pub fn drop_references(create: &mut CreateTable, goes: impl Fn(&References) -> bool) {
    create.items.retain(|item| match item {
        TableItem::Constraint(constraint) => match &constraint.kind {
            Constraint::ForeignKey { references, .. } => !goes(references),
            _ => true,
        },
        TableItem::Column(_) => true,
    });
    for item in &mut create.items {
        if let TableItem::Column(column) = item {
            column.options.retain(|option| !matches!(option, ColumnOption::References(to) if goes(to)));
        }
    }
}
