//! Two go for one unique value: INSERT, REPLACE, an upsert or an UPDATE against another of them, INSERT against INSERT above all.

use model::{Rng, sql::Statement};

use super::{
    context::{ConflictContext, Row},
    interleave::ScriptPair,
};
use crate::orders::OrderKind;
use crate::schema::{Index, Table};

pub(super) fn plan(rng: &mut Rng, context: &ConflictContext) -> Option<ScriptPair> {
    let table = context.table(rng, |table| table.unique().next().is_some())?;
    let keys: Vec<&Index> = table.unique().collect();
    let key = *rng.pick(&keys);
    let row = complete(rng, context, table, key)?;
    let first = vec![go(rng, context, table, key, &row)];
    // The other one has the same key and otherwise values of its own.
    let mut other = context.fresh(rng, table)?;
    for part in &key.parts {
        other[part.column] = row[part.column].clone();
    }
    table.compute(&mut other);
    if table.rows.iter().any(|there| table.collide(there, &other)) {
        other.clone_from(&row);
    }
    let mut second = Vec::new();
    if rng.ratio(1, 3) {
        second.push(context.select(table, None));
    }
    let meet = (0, second.len());
    second.push(go(rng, context, table, key, &other));
    if rng.ratio(1, 2) {
        second.push(context.select(table, Some(context.row_is(table, &other))));
    }
    Some(ScriptPair { first, second, meet, shape: Some(OrderKind::Waiter), ending: None })
}

/// A fresh row without NULL in the key: NULLs do not collide.
fn complete(rng: &mut Rng, context: &ConflictContext, table: &Table, key: &Index) -> Option<Row> {
    (0..4)
        .filter_map(|_| context.fresh(rng, table))
        .find(|row| key.parts.iter().all(|part| !row[part.column].is_null()))
}

/// One way to get a row with this key.
fn go(rng: &mut Rng, context: &ConflictContext, table: &Table, key: &Index, row: &Row) -> Statement {
    let movable = context.movable(table);
    let can_move = !table.rows.is_empty() && key.parts.iter().all(|part| movable.contains(&part.column));
    match rng.below(4) {
        0 if can_move => {
            let from = rng.pick(&table.rows).clone();
            let sets =
                key.parts.iter().map(|part| (part.column, context.literal(&row[part.column]))).collect();
            context.update(table, sets, Some(context.row_is(table, &from)))
        }
        0 | 1 => Statement::Insert(context.insert(table, row)),
        _ => context.put(rng, table, row, key),
    }
}
