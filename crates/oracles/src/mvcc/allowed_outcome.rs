//! What a statement may answer, and what it then does to the hypothesis.

use std::sync::Arc;

use eval::Datum;
use model::{ErrorClass, Reply, RowSet};
use smallvec::{SmallVec, smallvec};

use super::{
    deviations::KnownDeviation,
    hypothesis::{Lock, TxnId},
    schema::Values,
};

/// What comes back.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// These rows, in any order.
    Rows(Vec<Values>),
    /// Some of these rows.
    Among(Vec<Values>),
    /// These rows, and at least one of them twice.
    Twice(Vec<Values>),
    /// One of these counts of affected rows, and so many matched.
    Done(Vec<u64>, Option<u64>),
    /// An error of this class.
    Error(ErrorClass),
    /// Whatever it is, it is not checked.
    Anything,
}

impl Expected {
    /// Is it the same? Where most rows are, their values need not be looked at.
    pub fn same(&self, other: &Expected) -> bool {
        match (self, other) {
            (Expected::Rows(one), Expected::Rows(two)) => {
                let alike = |(one, two): (&Values, &Values)| Arc::ptr_eq(one, two) || one == two;
                one.len() == two.len() && one.iter().zip(two).all(alike)
            }
            (one, two) => one == two,
        }
    }
}

/// What a statement does to a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// New values, or none.
    Put {
        /// The table.
        table: usize,
        /// The row.
        row: usize,
        /// The values; none deletes it.
        data: Option<Values>,
        /// Are they those that were there?
        noop: bool,
    },
    /// A new row.
    Insert {
        /// The table.
        table: usize,
        /// Its values.
        data: Values,
    },
}

/// One way in which it may go.
#[derive(Clone, Debug)]
pub struct AllowedOutcome {
    /// The answer.
    pub reply: Expected,
    /// The changes.
    pub effects: Vec<Effect>,
    /// The rows that stay locked.
    pub locks: Vec<Lock>,
    /// Does it keep others out of what it selected?
    pub range: bool,
    /// Does it take the transaction's snapshot, and of which moment?
    pub opens_view: Option<u32>,
    /// The deviation that it needs.
    pub by: Option<&'static KnownDeviation>,
    /// Others that it should have waited for.
    pub due: Vec<TxnId>,
}

impl AllowedOutcome {
    /// An answer without any change.
    pub fn only(reply: Expected) -> AllowedOutcome {
        AllowedOutcome {
            reply,
            effects: Vec::new(),
            locks: Vec::new(),
            range: false,
            opens_view: None,
            by: None,
            due: Vec::new(),
        }
    }

    /// An error.
    pub fn error(class: ErrorClass) -> AllowedOutcome {
        AllowedOutcome::only(Expected::Error(class))
    }

    /// Is this what came?
    pub fn fits(&self, reply: &Reply) -> bool {
        match (&self.reply, reply) {
            (Expected::Anything, Reply::Rows(_) | Reply::Done { .. }) => true,
            // What is not known may also be what a condition or a column cannot be computed from.
            (Expected::Anything, Reply::Error(error)) => {
                matches!(error.class, ErrorClass::Range | ErrorClass::Runtime)
            }
            (Expected::Rows(expected), Reply::Rows(rows)) => {
                rows.len() == expected.len() && covers(expected, rows)
            }
            (Expected::Among(expected), Reply::Rows(rows)) => covers(expected, rows),
            (Expected::Twice(expected), Reply::Rows(rows)) => {
                let mut twice = expected.clone();
                twice.extend(expected.iter().cloned());
                rows.len() > expected.len() && covers(&twice, rows) && holds_all(expected, rows)
            }
            (Expected::Done(counts, matched), Reply::Done { affected, matched: said }) => {
                counts.contains(affected)
                    && match (matched, said) {
                        (Some(expected), Some(said)) => expected == said,
                        _ => true,
                    }
            }
            (Expected::Error(class), Reply::Error(error)) => *class == error.class,
            _ => false,
        }
    }
}

impl AllowedOutcome {
    /// Where a row breaks a unique key and a foreign key at once, either is said.
    pub fn fits_either(&self, reply: &Reply) -> bool {
        let either = [ErrorClass::DuplicateKey, ErrorClass::Constraint];
        match (&self.reply, reply) {
            (Expected::Error(class), Reply::Error(error)) => {
                either.contains(class) && either.contains(&error.class)
            }
            _ => false,
        }
    }
}

/// Is each row of the result one of those expected, each of these used once?
pub fn covers<R: AsRef<[Datum]>>(expected: &[R], rows: &RowSet) -> bool {
    if expected.iter().any(|row| row.as_ref().len() != rows.columns().len()) {
        return false;
    }
    let mut used: SmallVec<[bool; 16]> = smallvec![false; expected.len()];
    // All before this one are: most results come in the order in which they are expected.
    let mut first = 0;
    (0..rows.len()).all(|row| {
        let is = |i: usize| {
            !used[i] && rows.row(row).zip(expected[i].as_ref()).all(|(cell, datum)| eval::same(&cell, datum))
        };
        let Some(found) = (first..expected.len()).find(|i| is(*i)) else { return false };
        used[found] = true;
        while used.get(first) == Some(&true) {
            first += 1;
        }
        true
    })
}

/// Is each row that was expected in the result?
fn holds_all(expected: &[Values], rows: &RowSet) -> bool {
    expected.iter().all(|wanted| {
        let is =
            |row: usize| wanted.iter().enumerate().all(|(at, datum)| eval::same(&rows.value(row, at), datum));
        (0..rows.len()).any(is)
    })
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let row = |row: &Values| {
            let cells: Vec<String> = row.iter().map(show).collect();
            format!("({})", cells.join(", "))
        };
        let rows = |rows: &Vec<Values>| match rows.is_empty() {
            true => "no rows".to_string(),
            false => rows.iter().map(row).collect::<Vec<_>>().join(" "),
        };
        match self {
            Expected::Rows(list) => f.write_str(&rows(list)),
            Expected::Among(list) => write!(f, "some of {}", rows(list)),
            Expected::Twice(list) => write!(f, "{}, some of them twice", rows(list)),
            Expected::Done(counts, matched) => {
                let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
                match counts.join(" or ").as_str() {
                    "1" => f.write_str("1 row")?,
                    counts => write!(f, "{counts} rows")?,
                }
                matched.map_or(Ok(()), |matched| write!(f, " ({matched} matched)"))
            }
            Expected::Error(class) => write!(f, "error {class}"),
            Expected::Anything => f.write_str("anything"),
        }
    }
}

/// A value for people.
pub fn show(datum: &Datum) -> String {
    use dialect::sql::print_expr;
    // Its constants are the plainest to read.
    const PLAIN: model::Product = dialect::mysql::DIALECT.product;
    match datum {
        Datum::Null => "NULL".into(),
        datum => print_expr(PLAIN, &datum.literal(PLAIN)),
    }
}
