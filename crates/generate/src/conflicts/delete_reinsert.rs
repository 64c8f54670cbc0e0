//! A row goes and comes back, and another transaction wants it meanwhile: a deleted row is still there for whoever locks it.

use model::{Rng, sql::Statement};

use super::{context::ConflictContext, interleave::ScriptPair};
use crate::schema::{Table, pool};

pub(super) fn plan(rng: &mut Rng, context: &ConflictContext) -> Option<ScriptPair> {
    let fits = |table: &Table| table.rows.iter().any(|row| context.deletable(table, row));
    let table = context.table(rng, fits)?;
    let rows: Vec<_> = table.rows.iter().filter(|row| context.deletable(table, row)).collect();
    let row = (*rng.pick(&rows)).clone();
    let is = || Some(context.row_is(table, &row));
    let mut back = row.clone();
    if let Some(idle) = context.idle(table).filter(|_| rng.ratio(1, 2)) {
        back[idle] = rng.pick(&table.columns[idle].pool).clone();
        table.compute(&mut back);
    }
    let mut first = vec![context.delete(table, is())];
    let alone = table.rows.iter().filter(|other| same(&row, other)).count() == 1;
    if rng.ratio(4, 5) && alone {
        first.push(Statement::Insert(context.insert(table, &back)));
    }
    let mut second = Vec::new();
    if rng.ratio(1, 2) {
        second.push(context.select(table, None));
    }
    let meet = (0, second.len());
    let filter = if rng.ratio(2, 3) { is() } else { context.covers(rng, table, &row) };
    second.push(match (rng.below(5), context.idle(table)) {
        (0 | 1, Some(idle)) => context.update_any(rng, table, idle, filter),
        (0..=2, _) => context.delete(table, is()),
        (number, _) => match table.unique().next().filter(|_| number == 3) {
            Some(key) => context.put(rng, table, &row, key),
            None => context.locking(rng, table, filter),
        },
    });
    if rng.ratio(2, 3) {
        second.push(context.select(table, None));
    }
    Some(ScriptPair { first, second, meet, shape: None, ending: None })
}

fn same(a: &[eval::Datum], b: &[eval::Datum]) -> bool {
    a.iter().zip(b).all(|(a, b)| pool::alike(a, b))
}
