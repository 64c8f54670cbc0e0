//! The monitor that asks the server: for servers elsewhere, and for users who cannot read its threads.
//!
//! A look at the server's lock table may be taken before the server has looked for a deadlock, so cycles are
//! searched here ([`crate::locks::waits`]). On MariaDB and old MySQL, and for waits above the storage engine on
//! either, the look may also be older than the server's own decision without any cycle to be seen; there a new wait counts
//! only if a second look, taken right after the first, shows exactly the same. One that has counted before and is still for the
//! same lock needs no second look.

use std::time::Duration;

use execute::{ConnectError, LockMonitor, SessionId, Settled};
use model::ServerInfo;

use super::lock_waits::LockWaitReader;
use crate::{
    locks::waits::{DeadlockWatch, WaitGraph},
    net::{Address, Login},
};

#[derive(Debug)]
pub struct SqlMonitor {
    lock_waits: LockWaitReader,
    judge: DeadlockWatch,
    always_twice: bool,
    /// The last look by which everybody was known to wait.
    proof: WaitGraph,
    clock: fn() -> Duration,
}

impl SqlMonitor {
    /// Opens a connection of its own. The clock measures only how long a cycle stays.
    pub fn new(
        address: &Address,
        who: &Login,
        info: &ServerInfo,
        clock: fn() -> Duration,
    ) -> Result<SqlMonitor, ConnectError> {
        let lock_waits = LockWaitReader::open(address, who, info)?;
        let always_twice = lock_waits.lags();
        Ok(SqlMonitor {
            lock_waits,
            judge: DeadlockWatch::default(),
            always_twice,
            proof: WaitGraph::default(),
            clock,
        })
    }
}

impl LockMonitor for SqlMonitor {
    fn how(&self) -> &'static str {
        "sql"
    }

    fn check(&mut self, outstanding: &[SessionId]) -> Result<Settled, ConnectError> {
        let first = self.lock_waits.look(outstanding)?;
        let settled = self.judge.look(&first, outstanding, (self.clock)());
        if settled == Settled::Working {
            return Ok(Settled::Working);
        }
        let new = |session: &SessionId| {
            first.above.contains(session) || self.always_twice && !first.same_wait(&self.proof, *session)
        };
        if outstanding.iter().any(new) {
            let second = self.lock_waits.look(outstanding)?;
            if !first.same_for(&second, outstanding) {
                return Ok(Settled::Working);
            }
        }
        self.proof = first;
        Ok(Settled::AllWait)
    }

    fn blockers(&mut self, waiting: &[SessionId]) -> Vec<Vec<SessionId>> {
        WaitGraph::labels(self.lock_waits.look_at_all(waiting), waiting)
    }

    /// A look costs ten times as much as an answer: worth waiting a little for one.
    fn patience(&self) -> Duration {
        Duration::from_micros(100)
    }
}
