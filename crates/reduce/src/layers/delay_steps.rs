//! Drops what makes a session wait, and sends what had to wait with it later.
//!
//! A step behind one that waits takes effect when that one has come back, perhaps much later than it was sent. Without the wait
//! it would be too early, so neither can the wait go nor does moving the step make the case smaller: only both together do.

use model::Case;

use super::statements::PAIRED;
use crate::{
    edit::without_steps,
    view::{Candidate, View},
};

/// Without some steps of a session, and with its next ones later; the same without another session, which may be all that goes.
pub fn list(view: View<'_>) -> Vec<Candidate> {
    let case = view.case;
    let mut found = Vec::new();
    if case.steps.len() > PAIRED {
        return found;
    }
    // With fewer there is nobody left to wait for.
    if case.sessions.len() > 2 {
        for session in (0..case.sessions.len()).rev() {
            let less = without_steps(case, |step| case.steps[step].session == session);
            found.extend(shorter(&less, 0).into_iter().map(|case| candidate("drop session, later", case)));
        }
    }
    found.extend(shorter(case, 1).into_iter().map(|case| candidate("drop statements, later", case)));
    found
}

fn candidate(operation: &'static str, case: Case) -> Candidate {
    Candidate { operation, case }
}

/// Without at least `least` steps of a session in a row, and with its next ones later. A deadlock takes the whole transaction with
/// it that waits, so all up to the wait goes first.
fn shorter(case: &Case, least: usize) -> Vec<Case> {
    let mut found = Vec::new();
    for session in 0..case.sessions.len() {
        let own: Vec<usize> =
            (0..case.steps.len()).filter(|step| case.steps[*step].session == session).collect();
        for next in least..own.len() {
            for first in 0..=next - least {
                let gone = &own[first..next];
                let less = without_steps(case, |step| gone.contains(&step));
                found.extend(later(&less, own[next] - gone.len()));
            }
        }
    }
    found
}

/// The case with a step, and what its session does after it, behind each of the later steps of others.
fn later(case: &Case, from: usize) -> Vec<Case> {
    let session = case.steps[from].session;
    let behind = (from + 1..case.steps.len()).filter(|step| case.steps[*step].session != session);
    let put = |behind: usize| {
        let mut other = case.clone();
        let stretch = other.steps.splice(from..=behind, []).collect::<Vec<_>>();
        let (own, others): (Vec<_>, Vec<_>) = stretch.into_iter().partition(|step| step.session == session);
        other.steps.splice(from..from, others.into_iter().chain(own));
        other
    };
    behind.map(put).collect()
}
