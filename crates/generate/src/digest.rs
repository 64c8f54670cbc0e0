//! One number for many cases, which tells whether two machines made the same ones.

use std::fmt;

use model::Hash64;

/// A hash over the text of cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(Hash64);

impl Digest {
    /// Takes one more text.
    pub fn add(&mut self, text: &str) {
        self.0.add(text.as_bytes());
        self.0.add(&[0]);
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0.get())
    }
}
