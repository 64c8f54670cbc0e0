//! Fucci's three filters (section 3.1, "Commit Order"): orders in which nothing can collide are not worth a run.
//!
//! 1. the transactions overlap in time;
//! 2. of two statements that were made to collide, the first one's transaction is still open when the second is submitted;
//! 3. of orders that differ only in the order of neighbouring BEGINs, one is enough.

use super::{Lane, Pair, Role};

/// Filter 1: does every session run in part while another one is under way?
pub fn overlap(lanes: &[Lane], order: &[usize]) -> bool {
    let span = |session: usize| {
        let first = order.iter().position(|&s| s == session)?;
        let last = order.iter().rposition(|&s| s == session)?;
        Some((first, last))
    };
    let spans: Vec<_> = (0..lanes.len()).filter_map(span).collect();
    let meets = |a: (usize, usize), b: (usize, usize)| a.0 < b.1 && b.0 < a.1;
    spans.len() < 2 || (0..spans.len()).all(|i| (0..spans.len()).any(|j| i != j && meets(spans[i], spans[j])))
}

/// Filter 2: is whichever of the two comes first still in its transaction when the other one comes?
pub fn still_open(lanes: &[Lane], order: &[usize], pair: Pair) -> bool {
    let mut next = vec![0; lanes.len()];
    let mut first: Option<usize> = None;
    for &session in order {
        let index = next[session];
        next[session] += 1;
        if lanes[session][index] == Role::End && first == Some(session) {
            return false;
        }
        let hit = [pair.first, pair.second].iter().any(|p| p.session == session && p.index == index);
        match (hit, first) {
            (true, Some(_)) => return true,
            (true, None) => first = Some(session),
            (false, _) => {}
        }
    }
    // One of the two is not there at all.
    true
}

/// Filter 3: puts neighbouring BEGINs in the order of their sessions, since nothing can tell their orders apart.
pub fn one_of_equal_beginnings(lanes: &[Lane], mut order: Vec<usize>) -> Vec<usize> {
    let mut next = vec![0; lanes.len()];
    let begins: Vec<bool> = order
        .iter()
        .map(|&session| {
            next[session] += 1;
            lanes[session][next[session] - 1] == Role::Begin
        })
        .collect();
    let mut start = 0;
    while start < order.len() {
        let run = begins[start..].iter().take_while(|b| **b).count();
        order[start..start + run].sort_unstable();
        start += run.max(1);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orders::Place;

    const WRITER: [Role; 3] = [Role::Begin, Role::Write, Role::End];

    #[test]
    fn one_after_the_other_is_no_overlap() {
        let lanes = [WRITER.to_vec(), WRITER.to_vec()];
        assert!(!overlap(&lanes, &[0, 0, 0, 1, 1, 1]));
        assert!(overlap(&lanes, &[0, 0, 1, 0, 1, 1]));
    }

    #[test]
    fn the_first_of_a_pair_must_still_be_open() {
        let lanes = [WRITER.to_vec(), WRITER.to_vec()];
        let pair = Pair {
            first: Place { session: 0, index: 1 },
            second: Place { session: 1, index: 1 },
            shape: None,
        };
        assert!(still_open(&lanes, &[0, 0, 1, 1, 0, 1], pair));
        assert!(!still_open(&lanes, &[0, 0, 1, 0, 1, 1], pair));
        assert!(!still_open(&lanes, &[1, 1, 0, 1, 0, 0], pair));
    }

    #[test]
    fn neighbouring_begins_have_one_order() {
        let lanes = [WRITER.to_vec(), WRITER.to_vec()];
        assert_eq!(one_of_equal_beginnings(&lanes, vec![1, 0, 1, 0, 1, 0]), [0, 1, 1, 0, 1, 0]);
        assert_eq!(one_of_equal_beginnings(&lanes, vec![1, 1, 0, 0, 1, 0]), [1, 1, 0, 0, 1, 0]);
    }
}
