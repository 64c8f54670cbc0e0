//! Fucci's fully shared filters: two statements with the same condition.

use model::Rng;

use super::{
    Body, Met,
    filtered::{PAIRS, WITH_CONDITIONS, filter, find_or_put},
    ground::Ground,
    weave,
};
use crate::orders::Pair;

pub(super) fn collide(rng: &mut Rng, ground: &Ground, bodies: &mut [Body]) -> Option<Met> {
    share(rng, ground, bodies, |_, one| one)
}

/// Gives two statements conditions that have to do with each other: `change` makes the second one's from both.
pub(super) fn share(
    rng: &mut Rng,
    ground: &Ground,
    bodies: &mut [Body],
    change: impl Fn(Option<model::sql::Expr>, model::sql::Expr) -> model::sql::Expr,
) -> Option<Met> {
    let (one, two) = weave::sessions(rng, bodies)?;
    let (mut a, mut b, name) = PAIRS[rng.below(WITH_CONDITIONS)];
    if rng.ratio(1, 2) {
        (a, b) = (b, a);
    }
    let table = ground.table(rng, |table| !table.rows.is_empty())?;
    let first = find_or_put(rng, ground, bodies, one, a, table)?;
    let second = find_or_put(rng, ground, bodies, two, b, table)?;
    let mine = filter(&mut bodies[one].statements[first.index])?.clone();
    let shared = match mine.filter(|condition| !condition.has_query()) {
        Some(condition) => condition,
        None => {
            // Without one that can be shared, both get one that a row fulfils.
            let condition = ground.row_is(table, rng.pick(&table.rows));
            *filter(&mut bodies[one].statements[first.index])? = Some(condition.clone());
            condition
        }
    };
    let theirs = filter(&mut bodies[two].statements[second.index])?;
    *theirs = Some(change(theirs.take(), shared));
    Some(Met { pairs: vec![Pair { first, second, shape: None }], features: vec![name] })
}
