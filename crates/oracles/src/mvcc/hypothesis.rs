//! One hypothesis about what has happened: version chains, transactions, and who waits.
//!
//! A row is a chain of versions, oldest first. A version says who wrote it and when that was committed:
//!
//! ```text
//! row 0   (1, 10) by setup, at 0     (1, 99) by T2, at 1     (1, 99) by T1, open
//! ```
//!
//! T1, whose snapshot is of 0, sees its own version; T3 with the same snapshot sees (1, 10); what is newest committed is
//! (1, 99). A version without data is a deleted row. Undoing takes versions away again.
//!
//! Hypotheses are copied wherever the trace leaves a choice, and differ in a row or two: tables and chains are shared until somebody
//! writes to them.

use std::sync::Arc;

use model::Reason;
use smallvec::{SmallVec, smallvec};

use super::{
    deviations::KnownDeviation,
    schema::{Schema, Values},
};

pub type TxnId = u32;

pub const SETUP: TxnId = 0;

/// One state of a row.
#[derive(Clone, Debug)]
pub struct Version {
    pub writer: TxnId,
    /// When that was committed.
    pub at: Option<u32>,
    /// The values; none if it is deleted.
    pub data: Option<Values>,
    /// Does it only repeat what was there?
    pub noop: bool,
}

impl PartialEq for Version {
    fn eq(&self, other: &Version) -> bool {
        (self.writer, self.at, self.noop) == (other.writer, other.at, other.noop)
            && match (&self.data, &other.data) {
                (Some(one), Some(two)) => Arc::ptr_eq(one, two) || one == two,
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            }
    }
}

/// The versions of a row; most have one or two.
pub type Versions = SmallVec<[Version; 2]>;

#[derive(Clone, Debug, Default)]
pub struct Chain {
    pub versions: Arc<Versions>,
}

impl PartialEq for Chain {
    fn eq(&self, other: &Chain) -> bool {
        Arc::ptr_eq(&self.versions, &other.versions) || self.versions == other.versions
    }
}

/// What a row is to somebody who wants the newest committed.
#[derive(Clone, Copy, Debug)]
pub enum Now<'a> {
    /// Nobody else is changing it.
    Settled(Option<&'a Values>),
    /// Another transaction is.
    Contested {
        /// As it was committed last, or written by oneself.
        committed: Option<&'a Values>,
        /// As the other has it.
        newest: Option<&'a Values>,
        by: TxnId,
    },
}

impl Chain {
    /// A row that was there from the beginning.
    pub fn of(data: Values) -> Chain {
        let version = Version { writer: SETUP, at: Some(0), data: Some(data), noop: false };
        Chain { versions: Arc::new(smallvec![version]) }
    }

    /// The newest state, committed or not.
    pub fn newest(&self) -> Option<&Values> {
        self.versions.last().and_then(|version| version.data.as_ref())
    }

    /// The version that a snapshot shows to somebody.
    pub fn version_at(&self, me: TxnId, at: u32) -> Option<&Version> {
        let seen = |version: &&Version| {
            version.writer == me && version.at.is_none() || version.at.is_some_and(|of| of <= at)
        };
        self.versions.iter().rev().find(seen)
    }

    /// What a snapshot shows to somebody.
    pub fn seen(&self, me: TxnId, at: u32) -> Option<&Values> {
        self.version_at(me, at).and_then(|version| version.data.as_ref())
    }

    /// What it is now to somebody.
    pub fn now(&self, me: TxnId) -> Now<'_> {
        let Some(last) = self.versions.last() else { return Now::Settled(None) };
        if last.at.is_some() || last.writer == me {
            return Now::Settled(last.data.as_ref());
        }
        Now::Contested { committed: self.seen(me, u32::MAX), newest: last.data.as_ref(), by: last.writer }
    }

    /// When it was changed last by a commit of somebody else.
    pub fn changed_at(&self, me: TxnId) -> u32 {
        let theirs = self.versions.iter().filter(|version| version.writer != me && !version.noop);
        theirs.filter_map(|version| version.at).max().unwrap_or(0)
    }

    /// When a commit of somebody else touched it last, if only by setting again what was there.
    pub fn touched_at(&self, me: TxnId) -> u32 {
        let theirs = self.versions.iter().filter(|version| version.writer != me);
        theirs.filter_map(|version| version.at).max().unwrap_or(0)
    }

    /// Does somebody have an open version here?
    pub fn mine(&self, me: TxnId) -> bool {
        self.versions.iter().any(|version| version.writer == me && version.at.is_none())
    }
}

