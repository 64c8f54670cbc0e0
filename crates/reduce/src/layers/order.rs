//! Simplifies the order: fewer switches between sessions, later BEGINs, earlier COMMITs. What is moved goes beside the next or
//! the last step of its own session, so no session does its own steps in another order.

use std::ops::Range;

use model::Case;

use crate::view::{Candidate, View};

/// With one stretch of a session moved beside its other steps: whole stretches first, then single steps.
pub fn list(view: View<'_>) -> Vec<Candidate> {
    let case = view.case;
    let mut found = Vec::new();
    let stretches = stretches(case);
    let singles = (0..case.steps.len()).map(|at| at..at + 1);
    let single: Vec<Range<usize>> = singles.filter(|piece| !stretches.contains(piece)).collect();
    for piece in stretches.iter().chain(&single) {
        let session = case.steps[piece.start].session;
        let own = |at: &usize| case.steps[*at].session == session;
        if let Some(next) = (piece.end..case.steps.len()).find(own).filter(|next| *next > piece.end) {
            found.push(Candidate { operation: "move later", case: moved(case, piece, next) });
        }
        if let Some(last) = (0..piece.start).rev().find(own).filter(|last| last + 1 < piece.start) {
            found.push(Candidate { operation: "move earlier", case: moved(case, piece, last + 1) });
        }
    }
    found
}

/// Steps in a row of the same session.
fn stretches(case: &Case) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for at in 0..case.steps.len() {
        match found.last_mut() {
            Some(last) if case.steps[last.start].session == case.steps[at].session => last.end = at + 1,
            Some(_) | None => found.push(at..at + 1),
        }
    }
    found
}

/// The case with a piece of its steps in front of what was at this place.
fn moved(case: &Case, piece: &Range<usize>, to: usize) -> Case {
    let mut other = case.clone();
    let taken: Vec<_> = other.steps.drain(piece.clone()).collect();
    let to = if to > piece.start { to - taken.len() } else { to };
    other.steps.splice(to..to, taken);
    other
}
