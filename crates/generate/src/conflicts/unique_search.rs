//! The key of a row moves down, twice, while another session searches for the row by a unique key that does not change: the entries
//! of that key stand in the order of the primary key, so the new ones come before the one at which the search waits.

use eval::Datum;
use model::{Rng, SqlType, schema::KeyKind};

use super::{
    Ending,
    context::{ConflictContext, Row},
    interleave::ScriptPair,
};
use crate::{
    orders::OrderKind,
    schema::{Index, Table},
};

pub(super) fn plan(rng: &mut Rng, context: &ConflictContext) -> Option<ScriptPair> {
    let table = context.table(rng, |table| !rooms(context, table).is_empty())?;
    let rooms = rooms(context, table);
    let (column, key, row) = rng.pick(&rooms);
    let once = below(rng, table, *column, &row[*column])?;
    let twice = below(rng, table, *column, &once)?;
    let mut moved: Row = (*row).clone();
    moved[*column] = once.clone();
    let to = |value: &Datum, from: &Row| {
        context.update(table, vec![(*column, context.literal(value))], Some(context.row_is(table, from)))
    };
    let first = vec![to(&once, row), to(&twice, &moved)];
    let parts = key.parts.iter().map(|part| context.is(table, part.column, &row[part.column]));
    let is = || context.all(parts.clone());
    let search = match (rng.below(5), context.idle(table)) {
        (0, Some(idle)) => context.update_any(rng, table, idle, Some(is())),
        (1, _) if context.deletable(table, row) => context.delete(table, Some(is())),
        _ => context.by_index(context.locking(rng, table, Some(is())), key),
    };
    let mut second = vec![search];
    if rng.ratio(1, 2) {
        second.push(context.locking(rng, table, None));
    }
    Some(ScriptPair {
        first,
        second,
        meet: (0, 0),
        shape: Some(OrderKind::Waiter),
        ending: Some(Ending::Commit),
    })
}

/// Columns of the primary key that can move, with another unique key that they are not in, and a row that it finds.
fn rooms<'t>(context: &ConflictContext, table: &'t Table) -> Vec<(usize, &'t Index, &'t Row)> {
    let whole = |column: &usize| matches!(table.columns[*column].ty, SqlType::Int { .. });
    let primary = |column: &usize| table.primary().is_some_and(|key| key.has(*column));
    let mut found = Vec::new();
    for column in context.movable(table).into_iter().filter(|column| whole(column) && primary(column)) {
        for key in table.indexes.iter().filter(|key| key.kind == KeyKind::Unique && !key.has(column)) {
            let full = |row: &&Row| key.parts.iter().all(|part| !row[part.column].is_null());
            found.extend(table.rows.iter().filter(full).map(|row| (column, key, row)));
        }
    }
    found
}

/// A smaller value that no row has; none if there is hardly one in the type.
fn below(rng: &mut Rng, table: &Table, column: usize, value: &Datum) -> Option<Datum> {
    let SqlType::Int { bits, unsigned } = table.columns[column].ty else { return None };
    let least = if unsigned { 0 } else { -(1i128 << (bits - 1)) };
    let from = number(value)?;
    let taken = |n: &i128| table.rows.iter().any(|row| number(&row[column]) == Some(*n));
    let found = (from - 20..from - rng.between(0, 4) as i128).rev().find(|n| *n >= least && !taken(n))?;
    Some(if unsigned { Datum::UInt(found as u64) } else { Datum::Int(found as i64) })
}

fn number(value: &Datum) -> Option<i128> {
    match value {
        Datum::Int(n) => Some(i128::from(*n)),
        Datum::UInt(n) => Some(i128::from(*n)),
        _ => None,
    }
}
