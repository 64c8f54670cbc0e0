//! Each interleaving as likely as any other, without listing them.
//!
//! Whoever has more statements left is more likely to be next, in exact proportion: then every interleaving has the same
//! probability, the product of the same factors in another order.

use model::Rng;

use super::{Lane, nth};

pub(super) fn draw(rng: &mut Rng, lanes: &[Lane]) -> Vec<usize> {
    let mut left: Vec<usize> = lanes.iter().map(Vec::len).collect();
    let total: usize = left.iter().sum();
    (0..total)
        .map(|done| {
            let session = nth(&left, rng.below(total - done));
            left[session] -= 1;
            session
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::Seed;

    use super::*;
    use crate::orders::Role;

    #[test]
    fn all_interleavings_are_equally_likely() {
        let lanes = [vec![Role::Read; 3], vec![Role::Read; 2]];
        let mut counts: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        let mut rng = Seed(11).rng("uniform", 0);
        for _ in 0..10_000 {
            *counts.entry(draw(&mut rng, &lanes)).or_default() += 1;
        }
        // Five over two is ten.
        assert_eq!(counts.len(), 10);
        assert!(counts.values().all(|&n| (880..1120).contains(&n)), "{counts:?}");
    }
}
