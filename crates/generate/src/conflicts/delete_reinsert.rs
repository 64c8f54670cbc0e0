//! A row goes and comes back, and another transaction wants it meanwhile: a deleted row is still there for whoever locks it.

use model::{Rng, sql::Statement};

use super::{ground::Ground, weave::Spines};
use crate::schema::{Table, pool};

pub(super) fn plan(rng: &mut Rng, ground: &Ground) -> Option<Spines> {
    let fits = |table: &Table| table.rows.iter().any(|row| ground.deletable(table, row));
    let table = ground.table(rng, fits)?;
    let rows: Vec<_> = table.rows.iter().filter(|row| ground.deletable(table, row)).collect();
    let row = (*rng.pick(&rows)).clone();
    let is = || Some(ground.row_is(table, &row));
    let mut back = row.clone();
    if let Some(idle) = ground.idle(table).filter(|_| rng.ratio(1, 2)) {
        back[idle] = rng.pick(&table.columns[idle].pool).clone();
        table.compute(&mut back);
    }
    let mut first = vec![ground.delete(table, is())];
    let alone = table.rows.iter().filter(|other| same(&row, other)).count() == 1;
    if rng.ratio(4, 5) && alone {
        first.push(Statement::Insert(ground.insert(table, &back)));
    }
    let mut second = Vec::new();
    if rng.ratio(1, 2) {
        second.push(ground.select(table, None));
    }
    let meet = (0, second.len());
    let filter = if rng.ratio(2, 3) { is() } else { ground.covers(rng, table, &row) };
    second.push(match (rng.below(5), ground.idle(table)) {
        (0 | 1, Some(idle)) => {
            let value = ground.literal(rng.pick(&table.columns[idle].pool));
            ground.update(table, vec![(idle, value)], filter)
        }
        (0..=2, _) => ground.delete(table, is()),
        (3, _) if table.unique().next().is_some() => match table.unique().next() {
            Some(key) => ground.put(rng, table, &row, key),
            None => ground.locking(rng, table, filter),
        },
        _ => ground.locking(rng, table, filter),
    });
    if rng.ratio(2, 3) {
        second.push(ground.select(table, None));
    }
    Some(Spines { first, second, meet, shape: None, ending: None })
}

fn same(a: &[eval::Datum], b: &[eval::Datum]) -> bool {
    a.iter().zip(b).all(|(a, b)| pool::alike(a, b))
}
