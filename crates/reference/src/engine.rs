//! The engine: sessions, the statements that wait, and who is woken when.
//!
//! Nothing here runs by itself. A statement is tried when it is sent. If others are in its way it is parked, and tried again
//! when one of them has ended; those that were parked first are tried first. So the same statements in the same order
//! always give the same answers, and who waits is known exactly.
//!
//! ```text
//! T1: UPDATE t ..    tried, answers
//! T2: UPDATE t ..    tried, T1 is in its way: parked
//! T1: COMMIT         answers; T2 is tried again from its beginning, and answers
//! ```

use std::{collections::BTreeMap, rc::Rc};

use execute::{ConnectError, RawReply, SessionId, WireReply};
use model::{Level, Open, sql::Statement};

use crate::{
    database::{Database, Txn},
    ddl,
    error::{StatementResult, Stop, deadlock, error, raw},
    locks::{TxnId, closes_circle},
    plants::{Bug, Plants},
    prepared::{Cache, Prepared},
    resume_state::ResumeState,
    select::QueryPosition,
    statement_run::StatementRun,
};

/// A session as the engine knows it.
pub(crate) struct SessionState {
    /// The level of its next transaction.
    pub level: Level,
    /// The level of the next one only.
    pub next_level: Option<Level>,
    /// Does each statement commit by itself?
    pub autocommit: bool,
    pub txn: Option<Txn>,
    /// What the last statement left.
    pub warnings: Vec<(u32, String)>,
    /// The answer that was not fetched yet.
    mailbox: Option<WireReply>,
    /// Does its statement neither answer nor wait?
    hung: bool,
    lost: bool,
}

/// A statement that is tried until it has come to its end.
struct QueuedStatement {
    session: SessionId,
    statement: Rc<Prepared>,
    waited: bool,
    /// What it saw before it waited.
    memory: ResumeState,
    /// Numbers drawn from a counter.
    drawn: Vec<u64>,
    /// Its place among those that wait.
    place: u64,
}

struct WaitingStatement {
    job: QueuedStatement,
    txn: TxnId,
    blockers: Vec<TxnId>,
    /// Has one of those gone?
    ready: bool,
}

#[derive(Default)]
pub struct Engine {
    pub(crate) base: Database,
    pub(crate) links: BTreeMap<SessionId, SessionState>,
    parked: Vec<WaitingStatement>,
    /// Transactions that ended or undid something, and whether they were rolled back as a whole.
    pub(crate) released: Vec<(TxnId, bool)>,
    cache: Cache,
    sessions: SessionId,
    places: u64,
    dead: bool,
}

impl Engine {
    /// An empty one with these bugs.
    pub fn new(plants: Plants) -> Engine {
        let mut engine = Engine::default();
        engine.base.plants = plants;
        engine
    }

    pub fn alive(&self) -> bool {
        !self.dead
    }

    pub fn connect(&mut self) -> Result<SessionId, ConnectError> {
        if self.dead {
            return Err(ConnectError::Gone);
        }
        self.sessions += 1;
        let link = SessionState {
            level: Level::RepeatableRead,
            next_level: None,
            autocommit: true,
            txn: None,
            warnings: Vec::new(),
            mailbox: None,
            hung: false,
            lost: false,
        };
        self.links.insert(self.sessions, link);
        Ok(self.sessions)
    }

    pub fn disconnect(&mut self, id: SessionId) {
        self.parked.retain(|parked| parked.job.session != id);
        self.roll_back(id);
        self.links.remove(&id);
        self.wake();
    }

    /// Forgets what a session has set. False if it is lost.
    pub fn reset(&mut self, id: SessionId) -> bool {
        self.roll_back(id);
        self.wake();
        let Some(link) = self.links.get_mut(&id).filter(|link| !link.lost && !link.hung) else {
            return false;
        };
        (link.level, link.next_level, link.autocommit) = (Level::RepeatableRead, None, true);
        link.warnings.clear();
        !self.dead
    }

    /// Takes a statement.
    pub fn send(&mut self, id: SessionId, text: &str) {
        let lost = self.links.get(&id).is_none_or(|link| link.lost);
        if self.dead || lost {
            return self.answer(id, RawReply::Lost);
        }
        let statement = self.cache.get(text);
        self.run(QueuedStatement {
            session: id,
            statement,
            waited: false,
            memory: ResumeState::default(),
            drawn: Vec::new(),
            place: 0,
        });
        self.wake();
    }

    /// The answer, if there is one.
    pub fn receive(&mut self, id: SessionId) -> Option<WireReply> {
        self.links.get_mut(&id)?.mailbox.take()
    }

    /// Is there an answer that was not fetched yet?
    pub fn answered(&self, id: SessionId) -> bool {
        self.links.get(&id).is_none_or(|link| link.mailbox.is_some())
    }

