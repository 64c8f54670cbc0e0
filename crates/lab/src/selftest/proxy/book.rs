//! What all connections of a proxy share: which lie is told, which sessions are those of a case, where one run ends and the next begins, what
//! was lied about, and connections of the proxy's own.
//!
//! A case's sessions are those that the executor has watched for waits. Everything else that is asked of our schema is asked between
//! two runs: its tables are emptied, filled and read in the end.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use dbms::{
    mysql::MysqlSession,
    net::{Address, Login},
};
use execute::{RawReply, SessionId};
use model::{Level, Product, Version, sync::lock};

use super::{
    answer::Row,
    lies::{Lie, Often, Trick},
};

/// A lie that was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The server's number of the connection.
    pub connection: SessionId,
    /// The place of the statement in its session, from 1.
    pub place: u64,
    pub sql: String,
}

/// What a session was answered.
struct Shown {
    connection: SessionId,
    columns: Vec<Vec<u8>>,
    rows: Vec<Row>,
}

pub struct Book {
    pub product: Product,
    pub version: Version,
    pub lie: &'static Lie,
    pub often: Often,
    /// Where the true server listens, and as whom the proxy looks at it.
    socket: PathBuf,
    user: String,
    /// Is the proxy being closed?
    pub closing: AtomicBool,
    sessions: Mutex<BTreeSet<SessionId>>,
    /// The number of the run at hand, and whether a statement of it was sent already.
    run: AtomicU64,
    begun: AtomicBool,
    /// Statements of cases that were sent.
    sent: AtomicU64,
    /// A hash of what was sent in the run at hand.
    before: AtomicU64,
    told: AtomicU64,
    /// What was lied about in the run at hand, or in the last one.
    log: Mutex<Vec<Told>>,
    shown: Mutex<Vec<Shown>>,
    /// Looks at what is there now.
    side: Mutex<Option<MysqlSession>>,
    /// Holds what was there when the run began.
    old: Mutex<Option<MysqlSession>>,
}

impl Book {
    pub fn new(
        (product, version): (Product, Version),
        (socket, user): (PathBuf, String),
        lie: &'static Lie,
        often: Often,
    ) -> Book {
        Book {
            product,
            version,
            lie,
            often,
            socket,
            user,
            closing: AtomicBool::new(false),
            sessions: Mutex::default(),
            run: AtomicU64::new(0),
            begun: AtomicBool::new(false),
            sent: AtomicU64::new(0),
            before: AtomicU64::new(0),
            told: AtomicU64::new(0),
            log: Mutex::default(),
            shown: Mutex::default(),
            side: Mutex::new(None),
            old: Mutex::new(None),
        }
    }

    pub fn socket(&self) -> &PathBuf {
        &self.socket
    }

    /// From now on this is a session of the cases.
    pub fn watch(&self, session: SessionId) {
        lock(&self.sessions).insert(session);
    }

    pub fn forget(&self, session: SessionId) {
        lock(&self.sessions).remove(&session);
    }

    pub fn is_of_case(&self, session: SessionId) -> bool {
        lock(&self.sessions).contains(&session)
    }

    /// How many lies were told so far.
    pub fn told(&self) -> u64 {
        self.told.load(Ordering::Relaxed)
    }

    /// What was lied about in the run at hand, or in the last one.
    pub fn log(&self) -> Vec<Told> {
        lock(&self.log).clone()
    }

    /// Was none told yet in the run at hand?
    pub fn is_first(&self) -> bool {
        lock(&self.log).is_empty()
    }

    pub fn note(&self, lie: Told) {
        self.told.fetch_add(1, Ordering::Relaxed);
        lock(&self.log).push(lie);
    }

    /// A statement that is no case's: the run at hand is over.
    pub fn between(&self) {
        if self.begun.swap(false, Ordering::Relaxed) {
            self.run.fetch_add(1, Ordering::Relaxed);
            lock(&self.shown).clear();
            // What it holds would be in the way of whoever empties the tables.
            if let Some(old) = lock(&self.old).as_mut() {
                let _ = old.query("COMMIT"); // A connection that is gone holds nothing.
            }
        }
    }

