//! The monitor that asks the server: for servers elsewhere, and for users who cannot read its threads.
//!
//! A look at the server's lock table may be taken before the server has looked for a deadlock, so cycles are
//! searched here ([`crate::locks::waits`]). On MariaDB and old MySQL, and for waits above the storage engine on
//! either, the look may also be older than the server's own decision without any cycle to be seen; there a new wait counts
//! only if a second look, taken right after the first, shows exactly the same. One that has counted before and is still for the
//! same lock needs no second look.
//!
//! Nobody says who is in the way of a wait above the storage engine, and it may be a thread of the server's own: one that purges holds
//! the metadata lock of its table for a moment. So such a wait counts only if it has stood for a while.

use std::{collections::BTreeMap, time::Duration};

use execute::{ConnectError, LockMonitor, SessionId, Settled};
use model::ServerInfo;

use super::lock_waits::LockWaitReader;
use crate::{
    locks::waits::{DeadlockWatch, WaitGraph},
    net::{Address, Login},
};

/// A wait above the storage engine that has stood for so long is for another session.
const STOOD: Duration = Duration::from_millis(30);

/// Since when sessions wait above the storage engine.
#[derive(Debug, Default)]
struct WaitsAbove(BTreeMap<SessionId, Duration>);

impl WaitsAbove {
    /// Has each of these waits stood for long enough?
    fn have_stood(&mut self, above: impl Iterator<Item = SessionId>, now: Duration) -> bool {
        self.0 = above.map(|session| (session, self.0.get(&session).copied().unwrap_or(now))).collect();
        self.0.values().all(|since| now.saturating_sub(*since) >= STOOD)
    }
}

#[derive(Debug)]
pub struct SqlMonitor {
    lock_waits: LockWaitReader,
    judge: DeadlockWatch,
    always_twice: bool,
    /// The last look by which everybody was known to wait.
    proof: WaitGraph,
    above: WaitsAbove,
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
            above: WaitsAbove::default(),
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
        let now = (self.clock)();
        let above = outstanding.iter().copied().filter(|session| first.above.contains(session));
        let stood = self.above.have_stood(above, now);
        let settled = self.judge.look(&first, outstanding, now);
        if settled == Settled::Working || !stood {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_above_the_engine_counts_when_it_has_stood() {
        let mut waits = WaitsAbove::default();
        let mut stood =
            |above: &[SessionId], at: u64| waits.have_stood(above.iter().copied(), Duration::from_millis(at));
        assert!(stood(&[], 0));
        assert!(!stood(&[7], 10) && !stood(&[7], 39) && stood(&[7], 40));
        // Another one begins to wait; the first goes on, and waits again.
        assert!(!stood(&[7, 8], 41) && stood(&[7, 8], 71));
        assert!(stood(&[8], 72) && !stood(&[7, 8], 73));
    }
}
