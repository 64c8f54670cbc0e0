//! Asks the server, over a connection that takes no part in any case, who waits for whom.
//!
//! `pg_blocking_pids` reads the lock table itself: a process is in the queue of a lock, or it is not, and whoever
//! grants it the lock takes it out. It names those who hold the lock and those who stand before it in the queue; the
//! server's own search for deadlocks follows the same two, so a cycle of either is one that it will end, with an error or
//! by changing the order of the queue. `pg_safe_snapshot_blocking_pids` does the same for SERIALIZABLE READ ONLY
//! DEFERRABLE, which waits for no lock but for transactions that run. Everybody may call both.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use execute::{ConnectError, SessionId, ask::demand_rows};
use model::RowSet;

use super::{
    super::session::{PgConnectOptions, PgSession},
    wait_notices::WaitNotices,
};
use crate::{locks::waits::WaitGraph, net::SILENCE};

/// How far blockers of blockers are followed through sessions that are not ours.
const DEPTH: usize = 4;

/// A connection of our own for looking.
#[derive(Debug)]
pub struct LockWaitReader {
    connect: PgConnectOptions,
    control: PgSession,
    /// Sessions that are watched: if they wait, they are asked for anyway.
    ours: BTreeSet<SessionId>,
}

impl LockWaitReader {
    pub fn open(connect: &PgConnectOptions) -> Result<LockWaitReader, ConnectError> {
        let control = PgSession::connect(connect, &WaitNotices::default())?;
        Ok(LockWaitReader { connect: connect.clone(), control, ours: BTreeSet::new() })
    }

    /// This session is one of ours.
    pub fn watch(&mut self, session: SessionId) {
        self.ours.insert(session);
    }

    pub fn forget(&mut self, session: SessionId) {
        self.ours.remove(&session);
    }

    /// Asks for rows; connects anew once if the connection was lost, for a server may end it when it likes.
    pub fn rows(&mut self, sql: &str) -> Result<RowSet, ConnectError> {
        match demand_rows(&mut self.control, sql, SILENCE) {
            Err(ConnectError::Gone) => {
                self.control = PgSession::connect(&self.connect, &WaitNotices::default())?;
                demand_rows(&mut self.control, sql, SILENCE)
            }
            answer => answer,
        }
    }

    /// One look at whether these sessions wait, and for whom.
    pub fn look(&mut self, wanted: &[SessionId]) -> Result<WaitGraph, ConnectError> {
        let mut waits = WaitGraph::default();
        let mut asked: BTreeSet<SessionId> = wanted.iter().copied().collect();
        let mut next: Vec<SessionId> = asked.iter().copied().collect();
        for _ in 0..DEPTH {
            if next.is_empty() {
                break;
            }
            let list: Vec<String> = next.iter().map(SessionId::to_string).collect();
            let rows = self.rows(&format!(
                "SELECT p, array_to_string(pg_blocking_pids(p), ','), \
                 array_to_string(pg_safe_snapshot_blocking_pids(p), ',') FROM unnest(ARRAY[{}]) AS p",
                list.join(", ")
            ))?;
            read(&rows, &mut waits);
            // A stranger may wait for one of ours in turn. A transaction without a session is called 0.
            let blockers: BTreeSet<SessionId> =
                waits.edges.iter().map(|edge| edge.1).filter(|&pid| pid != 0).collect();
            next = blockers.difference(&asked).filter(|pid| !self.ours.contains(pid)).copied().collect();
            asked.extend(&next);
        }
        Ok(waits)
    }
}

/// A session has one transaction at a time, so here the process stands for both.
fn read(rows: &RowSet, waits: &mut WaitGraph) {
    let list = |row, column| -> Vec<u64> {
        let text = String::from_utf8_lossy(rows.cell(row, column).unwrap_or_default());
        text.split(',').filter_map(|pid| pid.parse().ok()).collect()
    };
    for row in 0..rows.len() {
        let Some(&pid) = list(row, 0).first() else { continue };
        let (locks, snapshots) = (list(row, 1), list(row, 2));
        if !locks.is_empty() {
            waits.waiting.insert(pid);
        }
        if !snapshots.is_empty() {
            waits.above.insert(pid);
        }
        let edges: BTreeSet<_> = locks.into_iter().chain(snapshots).map(|blocker| (pid, blocker)).collect();
        let both = edges.iter().flat_map(|edge| [edge.0, edge.1]);
        waits.owners.extend(both.map(|pid| (pid, pid)).collect::<BTreeMap<_, _>>());
        waits.edges.extend(edges);
    }
}

/// How long a cycle is left to a server that looks for deadlocks so long after a wait began. Each waiter looks once, so
/// the last of them has looked after this time, and had half of it to be late.
pub fn give_up(deadlock_timeout: Duration) -> Duration {
    deadlock_timeout.saturating_mul(2) + crate::locks::waits::GIVE_UP
}

#[cfg(test)]
mod tests {
    use model::{Kind, rows::Column};

    use super::*;

    #[test]
    fn an_answer_is_read() {
        let column = || Column { name: String::new(), kind: Kind::Text, type_name: String::new() };
        let mut rows = RowSet::new(vec![column(), column(), column()]);
        for cell in ["7", "8,0", "", "8", "", "", "9", "", "7"] {
            rows.push(Some(cell.as_bytes()));
        }
        let mut waits = WaitGraph::default();
        read(&rows, &mut waits);
        assert!(waits.waits(7) && !waits.waits(8) && waits.waits(9));
        assert_eq!(waits.blockers(7), [0, 8]);
        assert_eq!(waits.blockers(9), [7]);
    }
}
