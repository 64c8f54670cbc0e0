//! Rows come in the order that ORDER BY asks for.
//!
//! Looked at where the keys are columns of one table that are part of the result, as far as they are whole numbers: how text is sorted is a matter of
//! its collation.

use std::cmp::Ordering;

use dialect::sql::Schema;
use history::History;
use model::{
    Level, RowSet, Symptom,
    sql::{Direction, Expr, Nulls, OrderItem, Query, QueryPart, SelectItem, StatementKind},
    value::Kind,
    verdict::evidence::Sighting,
};

use super::{
    InvariantViolation, exemptions,
    projection::{Projection, projection},
};

pub fn check(history: &History<'_>, schema: &Schema, found: &mut Vec<InvariantViolation>) {
    let product = history.trace.server.product;
    for (number, step) in history.steps.iter().enumerate() {
        let (Some(query), Some(rows)) = (step.query(), step.rows()) else { continue };
        if query.order_by.is_empty() || rows.len() < 2 {
            continue;
        }
        let Some(columns) = projection(schema, query) else { continue };
        let keys = keys(schema, query, &columns, rows, dialect::of(product).semantics.nulls_first);
        let Some(at) = (1..rows.len()).find(|&at| compare(&keys, rows, at - 1, at).is_gt()) else { continue };
        let locks = step.is(StatementKind::LockingSelect);
        found.push(InvariantViolation {
            symptom: Symptom::WrongOrder,
            step: Some(number),
            sighting: Sighting::Unsorted { rows: rows.only(&[at - 1, at]) },
            by: match history.level(number) {
                Some(Level::ReadCommitted | Level::ReadUncommitted) if locks => {
                    exemptions::sorted_before_locked(product)
                }
                Some(_) | None => None,
            },
        });
    }
}

/// A column of the result by which it is sorted.
struct Key {
    column: usize,
    descending: bool,
    nulls_first: bool,
}

/// The first keys of ORDER BY that can be compared: what comes after one that cannot is of no use.
fn keys(schema: &Schema, query: &Query, of: &Projection, rows: &RowSet, nulls_first: bool) -> Vec<Key> {
    let key = |item: &OrderItem| {
        let Expr::Column(name) = &item.expr else { return None };
        if renamed(query, &name.name.name) {
            return None;
        }
        let column = of.position(schema.tables[of.table].column(&name.name.name)?)?;
        let descending = item.direction == Some(Direction::Desc);
        let nulls_first = match item.nulls {
            Some(nulls) => nulls == Nulls::First,
            None => nulls_first != descending,
        };
        (rows.columns()[column].kind == Kind::Integer).then_some(Key { column, descending, nulls_first })
    };
    query.order_by.iter().map_while(key).collect()
}

/// Does a column of the result have this name that may be another one?
fn renamed(query: &Query, name: &str) -> bool {
    let QueryPart::Select(select) = &query.first else { return true };
    select.items.iter().any(|item| match item {
        SelectItem::Expr { alias: Some(alias), .. } => alias.name.name.eq_ignore_ascii_case(name),
        SelectItem::Expr { .. } | SelectItem::Star | SelectItem::TableStar(_) => false,
    })
}

fn compare(keys: &[Key], rows: &RowSet, one: usize, other: usize) -> Ordering {
    let number = |row: usize, key: &Key| -> Option<Result<i128, ()>> {
        let cell = rows.cell(row, key.column)?;
        Some(std::str::from_utf8(cell).ok().and_then(|text| text.parse().ok()).ok_or(()))
    };
    for key in keys {
        let order = match (number(one, key), number(other, key)) {
            (Some(Err(())), _) | (_, Some(Err(()))) => return Ordering::Equal,
            (None, None) => Ordering::Equal,
            (None, Some(_)) if key.nulls_first => Ordering::Less,
            (Some(_), None) if !key.nulls_first => Ordering::Less,
            (None, Some(_)) | (Some(_), None) => Ordering::Greater,
            (Some(one), Some(other)) if key.descending => other.cmp(&one),
            (Some(one), Some(other)) => one.cmp(&other),
        };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}
