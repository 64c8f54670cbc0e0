//! Drops statements: many in a row first, as delta debugging does, then single ones, then those that only make sense together.

use model::sql::{Statement, StatementKind};

use super::transactions::spans;
use crate::{
    edit::{pieces, without_steps},
    view::{Candidate, View},
};

/// Without a piece of the schedule: halves, quarters, and so on, down to two.
pub fn pieces_of_many(view: View<'_>) -> Vec<Candidate> {
    let without = |piece: std::ops::Range<usize>| Candidate {
        operation: "drop several statements",
        case: without_steps(view.case, |step| piece.contains(&step)),
    };
    pieces(view.case.steps.len(), 2).into_iter().map(without).collect()
}

/// Without one of the steps, the last one first.
pub fn single(view: View<'_>) -> Vec<Candidate> {
    let without = |step: usize| Candidate {
        operation: match view.step(step) {
            Some(statement) => dropped(&statement),
            None => "drop what has no tree",
        },
        case: without_steps(view.case, |at| at == step),
    };
    (0..view.case.steps.len()).rev().map(without).collect()
}

/// At most this many steps, since there are many more pairs than steps.
pub const PAIRED: usize = 12;

/// Without two of the steps, in a case that is small already: some only go together.
pub fn pairs(view: View<'_>) -> Vec<Candidate> {
    let count = view.case.steps.len();
    let mut found = Vec::new();
    if count > PAIRED {
        return found;
    }
    for second in (0..count).rev() {
        for first in (0..second).rev() {
            let case = without_steps(view.case, |at| at == first || at == second);
            found.push(Candidate { operation: "drop two statements", case });
        }
    }
    found
}

/// Whether a kind of statement can go is worth learning.
fn dropped(statement: &Statement) -> &'static str {
    match statement.kind() {
        StatementKind::Begin => "drop BEGIN",
        StatementKind::Commit => "drop COMMIT",
        StatementKind::Rollback => "drop ROLLBACK",
        StatementKind::Savepoint => "drop SAVEPOINT",
        StatementKind::Select => "drop SELECT",
        StatementKind::LockingSelect => "drop locking SELECT",
        StatementKind::Insert => "drop INSERT",
        StatementKind::Update => "drop UPDATE",
        StatementKind::Delete => "drop DELETE",
        StatementKind::Ddl => "drop DDL",
        StatementKind::LockTable => "drop LOCK TABLE",
        StatementKind::Set => "drop SET",
    }
}

/// Without what begins and what ends one of the transactions: each statement between is then one of its own.
pub fn brackets(view: View<'_>) -> Vec<Candidate> {
    let without = |span: Vec<usize>| {
        let ends = [span.first().copied(), span.last().copied()];
        let case = without_steps(view.case, |step| ends.contains(&Some(step)));
        Candidate { operation: "drop BEGIN and COMMIT", case }
    };
    spans(view).into_iter().rev().filter(|span| span.len() > 2).map(without).collect()
}

/// At most this many statements are worth a try outside of their transaction.
const ALONE: usize = 3;

/// Without what begins and what ends one of the transactions, and all that was between done at once, at some moment of its life.
pub fn at_once(view: View<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for span in spans(view).into_iter().rev() {
        let (Some(first), Some(last)) = (span.first().copied(), span.last().copied()) else { continue };
        let ended = view.step(last).is_some_and(|tree| tree.kind().ends_transaction());
        let inner = &span[1..if ended { span.len() - 1 } else { span.len() }];
        if inner.is_empty() || inner.len() > ALONE {
            continue;
        }
        // In front of each step of another session between its first and its last.
        for at in (first + 1..=last).filter(|at| !span.contains(at)).chain([last + 1]) {
            let mut case = view.case.clone();
            let moved: Vec<_> = inner.iter().map(|step| case.steps[*step].clone()).collect();
            case.steps.splice(at..at, moved);
            let place = |step: usize| if step < at { step } else { step + inner.len() };
            let gone: Vec<usize> = span.iter().map(|step| place(*step)).collect();
            let case = without_steps(&case, |step| gone.contains(&step));
            found.push(Candidate { operation: "transaction at once", case });
        }
    }
    found
}

/// Without all statements of a session about savepoints of one name.
pub fn savepoints(view: View<'_>) -> Vec<Candidate> {
    let mut about: Vec<((usize, String), Vec<usize>)> = Vec::new();
    for (at, step) in view.case.steps.iter().enumerate() {
        let Some(name) = view.step(at).and_then(|statement| savepoint(&statement)) else { continue };
        let of = (step.session, name);
        match about.iter_mut().find(|(known, _)| *known == of) {
            Some((_, steps)) => steps.push(at),
            None => about.push((of, vec![at])),
        }
    }
    let without = |(_, steps): ((usize, String), Vec<usize>)| Candidate {
        operation: "drop savepoint",
        case: without_steps(view.case, |step| steps.contains(&step)),
    };
    about.into_iter().rev().filter(|(_, steps)| steps.len() > 1).map(without).collect()
}

/// The savepoint that a statement is about.
fn savepoint(statement: &Statement) -> Option<String> {
    match statement {
        Statement::Savepoint(name) => Some(name.name.to_ascii_lowercase()),
        Statement::Release(target) => Some(target.name.name.to_ascii_lowercase()),
        Statement::Rollback(rollback) => rollback.to.as_ref().map(|to| to.name.name.to_ascii_lowercase()),
        _ => None,
    }
}