    /// Ends what a session is running, or the session itself.
    pub fn kill(&mut self, id: SessionId, hard: bool) {
        let waits = self.parked.iter().any(|parked| parked.job.session == id);
        self.parked.retain(|parked| parked.job.session != id);
        let Some(link) = self.links.get_mut(&id) else { return };
        let busy = waits || link.hung;
        link.hung = false;
        link.lost |= hard;
        if hard || link.txn.as_ref().is_some_and(|txn| txn.single) {
            self.roll_back(id);
        }
        if hard {
            self.answer(id, RawReply::Lost);
        } else if busy {
            self.answer(id, RawReply::Error(raw(1317, "70100", "Query execution was interrupted")));
        }
        self.wake();
    }

    /// Does the statement of this session wait?
    pub fn waits(&self, id: SessionId) -> bool {
        self.parked.iter().any(|parked| parked.job.session == id)
    }

    /// Does some statement neither answer nor wait?
    pub fn hangs(&self) -> bool {
        self.links.values().any(|link| link.hung)
    }

    /// For whom the statement of this session waits.
    pub fn blockers(&self, id: SessionId) -> Vec<SessionId> {
        let parked = self.parked.iter().filter(|parked| parked.job.session == id);
        let blockers: Vec<TxnId> = parked.flat_map(|parked| parked.blockers.iter().copied()).collect();
        let blocks = |link: &SessionState| link.txn.as_ref().is_some_and(|txn| blockers.contains(&txn.id));
        self.links.iter().filter(|(_, link)| blocks(link)).map(|(id, _)| *id).collect()
    }

    fn answer(&mut self, id: SessionId, reply: RawReply) {
        let Some(link) = self.links.get_mut(&id) else { return };
        let transaction = if link.txn.is_some() { Open::Yes } else { Open::No };
        let warnings = u16::try_from(link.warnings.len()).unwrap_or(u16::MAX);
        link.mailbox = Some(WireReply { reply, warnings, transaction });
    }

    /// Tries a statement, and parks it if it must wait.
    fn run(&mut self, mut job: QueuedStatement) {
        let id = job.session;
        match self.attempt(&mut job) {
            Ok(reply) => self.answer(id, reply),
            Err(Stop::Error(error)) => self.answer(id, RawReply::Error(error)),
            Err(Stop::Blocked(blockers)) => self.park(job, blockers),
            Err(Stop::Hang) => self.hang(id),
            Err(Stop::Crash) => self.crash(),
        }
    }

    fn park(&mut self, mut job: QueuedStatement, blockers: Vec<TxnId>) {
        let txn = self.links.get(&job.session).and_then(|link| link.txn.as_ref());
        let txn = txn.map_or(TxnId(0), |txn| txn.id);
        let waits: Vec<(TxnId, &[TxnId])> =
            self.parked.iter().map(|parked| (parked.txn, parked.blockers.as_slice())).collect();
        if closes_circle(txn, &blockers, &waits) {
            self.roll_back(job.session);
            let planted = self.base.plants.hits(Bug::InternalError, || job.statement.text.clone());
            let error =
                if planted { raw(1815, "HY000", "Internal error: no lock to release") } else { deadlock() };
            return self.answer(job.session, RawReply::Error(error));
        }
        if !job.waited {
            (job.waited, job.place) = (true, self.places);
            self.places += 1;
        }
        let place = self.parked.partition_point(|parked| parked.job.place < job.place);
        self.parked.insert(place, WaitingStatement { job, txn, blockers, ready: false });
    }

    /// Tries those again for whom somebody has made way, as long as there are any.
    pub(crate) fn wake(&mut self) {
        loop {
            for (gone, rolled_back) in std::mem::take(&mut self.released) {
                let waiting = self.parked.iter_mut().filter(|parked| parked.blockers.contains(&gone));
                for (nth, parked) in waiting.enumerate() {
                    // The planted bug: there is one bell for all of them.
                    let text = || parked.job.statement.text.clone();
                    parked.ready |= nth == 0 || !self.base.plants.hits(Bug::LostWakeup, text);
                }
                if rolled_back {
                    self.forget_to_wake(gone);
                }
            }
            let Some(next) = self.parked.iter().position(|parked| parked.ready) else { return };
            let parked = self.parked.remove(next);
            self.run(parked.job);
        }
    }

    /// The planted bug: whoever waited for the one that was rolled back is forgotten.
    fn forget_to_wake(&mut self, gone: TxnId) {
        let forgotten = |parked: &WaitingStatement| {
            parked.blockers.contains(&gone)
                && self.base.plants.hits(Bug::Hang, || parked.job.statement.text.clone())
        };
        let sessions: Vec<SessionId> =
            self.parked.iter().filter(|parked| forgotten(parked)).map(|parked| parked.job.session).collect();
        self.parked.retain(|parked| !sessions.contains(&parked.job.session));
        sessions.into_iter().for_each(|id| self.hang(id));
    }

