//! My WHERE reads what you SET: rows come to match, or no longer do, between the look at them and the change.
//!
//! The condition is chosen so that one row matches before the other's write and another row only after it; a NULL that becomes a
//! value, and back, is the sharpest case.

use eval::Datum;
use model::{
    Rng,
    sql::{BinaryOp, Expr},
};

use super::{
    Ending,
    context::{ConflictContext, compare},
    interleave::ScriptPair,
};
use crate::orders::OrderKind;
use crate::schema::{Table, pool};

pub(super) fn plan(rng: &mut Rng, context: &ConflictContext) -> Option<ScriptPair> {
    // Of one row it can only be said that it matched; of several, that one was passed by.
    let fits = |rows: usize| move |table: &Table| table.rows.len() >= rows && table.idle_columns().len() >= 2;
    let table = context.table(rng, fits(2)).or_else(|| context.table(rng, fits(1)))?;
    let mut idle = table.idle_columns();
    rng.shuffle(&mut idle);
    // A column whose values differ can tell rows apart.
    idle.sort_by_key(|&column| !varies(table, column));
    let (read, written) = (idle[0], idle[1]);
    let (value, condition) = turn(rng, context, table, read)?;
    let old = rng.pick(&table.rows)[written].clone();
    let mut give =
        || context.other(rng, table, written, &old).map(|value| (written, context.literal(&value)));
    let (mine, theirs) = (give()?, give()?);
    let turned = vec![(read, context.literal(&value))];
    let mut first = Vec::new();
    // In half of them the column turns only while the other waits for another change.
    if rng.ratio(1, 2) {
        first.push(context.update(table, vec![mine], None));
    }
    first.push(context.update(table, turned, None));
    let mut second = Vec::new();
    if rng.ratio(1, 3) {
        second.push(context.select(table, Some(condition.clone())));
    }
    let meet = (0, second.len());
    second.push(context.update(table, vec![theirs], Some(condition)));
    Some(ScriptPair { first, second, meet, shape: Some(OrderKind::Waiter), ending: Some(Ending::Commit) })
}

fn varies(table: &Table, column: usize) -> bool {
    table.rows.iter().any(|row| !pool::alike(&row[column], &table.rows[0][column]))
}

/// A new value for every row, and a condition that it fulfils, which some rows fulfil before and others do not.
fn turn(rng: &mut Rng, context: &ConflictContext, table: &Table, column: usize) -> Option<(Datum, Expr)> {
    let name = &table.columns[column].name;
    let without = rng.pick(&table.rows)[column].clone();
    let some_null = table.rows.iter().any(|row| row[column].is_null());
    if table.columns[column].nullable && some_null && rng.ratio(2, 3) {
        // NULL to value, and back.
        let value = rng.pick(&table.columns[column].pool).clone();
        return Some(if rng.ratio(2, 3) {
            (value, Expr::is_null(Expr::column(name), true))
        } else {
            (Datum::Null, Expr::is_null(Expr::column(name), false))
        });
    }
    if without.is_null() {
        return Some((
            rng.pick(&table.columns[column].pool).clone(),
            Expr::is_null(Expr::column(name), true),
        ));
    }
    let value = context.other(rng, table, column, &without)?;
    let op = if rng.ratio(3, 4) { BinaryOp::Ne } else { BinaryOp::Eq };
    Some((value, compare(name, op, context.literal(&without))))
}
