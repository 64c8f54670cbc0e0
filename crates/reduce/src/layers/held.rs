//! Drops a session that makes another's statement wait half-way, and lets that statement hold what it holds by a transaction.
//!
//! A statement that waits keeps its locks and shows its changes as one in an open transaction does. Where that is all that the
//! wait is good for, a BEGIN is the simpler reason; the statement may have to come earlier for it, and a COMMIT at the end.

use model::{
    Case, Step,
    sql::{Begin, Commit, Statement},
};

use super::{statements::PAIRED, transactions::spans};
use crate::{
    edit::without_steps,
    view::{Candidate, View},
};

/// Without a session, and with a statement of another that stands alone in a transaction of its own.
pub fn list(view: View<'_>) -> Vec<Candidate> {
    let case = view.case;
    let mut found = Vec::new();
    // With fewer sessions there is nobody left to wait for.
    if case.sessions.len() < 3 || case.steps.len() > PAIRED {
        return found;
    }
    for gone in (0..case.sessions.len()).rev() {
        let less = without_steps(case, |step| case.steps[step].session == gone);
        let inside = spans(View { case: &less, reader: view.reader }).concat();
        for step in (0..less.steps.len()).filter(|step| !inside.contains(step)) {
            for to in places(&less, step) {
                for ends in [false, true] {
                    let case = held(view, &less, step, to, ends);
                    found.push(Candidate { operation: "drop session, hold", case });
                }
            }
        }
    }
    found
}

/// Where the step can stand without passing by others of its session, the later ones first.
fn places(case: &Case, step: usize) -> Vec<usize> {
    let session = case.steps[step].session;
    let last = (0..step).rev().find(|at| case.steps[*at].session == session);
    (last.map_or(0, |last| last + 1)..=step).rev().collect()
}

fn held(view: View<'_>, case: &Case, step: usize, to: usize, ends: bool) -> Case {
    let mut other = case.clone();
    let own = other.steps.remove(step);
    let said =
        |statement: Statement| Step { session: own.session, sql: view.print(&statement), expect: Vec::new() };
    let (begin, commit) = (said(Statement::Begin(Begin::plain())), said(Statement::Commit(Commit::plain())));
    other.steps.splice(to..to, [begin, own]);
    other.steps.extend(ends.then_some(commit));
    other
}
