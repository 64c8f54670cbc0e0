//! Two write the same constant to the same row: the second one's write changes nothing, and must be its own all the same.

use model::Rng;

use super::{Ending, ground::Ground, weave::Spines};
use crate::orders::OrderKind;

pub(super) fn plan(rng: &mut Rng, ground: &Ground) -> Option<Spines> {
    let table = ground.table(rng, |table| !table.rows.is_empty() && ground.idle(table).is_some())?;
    let column = *rng.pick(&ground.idle_columns(table));
    let row = rng.pick(&table.rows).clone();
    let value = ground.other(rng, table, column, &row[column])?;
    let set = || vec![(column, ground.literal(&value))];
    let first = vec![ground.update(table, set(), Some(ground.row_is(table, &row)))];
    // A condition on the column itself would be judged by what the other wrote: it must hold before and after.
    let wide = match rng.below(3) {
        0 => None,
        1 => Some(ground.row_is(table, &row)),
        _ => ground.covers(rng, table, &row),
    };
    let mut second = Vec::new();
    if rng.ratio(9, 10) {
        second.push(ground.select(table, None));
    }
    let meet = (0, second.len());
    second.push(ground.update(table, set(), wide));
    if rng.ratio(9, 10) {
        second.push(ground.select(table, None));
    }
    Some(Spines { first, second, meet, shape: Some(OrderKind::Sandwich), ending: Some(Ending::Commit) })
}
