//! Begin, the other writes, and only then the first read: where a snapshot is taken at the first read it sees the write, where
//! it is taken at BEGIN it does not; before the writer's end nobody above READ UNCOMMITTED may see it.

use model::Rng;

use super::{Lane, Pair, Place, Role, with_the_others};

pub(super) fn draw(rng: &mut Rng, lanes: &[Lane], pair: Pair) -> Vec<usize> {
    let reads = |place: Place| lanes[place.session].contains(&Role::Read);
    let (reader, writer) = match (reads(pair.second), reads(pair.first)) {
        (true, _) | (false, false) => (pair.second.session, pair.first),
        (false, true) => (pair.first.session, pair.second),
    };
    let lane = &lanes[reader];
    let first = lane.iter().position(|role| matches!(role, Role::Read | Role::Write)).unwrap_or(0);
    let mut order = vec![reader; first];
    let mut push = |session: usize, count: usize| order.extend(std::iter::repeat_n(session, count));
    let written = writer.index + 1;
    push(writer.session, written);
    // Before the writer's end, or after it.
    let before = if rng.ratio(1, 2) { rng.between(1, lane.len() - first) } else { 0 };
    push(reader, before);
    push(writer.session, lanes[writer.session].len() - written);
    push(reader, lane.len() - first - before);
    with_the_others(rng, lanes, order)
}
