//! Asks the server, over a connection that takes no part in any case, who waits for whom.
//!
//! Two servers, two ways. MySQL from 8.0 has `performance_schema.data_lock_waits`; its columns with thread
//! numbers name the thread that CREATED a lock, which for a lock that a later request made visible is the
//! wrong one, so transactions are matched by their own numbers, and to sessions by their table locks, which
//! nobody else creates for them. Those are asked for only where a transaction is not known yet. Everything else is read from `SHOW ENGINE INNODB STATUS`, which is complete
//! on MariaDB and on MySQL up to 5.6, but for MariaDB 10.2: that one and MySQL from 5.7 on leave out waiters that have
//! written nothing. The views of information_schema on transactions and waits come from a cache of 100 ms; they are
//! read only where nothing else tells, and not more often than that.
//! Waits for a lock above the storage engine show only in the list of processes.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use execute::{ConnectError, SessionId, ask::demand_rows};
use model::{Product, RowSet, ServerInfo, Version};

use super::{super::session::MysqlSession, innodb_status};
use crate::{
    locks::waits::{ServerTransactionId, WaitGraph},
    net::{Address, Login, SILENCE},
};

const LOCK_WAITS: &str = "\
SELECT REQUESTING_ENGINE_TRANSACTION_ID, BLOCKING_ENGINE_TRANSACTION_ID FROM performance_schema.data_lock_waits";

const OWNERS: &str = "\
SELECT ENGINE_TRANSACTION_ID, t.PROCESSLIST_ID FROM performance_schema.data_locks \
JOIN performance_schema.threads t USING (THREAD_ID) WHERE LOCK_TYPE = 'TABLE'";

/// The states of sessions; their numbers stand at `{}`.
const STATES: &str =
    "SELECT PROCESSLIST_ID, PROCESSLIST_STATE FROM performance_schema.threads WHERE PROCESSLIST_ID IN ({})";

const STATUS: &str = "SHOW ENGINE INNODB STATUS";

const CACHED: &str = "\
SELECT r.trx_mysql_thread_id, b.trx_mysql_thread_id FROM information_schema.innodb_lock_waits w \
JOIN information_schema.innodb_trx r ON r.trx_id = w.requesting_trx_id \
JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_trx_id";

/// The list of processes: a quarter of what information_schema takes for the same.
const PROCESSES: &str = "SHOW PROCESSLIST";
/// Where it has the state; the number of the session comes first.
const STATE: usize = 6;

/// Where the waits are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LockWaitView {
    /// performance_schema.data_lock_waits
    LockWaits,
    /// SHOW ENGINE INNODB STATUS
    Status,
    /// The same, which leaves out whoever has written nothing. For those there is only a view that the server takes
    /// from a cache, and that is made anew only if nobody has read it for a while.
    StatusAndCache,
}

/// How long that view must be left alone; the server says 100 ms.
const CACHE: Duration = Duration::from_millis(120);

/// For how long what it showed is still good: two looks that belong together.
const FRESH: Duration = Duration::from_millis(10);

/// Where it says which thread of the operating system serves which session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ThreadIdSource {
    /// information_schema.processlist: MariaDB.
    Processlist,
    /// performance_schema.threads: MySQL from 5.7 on.
    Threads,
    /// Nowhere.
    Nothing,
}

/// What a server offers: the first row that fits, by product and the first version that is too new for it.
const OFFERS: &[(Product, &[u32], LockWaitView, ThreadIdSource)] = &[
    (Product::Mysql, &[5, 7], LockWaitView::Status, ThreadIdSource::Nothing),
    (Product::Mysql, &[8], LockWaitView::StatusAndCache, ThreadIdSource::Threads),
    (Product::Mysql, &[], LockWaitView::LockWaits, ThreadIdSource::Threads),
    (Product::Mariadb, &[10, 2], LockWaitView::Status, ThreadIdSource::Processlist),
    (Product::Mariadb, &[10, 3], LockWaitView::StatusAndCache, ThreadIdSource::Processlist),
    (Product::Mariadb, &[], LockWaitView::Status, ThreadIdSource::Processlist),
];

fn offer(info: &ServerInfo) -> (LockWaitView, ThreadIdSource) {
    let older = |bound: &[u32]| bound.is_empty() || info.version.cmp_prefix(&Version(bound.to_vec())).is_lt();
    let found = OFFERS.iter().find(|(product, before, ..)| *product == info.product && older(before));
    found.map_or((LockWaitView::Status, ThreadIdSource::Nothing), |(_, _, view, tells)| (*view, *tells))
}

