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

/// Without some steps of a session, and with its next ones later; without a session, and with steps of another later.
pub fn list(view: View<'_>) -> Vec<Candidate> {
    let case = view.case;
    let steps = &case.steps;
    let mut found = Vec::new();
    if steps.len() > PAIRED {
        return found;
    }
    // With fewer there is nobody left to wait for.
    if case.sessions.len() > 2 {
        for gone in (0..case.sessions.len()).rev() {
            let less = without_steps(case, |step| steps[step].session == gone);
            for from in (0..less.steps.len()).rev() {
                found.extend(
                    later(&less, from).into_iter().map(|case| candidate("drop session, later", case)),
                );
            }
        }
    }
    for session in 0..case.sessions.len() {
        let own: Vec<usize> = (0..steps.len()).filter(|step| steps[*step].session == session).collect();
        // A deadlock takes the whole transaction with it that waits, so all up to the wait goes first.
        for next in 1..own.len() {
            for first in 0..next {
                let gone = &own[first..next];
                let less = without_steps(case, |step| gone.contains(&step));
                let cases = later(&less, own[next] - gone.len());
                found.extend(cases.into_iter().map(|case| candidate("drop statements, later", case)));
            }
        }
    }
    found
}

fn candidate(operation: &'static str, case: Case) -> Candidate {
    Candidate { operation, case }
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
