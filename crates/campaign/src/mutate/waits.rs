//! Waits that were none, and waits that are missing.
//!
//! A wait begins in the round in which the statement is sent and ends in the one in which it is answered. One that was none is
//! answered where it was sent. One that is added is answered in a later round, before its session sends anything else; where another
//! session ends a transaction by then, it is that round, for that is what ends waits.

use dialect::sql;
use model::{Case, Rng, RoundCause, Trace, Wait, sql::StatementKind};

use super::{Mutant, pick};

/// One of the two, each as often; the other one where the trace has no place for it.
pub fn flip(case: &Case, trace: &Trace, rng: &mut Rng) -> Option<Mutant> {
    if rng.ratio(1, 2) {
        drop(trace, rng).or_else(|| add(case, trace, rng))
    } else {
        add(case, trace, rng).or_else(|| drop(trace, rng))
    }
}

/// Lets a statement that waited and was answered answer at once.
fn drop(trace: &Trace, rng: &mut Rng) -> Option<Mutant> {
    let mut waits = Vec::new();
    for (began, round) in trace.rounds.iter().enumerate() {
        for wait in &round.waiting {
            let ended = trace.rounds.iter().position(|round| round.answered.contains(&wait.step));
            waits.extend(ended.map(|ended| (began, ended, wait.step)));
        }
    }
    let (began, ended, step) = *pick(rng, &waits)?;
    let mut trace = trace.clone();
    trace.rounds[began].waiting.retain(|wait| wait.step != step);
    trace.rounds[ended].answered.retain(|answered| *answered != step);
    trace.rounds[began].answered.push(step);
    Some(Mutant {
        trace,
        name: "drop-wait",
        step: Some(step),
        what: format!("step {}: did not wait", step + 1),
    })
}

/// Lets a statement on rows that answered at once wait for a while.
fn add(case: &Case, trace: &Trace, rng: &mut Rng) -> Option<Mutant> {
    let kind = |step: usize| {
        let tree = sql::parse(trace.server.product, &case.steps[step].sql).tree();
        tree.map(|tree| tree.kind())
    };
    let session = |step: usize| case.steps[step].session;
    let mut found = Vec::new();
    for (began, round) in trace.rounds.iter().enumerate() {
        let RoundCause::Sent(step) = round.cause else { continue };
        let on_rows = kind(step).is_some_and(StatementKind::is_data);
        if !on_rows || !round.answered.contains(&step) {
            continue;
        }
        let sent = |at: usize| match trace.rounds[at].cause {
            RoundCause::Sent(other) => Some(other),
            RoundCause::Timeout | RoundCause::RolledBack(_) | RoundCause::Killed(_) => None,
        };
        // Until its session sends something, or is ended by us.
        let own = |at: usize| match trace.rounds[at].cause {
            RoundCause::Sent(other) => session(other) == session(step),
            RoundCause::RolledBack(of) | RoundCause::Killed(of) => of == session(step),
            RoundCause::Timeout => false,
        };
        let later: Vec<usize> = (began + 1..trace.rounds.len()).take_while(|at| !own(*at)).collect();
        let ends = later
            .iter()
            .copied()
            .find(|at| sent(*at).and_then(kind).is_some_and(StatementKind::ends_transaction));
        found.extend(ends.or(later.first().copied()).map(|ended| (began, ended, step)));
    }
    let (began, ended, step) = *pick(rng, &found)?;
    let mut trace = trace.clone();
    trace.rounds[began].answered.retain(|answered| *answered != step);
    trace.rounds[began].waiting.push(Wait { step, blockers: Vec::new() });
    trace.rounds[ended].answered.push(step);
    Some(Mutant {
        trace,
        name: "add-wait",
        step: Some(step),
        what: format!("step {}: waited until round {}", step + 1, ended + 1),
    })
}
