//! The dynamic probability table: each operation has a weight, which grows when one of its candidates works and shrinks when it
//! does not; operations are drawn by their weights.

use model::Rng;

use super::{Learned, Offer, Strategy, any_of, operations};

pub struct Table {
    pub rng: Rng,
    /// Begins with what was learned before.
    pub learned: Learned,
}

impl Strategy for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn choose(&mut self, offers: &[Offer], _: (usize, usize)) -> Option<usize> {
        let there = operations(offers);
        let weights: Vec<u64> = there.iter().map(|name| self.learned.of(name).weight).collect();
        let sum: u64 = weights.iter().sum();
        if sum == 0 {
            return None;
        }
        let mut drawn = self.rng.below(usize::try_from(sum).unwrap_or(usize::MAX)) as u64;
        for (name, weight) in there.iter().zip(&weights) {
            if drawn < *weight {
                return any_of(&mut self.rng, offers, name);
            }
            drawn -= weight;
        }
        None
    }

    fn learn(&mut self, operation: &'static str, worked: bool) {
        self.learned.add(operation, worked);
    }

    fn learned(&self) -> Option<&Learned> {
        Some(&self.learned)
    }
}
