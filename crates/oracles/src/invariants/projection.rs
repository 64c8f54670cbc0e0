//! Which column of a result is which column of a table.
//!
//! Only queries of one SELECT over one table of the setup, without groups, are looked at: there a cell of the result is a
//! cell of a row, and rows of the result are rows of the table.

use dialect::sql::Schema;
use model::sql::{Expr, Query, QueryPart, SelectItem, TableFactor};

/// What the columns of a result are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projection {
    /// The table, by index.
    pub table: usize,
    /// For each column of the result the table's column, by index; none where it is computed.
    pub columns: Vec<Option<usize>>,
}

impl Projection {
    /// The first column of the result that is this column of the table.
    pub fn position(&self, column: usize) -> Option<usize> {
        self.columns.iter().position(|projected| *projected == Some(column))
    }
}

/// What the columns of a query's result are, if that can be told.
pub fn projection(schema: &Schema, query: &Query) -> Option<Projection> {
    let QueryPart::Select(select) = &query.first else { return None };
    let [from] = &select.from[..] else { return None };
    let TableFactor::Table { name, alias, .. } = &from.first else { return None };
    let plain = query.rest.is_empty()
        && from.joins.is_empty()
        && select.group_by.is_empty()
        && select.having.is_none()
        && name.schema.is_none();
    if !plain {
        return None;
    }
    let table = schema.find(&name.name.name)?;
    let called = alias.as_ref().map_or(&name.name.name, |alias| &alias.name.name);
    let all = &schema.tables[table].columns;
    let mut columns = Vec::with_capacity(all.len());
    for item in &select.items {
        match item {
            SelectItem::Star => columns.extend((0..all.len()).map(Some)),
            SelectItem::TableStar(of) if of.name.name.eq_ignore_ascii_case(called) => {
                columns.extend((0..all.len()).map(Some))
            }
            SelectItem::TableStar(_) => return None,
            SelectItem::Expr { expr: Expr::Column(column), .. } => {
                let ours = column.table.as_ref().is_none_or(|of| of.name.name.eq_ignore_ascii_case(called));
                columns.push(schema.tables[table].column(&column.name.name).filter(|_| ours));
            }
            SelectItem::Expr { .. } => columns.push(None),
        }
    }
    Some(Projection { table, columns })
}
