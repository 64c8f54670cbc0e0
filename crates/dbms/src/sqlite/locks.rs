//! The monitor of a database that never waits: where another product blocks, SQLite answers BUSY at once.

use std::time::Duration;

use execute::{ConnectError, LockMonitor, SessionId, Settled};

/// Says of every statement that it is still at work; its answer is on the way.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWaitMonitor;

impl LockMonitor for NoWaitMonitor {
    fn how(&self) -> &'static str {
        "never"
    }

    fn check(&mut self, _outstanding: &[SessionId]) -> Result<Settled, ConnectError> {
        Ok(Settled::Working)
    }

    fn blockers(&mut self, waiting: &[SessionId]) -> Vec<Vec<SessionId>> {
        vec![Vec::new(); waiting.len()]
    }

    fn patience(&self) -> Duration {
        Duration::from_millis(1)
    }
}
