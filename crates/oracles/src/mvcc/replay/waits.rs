//! After a round: do those wait that may, and for somebody?

use dialect::contract::Sees;
use model::{
    Round,
    sql::{LockWait, Query, Statement},
};

use super::{Accounts, Dead, Replay, Worlds, worse};
use crate::mvcc::world::World;

impl Replay<'_> {
    /// After a round: do those wait that may?
    pub(super) fn settled(&self, mut worlds: Accounts, round: &Round) -> Worlds {
        let mut dead = None;
        worlds.retain(|world| match self.waits(world, round) {
            Ok(()) => true,
            Err(death) => {
                dead = worse(dead.take(), death);
                false
            }
        });
        match (worlds.is_empty(), dead) {
            (true, Some(dead)) => Err(dead),
            _ => Ok(worlds),
        }
    }

    pub(super) fn waits(&self, world: &World, round: &Round) -> Result<(), Dead> {
        for wait in &round.waiting {
            let step = wait.step;
            let session = self.seen.case.steps[step].session;
            let of = &world.sessions[session];
            let lasts = of.perhaps_open || of.txn.as_ref().is_some_and(|txn| txn.lasts);
            let rules = self.rules(session).ok_or(Dead::Unsure("no-contract-at-this-level"))?;
            if !self.contract.waits {
                return Err(self.broken(
                    step,
                    "needless-wait",
                    "nothing waits here: a conflict is an error at once",
                    "an answer".into(),
                ));
            }
            let never = match self.trees[step].as_deref() {
                None => return Err(Dead::Unsure("unparsed")),
                Some(Statement::Query(query)) if query.locks.is_empty() => {
                    let sees = if lasts { rules.read.is } else { rules.single_read.is };
                    (sees != Sees::Committed).then_some("a plain read takes no locks")
                }
                // The clause does not reach into the queries inside.
                Some(Statement::Query(query)) if no_wait(query) && !self.reach[step].inner => {
                    Some("it was asked not to wait")
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
                ) => Some("the end of a transaction waits for nobody"),
                Some(_) => return Err(Dead::Unsure("schema-changed")),
            };
            if let Some(rule) = never {
                return Err(self.broken(step, "needless-wait", rule, "an answer".into()));
            }
        }
        for (session, state) in world.sessions.iter().enumerate() {
            let (Some(waiting), Some(_)) = (&state.waiting, &state.txn) else { continue };
            if self.blockers(world, session, waiting.step).next().is_none() {
                return Err(self.broken(
                    waiting.step,
                    "needless-wait",
                    "a wait is for another transaction that is open and in the way",
                    "an answer: no other transaction can be in its way".into(),
                ));
            }
        }
        Ok(())
    }
}

/// Is it asked not to wait?
pub(super) fn no_wait(query: &Query) -> bool {
    query.locks.iter().any(|lock| matches!(lock.wait, Some(LockWait::Nowait | LockWait::SkipLocked)))
}
