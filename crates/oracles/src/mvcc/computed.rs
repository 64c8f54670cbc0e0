//! What expressions came to: the orders of a set ask the same of the same rows again and again, and computing it anew costs more
//! than all the rest of judging.
//!
//! It is only a memory: with or without it the same is said. An expression is known by its address, so only those may be asked
//! for that live as long as the memory: parts of the statements and of the schema that lie on the same [`super::desk::Desk`].

use std::{cmp::Ordering, collections::BTreeMap};

use eval::{Datum, Fault};
use model::{SqlType, sql::Expr};

/// So much is remembered before it begins anew.
const MOST: usize = 20_000;

/// What was computed.
#[derive(Debug, Default)]
pub struct Computed {
    /// Conditions, with the columns of their statement.
    pub truths: Memo<usize, Option<bool>>,
    /// Conditions, with the columns of their table.
    pub ranges: Memo<usize, Option<bool>>,
    /// Values.
    pub values: Memo<usize, Datum>,
    /// Which of two values of such a column comes first.
    pub orders: Memo<(SqlType, Option<String>), Ordering>,
}

/// Where an expression is.
pub fn address(expr: &Expr) -> usize {
    std::ptr::from_ref(expr).addr()
}

/// Answers to questions of one kind: what a thing came to for some values.
#[derive(Debug)]
pub struct Memo<K, T> {
    known: BTreeMap<u64, Vec<Entry<K, T>>>,
    count: usize,
}

#[derive(Debug)]
struct Entry<K, T> {
    of: K,
    values: Box<[Datum]>,
    said: Result<T, Fault>,
}

impl<K, T> Default for Memo<K, T> {
    fn default() -> Memo<K, T> {
        Memo { known: BTreeMap::new(), count: 0 }
    }
}

impl<K: PartialEq, T: Clone> Memo<K, T> {
    /// What it came to.
    pub fn get(&self, of: &K, values: &[Datum]) -> Option<Result<T, Fault>> {
        let same = |entry: &&Entry<K, T>| entry.of == *of && identical(&entry.values, values);
        let entries = self.known.get(&digest(values))?;
        entries.iter().find(same).map(|entry| entry.said.clone())
    }

    /// What it comes to.
    pub fn put(&mut self, of: K, values: &[Datum], said: Result<T, Fault>) {
        if self.count >= MOST {
            (self.known, self.count) = Default::default();
        }
        self.count += 1;
        self.known.entry(digest(values)).or_default().push(Entry { of, values: values.into(), said });
    }
}

/// The same in every bit: 0 and -0 are different here.
fn identical(left: &[Datum], right: &[Datum]) -> bool {
    let same = |(left, right): (&Datum, &Datum)| match (left, right) {
        (Datum::Double(left), Datum::Double(right)) => left.to_bits() == right.to_bits(),
        (left, right) => left == right,
    };
    left.len() == right.len() && left.iter().zip(right).all(same)
}

/// A number that is the same for the same values.
fn digest(values: &[Datum]) -> u64 {
    let mut all = 0;
    for value in values {
        match value {
            Datum::Null => mix(&mut all, 1),
            Datum::Bool(b) => mix(&mut all, u64::from(*b)),
            Datum::Int(n) => mix(&mut all, *n as u64),
            Datum::UInt(n) => mix(&mut all, *n),
            Datum::Decimal(d) => mix(&mut all, d.unscaled as u64),
            Datum::Double(d) => mix(&mut all, d.to_bits()),
            Datum::Text(text) => bytes(&mut all, text.as_bytes()),
            Datum::Bytes(of) => bytes(&mut all, of),
            Datum::Date(y, m, d) => mix(&mut all, day(*y, *m, *d)),
            Datum::DateTime(y, m, d, s) => mix(&mut all, day(*y, *m, *d) << 20 | u64::from(*s)),
        }
    }
    all
}

fn day(year: i32, month: u8, day: u8) -> u64 {
    (year as u64) << 16 | u64::from(month) << 8 | u64::from(day)
}

fn bytes(all: &mut u64, of: &[u8]) {
    for chunk in of.chunks(8) {
        mix(all, chunk.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)));
    }
}

fn mix(all: &mut u64, value: u64) {
    *all = (all.rotate_left(23) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_the_same_in_every_bit_is_known() {
        let mut memo: Memo<usize, bool> = Memo::default();
        memo.put(1, &[Datum::Double(0.0), Datum::Null], Ok(true));
        memo.put(1, &[Datum::Text("a".into())], Err(Fault::Unsure("why")));
        assert_eq!(memo.get(&1, &[Datum::Double(0.0), Datum::Null]), Some(Ok(true)));
        assert_eq!(memo.get(&1, &[Datum::Text("a".into())]), Some(Err(Fault::Unsure("why"))));
        assert_eq!(memo.get(&1, &[Datum::Double(-0.0), Datum::Null]), None);
        assert_eq!(memo.get(&1, &[Datum::Bytes(b"a".to_vec())]), None);
        assert_eq!(memo.get(&2, &[Datum::Text("a".into())]), None);
    }
}
