//! The passes, one file each, in the order in which they are tried: whoever drops most comes first.

mod brackets;
mod chunks;
mod columns;
mod keys;
mod rows;
mod sessions;
mod setup;
mod steps;
mod tables;
mod transactions;

use model::{Case, Product};

/// Lists smaller cases, the smallest first where that is possible.
pub type Pass = fn(&Case, Product) -> Vec<Case>;

/// All of them.
pub const ALL: [Pass; 10] = [
    sessions::list,
    transactions::list,
    chunks::list,
    steps::list,
    brackets::list,
    tables::list,
    rows::list,
    keys::list,
    columns::list,
    setup::list,
];

/// The case without some of its steps. Sessions that have no step left go, too.
fn without_steps(case: &Case, drop: impl Fn(usize) -> bool) -> Case {
    let mut smaller = case.clone();
    let mut at = 0;
    smaller.steps.retain(|_| {
        at += 1;
        !drop(at - 1)
    });
    let used: Vec<bool> = (0..case.sessions.len())
        .map(|session| smaller.steps.iter().any(|step| step.session == session))
        .collect();
    let place = |session: usize| used[..session].iter().filter(|used| **used).count();
    smaller.steps.iter_mut().for_each(|step| step.session = place(step.session));
    let mut session = 0;
    smaller.sessions.retain(|_| {
        session += 1;
        used[session - 1]
    });
    smaller
}

/// The case with another setup.
fn with_setup(case: &Case, statements: Vec<String>) -> Case {
    let mut smaller = case.clone();
    smaller.setup.statements = statements;
    smaller
}

/// Pieces of a list of so many, the largest first: halves, quarters, and so on down to pieces of this size.
fn pieces(count: usize, least: usize) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut size = count / 2;
    while size >= least && size > 0 {
        // From the end: what comes last is needed least.
        let mut end = count;
        while end > 0 {
            let start = end.saturating_sub(size);
            found.push(start..end);
            end = start;
        }
        size /= 2;
    }
    found
}
