//! Asks the server, over a connection that takes no part in any case, who waits for whom.
//!
//! Two servers, two ways. MySQL from 8.0 has `performance_schema.data_lock_waits`; its columns with thread
//! numbers name the thread that CREATED a lock, which for a lock that a later request made visible is the
//! wrong one, so transactions are matched by their own numbers, and to sessions by their table locks, which
//! nobody else creates for them. Everything else is read from `SHOW ENGINE INNODB STATUS`, which is complete
//! on MariaDB and on MySQL up to 5.7, while 9.7 leaves out waiters that have written nothing. The views of
//! information_schema on transactions and waits come from a cache of 100 ms and are of no use here.
//! Waits for a lock above the storage engine show only in the list of processes.

use std::collections::BTreeSet;

use execute::{ConnectError, SessionId, ask::demand_rows};
use model::{Product, RowSet, ServerInfo, Version};

use super::{super::session::MysqlSession, innodb_status};
use crate::{
    locks::waits::Waits,
    net::{Address, Login, SILENCE},
};

const LOCK_WAITS: &str = "\
SELECT 'w', REQUESTING_ENGINE_TRANSACTION_ID, BLOCKING_ENGINE_TRANSACTION_ID FROM performance_schema.data_lock_waits \
UNION ALL \
SELECT DISTINCT 't', ENGINE_TRANSACTION_ID, t.PROCESSLIST_ID FROM performance_schema.data_locks \
JOIN performance_schema.threads t USING (THREAD_ID) WHERE LOCK_TYPE = 'TABLE' \
UNION ALL \
SELECT 'm', PROCESSLIST_ID, 0 FROM performance_schema.threads WHERE PROCESSLIST_ID IS NOT NULL AND \
(PROCESSLIST_STATE LIKE 'Waiting for %lock' OR PROCESSLIST_STATE IN ('Waiting for table flush', 'User lock'))";

const STATUS: &str = "SHOW ENGINE INNODB STATUS";

const ABOVE: &str = "SELECT ID FROM information_schema.processlist WHERE \
STATE LIKE 'Waiting for %lock' OR STATE IN ('Waiting for table flush', 'User lock')";

/// Where the waits are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    /// performance_schema.data_lock_waits
    LockWaits,
    /// SHOW ENGINE INNODB STATUS
    Status,
}

/// Where it says which thread of the operating system serves which session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tells {
    /// information_schema.processlist: MariaDB.
    Processlist,
    /// performance_schema.threads: MySQL from 5.7 on.
    Threads,
    /// Nowhere.
    Nothing,
}

/// What a server offers: the first row that fits, by product and the first version that is too new for it.
const OFFERS: &[(Product, &[u32], View, Tells)] = &[
    (Product::Mysql, &[5, 7], View::Status, Tells::Nothing),
    (Product::Mysql, &[8], View::Status, Tells::Threads),
    (Product::Mysql, &[], View::LockWaits, Tells::Threads),
    (Product::Mariadb, &[], View::Status, Tells::Processlist),
];

fn offer(info: &ServerInfo) -> (View, Tells) {
    let older = |bound: &[u32]| bound.is_empty() || info.version.cmp_prefix(&Version(bound.to_vec())).is_lt();
    let found = OFFERS.iter().find(|(product, before, ..)| *product == info.product && older(before));
    found.map_or((View::Status, Tells::Nothing), |(_, _, view, tells)| (*view, *tells))
}

/// A connection of our own for looking.
#[derive(Debug)]
pub struct Source {
    address: Address,
    who: Login,
    view: View,
    tells: Tells,
    control: MysqlSession,
    /// We switched the listing of locks on, and switch it off again.
    listing_is_ours: bool,
}

