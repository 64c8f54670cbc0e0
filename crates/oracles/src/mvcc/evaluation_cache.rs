//! A cache of evaluated expressions. The cases of a set evaluate the same expressions over the same rows again and again, and that would cost
//! more than all the rest of judging.
//!
//! With or without the cache the verdict is the same. The key of an expression is its address, so only expressions may be looked up that
//! live as long as the cache: parts of the statements and of the schema in the same [`super::schema_cache::StatementCache`]. The key
//! of a row is its address, too; the cache holds the row, so that no other row can get that address. Equal rows are stored once,
//! so that they have the same address in all cases.

use std::{
    cmp::Ordering,
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
    sync::Arc,
};

use eval::{Datum, Fault};
use model::{
    SqlType,
    sql::{Expr, Query},
};

use super::schema::Values;

/// At most this many entries of each kind; then that kind is emptied.
const MOST: usize = 20_000;

#[derive(Debug, Default)]
pub struct EvaluationCache {
    /// Conditions, with the columns of their statement.
    pub truths: ByRow<Option<bool>>,
    /// Conditions, with the columns of their table.
    pub ranges: ByRow<Option<bool>>,
    /// What a SELECT shows of a row of its one table.
    pub projected: ByRow<Values>,
    /// What assignments make of a row of their one table.
    pub assigned: ByRow<Values>,
    /// Does a join of two tables take this row of each?
    pub pairs: ByPair,
    /// Conditions over rows of several tables.
    pub joins: Memo<usize, Option<bool>>,
    pub values: Memo<usize, Datum>,
    /// Which of two values of such a column comes first.
    pub orders: Memo<(SqlType, Option<String>), Ordering>,
    /// Rows of INSERT that are made of constants.
    pub made: Places<Result<Values, Fault>>,
    /// Which columns a SELECT reads, as bits.
    pub reads: Places<u64>,
    /// The queries inside an expression. They are expressions that are asked for themselves: so they stay to the end.
    pub inner: Places<Arc<[Query]>>,
    rows: Known<u64, Vec<Values>>,
    kept: usize,
}

impl EvaluationCache {
    /// The one copy of a row.
    pub fn keep(&mut self, row: Vec<Datum>) -> Values {
        if self.kept >= MOST {
            (self.rows, self.kept) = Default::default();
        }
        let same = self.rows.entry(digest(&row)).or_default();
        if let Some(known) = same.iter().find(|known| identical(known.iter(), &row)) {
            return known.clone();
        }
        let row = Values::from(row);
        same.push(row.clone());
        self.kept += 1;
        row
    }
}

/// The address of something that does not move.
pub fn address<T: ?Sized>(of: &T) -> usize {
    std::ptr::from_ref(of).addr()
}

/// A cache by address.
pub type Places<T> = Known<usize, T>;

/// A map that is never iterated, so that nothing depends on its order.
pub type Known<K, V> = HashMap<K, V, Plain>;

/// Results of an expression for a row, both by address.
#[derive(Debug)]
pub struct ByRow<T> {
    /// What is the same for every row.
    pub foreseen: Places<Result<(), Fault>>,
    known: Known<(usize, usize), CachedRow<T>>,
}

/// The row, held, and the result.
type CachedRow<T> = (Values, Result<T, Fault>);

impl<T> Default for ByRow<T> {
    fn default() -> ByRow<T> {
        ByRow { foreseen: Known::default(), known: Known::default() }
    }
}

impl<T: Clone> ByRow<T> {
    pub fn get(&self, of: usize, row: &Values) -> Option<Result<T, Fault>> {
        self.known.get(&(of, place(row))).map(|(_, said)| said.clone())
    }

    pub fn put(&mut self, of: usize, row: &Values, said: Result<T, Fault>) {
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert((of, place(row)), (row.clone(), said));
    }
}

/// Results of an expression for a pair of rows, all by address.
#[derive(Debug, Default)]
pub struct ByPair {
    known: Known<(usize, usize, usize), CachedPair>,
}

/// Two rows, held, and the result.
type CachedPair = ([Values; 2], Result<bool, Fault>);

impl ByPair {
    pub fn get(&self, of: usize, [left, right]: [&Values; 2]) -> Option<Result<bool, Fault>> {
        self.known.get(&(of, place(left), place(right))).map(|(_, said)| said.clone())
    }

    pub fn put(&mut self, of: usize, [left, right]: [&Values; 2], said: Result<bool, Fault>) {
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert((of, place(left), place(right)), ([left.clone(), right.clone()], said));
    }
}

fn place(row: &Values) -> usize {
    Arc::as_ptr(row).cast::<Datum>().addr()
}

