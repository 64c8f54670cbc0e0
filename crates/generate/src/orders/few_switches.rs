//! At most three switches between the sessions, or as few as there can be with many of them: most bugs need no more, and
//! what is found this way is easy to read.

use model::Rng;

use super::Lane;

pub(super) fn draw(rng: &mut Rng, lanes: &[Lane]) -> Vec<usize> {
    let mut sessions: Vec<usize> = (0..lanes.len()).filter(|&s| !lanes[s].is_empty()).collect();
    rng.shuffle(&mut sessions);
    let blocks = match sessions[..] {
        [one, two] => {
            let rounds = if rng.ratio(1, 3) { 3 } else { 4 };
            [one, two].into_iter().cycle().take(rounds).collect()
        }
        [] | [_] => sessions,
        [..] => {
            // One session is cut in two, and at least one other stands between its halves.
            let again = rng.below(sessions.len() - 1);
            let at = rng.between(again + 2, sessions.len());
            let session = sessions[again];
            sessions.insert(at, session);
            sessions
        }
    };
    fill(rng, lanes, &blocks)
}

/// Deals each session's statements over its blocks, at least one to each while they last.
fn fill(rng: &mut Rng, lanes: &[Lane], blocks: &[usize]) -> Vec<usize> {
    let mut left: Vec<usize> = lanes.iter().map(Vec::len).collect();
    let mut order = Vec::new();
    for (i, &session) in blocks.iter().enumerate() {
        let later = blocks[i + 1..].iter().filter(|&&s| s == session).count();
        let most = left[session].saturating_sub(later);
        let take = if later == 0 { left[session] } else { rng.between(most.min(1), most) };
        left[session] -= take;
        order.extend(std::iter::repeat_n(session, take));
    }
    order
}
