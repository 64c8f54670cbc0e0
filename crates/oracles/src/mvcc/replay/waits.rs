//! After a round: do those wait that may, and for somebody?

use dialect::contract::Visibility;
use model::{
    Reason, Round, RuleId, Symptom,
    sql::{LockWait, Query, Statement},
    verdict::Response,
};

use super::{Explained, Hypotheses, Rejection, Replay, worse};
use crate::mvcc::hypothesis::Hypothesis;

impl Replay<'_> {
    /// After a round: do those wait that may?
    pub(super) fn settled(&self, mut hypotheses: Hypotheses, round: &Round) -> Explained {
        let mut rejected = None;
        hypotheses.retain(|hypothesis| match self.waits(hypothesis, round) {
            Ok(()) => true,
            Err(rejection) => {
                rejected = worse(rejected.take(), rejection);
                false
            }
        });
        match (hypotheses.is_empty(), rejected) {
            (true, Some(rejected)) => Err(rejected),
            _ => Ok(hypotheses),
        }
    }

    pub(super) fn waits(&self, hypothesis: &Hypothesis, round: &Round) -> Result<(), Rejection> {
        for wait in &round.waiting {
            let step = wait.step;
            let session = self.seen.case.steps[step].session;
            let of = &hypothesis.sessions[session];
            let lasts = of.perhaps_open || of.txn.as_ref().is_some_and(|txn| txn.lasts);
            let rules = self.rules(session).ok_or(Rejection::Undecided(Reason::NoContractAtThisLevel))?;
            if !self.contract.waits {
                return Err(needless(step, RuleId::NothingWaits, false));
            }
            let never = match self.seen.case.tree(step) {
                None => return Err(Rejection::Undecided(Reason::Unparsed)),
                Some(Statement::Query(query)) if query.locks.is_empty() => {
                    let sees = if lasts { rules.read.is } else { rules.single_read.is };
                    (sees != Visibility::Committed).then_some(RuleId::PlainReadTakesNoLocks)
                }
                // The clause does not reach into the queries inside.
                Some(Statement::Query(query)) if no_wait(query) && !self.footprints[step].inner => {
                    Some(RuleId::AskedNotToWait)
                }
                Some(
                    Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_),
                ) => None,
                Some(
                    Statement::Begin(_)
                    | Statement::Commit(_)
                    | Statement::Rollback(_)
                    | Statement::Savepoint(_)
                    | Statement::Release(_),
                ) => Some(RuleId::EndWaitsForNobody),
                Some(_) => return Err(Rejection::Undecided(Reason::SchemaChanged)),
            };
            if let Some(rule) = never {
                return Err(needless(step, rule, false));
            }
        }
        for (session, state) in hypothesis.sessions.iter().enumerate() {
            let (Some(waiting), Some(_)) = (&state.waiting, &state.txn) else { continue };
            if self.blockers(hypothesis, session, waiting.step).next().is_none() {
                return Err(needless(waiting.step, RuleId::WaitNeedsBlocker, true));
            }
        }
        Ok(())
    }
}

fn needless(step: usize, rule: RuleId, nobody_in_the_way: bool) -> Rejection {
    Replay::mismatch(step, Symptom::NeedlessWait, rule, Response::AnAnswer { nobody_in_the_way })
}

/// Is it asked not to wait?
pub(super) fn no_wait(query: &Query) -> bool {
    query.locks.iter().any(|lock| matches!(lock.wait, Some(LockWait::Nowait | LockWait::SkipLocked)))
}