    /// A statement of a case in this schema is about to be sent: gives the number of the run.
    pub fn step(&self, schema: Option<&str>) -> u64 {
        if !self.begun.swap(true, Ordering::Relaxed) {
            lock(&self.log).clear();
            self.before.store(0, Ordering::Relaxed);
            if matches!(self.lie.trick, Trick::ReadOld) {
                self.hold(schema);
            }
        }
        self.run.load(Ordering::Relaxed)
    }

    /// Is this one chosen to be lied about? Asked once for each, in the order in which they are sent: one at a time.
    pub fn chooses(&self, sql: &str) -> bool {
        let before = self.before.load(Ordering::Relaxed);
        self.before.store(Often::place(sql, before), Ordering::Relaxed);
        self.often.chooses(sql, before)
    }

    /// So many statements of cases were sent, with this one.
    pub fn sending(&self) -> u64 {
        self.sent.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Was another one sent since?
    pub fn sent_since(&self, count: u64) -> bool {
        self.sent.load(Ordering::Relaxed) != count
    }

    fn hold(&self, schema: Option<&str>) {
        let mut old = lock(&self.old);
        let begin = dialect::of(self.product).begin.snapshot;
        let held = self.connected(&mut old, schema, Level::RepeatableRead).is_some_and(|session| {
            begin.is_some_and(|begin| session.query(begin).is_ok_and(|answer| done(&answer.reply)))
        });
        if !held {
            *old = None;
        }
    }

    /// A session of the proxy's own in this schema, at this level.
    fn connected<'a>(
        &self,
        session: &'a mut Option<MysqlSession>,
        schema: Option<&str>,
        level: Level,
    ) -> Option<&'a mut MysqlSession> {
        if session.is_none() {
            let login = Login { user: self.user.clone(), ..Login::default() };
            *session = MysqlSession::connect(&Address::Unix(self.socket.clone()), &login, None).ok();
        }
        let rules = dialect::of(self.product).set_level.as_ref()?;
        let opened = session.as_mut()?;
        opened.choose_schema(schema?).ok()?;
        opened.query(&(rules.set)(level)).ok().filter(|answer| done(&answer.reply))?;
        Some(opened)
    }

    /// What a query sees now, at this level, from a session that takes no part.
    pub fn elsewhere(&self, schema: Option<&str>, level: Level, sql: &str) -> Option<Vec<Row>> {
        let mut side = lock(&self.side);
        let found = self.connected(&mut side, schema, level).and_then(|session| rows(session, sql));
        if found.is_none() {
            *side = None; // It may have been lost.
        }
        found
    }

    /// What it saw when the run began.
    pub fn formerly(&self, sql: &str) -> Option<Vec<Row>> {
        rows(lock(&self.old).as_mut()?, sql)
    }

    /// Keeps what a session was answered, and gives what another one was answered last in columns of the same types.
    pub fn exchange(&self, connection: SessionId, columns: &[Vec<u8>], rows: &[Row]) -> Option<Vec<Row>> {
        let mut shown = lock(&self.shown);
        let other = |one: &&Shown| one.connection != connection && one.columns == columns;
        let found = shown.iter().rev().find(other).map(|one| one.rows.clone());
        shown.push(Shown { connection, columns: columns.to_vec(), rows: rows.to_vec() });
        found
    }
}

fn done(reply: &RawReply) -> bool {
    matches!(reply, RawReply::Done { .. })
}

fn rows(session: &mut MysqlSession, sql: &str) -> Option<Vec<Row>> {
    match session.query(sql).ok()?.reply {
        RawReply::Rows(set) => Some(
            (0..set.len())
                .map(|row| {
                    (0..set.columns().len()).map(|column| set.cell(row, column).map(<[u8]>::to_vec)).collect()
                })
                .collect(),
        ),
        RawReply::Done { .. }
        | RawReply::RolledBack
        | RawReply::Error(_)
        | RawReply::Unreadable(_)
        | RawReply::Lost => None,
    }
}
