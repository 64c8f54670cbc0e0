//! Read, the other commits, write, read: a transaction goes on with a view that is older than what it writes to.
//!
//! The one in two parts stops before its statement of the pair, or after its first read if that comes later; the other one
//! runs from its beginning to its end in between.

use model::Rng;

use super::{Lane, Pair, Role, with_the_others};

pub(super) fn draw(rng: &mut Rng, lanes: &[Lane], pair: Pair) -> Vec<usize> {
    let reads_before = |place: super::Place| lanes[place.session][..place.index].contains(&Role::Read);
    let turned = match (reads_before(pair.second), reads_before(pair.first)) {
        (true, false) => false,
        (false, true) => true,
        // Whoever is to act first is most often the one in the middle.
        (true, true) | (false, false) => rng.ratio(1, 4),
    };
    let (outer, inner) = if turned { (pair.first, pair.second) } else { (pair.second, pair.first) };
    let lane = &lanes[outer.session];
    let cut = match lane[..outer.index].iter().rposition(|role| *role == Role::Read) {
        // Between the read and the statement of the pair, wherever.
        Some(read) => rng.between(read + 1, outer.index),
        // No read before it: then the pair's statement, or the first after it that reads, is the one that opens the view.
        None => match lane.iter().position(|role| *role == Role::Read) {
            Some(read) => (read + 1).min(lane.len() - 1),
            None => outer.index.max(1).min(lane.len() - 1),
        },
    };
    let mut order = vec![outer.session; cut];
    order.extend(std::iter::repeat_n(inner.session, lanes[inner.session].len()));
    order.extend(std::iter::repeat_n(outer.session, lane.len() - cut));
    with_the_others(rng, lanes, order)
}
