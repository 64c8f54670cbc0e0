//! Three tables in a triangle of references: what happens to a row of the first reaches the third in two ways, directly and through
//! the second, while another session reads or changes the third.

use model::{Rng, sql::Statement};

use super::{Ending, context::ConflictContext, interleave::ScriptPair};
use crate::{
    orders::OrderKind,
    schema::{Parent, Schema, Table, pool},
};

pub(super) fn plan(rng: &mut Rng, context: &ConflictContext) -> Option<ScriptPair> {
    let child = context.table(rng, |table| corner(context.schema, table).is_some())?;
    let link = corner(context.schema, child)?;
    let (top, refers, key) = (&context.schema.tables[link.table], link.columns[0], link.referred[0]);
    let meant =
        |row: &&Vec<eval::Datum>| child.rows.iter().any(|other| pool::alike(&other[refers], &row[key]));
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
    if let Some(free) = free.filter(|_| rng.ratio(4, 5)) {
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

/// The reference of a table to one that another of its parents refers to, too.
fn corner<'t>(schema: &Schema, table: &'t Table) -> Option<&'t Parent> {
    let through = |top: usize| {
        let other =
            |parent: &Parent| schema.tables[parent.table].parents.iter().any(|next| next.table == top);
        table.parents.iter().any(other)
    };
    table.parents.iter().find(|parent| through(parent.table))
}
