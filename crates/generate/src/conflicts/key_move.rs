//! Keys move up and down, twice: a key that changes is a deleted row and a new one, and a scan may meet it twice or never.

use model::Rng;

use super::{Ending, ground::Ground, weave::Spines};

pub(super) fn plan(rng: &mut Rng, ground: &Ground) -> Option<Spines> {
    let table = ground.table(rng, |table| !table.rows.is_empty() && !ground.movable(table).is_empty())?;
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
    let mut second = Vec::new();
    if rng.ratio(2, 3) {
        second.push(ground.select(table, None));
    }
    let meet = (0, second.len());
    let filter = if rng.ratio(1, 2) { None } else { other_columns(rng, ground, table, &row, column) };
    let write = match (rng.below(5), ground.idle(table)) {
        (0..=2, Some(idle)) => {
            let value = ground.literal(rng.pick(&table.columns[idle].pool));
            ground.update(table, vec![(idle, value)], filter)
        }
        (0..=3, _) if table.rows.iter().all(|row| ground.deletable(table, row)) => {
            ground.delete(table, filter)
        }
        _ => ground.locking(rng, table, filter),
    };
    second.push(write);
    if rng.ratio(3, 4) {
        second.push(ground.select(table, None));
    }
    Some(Spines { first, second, meet, ending: Some(Ending::Commit) })
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