impl Source {
    /// Connects, and makes sure that the server lists its locks.
    pub fn open(address: &Address, who: &Login, info: &ServerInfo) -> Result<Source, ConnectError> {
        let mut control = MysqlSession::connect(address, who, None)?;
        let (view, tells) = offer(info);
        let mut listing_is_ours = false;
        if view == View::Status {
            let setting = demand_rows(&mut control, "SELECT @@GLOBAL.innodb_status_output_locks", SILENCE);
            let off = setting.is_ok_and(|rows| rows.len() == 1 && rows.cell(0, 0) == Some(b"0"));
            // Without the right to do so there are still the waiters, though not for whom they wait. On somebody
            // else's server it stays as it is.
            listing_is_ours = off
                && !who.guest
                && matches!(
                    control.query("SET GLOBAL innodb_status_output_locks = ON")?.reply,
                    execute::RawReply::Done { .. }
                );
        }
        Ok(Source { address: address.clone(), who: who.clone(), view, tells, control, listing_is_ours })
    }

    /// Asks for rows; connects anew once if the connection was lost, for a server may end it when it likes.
    fn rows(&mut self, sql: &str) -> Result<RowSet, ConnectError> {
        match demand_rows(&mut self.control, sql, SILENCE) {
            Err(ConnectError::Gone) => {
                self.control = MysqlSession::connect(&self.address, &self.who, None)?;
                demand_rows(&mut self.control, sql, SILENCE)
            }
            answer => answer,
        }
    }

    /// One look at the locks. `wanted`: whom it is asked for; the process list is read only if one of them
    /// is not found waiting inside the storage engine.
    pub fn look(&mut self, wanted: &[SessionId]) -> Result<Waits, ConnectError> {
        match self.view {
            View::LockWaits => Ok(lock_waits(&self.rows(LOCK_WAITS)?)),
            View::Status => {
                let rows = self.rows(STATUS)?;
                let text = if rows.len() == 1 && rows.columns().len() == 3 { rows.cell(0, 2) } else { None };
                let mut waits = innodb_status::parse(&String::from_utf8_lossy(text.unwrap_or_default()));
                if !wanted.iter().all(|&session| waits.waits(session)) {
                    let rows = self.rows(ABOVE)?;
                    waits.above = (0..rows.len()).filter_map(|row| number(&rows, row, 0)).collect();
                }
                Ok(waits)
            }
        }
    }

    /// The number that the operating system gave to a session's thread. None if this server does not tell.
    pub fn thread(&mut self, session: SessionId) -> Result<Option<u32>, ConnectError> {
        let sql = match self.tells {
            Tells::Processlist => {
                format!("SELECT TID FROM information_schema.processlist WHERE ID = {session}")
            }
            Tells::Threads => format!(
                "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = {session}"
            ),
            Tells::Nothing => return Ok(None),
        };
        let rows = self.rows(&sql)?;
        let found = if rows.is_empty() { None } else { number(&rows, 0, 0) };
        let found = found.and_then(|thread| u32::try_from(thread).ok());
        found.map(Some).ok_or_else(|| ConnectError::Own {
            statement: sql,
            reason: "it does not tell the thread of the session (is performance_schema off?)".to_string(),
        })
    }

    /// Does it tell which thread serves which session?
    pub fn tells_threads(&self) -> bool {
        self.tells != Tells::Nothing
    }

    /// Every session of the server.
    pub fn sessions(&mut self) -> Result<BTreeSet<SessionId>, ConnectError> {
        let rows = self.rows("SELECT ID FROM information_schema.processlist")?;
        Ok((0..rows.len()).filter_map(|row| number(&rows, row, 0)).collect())
    }

    /// May a look be older than the server's own decision, without any cycle to be seen?
    pub fn lags(&self) -> bool {
        self.view == View::Status
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        if self.listing_is_ours {
            let _ = self.control.query("SET GLOBAL innodb_status_output_locks = OFF"); // It only prints less.
        }
    }
}

fn number(rows: &RowSet, row: usize, column: usize) -> Option<u64> {
    std::str::from_utf8(rows.cell(row, column)?).ok()?.parse().ok()
}

fn lock_waits(rows: &RowSet) -> Waits {
    let mut waits = Waits::default();
    for row in 0..rows.len() {
        let (Some(first), Some(second)) = (number(rows, row, 1), number(rows, row, 2)) else { continue };
        match rows.cell(row, 0) {
            Some(b"w") => {
                waits.waiting.insert(first);
                waits.edges.insert((first, second));
            }
            Some(b"t") => {
                waits.owners.insert(first, second);
            }
            _ => {
                waits.above.insert(first);
            }
        }
    }
    waits
}