/// Results by a key and by values.
#[derive(Debug)]
pub struct Memo<K, T> {
    known: Known<u64, Vec<Entry<K, T>>>,
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
        Memo { known: Known::default(), count: 0 }
    }
}

impl<K, T: Clone> Memo<K, T> {
    pub fn get<'v>(
        &self,
        of: impl Fn(&K) -> bool,
        values: impl IntoIterator<Item = &'v Datum> + Clone,
    ) -> Option<Result<T, Fault>> {
        let same = |entry: &&Entry<K, T>| of(&entry.of) && identical(&entry.values, values.clone());
        let entries = self.known.get(&digest(values.clone()))?;
        entries.iter().find(same).map(|entry| entry.said.clone())
    }

    pub fn put(&mut self, of: K, values: &[Datum], said: Result<T, Fault>) {
        if self.count >= MOST {
            (self.known, self.count) = Default::default();
        }
        self.count += 1;
        self.known.entry(digest(values)).or_default().push(Entry { of, values: values.into(), said });
    }
}

/// The same in every bit: 0 and -0 are different here.
fn identical<'l, 'r>(
    left: impl IntoIterator<Item = &'l Datum>,
    right: impl IntoIterator<Item = &'r Datum>,
) -> bool {
    let same = |left: &Datum, right: &Datum| match (left, right) {
        (Datum::Double(left), Datum::Double(right)) => left.to_bits() == right.to_bits(),
        (left, right) => left == right,
    };
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            (Some(left), Some(right)) if same(left, right) => {}
            (Some(_), Some(_)) | (Some(_), None) | (None, Some(_)) => return false,
        }
    }
}

/// A number that is the same for the same values.
fn digest<'v>(values: impl IntoIterator<Item = &'v Datum>) -> u64 {
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
    let (words, rest) = of.as_chunks::<8>();
    words.iter().for_each(|word| mix(all, u64::from_le_bytes(*word)));
    mix(all, rest.iter().fold(1, |number, byte| number << 8 | u64::from(*byte)));
}

fn mix(all: &mut u64, value: u64) {
    *all = (all.rotate_left(23) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
}

/// For keys that are numbers, which nobody chose to do harm.
type Plain = BuildHasherDefault<Mixed>;

#[derive(Debug, Default)]
pub struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, of: &[u8]) {
        bytes(&mut self.0, of);
    }

    fn write_u64(&mut self, number: u64) {
        mix(&mut self.0, number);
    }

    fn write_usize(&mut self, number: usize) {
        mix(&mut self.0, number as u64);
    }

    /// Tables look at the lowest bits, and those of a product know the least.
    fn finish(&self) -> u64 {
        self.0.rotate_left(32)
    }
}

/// Is it the same expression?
pub fn at(of: &Expr) -> impl Fn(&usize) -> bool + use<> {
    let of = address(of);
    move |known| *known == of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_the_same_in_every_bit_is_known() {
        let mut memo: Memo<usize, bool> = Memo::default();
        memo.put(1, &[Datum::Double(0.0), Datum::Null], Ok(true));
        memo.put(1, &[Datum::Text("a".into())], Err(Fault::unsure("why")));
        let get = |of: usize, values: &[Datum]| memo.get(|known| *known == of, values);
        assert_eq!(get(1, &[Datum::Double(0.0), Datum::Null]), Some(Ok(true)));
        assert_eq!(get(1, &[Datum::Text("a".into())]), Some(Err(Fault::unsure("why"))));
        assert_eq!(get(1, &[Datum::Double(-0.0), Datum::Null]), None);
        assert_eq!(get(1, &[Datum::Double(0.0)]), None);
        assert_eq!(get(1, &[Datum::Bytes(b"a".to_vec())]), None);
        assert_eq!(get(2, &[Datum::Text("a".into())]), None);
    }

    #[test]
    fn equal_rows_are_one_row_and_others_are_not() {
        let mut computed = EvaluationCache::default();
        let one = computed.keep(vec![Datum::Int(1), Datum::Double(0.0)]);
        let again = computed.keep(vec![Datum::Int(1), Datum::Double(0.0)]);
        let other = computed.keep(vec![Datum::Int(1), Datum::Double(-0.0)]);
        assert!(Arc::ptr_eq(&one, &again) && !Arc::ptr_eq(&one, &other));
        computed.truths.put(7, &one, Ok(Some(true)));
        assert_eq!(computed.truths.get(7, &again), Some(Ok(Some(true))));
        assert_eq!(computed.truths.get(7, &other), None);
        assert_eq!(computed.truths.get(8, &one), None);
    }
}
