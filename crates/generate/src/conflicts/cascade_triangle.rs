//! Three tables in a triangle of references: what happens to a row of the first reaches the third in two ways, directly and through
//! the second, while another session reads or changes the third.

use model::{Rng, sql::Statement};

use super::{
    Ending,
    context::{ConflictContext, Row},
    interleave::ScriptPair,
};
use crate::{orders::OrderKind, schema::pool};

pub(super) fn plan(rng: &mut Rng, context: &ConflictContext) -> Option<ScriptPair> {
    let child = context.table(rng, |table| context.schema.corner(table).is_some())?;
    let link = context.schema.corner(child)?;
    let top = &context.schema.tables[link.direct.table];
    let (refers, key) = (link.direct.columns[0], link.direct.referred[0]);
    // Both ways lead to it.
    let through = link.through.columns[0];
    let meant = |row: &&Row| {
        child.rows.iter().any(|other| pool::alike(&other[refers], &row[key]) && !other[through].is_null())
    };
    let mut rows: Vec<_> = top.rows.iter().filter(meant).collect();
    if rows.is_empty() {
        rows = top.rows.iter().collect();
    }
    if rows.is_empty() {
        return None;
    }
    let row = (*rng.pick(&rows)).clone();
    let free = context.free(rng, top, key).into_iter().next().filter(|_| context.movable(top).contains(&key));
    let mut first = Vec::new();
    let mut now = row.clone();
    if let Some(free) = free.filter(|_| rng.ratio(1, 2)) {
        first.push(context.update(top, vec![(key, context.literal(&free))], Some(context.row_is(top, &row))));
        now[key] = free;
    }
    if first.is_empty() || rng.ratio(4, 5) {
        first.push(context.delete(top, Some(context.row_is(top, &now))));
    }
    let second = match (rng.below(4), context.fresh(rng, child), context.idle(child)) {
        (0, Some(mut fresh), _) => {
            fresh[refers] = row[key].clone();
            child.compute(&mut fresh);
            Statement::Insert(context.insert(child, &fresh))
        }
        (1, _, Some(idle)) => context.update_any(rng, child, idle, None),
        (2, _, _) => context.select(child, None),
        _ => context.locking(rng, child, None),
    };
    Some(ScriptPair {
        first,
        second: vec![second],
        meet: (0, 0),
        shape: Some(OrderKind::Waiter),
        ending: Some(Ending::Commit),
    })
}
