//! Keys move up and down, twice: a key that changes is a deleted row and a new one, and a scan may meet it twice or never.

use model::Rng;

use super::{Ending, ground::Ground, weave::Spines};

use crate::{orders::OrderKind, schema::Table};

pub(super) fn plan(rng: &mut Rng, ground: &Ground) -> Option<Spines> {
    let moves = |table: &Table| !table.rows.is_empty() && !ground.movable(table).is_empty();
    // Best where the key is the primary one and there is something else to update.
    let best = |table: &Table| {
        let primary = |column: &usize| table.primary().is_some_and(|key| key.has(*column));
        moves(table) && ground.idle(table).is_some() && ground.movable(table).iter().any(primary)
    };
    let table = ground.table(rng, best).or_else(|| ground.table(rng, moves))?;
    let movable = ground.movable(table);
    let primary: Vec<usize> =
        movable.iter().copied().filter(|&c| table.primary().is_some_and(|key| key.has(c))).collect();
    let column =
        if primary.is_empty() || rng.ratio(1, 4) { *rng.pick(&movable) } else { *rng.pick(&primary) };
    let row = rng.pick(&table.rows).clone();
    let free = ground.free(rng, table, column);
    let [once, twice] = free.get(..2)? else { return None };
    let first_filter = match table.rows.len() {
        1 if rng.ratio(1, 2) => None,
        _ => Some(ground.row_is(table, &row)),
    };
    let mut first = vec![ground.update(table, vec![(column, ground.literal(once))], first_filter)];
    if rng.ratio(2, 3) {
        let mut moved = row.clone();
        moved[column] = once.clone();
        let filter = Some(ground.row_is(table, &moved));
        // On, or back to where it came from.
        let to = if rng.ratio(2, 3) { twice } else { &row[column] };
        first.push(ground.update(table, vec![(column, ground.literal(to))], filter));
    }
    // Either the other one has a view from before and writes after the move, or it waits while the key moves on.
    let shape = if rng.ratio(3, 5) { OrderKind::Sandwich } else { OrderKind::Waiter };
    let mut second = Vec::new();
    if shape == OrderKind::Sandwich || rng.ratio(1, 3) {
        second.push(ground.select(table, None));
    }
    let meet = (0, second.len());
    let filter = if rng.ratio(2, 3) { None } else { other_columns(rng, ground, table, &row, column) };
    let write = match (rng.below(6), ground.idle(table)) {
        (number, Some(idle)) if number < 4 || shape == OrderKind::Sandwich => {
            let value = ground.literal(rng.pick(&table.columns[idle].pool));
            ground.update(table, vec![(idle, value)], filter)
        }
        (0..=4, _) if table.rows.iter().all(|row| ground.deletable(table, row)) => {
            ground.delete(table, filter)
        }
        _ => ground.locking(rng, table, filter),
    };
    second.push(write);
    if rng.ratio(9, 10) {
        second.push(ground.select(table, None));
    }
    Some(Spines { first, second, meet, shape: Some(shape), ending: Some(Ending::Commit) })
}

/// A condition that the row fulfils wherever its key is.
fn other_columns(
    rng: &mut Rng,
    ground: &Ground,
    table: &crate::schema::Table,
    row: &super::ground::Row,
    key: usize,
) -> Option<model::sql::Expr> {
    let others: Vec<usize> = (0..table.columns.len()).filter(|&c| c != key).collect();
    (!others.is_empty()).then(|| {
        let column = *rng.pick(&others);
        ground.is(table, column, &row[column])
    })
}
