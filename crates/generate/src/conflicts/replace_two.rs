//! A REPLACE whose row stands in the way of two rows, by one unique key each: both must go, whichever key is met first.

use model::{
    Rng,
    schema::KeyKind,
    sql::{InsertVerb, Statement},
};

use super::{
    Ending,
    context::{ConflictContext, Row},
    interleave::ScriptPair,
};
use crate::{
    orders::OrderKind,
    schema::{Index, Table, pool},
};

pub(super) fn plan(rng: &mut Rng, context: &ConflictContext) -> Option<ScriptPair> {
    if !context.caps.clauses.replace {
        return None;
    }
    // What becomes of rows that refer to a replaced one, servers do not agree about.
    let alone = |table: &Table| {
        let mut parents = context.schema.tables.iter().flat_map(|other| &other.parents);
        parents.all(|parent| context.schema.tables[parent.table].name != table.name)
    };
    let table = context.table(rng, |table| alone(table) && !rooms(table).is_empty())?;
    let mut rooms = rooms(table);
    // Best where the primary key is not one of the two.
    if rooms.iter().any(|room| room.secondary()) && rng.ratio(3, 4) {
        rooms.retain(DoubleKey::secondary);
    }
    let DoubleKey { keys, rows } = rng.pick(&rooms);
    let mut row = context.fresh(rng, table)?;
    for (key, other) in keys.iter().zip(rows) {
        key.parts.iter().for_each(|part| row[part.column] = other[part.column].clone());
    }
    table.compute(&mut row);
    let mut insert = context.insert(table, &row);
    insert.verb = InsertVerb::Replace;
    let first = vec![Statement::Insert(insert)];
    let is = Some(context.row_is(table, rows[rng.below(rows.len())]));
    let second = vec![match (rng.below(4), context.idle(table)) {
        (0, Some(idle)) => context.update_any(rng, table, idle, is),
        (1, _) => context.delete(table, is),
        (2, _) => context.select(table, None),
        _ => context.locking(rng, table, is),
    }];
    // Whoever comes first lets the other wait.
    let scripts = if rng.ratio(1, 2) { (first, second) } else { (second, first) };
    Some(ScriptPair {
        first: scripts.0,
        second: scripts.1,
        meet: (0, 0),
        shape: Some(OrderKind::Waiter),
        ending: Some(Ending::Commit),
    })
}

/// Two unique keys without a column in common, and a row for each that has no NULL there.
struct DoubleKey<'t> {
    keys: [&'t Index; 2],
    rows: [&'t Row; 2],
}

impl DoubleKey<'_> {
    fn secondary(&self) -> bool {
        self.keys.iter().all(|key| key.kind == KeyKind::Unique)
    }
}

fn rooms(table: &Table) -> Vec<DoubleKey<'_>> {
    let unique: Vec<&Index> = table.unique().collect();
    let full = |key: &Index, row: &Row| key.parts.iter().all(|part| !row[part.column].is_null());
    let mut found = Vec::new();
    for (at, one) in unique.iter().enumerate() {
        for other in unique[at + 1..].iter().filter(|other| !one.parts.iter().any(|p| other.has(p.column))) {
            for (x, y) in pairs(&table.rows).filter(|(x, y)| full(one, x) && full(other, y)) {
                found.push(DoubleKey { keys: [one, other], rows: [x, y] });
            }
        }
    }
    found
}

fn pairs(rows: &[Row]) -> impl Iterator<Item = (&Row, &Row)> {
    let differ = |x: &Row, y: &Row| x.iter().zip(y).any(|(a, b)| !pool::alike(a, b));
    rows.iter().flat_map(move |x| rows.iter().filter(move |y| differ(x, y)).map(move |y| (x, y)))
}
