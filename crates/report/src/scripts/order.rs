//! The real order of a run, as scripts follow it: what is sent when, what is waited for, and what comes back then.

use model::RoundCause;

use crate::bug_report::BugReport;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Send a step; it answers.
    Run(usize),
    /// Send a step; it waits. So many wait now.
    Begin(usize, usize),
    /// A step that waited comes back.
    Back(usize),
    /// Roll back what a session has left open.
    RollBack(usize),
    /// A wait ended by its own time limit, or by a KILL: nothing that a script should repeat as it is.
    Ends(usize),
}

/// What there is to do, in order.
pub fn acts(bug: &BugReport) -> Vec<Act> {
    let mut acts = Vec::new();
    let mut waiting = 0;
    for round in &bug.execution.trace.rounds {
        let sent = match round.cause {
            RoundCause::Sent(step) => Some(step),
            RoundCause::RolledBack(session) => {
                acts.push(Act::RollBack(session));
                None
            }
            RoundCause::Timeout | RoundCause::Killed(_) => None,
        };
        let forced = matches!(round.cause, RoundCause::Timeout | RoundCause::Killed(_));
        waiting += round.waiting.len();
        waiting -=
            round.answered.iter().filter(|&&step| bug.execution.trace.waited(step)).count().min(waiting);
        if let Some(step) = sent {
            match round.answered.contains(&step) {
                true => acts.push(Act::Run(step)),
                false => acts.push(Act::Begin(step, waiting)),
            }
        }
        for &step in round.answered.iter().filter(|&&step| Some(step) != sent) {
            acts.push(if forced { Act::Ends(step) } else { Act::Back(step) });
        }
    }
    acts
}