/// The rows of a table. Most hypotheses share most of them, and then need not look at them to know that they are the same.
#[derive(Clone, Debug, Default)]
pub struct Rows(Arc<Vec<Chain>>);

impl PartialEq for Rows {
    fn eq(&self, other: &Rows) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl std::ops::Deref for Rows {
    type Target = [Chain];

    fn deref(&self) -> &[Chain] {
        &self.0
    }
}

impl FromIterator<Chain> for Rows {
    fn from_iter<I: IntoIterator<Item = Chain>>(chains: I) -> Rows {
        Rows(Arc::new(chains.into_iter().collect()))
    }
}

impl Rows {
    /// To be changed: those of this hypothesis alone from now on.
    fn own(&mut self) -> &mut Vec<Chain> {
        Arc::make_mut(&mut self.0)
    }
}

/// A row that a transaction keeps others from changing.
#[derive(Clone, Debug, PartialEq)]
pub struct Lock {
    pub table: usize,
    pub row: usize,
    /// For a shared lock the columns that were read; none for an exclusive one.
    pub columns: Option<u64>,
    pub step: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Savepoint {
    pub name: String,
    /// How long `undo` was.
    pub length: usize,
    /// Was it set before the transaction touched any table?
    pub early: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Txn {
    pub id: TxnId,
    /// Does it last until COMMIT or ROLLBACK?
    pub lasts: bool,
    pub read_only: bool,
    pub view: Option<u32>,
    /// The step that took it by being sent.
    pub view_by: Option<usize>,
    /// Did a savepoint begin it? Then releasing that commits it.
    pub by_savepoint: bool,
    /// The rows that it has written, in order.
    pub undo: Vec<(usize, usize)>,
    pub savepoints: Vec<Savepoint>,
    /// The tables that it has touched, as bits.
    pub touched: u64,
    /// Those on which it may hold locks: plain reads take none.
    pub locking: u64,
    /// The steps by which it may.
    pub steps: Vec<usize>,
    /// The rows that it has locked.
    pub locks: Vec<Lock>,
    /// Steps that locked what they selected, at a level that keeps ranges.
    pub ranges: Vec<usize>,
    /// Rows that others brought into its ranges or changed under its locks.
    pub trespassed: Vec<(usize, usize)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    pub step: usize,
    /// The tables when it began to wait.
    pub tables: Vec<Rows>,
    /// How many commits there had been.
    pub clock: u32,
    /// Did it take the snapshot by being sent?
    pub opened_view: bool,
    /// The tables on which others had half-done work when it began, as bits.
    pub beside: u64,
    /// How many transactions of others have ended since: after each it may have gone on and waited again.
    pub ends: u32,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    pub txn: Option<Txn>,
    /// What it waits with.
    pub waiting: Option<Waiting>,
    /// An error has ended its transaction: some versions are in a new one then, and do not say so.
    pub perhaps_open: bool,
    /// Are foreign keys enforced in it?
    pub foreign_keys: bool,
}

/// One way in which it may have happened. What differs most often stands first, for that is where comparing two of them ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Hypothesis {
    /// How many commits there have been.
    pub clock: u32,
    pub next: TxnId,
    /// The tables in which a change was undone, as bits.
    pub undone: u64,
    /// Was an answer taken that could not be checked?
    pub unchecked: bool,
    /// Why a change may have met other rows than those of its outcome, if it may.
    pub doubtful: Option<Reason>,
    /// The deviations that it rests on, and the steps that need them.
    pub used: Vec<(&'static KnownDeviation, usize)>,
    pub sessions: Vec<Session>,
    /// The rows of each table.
    pub tables: Vec<Rows>,
}

impl Hypothesis {
    pub fn new(schema: &Schema, sessions: usize, foreign_keys: bool) -> Hypothesis {
        Hypothesis {
            tables: schema.begin.clone(),
            clock: 0,
            next: 1,
            sessions: vec![Session { foreign_keys, ..Session::default() }; sessions],
            used: Vec::new(),
            undone: 0,
            unchecked: false,
            doubtful: None,
        }
    }

    /// The transaction of a session, begun if there is none.
    pub fn txn(&mut self, session: usize, lasts: bool) -> &mut Txn {
        let next = &mut self.next;
        self.sessions[session].txn.get_or_insert_with(|| {
            let id = *next;
            *next += 1;
            Txn {
                id,
                lasts,
                read_only: false,
                view: None,
                view_by: None,
                by_savepoint: false,
                undo: Vec::new(),
                savepoints: Vec::new(),
                touched: 0,
                locking: 0,
                steps: Vec::new(),
                locks: Vec::new(),
                ranges: Vec::new(),
                trespassed: Vec::new(),
            }
        })
    }

    /// Commits the transaction of a session, if there is one.
    pub fn commit(&mut self, session: usize) {
        let Some(txn) = self.sessions[session].txn.take() else { return };
        self.ended(session, &txn);
        if txn.undo.is_empty() {
            return;
        }
        self.clock += 1;
        let clock = self.clock;
        for (table, row) in txn.undo {
            for version in self.versions(table, row) {
                if version.writer == txn.id && version.at.is_none() {
                    version.at = Some(clock);
                }
            }
        }
    }

    /// Rolls the transaction of a session back, if there is one.
    pub fn roll_back(&mut self, session: usize) {
        let Some(mut txn) = self.sessions[session].txn.take() else { return };
        self.ended(session, &txn);
        self.undo(&mut txn, 0);
    }

    /// Those who wait may be free to go on.
    fn ended(&mut self, session: usize, txn: &Txn) {
        let others =
            self.sessions.iter_mut().enumerate().filter(|(of, _)| *of != session && txn.locking != 0);
        for waiting in others.filter_map(|(_, state)| state.waiting.as_mut()) {
            waiting.ends += 1;
        }
    }

    /// Takes back what was written since `undo` was so long.
    pub fn undo_to(&mut self, session: usize, length: usize) {
        let Some(mut txn) = self.sessions[session].txn.take() else { return };
        self.undo(&mut txn, length);
        self.sessions[session].txn = Some(txn);
    }

    fn undo(&mut self, txn: &mut Txn, length: usize) {
        while txn.undo.len() > length {
            let Some((table, row)) = txn.undo.pop() else { break };
            self.undone |= 1 << table.min(63);
            let versions = self.versions(table, row);
            if let Some(at) =
                versions.iter().rposition(|version| version.writer == txn.id && version.at.is_none())
            {
                versions.remove(at);
            }
        }
    }

    /// The versions of a row, to be changed: those of this hypothesis alone from now on.
    fn versions(&mut self, table: usize, row: usize) -> &mut Versions {
        Arc::make_mut(&mut self.tables[table].own()[row].versions)
    }

    /// Writes a version in the transaction of a session.
    pub fn write(&mut self, session: usize, table: usize, row: usize, data: Option<Values>, noop: bool) {
        let Some(txn) = &mut self.sessions[session].txn else { return };
        let version = Version { writer: txn.id, at: None, data, noop };
        txn.undo.push((table, row));
        self.versions(table, row).push(version);
    }

    /// A row that was not there before.
    pub fn insert(&mut self, session: usize, table: usize, data: Values) {
        self.tables[table].own().push(Chain::default());
        let row = self.tables[table].len() - 1;
        self.write(session, table, row, Some(data), false);
    }

    /// The open transactions of others that may hold locks on one of these tables.
    pub fn others(&self, session: usize, tables: u64) -> impl Iterator<Item = &Txn> {
        let sessions = self.sessions.iter().enumerate();
        let theirs = sessions.filter(move |(of, _)| *of != session).filter_map(|(_, of)| of.txn.as_ref());
        theirs.filter(move |txn| txn.locking & tables != 0)
    }
}
