//! Keys move up and down, twice: a key that changes is a deleted row and a new one, and a scan may meet it twice or never.

use model::Rng;

use super::{Ending, context::ConflictContext, interleave::ScriptPair};

use crate::{orders::OrderKind, schema::Table};

pub(super) fn plan(rng: &mut Rng, context: &ConflictContext) -> Option<ScriptPair> {
    let moves = |table: &Table| !table.rows.is_empty() && !context.movable(table).is_empty();
    // Best where the key is the primary one and there is something else to update.
    let best = |table: &Table| {
        let primary = |column: &usize| table.primary().is_some_and(|key| key.has(*column));
        moves(table) && context.idle(table).is_some() && context.movable(table).iter().any(primary)
    };
    let table = context.table(rng, best).or_else(|| context.table(rng, moves))?;
    let movable = context.movable(table);
    let primary: Vec<usize> =
        movable.iter().copied().filter(|&c| table.primary().is_some_and(|key| key.has(c))).collect();
    let column =
        if primary.is_empty() || rng.ratio(1, 4) { *rng.pick(&movable) } else { *rng.pick(&primary) };
    let row = rng.pick(&table.rows).clone();
    let free = context.free(rng, table, column);
    let [once, twice] = free.get(..2)? else { return None };
    let first_filter = match table.rows.len() {
        1 if rng.ratio(1, 2) => None,
        _ => Some(context.row_is(table, &row)),
    };
    let mut first = vec![context.update(table, vec![(column, context.literal(once))], first_filter)];
    if rng.ratio(2, 3) {
        let mut moved = row.clone();
        moved[column] = once.clone();
        let filter = Some(context.row_is(table, &moved));
        // On, or back to where it came from.
        let to = if rng.ratio(2, 3) { twice } else { &row[column] };
        first.push(context.update(table, vec![(column, context.literal(to))], filter));
    }
    // Either the other one has a view from before and writes after the move, or it waits while the key moves on.
    let shape = if rng.ratio(3, 5) { OrderKind::Sandwich } else { OrderKind::Waiter };
    let mut second = Vec::new();
    if shape == OrderKind::Sandwich || rng.ratio(1, 3) {
        second.push(context.select(table, None));
    }
    let meet = (0, second.len());
    let filter = if rng.ratio(2, 3) { None } else { other_columns(rng, context, table, &row, column) };
    let write = match (rng.below(6), context.idle(table)) {
        (number, Some(idle)) if number < 4 || shape == OrderKind::Sandwich => {
            context.update_any(rng, table, idle, filter)
        }
        (0..=4, _) if table.rows.iter().all(|row| context.deletable(table, row)) => {
            context.delete(table, filter)
        }
        _ => context.locking(rng, table, filter),
    };
    second.push(write);
    if rng.ratio(9, 10) {
        second.push(context.select(table, None));
    }
    Some(ScriptPair { first, second, meet, shape: Some(shape), ending: Some(Ending::Commit) })
}

/// A condition that the row fulfils wherever its key is.
fn other_columns(
    rng: &mut Rng,
    context: &ConflictContext,
    table: &crate::schema::Table,
    row: &super::context::Row,
    key: usize,
) -> Option<model::sql::Expr> {
    let others: Vec<usize> = (0..table.columns.len()).filter(|&c| c != key).collect();
    (!others.is_empty()).then(|| {
        let column = *rng.pick(&others);
        context.is(table, column, &row[column])
    })
}
