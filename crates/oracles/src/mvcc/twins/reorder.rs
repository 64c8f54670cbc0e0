//! Statements that met others: in the twin they come when those are over.

use model::{Open, Reason, RoundCause};

use super::{TwinDraft, Why};

/// The statement is sent behind the one that let it go on, so it does not wait.
pub fn behind_its_blocker(draft: &mut TwinDraft<'_>, step: usize) -> Result<(), Why> {
    let Some(round) = draft.seen.trace.answered_in(step) else { return Err(Reason::NeverAnswered) };
    match round.cause {
        RoundCause::Sent(other) if other == step => Err(Reason::DidNotWait),
        RoundCause::Sent(other) => draft.move_behind(step, other),
        RoundCause::Timeout | RoundCause::RolledBack(_) | RoundCause::Killed(_) => {
            Err(Reason::NoStatementLetItGoOn)
        }
    }
}

/// The statement is sent behind the ends of all transactions that were open beside it.
pub fn behind_the_others(draft: &mut TwinDraft<'_>, step: usize) -> Result<(), Why> {
    let mine = draft.session(step);
    let open = |at: usize| draft.seen.trace.outcomes[at].transaction == Open::Yes;
    let mut last = None;
    for session in (0..draft.seen.case.sessions.len()).filter(|session| *session != mine) {
        let of = |range: std::ops::Range<usize>| {
            range.filter(|at| draft.session(*at) == session).collect::<Vec<usize>>()
        };
        let before = of(0..step);
        if !before.last().is_some_and(|at| open(*at)) {
            continue;
        }
        let end = of(step + 1..draft.seen.case.steps.len()).into_iter().find(|at| !open(*at));
        last = last.max(Some(end.ok_or(Reason::ATransactionWithoutEnd)?));
    }
    draft.move_behind(step, last.ok_or(Reason::NobodyBesideIt)?)
}

/// The transaction of the statement begins behind all that others did before the statement, so that its snapshot shows that.
pub fn snapshot_behind_the_others(draft: &mut TwinDraft<'_>, step: usize) -> Result<(), Why> {
    let mine = draft.session(step);
    let own = |at: &usize| draft.session(*at) == mine;
    let ends = |at: &usize| draft.seen.trace.outcomes[*at].transaction != Open::Yes;
    let before = (0..step).filter(own).rev().take_while(|at| !ends(at)).last();
    let begin = before.unwrap_or(step);
    let other = (begin..step).rev().find(|at| !own(at)).ok_or(Reason::NobodyBesideIt)?;
    draft.move_behind(begin, other)
}
