//! Any operation, and any candidate of it.

use model::Rng;

use super::{Offer, Strategy, any_of, operations};

pub struct Random(pub Rng);

impl Strategy for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn choose(&mut self, offers: &[Offer], _: (usize, usize)) -> Option<usize> {
        if offers.is_empty() {
            return None;
        }
        let operation = *self.0.pick(&operations(offers));
        any_of(&mut self.0, offers, operation)
    }

    fn learn(&mut self, _: &'static str, _: bool) {}
}
