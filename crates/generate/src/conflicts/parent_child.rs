//! Rows and the rows that they refer to: a child comes while its parent goes, moves or is changed.

use model::{Rng, sql::Statement};

use super::{context::ConflictContext, interleave::ScriptPair};
use crate::orders::OrderKind;

pub(super) fn plan(rng: &mut Rng, context: &ConflictContext) -> Option<ScriptPair> {
    let child = context.table(rng, |table| !table.parents.is_empty())?;
    let link = match &child.parents[..] {
        [only] => only,
        several => rng.pick(several),
    };
    let parent = &context.schema.tables[link.table];
    let (refers, referred) = (link.columns[0], link.referred[0]);
    // A parent that can go when it is alone, and so is missed only by the child that comes.
    let mut parents: Vec<_> = parent.rows.iter().filter(|row| !row[referred].is_null()).collect();
    let free: Vec<_> = parents.iter().copied().filter(|row| context.deletable(parent, row)).collect();
    let can_go = !free.is_empty();
    if can_go {
        parents = free;
    }
    if parents.is_empty() {
        return None;
    }
    let kept = (*rng.pick(&parents)).clone();
    let mut referring = || {
        let mut row = context.fresh(rng, child)?;
        row[refers] = kept[referred].clone();
        child.compute(&mut row);
        Some(row)
    };
    let fits = |row: &super::context::Row| !child.rows.iter().any(|other| child.collide(other, row));
    let row = (0..6).filter_map(|_| referring()).find(fits)?;
    let is = || Some(context.row_is(parent, &kept));
    let mut children = vec![match child.rows.first() {
        Some(other) if rng.ratio(1, 4) && !child.in_unique(refers) => {
            let value = context.literal(&kept[referred]);
            context.update(child, vec![(refers, value)], Some(context.row_is(child, other)))
        }
        _ => Statement::Insert(context.insert(child, &row)),
    }];
    if rng.ratio(1, 2) {
        children.push(context.select(parent, None));
    }
    let free = context.free(rng, parent, referred).into_iter().next();
    let mut parents = vec![match (rng.below(4), context.idle(parent), free) {
        (0, Some(idle), _) => context.update_any(rng, parent, idle, is()),
        (1, _, Some(free)) if context.movable(parent).contains(&referred) => {
            context.update(parent, vec![(referred, context.literal(&free))], is())
        }
        _ if can_go => context.delete(parent, is()),
        _ => context.locking(rng, parent, is()),
    }];
    if rng.ratio(1, 2) {
        parents.push(context.select(child, None));
    }
    let (first, second) = if rng.ratio(1, 2) { (children, parents) } else { (parents, children) };
    Some(ScriptPair { first, second, meet: (0, 0), shape: Some(OrderKind::Waiter), ending: None })
}
