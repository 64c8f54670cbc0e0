//! A row comes and is rolled back while another transaction waits for it or has stepped over it.

use model::{Rng, sql::Statement};

use super::{Ending, context::ConflictContext, interleave::ScriptPair};
use crate::orders::OrderKind;

pub(super) fn plan(rng: &mut Rng, context: &ConflictContext) -> Option<ScriptPair> {
    // NULLs in a UNIQUE key are many equal entries, which a cursor may mistake for each other.
    let table = match context.table(rng, |table| table.nullable_unique().is_some()) {
        Some(table) => table,
        // Where there is none, another strategy is as good, half of the time.
        None if rng.ratio(1, 2) => return None,
        None => context.table(rng, |_| true)?,
    };
    let mut row = context.fresh(rng, table)?;
    if let Some(key) = table.nullable_unique().filter(|_| rng.ratio(3, 4)) {
        for part in key.parts.iter().filter(|part| table.columns[part.column].nullable) {
            row[part.column] = eval::Datum::Null;
        }
        table.compute(&mut row);
    }
    let mut first = vec![Statement::Insert(context.insert(table, &row))];
    // Where reads do not wait for a row that they cannot see, another row that is changed and changed back brings them together.
    let waits = dialect::of(context.caps.product).semantics.waits_for_inserts;
    if let (false, Some(idle), false) = (waits, context.idle(table), table.rows.is_empty()) {
        let there = rng.pick(&table.rows).clone();
        if let Some(value) = context.other(rng, table, idle, &there[idle]) {
            let filter = Some(context.row_is(table, &there));
            first.insert(0, context.update(table, vec![(idle, context.literal(&value))], filter));
        }
    }
    let mut second = Vec::new();
    if rng.ratio(1, 4) {
        second.push(context.select(table, None));
    }
    let meet = (first.len() - 1, second.len());
    let filter = if rng.ratio(2, 3) { None } else { context.covers(rng, table, &row) };
    second.push(match rng.below(8) {
        0 => Statement::Insert(context.insert(table, &row)),
        1 => match context.idle(table) {
            Some(idle) => context.update_any(rng, table, idle, filter),
            None => context.locking(rng, table, filter),
        },
        _ => {
            let read = context.locking(rng, table, filter);
            match table.nullable_unique().or(table.unique().last()) {
                Some(key) if rng.ratio(2, 3) => context.by_index(read, key),
                Some(_) | None => read,
            }
        }
    });
    if rng.ratio(1, 2) {
        second.push(context.select(table, None));
    }
    Some(ScriptPair { first, second, meet, shape: Some(OrderKind::Waiter), ending: Some(Ending::Rollback) })
}
