//! Other cases made of a case.

use model::{
    Case,
    sql::{Expr, Query, Statement, VisitMut},
};

use crate::view::{Candidate, View};

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

/// Something with a change, and what was done; none if it was so already.
pub fn changed<T: Clone + PartialEq>(
    of: &T,
    operation: &'static str,
    change: impl FnOnce(&mut T),
) -> Option<(&'static str, T)> {
    let mut other = of.clone();
    change(&mut other);
    (other != *of).then_some((operation, other))
}

/// The case with one of its steps, or of its setup, said in other ways, and what was done.
pub fn each_statement(
    view: View<'_>,
    step: impl Fn(&Statement) -> Vec<(&'static str, Statement)>,
    setup: impl Fn(&Statement) -> Vec<(&'static str, Statement)>,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    for at in 0..view.case.steps.len() {
        let others = view.step(at).map(|tree| step(&tree)).unwrap_or_default();
        found.extend(
            others
                .into_iter()
                .map(|(operation, other)| Candidate { operation, case: with_step(view, at, &other) }),
        );
    }
    for (at, tree) in view.setup_trees() {
        found.extend(
            setup(&tree)
                .into_iter()
                .map(|(operation, other)| Candidate { operation, case: with_setup_at(view, at, &other) }),
        );
    }
    found
}

/// Puts something else at one place of a walk: an expression or a query.
pub struct Put<T> {
    /// How many come before it.
    pub before: usize,
    pub other: Option<T>,
}

impl<T> Put<T> {
    fn visit(&mut self, place: &mut T) {
        if self.before > 0 {
            self.before -= 1;
        } else if let Some(other) = self.other.take() {
            *place = other;
        }
    }
}

impl VisitMut for Put<Expr> {
    fn expr(&mut self, expr: &mut Expr) {
        self.visit(expr);
    }
}

impl VisitMut for Put<Query> {
    fn query(&mut self, query: &mut Query) {
        self.visit(query);
    }
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
