//! The monitor that asks the server: for servers elsewhere, and for users who may not watch its processes.
//!
//! PostgreSQL looks for a deadlock only after a wait has lasted `deadlock_timeout`, one second by default. Until then a
//! cycle stands in its lock table, so cycles are searched here ([`crate::locks::waits`]) and left to the server for more
//! than that time. The processes are looked at one after another, so where several are outstanding their waits count only if a
//! second look, taken right after the first, shows exactly the same.
//!
//! Who looks first after a cycle has closed is the victim. Where `deadlock_timeout` could be set to a moment, a new wait
//! counts only when that moment has passed, so that whoever waited before has looked already and the one that closes the
//! cycle is the victim, as with `proc`. Where the session may hear the server's notices of waits ([`super::wait_notices`]), one of
//! them says so, and the lock table is not asked before it has come; elsewhere twice that moment is waited for. Where
//! `deadlock_timeout` could not be set, the victim is the server's choice.

use std::time::Duration;

use execute::{ConnectError, LockMonitor, SessionId, Settled};

use super::{
    super::session::PgConnectOptions,
    lock_waits::{LockWaitReader, give_up},
    proc::learn,
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
    /// The line in which a process says that it still waits, where sessions hear it.
    line: Option<String>,
    /// How long a wait must have been seen before it counts, if nothing was heard of it.
    age: Duration,
    clock: fn() -> Duration,
}

impl SqlMonitor {
    /// Opens a connection of its own, as `plain` says. Sessions come in as `heard` says if they hear of their waits. The clock
    /// measures only how long a cycle stays, and how old a wait is.
    pub fn new(
        plain: &PgConnectOptions,
        heard: Option<&PgConnectOptions>,
        notices: &WaitNotices,
        deadlock_timeout: Duration,
        clock: fn() -> Duration,
    ) -> Result<SqlMonitor, ConnectError> {
        Ok(SqlMonitor {
            lock_waits: LockWaitReader::open(plain)?,
            line: heard.map(learn).transpose()?,
            judge: DeadlockWatch::new(give_up(deadlock_timeout)),
            notices: notices.clone(),
            age: if deadlock_timeout <= SOON { 2 * deadlock_timeout } else { Duration::ZERO },
            clock,
        })
    }

    /// Has this process said that it waits, after it had looked for a deadlock? None if nothing was heard of its statement.
    fn says(&self, session: SessionId) -> Option<bool> {
        let line = self.line.as_ref()?;
        self.notices.last(session).map(|last| last == *line)
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
        // Where waits are heard of, the lock table is asked when there is something to ask.
        let silent = |session: &SessionId| {
            now.saturating_sub(self.notices.outstanding_since(*session, now)) < self.age
        };
        let unheard = |session: &SessionId| match self.says(*session) {
            Some(waits) => !waits,
            None => self.line.is_some() && silent(session),
        };
        if outstanding.iter().filter(|session| unheard(session)).count() > 0 {
            return Ok(Settled::Working);
        }
        if settled(&mut self.lock_waits, &mut self.judge, outstanding, now)? == Settled::Working {
            return Ok(Settled::Working);
        }
        // Every one of them is noted, not only the first that is young.
        let young = |session: &&SessionId| {
            self.says(**session).is_none()
                && now.saturating_sub(self.notices.waits_since(**session, now)) < self.age
        };
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

/// Do all of these sessions wait, by two looks that show the same if there are several?
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
    // Of one process a single look tells whether it is in the queue of a lock.
    if outstanding.len() == 1 && first.above.is_empty() {
        return Ok(Settled::AllWait);
    }
    let second = source.look(outstanding)?;
    Ok(if first.same_for(&second, outstanding) { Settled::AllWait } else { Settled::Working })
}
