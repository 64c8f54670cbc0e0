//! Reduces a case while a predicate holds of it: the case stays *interesting*.
//!
//! Whoever asks says what interesting means, most often: the same oracle finds the same fingerprint again. A *layer* lists what
//! could be left out or said more simply; the layers go from coarse to fine, and a *strategy* says which candidate of a layer is
//! tried next. The search goes on with what stays interesting. When no layer finds anything more, or the budget is used up, that is the
//! answer.
//!
//! ```text
//! 31 statements, 3 sessions --transactions--> 22 --statements--> 6 --order, schema--> 1 table, 2 rows
//!     --clauses, expressions, constants--> UPDATE t SET a = 1 --names--> t, a, b, T1, T2
//! ```
//!
//! Everything is done on syntax trees, so every candidate is SQL; a text without a tree is left out whole, or token by token. A
//! candidate that the case file format refuses (a COMMIT without a BEGIN) is never tried, and nothing is tried twice. What a
//! case expects is dropped at the beginning, since it was said about the whole case; only if it is the expectation itself that
//! fails does it stay ([`Scope::KeepExpectations`]), and then hardly anything may be changed.
//!
//! | file | what it holds |
//! |---|---|
//! | `search` | tries candidates, layer by layer, to a fixpoint |
//! | `layers` | what can be reduced, one file each |
//! | `strategy` | which candidate is next, one file each, and what was learned |
//! | `view`, `edit` | a case with its trees, and other cases made of it |
//! | `size` | which of two cases is smaller |

mod edit;
mod layers;
mod names;
mod search;
mod size;
pub mod strategy;
mod view;

use model::Case;

pub use search::reduce;
pub use size::{Size, rows};
pub use strategy::{Learned, Strategy};

/// How much may be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    pub candidates: u64,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { candidates: 4000 }
    }
}

/// What may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything; what the case expects is dropped.
    Whole,
    /// Only steps that expect nothing and rows that no expectation names may go; what the case expects stays.
    KeepExpectations,
}

/// Says which cases are interesting.
pub trait Predicate {
    /// Is this still interesting?
    fn holds(&mut self, case: &Case) -> bool;

    /// Is there no more time?
    fn over(&mut self) -> bool {
        false
    }

    /// Hears of each candidate.
    fn tried(&mut self, _trial: &Trial<'_>) {}
}

impl<F: FnMut(&Case) -> bool> Predicate for F {
    fn holds(&mut self, case: &Case) -> bool {
        self(case)
    }
}

/// A candidate that was tried.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// 1-based index of this attempt.
    pub number: u64,
    /// The layer that it is of.
    pub layer: &'static str,
    pub operation: &'static str,
    /// Was it still interesting?
    pub worked: bool,
    /// The smallest case so far, this one if it worked.
    pub best: &'a Case,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    /// The smallest case found, which is interesting if the given one was.
    pub case: Case,
    /// The interesting ones on the way to it, the largest first.
    pub trail: Vec<Case>,
    /// How many candidates were tried.
    pub tried: u64,
    /// Was the budget enough to know that nothing more can be left out?
    pub finished: bool,
}
