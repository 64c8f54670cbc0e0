//! Drops a session, drops a whole transaction, from what begins it to what ends it, and lets one session do the work of two.

use model::sql::StatementKind;

use crate::{
    edit::{only_used_sessions, without_steps},
    view::{Candidate, View},
};

/// Without one of the sessions, the last one first.
pub fn sessions(view: View<'_>) -> Vec<Candidate> {
    let steps = &view.case.steps;
    let without = |session: usize| Candidate {
        operation: "drop session",
        case: without_steps(view.case, |step| steps[step].session == session),
    };
    (0..view.case.sessions.len()).rev().map(without).collect()
}

/// Without one of the transactions.
pub fn whole(view: View<'_>) -> Vec<Candidate> {
    let without = |span: Vec<usize>| Candidate {
        operation: "drop transaction",
        case: without_steps(view.case, |step| span.contains(&step)),
    };
    spans(view).into_iter().rev().map(without).collect()
}

/// With the steps of one session given to another.
pub fn merged(view: View<'_>) -> Vec<Candidate> {
    let count = view.case.sessions.len();
    let mut found = Vec::new();
    for from in (0..count).rev() {
        for to in (0..count).filter(|to| *to != from) {
            let mut case = view.case.clone();
            case.steps.iter_mut().filter(|step| step.session == from).for_each(|step| step.session = to);
            only_used_sessions(&mut case);
            found.push(Candidate { operation: "merge sessions", case });
        }
    }
    found
}

/// The steps of each explicit transaction, first and last included; one that nothing ends goes on to the session's last step.
pub fn spans(view: View<'_>) -> Vec<Vec<usize>> {
    let steps = &view.case.steps;
    let mut spans: Vec<Vec<usize>> = Vec::new();
    for session in 0..view.case.sessions.len() {
        let mut open: Option<Vec<usize>> = None;
        for step in (0..steps.len()).filter(|step| steps[*step].session == session) {
            match view.step(step).map(|statement| statement.kind()) {
                Some(StatementKind::Begin) => {
                    spans.extend(open.take());
                    open = Some(vec![step]);
                }
                Some(StatementKind::Commit | StatementKind::Rollback) => {
                    if let Some(mut span) = open.take() {
                        span.push(step);
                        spans.push(span);
                    }
                }
                Some(_) | None => open.iter_mut().for_each(|span| span.push(step)),
            }
        }
        spans.extend(open);
    }
    spans
}
