//! The real order of a run, as scripts follow it: what is sent when, what is waited for, and what comes back then.
//!
//! A case that stalls is ended by Isopod, and what comes then nobody sees who runs the case without it. So a script ends at the stall, unless what is
//! wrong came only after it: then it rolls back whom Isopod rolled back, and says so. A KILL is never repeated.

use model::RoundCause;

use crate::bug_report::BugReport;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Send a step; it answers.
    Run(usize),
    /// Send a step; it waits. So many wait now.
    Begin(usize, usize),
    /// A step that waited comes back, perhaps by its own time limit.
    Back(usize),
    /// Roll back what a session has left open in the end.
    RollBack(usize),
    /// The same where nothing moves any more: it is not in the case, and Isopod did so.
    Unblock(usize),
    /// Nothing moves any more: these steps wait, and nobody ends it.
    Stall(Vec<usize>),
}

/// What there is to do, in order.
pub fn acts(bug: &BugReport) -> Vec<Act> {
    let trace = &bug.execution.trace;
    let mut acts = Vec::new();
    let mut waiting = 0;
    let needed = needed(bug);
    // The round that shows what is wrong, if that came after a stall: what we did until then led there.
    let shows = |step: usize| trace.rounds.iter().position(|round| round.answered.contains(&step));
    let wrong = match came_after_stall(bug) {
        true => bug.finding.violation.step.and_then(shows).map_or(usize::MAX, |round| round + 1),
        false => 0,
    };
    for (at, round) in trace.rounds.iter().enumerate() {
        if at >= needed {
            acts.push(Act::Stall(trace.standing_waits()));
            break;
        }
        let sent = match round.cause {
            RoundCause::Sent(step) => Some(step),
            RoundCause::RolledBack(session) => {
                acts.push(if at < wrong { Act::Unblock(session) } else { Act::RollBack(session) });
                None
            }
            RoundCause::Timeout | RoundCause::Killed(_) => None,
        };
        waiting += round.waiting.len();
        waiting -= round.answered.iter().filter(|&&step| trace.waited(step)).count().min(waiting);
        if let Some(step) = sent {
            match round.answered.contains(&step) {
                true => acts.push(Act::Run(step)),
                false => acts.push(Act::Begin(step, waiting)),
            }
        }
        acts.extend(round.answered.iter().filter(|&&step| Some(step) != sent).map(|&step| Act::Back(step)));
    }
    acts
}

/// How many rounds a script repeats: those before the stall, or all where what is wrong came after it and only rollbacks led there.
fn needed(bug: &BugReport) -> usize {
    let (trace, violation) = (&bug.execution.trace, &bug.finding.violation);
    let Some(stall) = trace.stalled_at() else { return trace.rounds.len() };
    match came_after_stall(bug) && trace.rolled_back_before(violation.step).is_some() {
        true => trace.rounds.len(),
        false => stall,
    }
}

/// Did what is wrong come only after Isopod had ended a stall?
pub fn came_after_stall(bug: &BugReport) -> bool {
    let (trace, violation) = (&bug.execution.trace, &bug.finding.violation);
    !violation.is_a_wait() && violation.step.map_or(trace.stalled, |step| trace.answered_after_stall(step))
}
