//! Two write the same constant to the same row: the second one's write changes nothing, and must be its own all the same.

use model::Rng;

use super::{Ending, context::ConflictContext, interleave::ScriptPair};
use crate::orders::OrderKind;

pub(super) fn plan(rng: &mut Rng, context: &ConflictContext) -> Option<ScriptPair> {
    let table = context.table(rng, |table| !table.rows.is_empty() && context.idle(table).is_some())?;
    let column = *rng.pick(&table.idle_columns());
    let row = rng.pick(&table.rows).clone();
    let value = context.other(rng, table, column, &row[column])?;
    let set = || vec![(column, context.literal(&value))];
    let first = vec![context.update(table, set(), Some(context.row_is(table, &row)))];
    // A condition on the column itself would be judged by what the other wrote: it must hold before and after.
    let wide = match rng.below(3) {
        0 => None,
        1 => Some(context.row_is(table, &row)),
        _ => context.covers(rng, table, &row),
    };
    let mut second = Vec::new();
    if rng.ratio(9, 10) {
        second.push(context.select(table, None));
    }
    let meet = (0, second.len());
    second.push(context.update(table, set(), wide));
    if rng.ratio(9, 10) {
        second.push(context.select(table, None));
    }
    Some(ScriptPair { first, second, meet, shape: Some(OrderKind::Sandwich), ending: Some(Ending::Commit) })
}
