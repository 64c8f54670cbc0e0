//! Why two traces of one case differ: only what a server is free to choose counts as explained.
//!
//! Two sessions woken together race for the next lock, and who wins decides the rest. From the first step at which
//! two or more waited and one woke, a later step may be the first to show it. The victim of a deadlock may differ, and
//! whether the deadlock is reported now, later, or by timeout. Everything else is unexplained, and a fault.

use model::{ErrorClass, Trace};
use serde::Serialize;

/// The server's choice that explains a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// Two or more sessions waited when one woke; who went first decided the rest.
    WokenTogether,
    /// Another victim, or the deadlock was reported at another moment.
    DeadlockVictim,
    /// A lock timeout fell before or after another event.
    LockTimeout,
    /// Nothing that a server may choose.
    Unexplained,
}

impl Why {
    /// All, in the order in which they are tried.
    pub const ALL: [Why; 4] = [Why::WokenTogether, Why::DeadlockVictim, Why::LockTimeout, Why::Unexplained];

    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Why::WokenTogether => "sessions woken together raced",
            Why::DeadlockVictim => "another deadlock victim",
            Why::LockTimeout => "a lock timeout",
            Why::Unexplained => "unexplained",
        }
    }
}

/// Why these two differ; none if they do not.
pub fn why(one: &Trace, two: &Trace) -> Option<Why> {
    let at = one.first_difference(two)?;
    let raced = |trace: &Trace| (0..trace.rounds.len().min(at + 1)).any(|round| raced(trace, round));
    if raced(one) || raced(two) {
        return Some(Why::WokenTogether);
    }
    if has_error(one, at, ErrorClass::Deadlock) || has_error(two, at, ErrorClass::Deadlock) {
        return Some(Why::DeadlockVictim);
    }
    if has_error(one, at, ErrorClass::LockTimeout) || has_error(two, at, ErrorClass::LockTimeout) {
        return Some(Why::LockTimeout);
    }
    Some(Why::Unexplained)
}

/// Two or more waited as the round began, and one of those answered in it.
fn raced(trace: &Trace, round: usize) -> bool {
    let woke = trace.rounds[round].answered.iter().any(|&step| trace.woken_by(step).is_some());
    woke && trace.waiting_before(round) >= 2
}

fn has_error(trace: &Trace, round: usize, class: ErrorClass) -> bool {
    let steps = trace.rounds.get(round).into_iter().flat_map(|round| &round.answered);
    steps.filter_map(|&step| trace.outcomes[step].error()).any(|error| error.class == class)
}
