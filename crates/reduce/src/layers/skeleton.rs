//! All that many findings come down to: one session does something in a transaction, another comes upon it, and the transaction
//! ends or is left open. Any two statements of a small case are tried like that.
//!
//! A case may hold its locks and put its statements off in other ways: by a statement that waits half-way for a third session, by a
//! deadlock that ends a transaction. None of that can go alone, and a BEGIN that takes its place makes nothing smaller alone.

use model::{
    Case, Step,
    sql::{Begin, Commit, Statement},
};

use super::statements::PAIRED;
use crate::{
    edit::only_used_sessions,
    view::{Candidate, View},
};

/// With nothing but two statements of two sessions, the first of them in a transaction.
pub fn list(view: View<'_>) -> Vec<Candidate> {
    let steps = &view.case.steps;
    let mut found = Vec::new();
    if steps.len() > PAIRED {
        return found;
    }
    let works: Vec<usize> = (0..steps.len()).filter(|step| works(view, *step)).collect();
    for second in works.iter().rev() {
        for first in works.iter().rev().filter(|first| steps[**first].session != steps[*second].session) {
            for ends in [false, true] {
                let case = bones(view, *first, *second, ends);
                found.push(Candidate { operation: "two statements", case });
            }
        }
    }
    found
}

/// Does it read or write, rather than begin or end something?
fn works(view: View<'_>, step: usize) -> bool {
    view.step(step).is_some_and(|tree| tree.kind().is_data())
}

fn bones(view: View<'_>, first: usize, second: usize, ends: bool) -> Case {
    let steps = &view.case.steps;
    let step = |statement: Statement| Step {
        session: steps[first].session,
        sql: view.print(&statement),
        expect: Vec::new(),
    };
    let mut case = view.case.clone();
    let begin = step(Statement::Begin(Begin::plain()));
    case.steps = vec![begin, steps[first].clone(), steps[second].clone()];
    case.steps.extend(ends.then(|| step(Statement::Commit(Commit::plain()))));
    only_used_sessions(&mut case);
    case
}