/// A connection of our own for looking.
#[derive(Debug)]
pub struct LockWaitReader {
    address: Address,
    who: Login,
    view: LockWaitView,
    tells: ThreadIdSource,
    control: MysqlSession,
    /// Who came to wait before whom, as far as we have seen it.
    order: innodb_status::WaitOrder,
    /// What the view that comes from a cache showed, by sessions, and when.
    cached: BTreeSet<(SessionId, SessionId)>,
    cache_read: Option<Duration>,
    /// Whose transaction is whose, as far as it was asked. A transaction that has written has a number of its own for ever, and
    /// one that has not is named by an object of its session, which stays with it; so what was true of a session that waits
    /// is still true.
    owners: BTreeMap<ServerTransactionId, SessionId>,
    /// We switched the listing of locks on, and switch it off again.
    listing_is_ours: bool,
}

impl LockWaitReader {
    /// Connects, and makes sure that the server lists its locks.
    pub fn open(address: &Address, who: &Login, info: &ServerInfo) -> Result<LockWaitReader, ConnectError> {
        let mut control = MysqlSession::connect(address, who, None)?;
        let (view, tells) = offer(info);
        let mut listing_is_ours = false;
        if view != LockWaitView::LockWaits {
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
        Ok(LockWaitReader {
            address: address.clone(),
            who: who.clone(),
            view,
            tells,
            control,
            order: innodb_status::WaitOrder::default(),
            cached: BTreeSet::new(),
            cache_read: None,
            owners: BTreeMap::new(),
            listing_is_ours,
        })
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
    pub fn look(&mut self, wanted: &[SessionId]) -> Result<WaitGraph, ConnectError> {
        match self.view {
            LockWaitView::LockWaits => self.look_into_tables(wanted),
            LockWaitView::Status | LockWaitView::StatusAndCache => self.look_into_status(wanted),
        }
    }

    /// The same, and it is known of everybody who he is, not only of those who wait.
    pub fn look_at_all(&mut self, wanted: &[SessionId]) -> Result<WaitGraph, ConnectError> {
        self.owners.clear();
        self.look(wanted)
    }

    fn look_into_tables(&mut self, wanted: &[SessionId]) -> Result<WaitGraph, ConnectError> {
        let rows = self.rows(LOCK_WAITS)?;
        let mut waits = WaitGraph { edges: pairs(&rows).collect(), ..WaitGraph::default() };
        waits.waiting = waits.edges.iter().map(|edge| edge.0).collect();
        waits.owners.clone_from(&self.owners);
        let all = |waits: &WaitGraph| wanted.iter().all(|&session| waits.waits(session));
        if !waits.edges.is_empty() && !all(&waits) {
            self.owners = pairs(&self.rows(OWNERS)?).collect();
            waits.owners.clone_from(&self.owners);
        }
        if !all(&waits) {
            let numbers: Vec<String> = wanted.iter().map(SessionId::to_string).collect();
            let rows = self.rows(&STATES.replace("{}", &numbers.join(", ")))?;
            waits.above = above(&rows, 1);
        }
        Ok(waits)
    }

    fn look_into_status(&mut self, wanted: &[SessionId]) -> Result<WaitGraph, ConnectError> {
        let rows = self.rows(STATUS)?;
        let text = if rows.len() == 1 && rows.columns().len() == 3 { rows.cell(0, 2) } else { None };
        let text = String::from_utf8_lossy(text.unwrap_or_default());
        let mut waits = innodb_status::parse(&text, &mut self.order);
        if !wanted.iter().all(|&session| waits.waits(session)) {
            waits.above = above(&self.rows(PROCESSES)?, STATE);
        }
        if self.view == LockWaitView::StatusAndCache && !wanted.iter().all(|&session| waits.waits(session)) {
            self.look_into_cache()?;
            add_hidden(&mut waits, &self.cached);
        }
        Ok(waits)
    }

    /// Reads the view that comes from a cache, if the cache has been left alone for long enough.
    fn look_into_cache(&mut self) -> Result<(), ConnectError> {
        let now = execute::os::clock();
        let age = self.cache_read.map_or(CACHE, |read| now.saturating_sub(read));
        if age >= CACHE {
            let rows = self.rows(CACHED)?;
            self.cached = pairs(&rows).collect();
            self.cache_read = Some(execute::os::clock());
        } else if age > FRESH {
            self.cached.clear();
        }
        Ok(())
    }

    /// The number that the operating system gave to a session's thread. None if this server does not tell.
    pub fn thread(&mut self, session: SessionId) -> Result<Option<u32>, ConnectError> {
        let sql = match self.tells {
            ThreadIdSource::Processlist => {
                format!("SELECT TID FROM information_schema.processlist WHERE ID = {session}")
            }
            ThreadIdSource::Threads => format!(
                "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = {session}"
            ),
            ThreadIdSource::Nothing => return Ok(None),
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
        self.tells != ThreadIdSource::Nothing
    }

    pub fn sessions(&mut self) -> Result<BTreeSet<SessionId>, ConnectError> {
        let rows = self.rows("SELECT ID FROM information_schema.processlist")?;
        Ok((0..rows.len()).filter_map(|row| number(&rows, row, 0)).collect())
    }

    /// May a look be older than the server's own decision, without any cycle to be seen?
    pub fn lags(&self) -> bool {
        self.view != LockWaitView::LockWaits
    }
}

impl Drop for LockWaitReader {
    fn drop(&mut self) {
        if self.listing_is_ours {
            let _ = self.control.query("SET GLOBAL innodb_status_output_locks = OFF"); // It only prints less.
        }
    }
}

fn number(rows: &RowSet, row: usize, column: usize) -> Option<u64> {
    std::str::from_utf8(rows.cell(row, column)?).ok()?.parse().ok()
}

/// Adds waits that are known by sessions only. A session without a transaction in the list gets one of its own.
fn add_hidden(waits: &mut WaitGraph, hidden: &BTreeSet<(SessionId, SessionId)>) {
    let found = |waits: &WaitGraph, session| {
        waits.owners.iter().find(|(_, owner)| **owner == session).map(|(transaction, _)| *transaction)
    };
    for &(waiter, holder) in hidden {
        let [waiter, holder] = [waiter, holder].map(|session| {
            let transaction = found(waits, session).unwrap_or(session | 1 << 63);
            waits.owners.insert(transaction, session);
            transaction
        });
        waits.waiting.insert(waiter);
        waits.edges.insert((waiter, holder));
    }
}

/// The first two columns, where both are numbers.
fn pairs(rows: &RowSet) -> impl Iterator<Item = (u64, u64)> {
    (0..rows.len()).filter_map(|row| Some((number(rows, row, 0)?, number(rows, row, 1)?)))
}

/// The sessions, in the first column, whose state is a wait for a lock above the storage engine.
fn above(rows: &RowSet, state: usize) -> BTreeSet<SessionId> {
    let waits = |row: &usize| waits_above(rows.cell(*row, state).unwrap_or_default());
    (0..rows.len()).filter(waits).filter_map(|row| number(rows, row, 0)).collect()
}

fn waits_above(state: &[u8]) -> bool {
    state.starts_with(b"Waiting for ") && state.ends_with(b"lock")
        || state == b"Waiting for table flush"
        || state == b"User lock"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_offer_what_they_have() {
        let info = |product, version: &str| ServerInfo::bare(product, version.parse().unwrap());
        for (product, version, expected) in [
            (Product::Mysql, "5.6.24", (LockWaitView::Status, ThreadIdSource::Nothing)),
            (Product::Mysql, "5.7.44", (LockWaitView::StatusAndCache, ThreadIdSource::Threads)),
            (Product::Mysql, "8.0.33", (LockWaitView::LockWaits, ThreadIdSource::Threads)),
            (Product::Mariadb, "10.1.23", (LockWaitView::Status, ThreadIdSource::Processlist)),
            (Product::Mariadb, "10.2.11", (LockWaitView::StatusAndCache, ThreadIdSource::Processlist)),
            (Product::Mariadb, "11.8.2", (LockWaitView::Status, ThreadIdSource::Processlist)),
        ] {
            assert_eq!(offer(&info(product, version)), expected, "{product} {version}");
        }
    }

    #[test]
    fn states_above_the_engine_are_told_from_others() {
        for state in [
            "Waiting for table metadata lock",
            "Waiting for backup lock",
            "User lock",
            "Waiting for table flush",
        ] {
            assert!(waits_above(state.as_bytes()), "{state}");
        }
        for state in
            ["", "Updating", "Waiting for lock of nobody else", "Statistics", "Waiting on empty queue"]
        {
            assert!(!waits_above(state.as_bytes()), "{state}");
        }
    }

    #[test]
    fn hidden_waiters_are_added_by_session() {
        let mut waits = WaitGraph { owners: [(70, 3)].into(), ..WaitGraph::default() };
        add_hidden(&mut waits, &[(5, 3)].into());
        assert!(waits.waits(5) && !waits.waits(3));
        assert_eq!(waits.blockers(5), [3]);
    }
}
