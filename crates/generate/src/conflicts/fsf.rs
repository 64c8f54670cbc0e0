//! Fucci's fully shared filters: two statements with the same condition.

use model::Rng;

use super::{
    Body, Collision,
    context::ConflictContext,
    filtered::{PAIRS, WITH_CONDITIONS, filter, find_or_put},
    interleave,
};
use crate::orders::Pair;

pub(super) fn collide(rng: &mut Rng, context: &ConflictContext, bodies: &mut [Body]) -> Option<Collision> {
    share(rng, context, bodies, |_, one| one)
}

/// Gives two statements conditions that have to do with each other: `change` makes the second one's from both.
pub(super) fn share(
    rng: &mut Rng,
    context: &ConflictContext,
    bodies: &mut [Body],
    change: impl Fn(Option<model::sql::Expr>, model::sql::Expr) -> model::sql::Expr,
) -> Option<Collision> {
    let (one, two) = interleave::sessions(rng, bodies)?;
    let (mut a, mut b, name) = PAIRS[rng.below(WITH_CONDITIONS)];
    if rng.ratio(1, 2) {
        (a, b) = (b, a);
    }
    let table = context.table(rng, |table| !table.rows.is_empty())?;
    let first = find_or_put(rng, context, bodies, one, a, table)?;
    let second = find_or_put(rng, context, bodies, two, b, table)?;
    let mine = filter(&mut bodies[one].statements[first.index])?.clone();
    let shared = match mine.filter(|condition| !condition.has_query()) {
        Some(condition) => condition,
        None => {
            // Without one that can be shared, both get one that a row fulfils.
            let condition = context.row_is(table, rng.pick(&table.rows));
            *filter(&mut bodies[one].statements[first.index])? = Some(condition.clone());
            condition
        }
    };
    let theirs = filter(&mut bodies[two].statements[second.index])?;
    *theirs = Some(change(theirs.take(), shared));
    Some(Collision { pairs: vec![Pair { first, second, shape: None }], features: vec![name] })
}
