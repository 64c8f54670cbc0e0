//! Write, the other waits, write again, end: a statement resumes in a world that has moved on while it slept.

use model::Rng;

use super::{Lane, Pair, Role, with_the_others};

pub(super) fn draw(rng: &mut Rng, lanes: &[Lane], pair: Pair) -> Vec<usize> {
    let holder = &lanes[pair.first.session];
    let waiter = &lanes[pair.second.session];
    let mut order = Vec::new();
    let mut push = |session: usize, count: usize| order.extend(std::iter::repeat_n(session, count));
    // Both have begun before the holder writes, in half of the cases: then their views are of one age.
    let early = usize::from(rng.ratio(1, 2) && waiter[0] == Role::Begin && pair.second.index > 0);
    let ahead = usize::from(holder[0] == Role::Begin && pair.first.index > 0);
    push(pair.first.session, ahead);
    push(pair.second.session, early);
    push(pair.first.session, pair.first.index + 1 - ahead);
    push(pair.second.session, pair.second.index + 1 - early);
    // While the other waits, up to the holder's end, or a little less, so that the waiter's next statements queue up behind it.
    let rest = holder.len() - pair.first.index - 1;
    let end =
        holder[pair.first.index + 1..].iter().position(|role| *role == Role::End).map_or(rest, |at| at + 1);
    push(pair.first.session, end);
    let after = rest - end;
    let left = waiter.len() - pair.second.index - 1;
    if rng.ratio(1, 2) {
        push(pair.second.session, left);
        push(pair.first.session, after);
    } else {
        push(pair.first.session, after);
        push(pair.second.session, left);
    }
    with_the_others(rng, lanes, order)
}
