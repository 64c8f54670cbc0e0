//! What is counted, per schema on disk and per target in the summary.
//!
//! One line of fixed width per schema: it is written over after each case, in place, so that it is never half there and the
//! file grows by one line per schema.

use serde::{Deserialize, Serialize};

use crate::Trace;

/// Declares the counts, which go to disk in this order.
macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// Counts of cases.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Tally { $($(#[$doc])* pub $name: u64,)+ }

        const FIELDS: usize = [$(stringify!($name)),+].len();

        impl Tally {
            fn fields(&self) -> [u64; FIELDS] {
                [$(self.$name),+]
            }

            fn of([$($name),+]: [u64; FIELDS]) -> Tally {
                Tally { $($name),+ }
            }
        }
    };
}

counts! {
    cases,
    /// Sets of transactions begun; the cases of a set differ in their order only.
    sets,
    /// Schemas begun.
    schemas,
    /// Cases in which a statement waited or had an error that only another transaction can cause.
    conflicts,
    /// Cases about which an oracle could not say anything.
    undecided,
    /// Statements sent.
    statements,
    /// Statements that the server refused, whatever the reason.
    failed,
    /// Of these, those that only another transaction can cause.
    failed_by_others,
    /// Statements that waited.
    waits,
    /// Cases that could not be set up.
    refused,
    /// Suspicions that no clean run showed again.
    flaky,
}

const WIDTH: usize = 8;

/// The length of a line on disk, its end included.
pub const LINE: usize = FIELDS * WIDTH;

impl Tally {
    /// As a line of fixed width.
    pub fn line(&self) -> String {
        let mut line: String = self.fields().iter().map(|field| format!("{field:>7} ")).collect();
        line.pop();
        line.push('\n');
        line
    }

    /// Reads such a line; none if it is not one.
    pub fn read(line: &[u8]) -> Option<Tally> {
        let text = std::str::from_utf8(line.get(..LINE)?).ok()?;
        let mut fields = [0; FIELDS];
        let mut numbers = text.split_ascii_whitespace();
        for field in &mut fields {
            *field = numbers.next()?.parse().ok()?;
        }
        Some(Tally::of(fields))
    }

    pub fn add(&mut self, more: &Tally) {
        self.replace(&Tally::default(), more);
    }

    /// Takes a newer count of the same thing for an older one.
    pub fn replace(&mut self, older: &Tally, newer: &Tally) {
        let (own, old, new) = (self.fields(), older.fields(), newer.fields());
        let sum: [u64; FIELDS] =
            std::array::from_fn(|i| own[i].saturating_add(new[i]).saturating_sub(old[i]));
        *self = Tally::of(sum);
    }

    /// Counts what a trace shows.
    pub fn trace(&mut self, trace: &Trace) {
        let waits: usize = trace.rounds.iter().map(|round| round.waiting.len()).sum();
        let errors = || trace.outcomes.iter().filter_map(|outcome| outcome.error());
        let by_others = errors().filter(|error| error.class.by_concurrency()).count();
        self.statements += trace.outcomes.len() as u64;
        self.failed += errors().count() as u64;
        self.failed_by_others += by_others as u64;
        self.waits += waits as u64;
        self.conflicts += u64::from(waits > 0 || by_others > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_as_it_was_written() {
        let tally =
            Tally { cases: 500, sets: 50, schemas: 1, statements: 4321, flaky: 2, ..Tally::default() };
        assert_eq!(tally.line().len(), LINE);
        assert_eq!(Tally::read(tally.line().as_bytes()), Some(tally));
        assert_eq!(Tally::read(&[0; LINE]), None);
        assert_eq!(Tally::read(b"1 2"), None);
    }
}
