//! For whom a statement may wait: what others may hold, against what it wants.
//!
//! Which records and gaps a statement locks depends on the path that the server takes, and the manual lets it lock more than the
//! rows explain. So a lock request is wide: whatever of its tables a statement can have come upon. Two things make it narrower, and a wait
//! that they exclude is wrong:
//!
//! - It holds or wants shared locks only, and these do not exclude each other.
//! - Its tables, those behind foreign keys included, are other ones.
//!
//! Keys do not: statements with different whole primary keys were seen to wait for each other on every server, through gaps that
//! another's wait or an undone row has left behind.

use model::sql::{LockStrength, Statement};

use super::Replay;
use crate::mvcc::hypothesis::{Hypothesis, Txn};

/// What a statement may hold or want.
struct LockRequest {
    tables: u64,
    /// Not only shared locks.
    exclusive: bool,
}

impl Replay<'_> {
    /// May a statement wait for a transaction?
    pub(super) fn may_wait(&self, step: usize, other: &Txn) -> bool {
        if other.locking & self.footprints[step].tables == 0 {
            return false;
        }
        // Before its first statement: SQLite's BEGIN IMMEDIATE.
        if other.steps.is_empty() {
            return true;
        }
        let wanted = self.lock_request(step);
        other.steps.iter().any(|&held| wanted.meets(&self.lock_request(held)))
    }

    /// The sessions for which a statement of this one may wait.
    pub(super) fn blockers(
        &self,
        hypothesis: &Hypothesis,
        session: usize,
        step: usize,
    ) -> impl Iterator<Item = usize> {
        let others = hypothesis.sessions.iter().enumerate().filter(move |(other, _)| *other != session);
        others
            .filter(move |(_, state)| {
                state.perhaps_open || state.txn.as_ref().is_some_and(|txn| self.may_wait(step, txn))
            })
            .map(|(other, _)| other)
    }

    /// May a statement of this session close a circle of those that wait for each other?
    pub(super) fn circle(&self, hypothesis: &Hypothesis, session: usize, step: usize) -> bool {
        let mut seen = Vec::new();
        let mut next: Vec<usize> = self.blockers(hypothesis, session, step).collect();
        while let Some(other) = next.pop() {
            if other == session {
                return true;
            }
            if seen.contains(&other) {
                continue;
            }
            seen.push(other);
            if let Some(waiting) = &hypothesis.sessions[other].waiting {
                next.extend(self.blockers(hypothesis, other, waiting.step));
            }
        }
        false
    }

    fn lock_request(&self, step: usize) -> LockRequest {
        let tables = self.footprints[step].tables;
        let tree = self.seen.case.tree(step);
        let exclusive = match tree {
            Some(Statement::Query(query)) => query.locks.iter().any(|lock| match lock.strength {
                LockStrength::Update | LockStrength::NoKeyUpdate => true,
                LockStrength::Share | LockStrength::KeyShare | LockStrength::InShareMode => false,
            }),
            Some(_) | None => true,
        };
        LockRequest { tables, exclusive }
    }
}

impl LockRequest {
    /// May one be in the other's way?
    fn meets(&self, other: &LockRequest) -> bool {
        self.tables & other.tables != 0 && (self.exclusive || other.exclusive)
    }
}