    fn hang(&mut self, id: SessionId) {
        if let Some(link) = self.links.get_mut(&id) {
            link.hung = true;
        }
    }

    /// The server is gone, and with it everything that it was asked and had not answered.
    fn crash(&mut self) {
        self.dead = true;
        self.parked.clear();
        self.released.clear();
        let silent = self.links.iter().filter(|(_, link)| link.mailbox.is_none());
        let silent: Vec<SessionId> = silent.map(|(id, _)| *id).collect();
        silent.into_iter().for_each(|id| self.answer(id, RawReply::Lost));
    }

    /// The level of the transaction that begins now.
    pub(crate) fn next_level(&mut self, id: SessionId) -> Level {
        let link = self.links.get_mut(&id);
        link.map_or(Level::RepeatableRead, |link| link.next_level.take().unwrap_or(link.level))
    }

    /// Commits the open transaction of a session, if there is one.
    pub(crate) fn commit(&mut self, id: SessionId) {
        if let Some(txn) = self.links.get_mut(&id).and_then(|link| link.txn.take()) {
            self.released.push((txn.id, false));
            self.base.commit(txn);
        }
    }

    pub(crate) fn roll_back(&mut self, id: SessionId) {
        if let Some(txn) = self.links.get_mut(&id).and_then(|link| link.txn.take()) {
            self.released.push((txn.id, true));
            self.base.roll_back(txn);
        }
    }

    fn attempt(&mut self, job: &mut QueuedStatement) -> StatementResult<RawReply> {
        let id = job.session;
        let statement = job.statement.clone();
        let tree = match &statement.tree {
            Ok(tree) => tree,
            Err(why) => {
                return match self.show(id, &statement.text) {
                    Some(rows) => Ok(RawReply::Rows(rows)),
                    None => error(1064, "42000", format!("the reference engine cannot read this: {why}")),
                };
            }
        };
        if let Some(link) = self.links.get_mut(&id) {
            link.warnings.clear();
        }
        if let Some(reply) = self.control(id, tree) {
            return reply;
        }
        match tree {
            Statement::CreateTable(_)
            | Statement::CreateIndex(_)
            | Statement::AlterTable(_)
            | Statement::DropTable(_)
            | Statement::DropIndex(_)
            | Statement::Truncate(_) => {
                self.commit(id);
                let others: Vec<&Txn> = self.links.values().filter_map(|link| link.txn.as_ref()).collect();
                ddl::run(&mut self.base, tree, &others)
            }
            _ => self.work(job, tree),
        }
    }

    /// Tries a statement that reads or writes rows, within the open transaction or one of its own.
    fn work(&mut self, job: &mut QueuedStatement, tree: &Statement) -> StatementResult<RawReply> {
        let Some(link) = self.links.get_mut(&job.session) else { return Err(Stop::Hang) };
        let txn = match link.txn.take() {
            Some(txn) => txn,
            None => {
                let level = link.next_level.take().unwrap_or(link.level);
                self.base.begin(level, link.autocommit)
            }
        };
        let (mark, view) = (txn.undo.len(), txn.view);
        let txn = link.txn.insert(txn);
        let mut work = StatementRun {
            base: &mut self.base,
            txn,
            statement: &job.statement,
            waited: job.waited,
            memory: &mut job.memory,
            drawn: &mut job.drawn,
            used: 0,
            warnings: Vec::new(),
        };
        let result = match tree {
            Statement::Query(query) => {
                work.query(query, QueryPosition::Whole).map(|found| RawReply::Rows(found.rows()))
            }
            Statement::Insert(insert) => work.insert(insert),
            Statement::Update(update) => work.update(update),
            Statement::Delete(delete) => work.delete(delete),
            _ => error(1064, "42000", "the reference engine cannot do this"),
        };
        let warnings = std::mem::take(&mut work.warnings);
        if result.is_err() {
            self.base.undo(txn, mark);
        }
        // A query inside it has read too early: it reads again when the statement is tried again.
        if matches!(result, Err(Stop::Blocked(_))) {
            txn.view = view;
        }
        let single = txn.single;
        match &result {
            Ok(_) => {
                link.warnings = warnings;
                if single {
                    self.commit(job.session);
                }
            }
            Err(Stop::Error(_)) if single => self.roll_back(job.session),
            Err(Stop::Error(_) | Stop::Blocked(_) | Stop::Hang | Stop::Crash) => {}
        }
        result
    }
}
