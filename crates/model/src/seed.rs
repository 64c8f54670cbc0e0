//! Randomness that is passed in: a seed, sub-seeds by label, and a generator whose numbers never change.
//!
//! The generator is xoshiro256++ with our own range and shuffle on top, because libraries change the latter
//! between releases, and the same seed must give the same cases for ever.

use std::{fmt, str::FromStr};

use crate::{hash64, named::stored_as_text};

/// Where all randomness of a run begins. Written `8F2C-91D0-55AE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seed(pub u64);

stored_as_text!(Seed);

const BITS: u64 = (1 << 48) - 1;

impl Seed {
    /// The seed for one purpose: a hash of this seed and a label, never seed + 1.
    pub fn sub(self, label: &str, number: u64) -> u64 {
        // The hash of the label, then two rounds of splitmix64 to spread it.
        mix(mix(self.0 ^ hash64(label.as_bytes())).wrapping_add(number))
    }

    /// A generator for one purpose.
    pub fn rng(self, label: &str, number: u64) -> Rng {
        Rng::new(self.sub(label, number))
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.0 & BITS;
        write!(f, "{:04X}-{:04X}-{:04X}", n >> 32, n >> 16 & 0xffff, n & 0xffff)
    }
}

impl FromStr for Seed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits: String = text.chars().filter(|c| *c != '-').collect();
        u64::from_str_radix(&digits, 16).ok().filter(|n| *n <= BITS).map(Seed).ok_or_else(|| {
            format!("`{text}` is not a seed; write up to twelve hexadecimal digits, such as 8F2C-91D0-55AE")
        })
    }
}

fn mix(n: u64) -> u64 {
    let z = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// A generator of numbers.
#[derive(Clone, Debug)]
pub struct Rng([u64; 4]);

impl Rng {
    /// Begins at this number.
    pub fn new(seed: u64) -> Rng {
        let mut state = seed;
        Rng(std::array::from_fn(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(state)
        }))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.0;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// A number below `n`, each equally likely. `n` must not be zero.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in `a` of `b` cases.
    pub fn ratio(&mut self, a: usize, b: usize) -> bool {
        self.below(b) < a
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Puts them in a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_seed_never_change() {
        let mut rng = Seed(1).rng("cases", 7);
        let drawn: Vec<usize> = (0..6).map(|_| rng.below(1000)).collect();
        expect_test::expect!["[569, 246, 968, 645, 178, 235]"].assert_eq(&format!("{drawn:?}"));
    }

    #[test]
    fn a_seed_reads_as_it_is_written() {
        let seed: Seed = "8F2C-91D0-55AE".parse().unwrap();
        assert_eq!(seed.to_string(), "8F2C-91D0-55AE");
        assert!("one".parse::<Seed>().is_err());
    }
}
