//! For whom a statement may wait: what others may hold, against what it wants.
//!
//! Which records and gaps a statement locks depends on the path that the server takes, and the manual lets it lock more than the
//! rows explain. So a grip is wide: whatever of its tables a statement can have come upon. Two things make it narrower, and a wait
//! that they exclude is wrong:
//!
//! - It holds or wants shared locks only, and these do not exclude each other.
//! - Its tables, those behind foreign keys included, are other ones.
//!
//! Keys do not: statements with different whole primary keys were seen to wait for each other on every server, through gaps that
//! another's wait or an undone row has left behind.

use model::sql::{LockStrength, Statement};

use super::Replay;
use crate::mvcc::world::{Txn, World};

/// What a statement may hold or want.
struct Grip {
    tables: u64,
    /// Not only shared locks.
    exclusive: bool,
}

impl Replay<'_> {
    /// May a statement wait for a transaction?
    pub(super) fn may_wait(&self, step: usize, other: &Txn) -> bool {
        if other.locking & self.reach[step].tables == 0 {
            return false;
        }
        // Before its first statement: SQLite's BEGIN IMMEDIATE.
        if other.steps.is_empty() {
            return true;
        }
        let wanted = self.grip(step);
        other.steps.iter().any(|&held| wanted.meets(&self.grip(held)))
    }

    /// The sessions for which a statement of this one may wait.
    pub(super) fn blockers(&self, world: &World, session: usize, step: usize) -> impl Iterator<Item = usize> {
        let others = world.sessions.iter().enumerate().filter(move |(other, _)| *other != session);
        others
            .filter(move |(_, state)| {
                state.perhaps_open || state.txn.as_ref().is_some_and(|txn| self.may_wait(step, txn))
            })
            .map(|(other, _)| other)
    }

    /// May a statement of this session close a circle of those that wait for each other?
    pub(super) fn circle(&self, world: &World, session: usize, step: usize) -> bool {
        let mut seen = Vec::new();
        let mut next: Vec<usize> = self.blockers(world, session, step).collect();
        while let Some(other) = next.pop() {
            if other == session {
                return true;
            }
            if seen.contains(&other) {
                continue;
            }
            seen.push(other);
            if let Some(waiting) = &world.sessions[other].waiting {
                next.extend(self.blockers(world, other, waiting.step));
            }
        }
        false
    }

    fn grip(&self, step: usize) -> Grip {
        let tables = self.reach[step].tables;
        let tree = self.trees[step].as_deref();
        let exclusive = match tree {
            Some(Statement::Query(query)) => query.locks.iter().any(|lock| match lock.strength {
                LockStrength::Update | LockStrength::NoKeyUpdate => true,
                LockStrength::Share | LockStrength::KeyShare | LockStrength::InShareMode => false,
            }),
            Some(_) | None => true,
        };
        Grip { tables, exclusive }
    }
}

impl Grip {
    /// May one be in the other's way?
    fn meets(&self, other: &Grip) -> bool {
        self.tables & other.tables != 0 && (self.exclusive || other.exclusive)
    }
}
