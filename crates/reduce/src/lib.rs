//! Makes a case smaller while it stays interesting.
//!
//! Whoever asks says what interesting means, most often: the same oracle finds the same fingerprint again. A *pass* lists what
//! could be left out, the largest pieces first; each candidate is tried, and what stays interesting is gone on with. When no pass
//! finds anything more to leave out, or the budget is used up, that is the answer.
//!
//! ```text
//! 31 statements, 3 sessions --drop T3--> 22 --drop steps--> 6 --drop rows, columns, indexes, tables--> done
//! ```
//!
//! Steps are left out whole, and a step without a syntax tree can only be left out. Setups are changed on their syntax trees;
//! what has none is left out whole or stays. A candidate that the case file format refuses (a COMMIT without a BEGIN) is never
//! tried. What a case expects is dropped at the beginning: it was said about the whole case.

mod names;
mod passes;
mod size;

use std::collections::BTreeSet;

use model::{Case, Product, casefile};

pub use size::Size;

/// How much may be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// So many candidates at most.
    pub candidates: u64,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { candidates: 400 }
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    /// The smallest case found, which is interesting if the given one was.
    pub case: Case,
    /// So many candidates were tried.
    pub tried: u64,
    /// Was the budget enough to know that nothing more can be left out?
    pub finished: bool,
}

/// Makes a case of a product smaller. The same case, product, budget and answers give the same result.
pub fn reduce(
    case: &Case,
    product: Product,
    interesting: &mut dyn FnMut(&Case) -> bool,
    budget: Budget,
) -> Reduced {
    let case = bare(case);
    let writable = casefile::print(&case).is_ok();
    let mut search = Search {
        product,
        writable,
        case,
        interesting,
        left: budget.candidates,
        tried: 0,
        known: BTreeSet::new(),
    };
    search.known.insert(key(&search.case));
    let mut finished = false;
    while !finished && search.left > 0 {
        let before = Size::of(&search.case);
        passes::ALL.iter().for_each(|pass| search.pass(*pass));
        finished = search.left > 0 && Size::of(&search.case) == before;
    }
    Reduced { case: search.case, tried: search.tried, finished }
}

/// The case without what it expects.
fn bare(case: &Case) -> Case {
    let mut bare = case.clone();
    bare.steps.iter_mut().for_each(|step| step.expect.clear());
    bare.final_state.clear();
    bare.fails.clear();
    bare
}

struct Search<'a> {
    product: Product,
    /// Can the case be written as a file? If so, it stays that way.
    writable: bool,
    case: Case,
    interesting: &'a mut dyn FnMut(&Case) -> bool,
    left: u64,
    tried: u64,
    /// What was tried already, so that it is not tried again.
    known: BTreeSet<Key>,
}

impl Search<'_> {
    /// Tries what a pass lists. After a success the list is made anew, and gone on with at the same place.
    fn pass(&mut self, pass: passes::Pass) {
        let mut at = 0;
        let mut candidates = pass(&self.case, self.product);
        while self.left > 0 && at < candidates.len() {
            let candidate = std::mem::take(&mut candidates[at]);
            if self.accepts(&candidate) {
                self.case = candidate;
                candidates = pass(&self.case, self.product);
            } else {
                at += 1;
            }
        }
    }

    fn accepts(&mut self, candidate: &Case) -> bool {
        if candidate.steps.is_empty()
            || Size::of(candidate) >= Size::of(&self.case)
            || !self.known.insert(key(candidate))
            || self.writable && casefile::print(candidate).is_err()
        {
            return false;
        }
        self.left -= 1;
        self.tried += 1;
        (self.interesting)(candidate)
    }
}

/// What tells two candidates apart: sessions, setup and steps.
type Key = (Vec<String>, Vec<String>, Vec<(usize, String)>);

fn key(case: &Case) -> Key {
    let steps = case.steps.iter().map(|step| (step.session, step.sql.clone()));
    let sessions = case.sessions.iter().map(|session| session.name.clone());
    (sessions.collect(), case.setup.statements.clone(), steps.collect())
}
