//! The monitor that asks the server: for servers elsewhere, and for users who may not hear its notices.
//!
//! PostgreSQL looks for a deadlock only after a wait has lasted `deadlock_timeout`, one second by default. Until then a
//! cycle stands in its lock table, so cycles are searched here ([`crate::locks::waits`]) and left to the server for more
//! than that time. The processes are looked at one after another, so a wait counts only if a second look, taken right
//! after the first, shows exactly the same.
//!
//! Who looks first after a cycle has closed is the victim. Where `deadlock_timeout` could be set to a moment, a new wait
//! counts only when that moment has passed, so that whoever waited before has looked already and the one that closes the
//! cycle is the victim, as with `proc`. Where it could not, the victim is the server's choice.

use std::time::Duration;

use execute::{ConnectError, LockMonitor, SessionId, Settled};

use super::{
    super::session::PgConnectOptions,
    lock_waits::{LockWaitReader, give_up},
    wait_notices::WaitNotices,
};
use crate::locks::waits::{DeadlockWatch, WaitGraph};

/// Searches for deadlocks that come sooner than this are awaited.
const SOON: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub struct SqlMonitor {
    lock_waits: LockWaitReader,
    judge: DeadlockWatch,
    notices: WaitNotices,
    /// How long a wait must have been seen before it counts.
    age: Duration,
    clock: fn() -> Duration,
}

impl SqlMonitor {
    /// Opens a connection of its own. The clock measures only how long a cycle stays, and how old a wait is.
    pub fn new(
        connect: &PgConnectOptions,
        notices: &WaitNotices,
        deadlock_timeout: Duration,
        clock: fn() -> Duration,
    ) -> Result<SqlMonitor, ConnectError> {
        Ok(SqlMonitor {
            lock_waits: LockWaitReader::open(connect)?,
            judge: DeadlockWatch::new(give_up(deadlock_timeout)),
            notices: notices.clone(),
            age: if deadlock_timeout <= SOON { 2 * deadlock_timeout } else { Duration::ZERO },
            clock,
        })
    }
}

impl LockMonitor for SqlMonitor {
    fn how(&self) -> &'static str {
        "sql"
    }

    fn watch(&mut self, session: SessionId) -> Result<(), ConnectError> {
        self.lock_waits.watch(session);
        Ok(())
    }

    fn forget(&mut self, session: SessionId) {
        self.lock_waits.forget(session);
    }

    fn check(&mut self, outstanding: &[SessionId]) -> Result<Settled, ConnectError> {
        let now = (self.clock)();
        if settled(&mut self.lock_waits, &mut self.judge, outstanding, now)? == Settled::Working {
            return Ok(Settled::Working);
        }
        // Every one of them is noted, not only the first that is young.
        let young =
            |session: &&SessionId| now.saturating_sub(self.notices.waits_since(**session, now)) < self.age;
        Ok(if outstanding.iter().filter(young).count() == 0 { Settled::AllWait } else { Settled::Working })
    }

    fn blockers(&mut self, waiting: &[SessionId]) -> Vec<Vec<SessionId>> {
        WaitGraph::labels(self.lock_waits.look(waiting), waiting)
    }

    /// A look costs ten times as much as an answer: worth waiting a little for one.
    fn patience(&self) -> Duration {
        Duration::from_micros(100)
    }
}

/// Do all of these sessions wait, by two looks that show the same?
pub fn settled(
    source: &mut LockWaitReader,
    judge: &mut DeadlockWatch,
    outstanding: &[SessionId],
    now: Duration,
) -> Result<Settled, ConnectError> {
    let first = source.look(outstanding)?;
    if judge.look(&first, outstanding, now) == Settled::Working {
        return Ok(Settled::Working);
    }
    let second = source.look(outstanding)?;
    Ok(if first.same_for(&second, outstanding) { Settled::AllWait } else { Settled::Working })
}
