//! The epsilon-greedy bandit: most of the time the operation that has worked best so far, else any.
//!
//! ```text
//! action(t) = the i with the largest Q_i        with probability 1 - e
//!           = any of them                       with probability e
//! Q_i       = the mean of what i has gained over all trials of i so far: 1 for each that worked, 0 for each that did not
//! ```

use std::cmp::Ordering;

use model::Rng;

use super::{Learned, Offer, Strategy, any_of, operations};

/// How often it tries any candidate instead of the best one.
const EXPLORES: (usize, usize) = (1, 5);

pub struct Bandit {
    pub rng: Rng,
    /// Begins with what was learned before.
    pub learned: Learned,
}

impl Strategy for Bandit {
    fn name(&self) -> &'static str {
        "bandit"
    }

    fn choose(&mut self, offers: &[Offer], _: (usize, usize)) -> Option<usize> {
        let mut there = operations(offers);
        if there.is_empty() {
            return None;
        }
        if !self.rng.ratio(EXPLORES.0, EXPLORES.1) {
            let best = there
                .iter()
                .map(|name| self.learned.of(name))
                .max_by(|one, other| one.mean_to(other))
                .unwrap_or_default();
            there.retain(|name| self.learned.of(name).mean_to(&best) == Ordering::Equal);
        }
        // Of several that are equally good, any.
        let operation = *self.rng.pick(&there);
        any_of(&mut self.rng, offers, operation)
    }

    fn learn(&mut self, operation: &'static str, worked: bool) {
        self.learned.add(operation, worked);
    }

    fn learned(&self) -> Option<&Learned> {
        Some(&self.learned)
    }
}
