//! What a statement may answer, and what it then does to the hypothesis.

use std::sync::Arc;

use eval::Datum;
use model::{ErrorClass, Reply, RowSet, rows::Column, value::Kind, verdict::Response};
use smallvec::{SmallVec, smallvec};

use super::{
    deviations::KnownDeviation,
    hypothesis::{Lock, TxnId},
    schema::Values,
};

#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// These rows, in any order.
    Rows(Vec<Values>),
    /// Some of these rows.
    Among(Vec<Values>),
    /// These rows, and at least one of them twice.
    Twice(Vec<Values>),
    /// One of these counts of affected rows, and this many matched.
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
    Put {
        table: usize,
        row: usize,
        /// The values; none deletes it.
        data: Option<Values>,
        /// Are they those that were there?
        noop: bool,
    },
    Insert {
        table: usize,
        data: Values,
    },
}

/// One way in which it may go.
#[derive(Clone, Debug)]
pub struct AllowedOutcome {
    pub reply: Expected,
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

impl Expected {
    /// As data for a verdict; rows have the columns of what came, where those are as many.
    pub fn response(&self, came: &Reply) -> Response {
        let like = match came {
            Reply::Rows(rows) => Some(rows),
            _ => None,
        };
        match self {
            Expected::Rows(list) => Response::Rows(row_set(list, like)),
            Expected::Among(list) => Response::SomeOf(row_set(list, like)),
            Expected::Twice(list) => Response::SomeTwice(row_set(list, like)),
            Expected::Done(counts, matched) => {
                Response::Count { affected: counts.clone(), matched: *matched }
            }
            Expected::Error(class) => Response::Error(*class),
            Expected::Anything => Response::Anything,
        }
    }
}

/// Rows as a server would send them, in columns like these.
pub fn row_set<R: AsRef<[Datum]>>(rows: &[R], like: Option<&RowSet>) -> RowSet {
    let wide = rows.first().map(|row| row.as_ref().len());
    let columns = match like.filter(|like| wide.is_none_or(|wide| wide == like.columns().len())) {
        Some(like) => like.columns().to_vec(),
        None => rows.first().map_or(Vec::new(), |row| row.as_ref().iter().map(column).collect()),
    };
    let mut set = RowSet::new(columns);
    for datum in rows.iter().flat_map(|row| row.as_ref()) {
        set.push(bytes(datum).as_deref());
    }
    set
}

fn column(datum: &Datum) -> Column {
    let kind = match datum {
        Datum::Int(_) | Datum::UInt(_) => Kind::Integer,
        Datum::Decimal(_) => Kind::Decimal,
        Datum::Double(_) => Kind::Float,
        Datum::Text(_) => Kind::Text,
        Datum::Bytes(_) => Kind::Bytes,
        Datum::Date(..) | Datum::DateTime(..) => Kind::Time,
        Datum::Null | Datum::Bool(_) => Kind::Other,
    };
    Column { name: String::new(), kind, type_name: String::new() }
}

fn bytes(datum: &Datum) -> Option<Vec<u8>> {
    Some(match datum {
        Datum::Null => return None,
        Datum::Bool(is) => if *is { "t" } else { "f" }.into(),
        Datum::Int(n) => n.to_string().into(),
        Datum::UInt(n) => n.to_string().into(),
        Datum::Decimal(n) => n.to_string().into(),
        Datum::Double(n) => n.to_string().into(),
        Datum::Text(text) => text.clone().into(),
        Datum::Bytes(bytes) => bytes.clone(),
        Datum::Date(y, m, d) => eval::dates::day_text(*y, *m, *d).into(),
        Datum::DateTime(y, m, d, s) => eval::dates::moment_text(*y, *m, *d, *s).into(),
    })
}

pub fn show(datum: &Datum) -> String {
    use dialect::sql::print_expr;
    // Its constants are the plainest to read.
    const PLAIN: model::Product = dialect::mysql::DIALECT.product;
    match datum {
        Datum::Null => "NULL".into(),
        datum => print_expr(PLAIN, &datum.literal(PLAIN)),
    }
}
