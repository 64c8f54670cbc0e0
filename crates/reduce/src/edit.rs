//! Other cases made of a case.

use model::{Case, sql::Statement};

use crate::view::View;

/// The case without some of its steps. Sessions that have no step left go, too.
pub fn without_steps(case: &Case, drop: impl Fn(usize) -> bool) -> Case {
    let mut smaller = case.clone();
    let mut at = 0;
    smaller.steps.retain(|_| {
        at += 1;
        !drop(at - 1)
    });
    only_used_sessions(&mut smaller);
    smaller
}

/// Drops sessions that have no step.
pub fn only_used_sessions(case: &mut Case) {
    let used: Vec<bool> = (0..case.sessions.len())
        .map(|session| case.steps.iter().any(|step| step.session == session))
        .collect();
    let place = |session: usize| used[..session].iter().filter(|used| **used).count();
    case.steps.iter_mut().for_each(|step| step.session = place(step.session));
    let mut session = 0;
    case.sessions.retain(|_| {
        session += 1;
        used[session - 1]
    });
}

/// The case with another setup.
pub fn with_setup(case: &Case, statements: Vec<String>) -> Case {
    let mut other = case.clone();
    other.setup.statements = statements;
    other
}

/// The case with another statement in its setup.
pub fn with_setup_at(view: View<'_>, at: usize, statement: &Statement) -> Case {
    let mut other = view.case.clone();
    other.setup.statements[at] = view.print(statement);
    other
}

/// The case with another step.
pub fn with_step(view: View<'_>, at: usize, statement: &Statement) -> Case {
    with_text(view.case, at, view.print(statement))
}

/// The case with another text of a step.
pub fn with_text(case: &Case, at: usize, text: String) -> Case {
    let mut other = case.clone();
    other.steps[at].sql = text;
    other
}

/// Pieces of a list of this length, the largest first: halves, quarters, and so on down to pieces of this size.
pub fn pieces(count: usize, least: usize) -> Vec<std::ops::Range<usize>> {
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

/// All lists that lack one item, the last one first; none of them is empty.
pub fn less<T: Clone>(list: &[T]) -> Vec<Vec<T>> {
    let without = |at: usize| {
        let mut less = list.to_vec();
        less.remove(at);
        less
    };
    if list.len() < 2 { Vec::new() } else { (0..list.len()).rev().map(without).collect() }
}
