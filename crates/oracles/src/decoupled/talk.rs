//! The conversation about one run: goes through its events, asks for a scene where a statement is to be judged, and takes up what
//! was shown.

use std::sync::Arc;

use dialect::contract::{Contract, LevelRules, Sees, Stale, Taken, contract};
use model::{
    ErrorClass, Fingerprint, Level, Open, Outcome, Reply, RowSet, Scene, Shown, Verdict, Violation,
    sql::{LockTiming, Statement, TransactionMode},
};

use super::{
    Known, Setups,
    chains::{Chain, Data, NOBODY, Time, Until, Visible},
    compare::{Compared, compare, same_table},
    fit,
    order::{Event, orders},
    roles::{Roles, Verb, roles},
    stage::{MARK, MARKED, PLAIN, Stage},
};
use crate::{
    Answer, Ask, Conversation,
    story::{Fate, Kind, Memory, ReadTables, Story, Tables, Told, Transaction},
};

/// A view of one table.
type View = (usize, Vec<Visible>);

/// A statement that is being played.
struct Pending {
    step: usize,
    roles: Roles,
    views: Vec<View>,
    stage: usize,
    probed: bool,
}

/// A transaction while the run is gone through.
#[derive(Clone, Debug, Default)]
struct Txn {
    /// Has it begun and not ended?
    open: bool,
    /// When its snapshot may have been taken.
    snapshot: Vec<Time>,
    /// Is the last of these certainly it?
    sure: bool,
    /// The tables that its statements named.
    touched: Vec<usize>,
    /// Tables in which it may have written rows without changing them, nobody knows which.
    unclear: Vec<usize>,
    savepoints: Vec<(String, u64)>,
}

/// What was found so far.
enum Found {
    Violated(Box<Violation>),
    Undecided(String),
}

/// The conversation.
pub struct Talk<'a> {
    seen: &'a Answer,
    steps: Vec<Told>,
    transactions: Vec<Transaction>,
    tables: ReadTables,
    known: Known,
    setups: Setups,
    contract: Contract,
    orders: Vec<Vec<Event>>,
    /// Are there more orders than these?
    more: bool,
    /// Which order, and how far.
    at: (usize, usize),
    now: Time,
    mark: u64,
    next_id: u64,
    chains: Vec<Chain>,
    txns: Vec<Txn>,
    sent: Vec<Time>,
    waiting: Vec<usize>,
    pending: Option<Pending>,
    /// The first reason why something could not be judged.
    undecided: Option<String>,
    /// What the first order came to.
    first: Option<Box<Violation>>,
}

impl<'a> Talk<'a> {
    /// Begins; the reason why not has a name.
    pub fn new(
        seen: &'a Answer,
        tables: ReadTables,
        known: Known,
        setups: Setups,
        memory: &Memory,
    ) -> Result<Talk<'a>, &'static str> {
        let contract = contract(&seen.trace.server).ok_or("no-contract")?;
        if let Err(why) = known.stage.as_ref() {
            return Err(why);
        }
        let (steps, transactions, (orders, more)) = {
            let story = Story::new(seen, &tables, memory);
            let orders = orders(&story);
            (story.steps, story.transactions, orders)
        };
        let talk = Talk {
            txns: vec![Txn::default(); transactions.len()],
            sent: vec![0; steps.len()],
            steps,
            transactions,
            tables: tables.clone(),
            known,
            setups,
            contract,
            orders,
            more,
            at: (0, 0),
            now: 0,
            mark: 0,
            next_id: 1,
            chains: Vec::new(),
            waiting: Vec::new(),
            pending: None,
            undecided: None,
            first: None,
            seen,
        };
        talk.unfit().map_or(Ok(talk), Err)
    }

    /// Why nothing can be said of the whole run, if that is so.
    fn unfit(&self) -> Option<&'static str> {
        for (i, step) in self.steps.iter().enumerate() {
            let outcome = &self.seen.trace.outcomes[i];
            match step.kind {
                Kind::Ddl => return Some("schema-changed"),
                Kind::Set => return Some("settings-changed"),
                Kind::LockTable => return Some("tables-locked"),
                Kind::Unread if Verb::of(&self.seen.case.steps[i].sql) == Verb::Other => {
                    return Some("unread");
                }
                Kind::Begin
                | Kind::Commit
                | Kind::Rollback
                | Kind::Savepoint
                | Kind::Select
                | Kind::LockingSelect
                | Kind::Insert
                | Kind::Update
                | Kind::Delete
                | Kind::Unread => {}
            }
            match outcome.reply {
                Reply::ConnectionLost | Reply::ServerDied | Reply::Hung => return Some("connection-lost"),
                Reply::Rows(_)
                | Reply::Done { .. }
                | Reply::RolledBack
                | Reply::Error(_)
                | Reply::Killed
                | Reply::NotSent => {}
            }
        }
        None
    }

    fn stage(&self) -> Option<&Stage> {
        self.known.stage.as_ref().as_ref().ok()
    }

    fn setup_tables(&self) -> Option<&Tables> {
        self.tables.as_ref().as_ref().ok()
    }

    fn text(&self, step: usize) -> &'a str {
        &self.seen.case.steps[step].sql
    }

    fn outcome(&self, step: usize) -> &'a Outcome {
        &self.seen.trace.outcomes[step]
    }

    /// The level at which a step runs.
    fn level(&self, step: usize) -> Level {
        let session = &self.seen.case.sessions[self.seen.case.steps[step].session];
        session.level.unwrap_or(self.seen.trace.level)
    }

    fn rules(&self, step: usize) -> Option<LevelRules> {
        self.contract.at(self.level(step)).copied()
    }

    /// Begins anew with the next order.
    fn reset(&mut self, rows: &Arc<Vec<RowSet>>) -> Result<(), &'static str> {
        let Some(stage) = self.known.stage.as_ref().as_ref().ok() else { return Err("setup-unread") };
        (self.now, self.mark, self.next_id) = (0, 0, 1);
        self.chains = vec![Chain::default(); stage.tables.len()];
        for (at, read) in rows.iter().enumerate() {
            for (_, data) in stage.rows(at, read)? {
                self.chains[at].insert(self.next_id, data, NOBODY, 0);
                self.next_id += 1;
            }
        }
        self.txns = vec![Txn::default(); self.transactions.len()];
        self.sent = vec![0; self.steps.len()];
        self.waiting.clear();
        self.undecided = None;
        Ok(())
    }

    /// Goes on until something must be asked or all is said.
    fn go_on(&mut self) -> Ask {
        loop {
            let Some(event) = self.orders[self.at.0].get(self.at.1).copied() else {
                return self.end();
            };
            self.at.1 += 1;
            let found = match event {
                Event::Sent(step) => {
                    self.send(step);
                    Ok(None)
                }
                Event::Waits(step) => {
                    self.waiting.push(step);
                    self.waits(step).map_or(Ok(None), Err)
                }
                Event::RolledBack(session) => {
                    self.roll_back(session);
                    Ok(None)
                }
                Event::Answered(step) => self.answered(step),
            };
            match found {
                Ok(Some(scene)) => return Ask::Play(scene),
                Ok(None) => {}
                Err(found) => return self.stop(found),
            }
        }
    }

    /// Something is wrong or cannot be told: another order may explain it.
    fn stop(&mut self, found: Found) -> Ask {
        self.pending = None;
        match found {
            Found::Undecided(reason) => {
                let reason = self.undecided.take().unwrap_or(reason);
                Ask::Done(Verdict::Undecided { reason })
            }
            Found::Violated(violation) => {
                let first = self.first.take().unwrap_or(violation);
                self.at = (self.at.0 + 1, 0);
                if self.at.0 < self.orders.len() {
                    self.first = Some(first);
                    return match self.known.rows.clone().map(|rows| self.reset(&rows)) {
                        Some(Ok(())) => self.go_on(),
                        Some(Err(reason)) => Ask::Done(Verdict::Undecided { reason: reason.to_string() }),
                        None => Ask::Done(Verdict::Undecided { reason: "not-played".to_string() }),
                    };
                }
                if self.more {
                    return Ask::Done(Verdict::Undecided { reason: "order-of-answers".to_string() });
                }
                Ask::Done(Verdict::Violated(*first))
            }
        }
    }

    /// All events are over: the final state.
    fn end(&mut self) -> Ask {
        if self.txns.iter().zip(&self.transactions).any(|(txn, told)| txn.open && told.fate == Fate::Unknown)
        {
            return self.stop(Found::Undecided("unknown-fate".to_string()));
        }
        if let Some(violation) = self.final_state() {
            return self.stop(Found::Violated(Box::new(violation)));
        }
        Ask::Done(match self.undecided.take() {
            Some(reason) => Verdict::Undecided { reason },
            None => Verdict::Holds { by: Vec::new() },
        })
    }

    fn final_state(&self) -> Option<Violation> {
        let stage = self.stage()?;
        for (name, read) in self.seen.trace.final_state.as_ref()? {
            let Some(at) = stage.find(name) else { continue };
            let view = self.chains[at].view(NOBODY, Until::Committed(self.now));
            let rows: Vec<&[Option<Vec<u8>>]> = view.iter().map(|row| stage.shown(at, &row.data)).collect();
            if same_table(&rows, read) {
                continue;
            }
            let fingerprint = Fingerprint {
                kind: "incorrect-final-state".into(),
                rule: "final-state".into(),
                statement: "final".into(),
                level: Some(self.seen.trace.level),
            };
            let should = shown(stage, at, &view, read);
            return Some(Violation {
                fingerprint,
                step: None,
                story: format!("{name} holds {read} in the end, and should hold {should}."),
                evidence: Vec::new(),
            });
        }
        None
    }

    fn send(&mut self, step: usize) {
        self.sent[step] = self.now;
        if let Some(txn) = self.steps[step].transaction {
            self.txns[txn].open = true;
            let named: Vec<usize> = match self.named(step) {
                Some(roles) => roles.tables.iter().map(|(at, _)| *at).collect(),
                None => Vec::new(),
            };
            self.txns[txn].touched.extend(named);
        }
    }

    fn named(&self, step: usize) -> Option<Roles> {
        let (stage, rules) = (self.stage()?, self.rules(step)?);
        roles(stage, &self.steps[step], self.text(step), &rules, self.single(step))
    }

    /// Is it a transaction by itself?
    fn single(&self, step: usize) -> bool {
        let alone = |txn: usize| self.transactions[txn].steps.len() == 1;
        self.steps[step].transaction.is_some_and(alone) && self.outcome(step).transaction == Open::No
    }

    fn roll_back(&mut self, session: usize) {
        for txn in 0..self.txns.len() {
            if self.txns[txn].open && self.transactions[txn].session == session {
                self.finish(txn, Fate::Undone);
            }
        }
    }

    fn finish(&mut self, txn: usize, fate: Fate) {
        self.now += 1;
        let now = self.now;
        match fate {
            Fate::Committed => self.chains.iter_mut().for_each(|chain| chain.commit(txn, now)),
            Fate::Undone | Fate::Unknown => self.chains.iter_mut().for_each(|chain| chain.undo(txn, 0)),
        }
        self.txns[txn].open = false;
    }

    /// A step waits: is that certainly wrong?
    fn waits(&self, step: usize) -> Option<Found> {
        let roles = self.named(step)?;
        let why = if roles.consistent {
            "a plain read takes no locks and waits for nobody"
        } else if fit::told_not_to_wait(&self.steps[step]) && !roles.nested {
            "it was told not to wait"
        } else if !self.others(step, &roles.tables) {
            "no other transaction is open that touched its tables"
        } else {
            return None;
        };
        let story = format!("{} waits, but {why}.", self.told(step));
        Some(Found::Violated(Box::new(Violation {
            fingerprint: self.fingerprint("inconsistent-blocking", "wait", step),
            step: Some(step),
            story,
            evidence: Vec::new(),
        })))
    }

    /// Is another transaction open that named one of these tables?
    fn others(&self, step: usize, tables: &[(usize, Vec<Sees>)]) -> bool {
        let own = self.seen.case.steps[step].session;
        self.txns.iter().zip(&self.transactions).any(|(txn, told)| {
            txn.open
                && told.session != own
                && (tables.is_empty() || tables.iter().any(|(at, _)| txn.touched.contains(at)))
        })
    }

    /// A step took effect.
    fn answered(&mut self, step: usize) -> Result<Option<Box<Scene>>, Found> {
        self.waiting.retain(|waiting| *waiting != step);
        let Some(txn) = self.steps[step].transaction else { return Ok(None) };
        // BEGIN commits what was open before it, and what an error ended is over when the next one comes.
        let session = self.seen.case.steps[step].session;
        for other in 0..self.txns.len() {
            if other != txn && self.txns[other].open && self.transactions[other].session == session {
                let fate = self.fate(other);
                if fate == Fate::Unknown {
                    return Err(Found::Undecided("unknown-fate".to_string()));
                }
                self.finish(other, fate);
            }
        }
        self.txns[txn].open = true;
        self.now += 1;
        let kind = self.steps[step].kind;
        match kind {
            Kind::Begin => self.begin(step, txn),
            Kind::Savepoint => self.savepoint(step, txn),
            Kind::Commit | Kind::Rollback | Kind::Ddl | Kind::LockTable | Kind::Set => {}
            Kind::Select
            | Kind::LockingSelect
            | Kind::Insert
            | Kind::Update
            | Kind::Delete
            | Kind::Unread => return self.data(step, txn),
        }
        self.close(step, txn)?;
        Ok(None)
    }

    /// What became of a transaction.
    fn fate(&self, txn: usize) -> Fate {
        let told = &self.transactions[txn];
        let last = told.steps.last().copied();
        let alone = |step: usize| {
            told.steps.len() == 1
                && self.steps[step].kind == Kind::Unread
                && matches!(self.outcome(step).reply, Reply::Rows(_) | Reply::Done { .. })
        };
        match told.fate {
            Fate::Unknown if last.is_some_and(alone) => Fate::Committed,
            fate => fate,
        }
    }

    /// Ends the transaction, if this was its last step.
    fn close(&mut self, step: usize, txn: usize) -> Result<(), Found> {
        if self.transactions[txn].steps.last() != Some(&step) {
            return Ok(());
        }
        let outcome = self.outcome(step);
        let over = match self.steps[step].kind {
            Kind::Commit | Kind::Rollback => outcome.error().is_none() || outcome.transaction == Open::No,
            Kind::Begin
            | Kind::Savepoint
            | Kind::Select
            | Kind::LockingSelect
            | Kind::Insert
            | Kind::Update
            | Kind::Delete
            | Kind::Ddl
            | Kind::LockTable
            | Kind::Set
            | Kind::Unread => {
                outcome.transaction == Open::No
                    || outcome.error().is_some_and(|error| error.ends != model::Ends::Statement)
            }
        };
        if over {
            let fate = self.fate(txn);
            if fate == Fate::Unknown {
                return Err(Found::Undecided("unknown-fate".to_string()));
            }
            self.finish(txn, fate);
        }
        Ok(())
    }

    fn begin(&mut self, step: usize, txn: usize) {
        let Some(rules) = self.rules(step) else { return };
        let Some(Statement::Begin(begin)) = self.steps[step].statement() else { return };
        let asked = begin.modes.contains(&TransactionMode::ConsistentSnapshot);
        let at_once = match begin.timing {
            Some(LockTiming::Immediate | LockTiming::Exclusive) => true,
            Some(LockTiming::Deferred) | None => false,
        };
        if asked && rules.begin_takes_it || at_once && rules.snapshot.is == Taken::FirstStatement {
            (self.txns[txn].snapshot, self.txns[txn].sure) = (vec![self.now], true);
        }
    }

    fn savepoint(&mut self, step: usize, txn: usize) {
        if self.outcome(step).error().is_some() {
            return;
        }
        self.mark += 1;
        let mark = self.mark;
        let place = |txn: &Txn, name: &str| {
            txn.savepoints.iter().rposition(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        match self.steps[step].statement().cloned() {
            Some(Statement::Savepoint(name)) => self.txns[txn].savepoints.push((name.name, mark)),
            Some(Statement::Release(target)) => {
                if let Some(at) = place(&self.txns[txn], &target.name.name) {
                    self.txns[txn].savepoints.truncate(at);
                }
            }
            Some(Statement::Rollback(rollback)) => {
                let name = rollback.to.map(|target| target.name.name).unwrap_or_default();
                if let Some(at) = place(&self.txns[txn], &name) {
                    let from = self.txns[txn].savepoints[at].1;
                    self.chains.iter_mut().for_each(|chain| chain.undo(txn, from));
                    self.txns[txn].savepoints.truncate(at + 1);
                }
            }
            Some(_) | None => {}
        }
    }

    /// A statement that reads or changes rows.
    fn data(&mut self, step: usize, txn: usize) -> Result<Option<Box<Scene>>, Found> {
        let Some(roles) = self.named(step) else {
            return Err(Found::Undecided("no-rules-at-this-level".to_string()));
        };
        if let Some(accepted) = self.accepted(step, &roles)? {
            if accepted {
                self.close(step, txn)?;
            }
            return Ok(None);
        }
        self.take_snapshot(step, txn, &roles);
        match self.scene(step, txn, roles) {
            Ok(scene) => Ok(Some(scene)),
            Err((reason, changes)) => {
                self.not_judged(reason, changes)?;
                self.close(step, txn)?;
                Ok(None)
            }
        }
    }

    /// Notes that a statement could not be judged; if it changes rows, nothing after it can be either.
    fn not_judged(&mut self, reason: &str, changes: bool) -> Result<(), Found> {
        self.undecided.get_or_insert_with(|| reason.to_string());
        if changes { Err(Found::Undecided(reason.to_string())) } else { Ok(()) }
    }

    /// Answers that are not judged: errors of conflicts, which need another open transaction. None: it is to be judged.
    fn accepted(&self, step: usize, roles: &Roles) -> Result<Option<bool>, Found> {
        let class = match &self.outcome(step).reply {
            Reply::Rows(_) | Reply::Done { .. } => return Ok(None),
            Reply::Error(error) => error.class,
            Reply::Killed | Reply::RolledBack => return Ok(Some(true)),
            Reply::NotSent | Reply::ConnectionLost | Reply::ServerDied | Reply::Hung => {
                return Ok(Some(false));
            }
        };
        match class {
            ErrorClass::Deadlock | ErrorClass::LockTimeout => {
                if !self.others(step, &roles.tables) {
                    let story = format!(
                        "{} fails with {class}, but no other transaction is open that touched its tables.",
                        self.told(step)
                    );
                    return Err(Found::Violated(Box::new(Violation {
                        fingerprint: self.fingerprint("inconsistent-blocking", class.name(), step),
                        step: Some(step),
                        story,
                        evidence: Vec::new(),
                    })));
                }
                Ok(Some(true))
            }
            ErrorClass::SerializationFailure
            | ErrorClass::WriteConflict
            | ErrorClass::Busy
            | ErrorClass::ReadOnly
            | ErrorClass::TableChanged
            | ErrorClass::Interrupted
            | ErrorClass::GoneAway
            | ErrorClass::Denied
            | ErrorClass::Internal => Ok(Some(true)),
            ErrorClass::DuplicateKey
            | ErrorClass::Constraint
            | ErrorClass::Range
            | ErrorClass::Syntax
            | ErrorClass::Runtime
            | ErrorClass::Other => Ok(None),
        }
    }

    /// Does this statement take the transaction's snapshot? A query that the server can answer without looking at a table does not, and from
    /// outside that is not always seen.
    fn take_snapshot(&mut self, step: usize, txn: usize, roles: &Roles) {
        let Some(rules) = self.rules(step) else { return };
        if self.txns[txn].sure || roles.tables.is_empty() {
            return;
        }
        let takes = match rules.snapshot.is {
            Taken::Never => false,
            Taken::FirstRead => roles.consistent || !roles.changes && roles.nested,
            Taken::FirstStatement => true,
        };
        if !takes {
            return;
        }
        let looked = match &self.outcome(step).reply {
            Reply::Rows(rows) => !rows.is_empty() && plain_rows(&self.steps[step]),
            Reply::Done { affected, .. } => *affected > 0,
            _ => false,
        };
        let sure = looked && (roles.consistent || rules.snapshot.is == Taken::FirstStatement);
        let waited = self.seen.trace.waited(step);
        let (sent, now) = (self.sent[step], self.now);
        let state = &mut self.txns[txn];
        if waited {
            state.snapshot.push(sent);
        }
        state.snapshot.push(now);
        state.sure = sure && !waited;
    }

    /// The view of one table by one rule; several where the moment is not known.
    fn views(
        &self,
        step: usize,
        txn: usize,
        at: usize,
        sees: Sees,
    ) -> Result<Vec<Vec<Visible>>, &'static str> {
        let chain = &self.chains[at];
        let all = match sees {
            Sees::Newest => {
                // Half of what a waiting statement does is there to be seen.
                let half = |other: &usize| {
                    self.named(*other).is_none_or(|roles| {
                        roles.changes && roles.tables.iter().any(|(table, _)| *table == at)
                    })
                };
                if self.waiting.iter().any(half) {
                    return Err("half-done-statement");
                }
                vec![chain.view(txn, Until::Newest)]
            }
            Sees::Committed => vec![chain.view(txn, Until::Committed(self.now))],
            // It may also have looked later: what is read inside a statement is read when it is needed.
            Sees::Fresh if self.seen.trace.waited(step) => vec![
                chain.view(txn, Until::Committed(self.sent[step])),
                chain.view(txn, Until::Committed(self.now)),
            ],
            Sees::Fresh => vec![chain.view(txn, Until::Committed(self.now))],
            Sees::Snapshot => {
                let mut times = self.txns[txn].snapshot.clone();
                if times.is_empty() {
                    times.push(self.now);
                }
                let newest = chain.view(txn, Until::Committed(self.now));
                let views: Vec<Vec<Visible>> = times
                    .iter()
                    .map(|time| self.shadowed(at, chain.view(txn, Until::Committed(*time))))
                    .collect();
                if self.txns[txn].unclear.contains(&at) && views.iter().any(|view| *view != newest) {
                    return Err("unchanged-rows");
                }
                views
            }
        };
        Ok(all)
    }

    /// A row that the transaction wrote itself stands in the place of an older one with the same primary key: deleted by
    /// another since the snapshot, its key was free again.
    fn shadowed(&self, at: usize, view: Vec<Visible>) -> Vec<Visible> {
        let Some(stage) = self.stage() else { return view };
        let own: Vec<_> =
            view.iter().filter(|row| row.own).filter_map(|row| stage.key(at, &row.data)).collect();
        let hidden =
            |row: &Visible| !row.own && stage.key(at, &row.data).is_some_and(|key| own.contains(&key));
        view.iter().filter(|row| !hidden(row)).cloned().collect()
    }

    /// What is to be played for a step; the reason why not, and whether the step changes rows.
    fn scene(&mut self, step: usize, txn: usize, roles: Roles) -> Result<Box<Scene>, (&'static str, bool)> {
        let changes = roles.changes;
        let not = |reason: &'static str| (reason, changes);
        let told = &self.steps[step];
        let rows = match &self.outcome(step).reply {
            Reply::Rows(rows) => Some(rows.len()),
            _ => None,
        };
        if let Some(why) = fit::fickle(told, self.text(step), self.setup_tables(), rows) {
            return Err(not(why));
        }
        let Some(stage) = self.stage() else { return Err(not("setup-unread")) };
        if told.kind == Kind::Insert && roles.tables.iter().any(|(at, _)| stage.tables[*at].counts) {
            return Err(not("counter"));
        }
        let number = match () {
            () if !changes => PLAIN,
            () if stage.invisible || !fit::meets_added_column(told) => MARKED,
            () if fit::only_adds(told) => PLAIN,
            () => return Err(not("no-invisible-column")),
        };
        let mut views = Vec::new();
        let mut tables = Vec::new();
        for (at, sees) in &roles.tables {
            let mut all = Vec::new();
            for one in sees {
                all.extend(self.views(step, txn, *at, *one).map_err(not)?);
            }
            let Some(view) = all.pop() else { continue };
            if all.iter().any(|other| !same_view(other, &view)) {
                let snapshot = sees.len() == 1 && sees[0] == Sees::Snapshot;
                return Err(not(if snapshot { "snapshot-when" } else { "two-views" }));
            }
            tables.push(stage.prop(*at, &view, number).map_err(not)?);
            views.push((*at, view));
        }
        // Rows that match and do not change are known by the query only.
        let unchanged = matches!(&self.outcome(step).reply,
            Reply::Done { affected, matched: Some(matched) } if matched > affected);
        let product = self.seen.trace.server.product;
        let probe = (unchanged && number == MARKED).then(|| fit::matching(product, told, MARK)).flatten();
        let scene = Scene {
            stage: number,
            build: stage.build[number].clone(),
            tables,
            probe,
            sql: Some(self.text(step).to_string()),
            changes,
        };
        let probed = scene.probe.is_some();
        self.pending = Some(Pending { step, roles, views, stage: number, probed });
        Ok(Box::new(scene))
    }

    /// A statement was played.
    fn played(&mut self, pending: Pending, shown: Shown) -> Result<(), Found> {
        let (step, changes) = (pending.step, pending.roles.changes);
        let Some(txn) = self.steps[step].transaction else { return Ok(()) };
        let (probe, outcome, tables) = match shown {
            Shown::Played { probe, outcome: Some(outcome), tables } => (probe, outcome, tables),
            Shown::Played { .. } => return self.not_judged("not-played", changes),
            Shown::Not(reason) => return self.not_judged(&reason, changes),
            Shown::Unfilled { error, .. } => {
                let reason = match error.class {
                    ErrorClass::DuplicateKey => "view-breaks-key",
                    ErrorClass::Constraint => "view-breaks-constraint",
                    _ => "view-not-filled",
                };
                self.not_judged(reason, changes)?;
                return self.close(step, txn);
            }
        };
        match compare(self.steps[step].kind, self.outcome(step), &outcome) {
            Compared::Same => {}
            Compared::Unsure(reason) => self.not_judged(reason, changes)?,
            Compared::Differ(what) => {
                return Err(Found::Violated(Box::new(self.wrong(&pending, what, &outcome))));
            }
        }
        if changes && self.outcome(step).error().is_none() {
            self.effects(&pending, txn, probe, &tables)?;
        }
        self.close(step, txn)
    }

    /// Reads off the tables what the statement did, and writes it down.
    fn effects(
        &mut self,
        pending: &Pending,
        txn: usize,
        probe: Option<RowSet>,
        tables: &[RowSet],
    ) -> Result<(), Found> {
        let undecided = |reason: &str| Found::Undecided(reason.to_string());
        let setup = self.known.stage.clone();
        let Ok(stage) = setup.as_ref() else { return Err(undecided("setup-unread")) };
        self.mark += 1;
        for ((at, view), read) in pending.views.iter().zip(tables) {
            let after = stage.rows(*at, read).map_err(undecided)?;
            let changes = match pending.stage {
                MARKED => marked(view, after),
                _ => added(view, after).ok_or_else(|| undecided("rows-not-told-apart"))?,
            };
            self.stale(pending, txn, *at, &changes)?;
            for (id, data) in changes {
                match id {
                    Some(id) => self.chains[*at].write(id, data, txn, self.mark),
                    None => {
                        if let Some(data) = data {
                            self.chains[*at].insert(self.next_id, data, txn, self.mark);
                            self.next_id += 1;
                        }
                    }
                }
            }
        }
        self.unchanged(pending, txn, probe);
        Ok(())
    }

    /// Rows that were written without being changed become the transaction's own all the same.
    fn unchanged(&mut self, pending: &Pending, txn: usize, probe: Option<RowSet>) {
        let maybe = match &self.outcome(pending.step).reply {
            Reply::Done { affected, matched: Some(matched) } => matched > affected,
            // Nothing is said about rows that were met and left as they were.
            Reply::Done { .. } => !fit::only_adds(&self.steps[pending.step]),
            _ => true,
        };
        if !maybe {
            return;
        }
        if let (true, Some(probe)) = (pending.probed, probe) {
            let id =
                |row| String::from_utf8_lossy(probe.cell(row, 0).unwrap_or_default()).parse::<u64>().ok();
            let ids: Vec<u64> = (0..probe.len()).filter_map(id).collect();
            let at = pending.views.iter().position(|(_, view)| view.iter().any(|row| ids.contains(&row.id)));
            let Some((at, view)) = at.map(|at| &pending.views[at]) else { return };
            let now = self.chains[*at].view(txn, Until::Committed(self.now));
            for row in view.iter().filter(|row| ids.contains(&row.id)) {
                let same = now.iter().any(|one| one.id == row.id && one.data == row.data);
                if same && !row.own {
                    self.chains[*at].write(row.id, Some(row.data.clone()), txn, self.mark);
                }
            }
            return;
        }
        if self.steps[pending.step].kind != Kind::Delete {
            let tables = pending.views.iter().filter(|(_, view)| !view.is_empty()).map(|(at, _)| *at);
            self.txns[txn].unclear.extend(tables);
        }
    }

    /// Where a row that changed since the snapshot must be refused, was one accepted?
    fn stale(&self, pending: &Pending, txn: usize, at: usize, changes: &[Change]) -> Result<(), Found> {
        let Some(rules) = self.rules(pending.step) else { return Ok(()) };
        let (Stale::Refused(class), true, Some(taken)) =
            (rules.stale.is, self.txns[txn].sure, self.txns[txn].snapshot.last().copied())
        else {
            return Ok(());
        };
        let newer = |id: &Option<u64>| id.is_some_and(|id| self.chains[at].newer(id, txn, taken));
        if !changes.iter().any(|(id, _)| newer(id)) {
            return Ok(());
        }
        let story = format!(
            "{} changes a row that another transaction has changed since the snapshot; it should fail with {class}.",
            self.told(pending.step)
        );
        Err(Found::Violated(Box::new(Violation {
            fingerprint: self.fingerprint("incorrect-query-result", "stale-write", pending.step),
            step: Some(pending.step),
            story,
            evidence: vec![format!("rule: {}", rules.stale.source)],
        })))
    }

    fn fingerprint(&self, kind: &str, rule: &str, step: usize) -> Fingerprint {
        Fingerprint {
            kind: kind.to_string(),
            rule: rule.to_string(),
            statement: self.steps[step].kind.name().to_string(),
            level: Some(self.level(step)),
        }
    }

    /// A step for people.
    fn told(&self, step: usize) -> String {
        let session = &self.seen.case.sessions[self.seen.case.steps[step].session].name;
        format!("Step {} ({session}: {})", step + 1, self.text(step))
    }

    fn wrong(&self, pending: &Pending, what: &str, should: &Outcome) -> Violation {
        let step = pending.step;
        let came = self.outcome(step);
        let mut evidence = Vec::new();
        if let Some(rules) = self.rules(step) {
            let rule = match (pending.roles.changes, pending.roles.consistent) {
                (false, true) if self.single(step) => rules.single_read,
                (false, true) => rules.read,
                (false, false) if self.steps[step].kind == Kind::Select => rules.read,
                _ => rules.change,
            };
            evidence.push(format!("rule: it sees {}; {}", sees(rule.is), rule.source));
        }
        if let Some(stage) = self.stage() {
            for (at, view) in &pending.views {
                let rows: Vec<String> = view.iter().map(|row| text(stage.shown(*at, &row.data))).collect();
                evidence.push(format!("its view of {}: {}", stage.tables[*at].name, rows.join(" ")));
            }
        }
        evidence.push(format!("alone on this view: {should}"));
        if self.seen.trace.waited(step) {
            evidence.push("it waited before it answered".to_string());
        }
        Violation {
            fingerprint: self.fingerprint("incorrect-query-result", what, step),
            step: Some(step),
            story: format!(
                "{} gives {came}; alone on what it should see it gives {should}.",
                self.told(step)
            ),
            evidence,
        }
    }
}

impl Conversation for Talk<'_> {
    fn next(&mut self, _: &[Answer]) -> Ask {
        if let Some(rows) = self.known.rows.clone() {
            return match self.reset(&rows) {
                Ok(()) => self.go_on(),
                Err(reason) => Ask::Done(Verdict::Undecided { reason: reason.to_string() }),
            };
        }
        let Some(stage) = self.stage() else {
            return Ask::Done(Verdict::Undecided { reason: "setup-unread".to_string() });
        };
        Ask::Play(Box::new(Scene {
            stage: PLAIN,
            build: stage.build[PLAIN].clone(),
            tables: stage.beginning(),
            probe: None,
            sql: None,
            changes: true,
        }))
    }

    fn shown(&mut self, shown: Shown) -> Ask {
        if let Some(pending) = self.pending.take() {
            return match self.played(pending, shown) {
                Ok(()) => self.go_on(),
                Err(found) => self.stop(found),
            };
        }
        // What the setup makes.
        match shown {
            Shown::Played { tables, .. } => {
                let rows = Arc::new(tables);
                self.setups.keep(&self.known, &rows);
                self.known.rows = Some(rows);
                self.next(&[])
            }
            Shown::Unfilled { .. } => {
                Ask::Done(Verdict::Undecided { reason: "setup-not-filled".to_string() })
            }
            Shown::Not(reason) => Ask::Done(Verdict::Undecided { reason }),
        }
    }
}

/// A row that changed: which one, none for a new one, and what it holds now, none if it is gone.
type Change = (Option<u64>, Option<Data>);

/// What changed, by the marks of the rows.
fn marked(view: &[Visible], after: Vec<(Option<u64>, Data)>) -> Vec<Change> {
    let gone = view.iter().filter(|row| !after.iter().any(|(id, _)| *id == Some(row.id)));
    let mut changes: Vec<Change> = gone.map(|row| (Some(row.id), None)).collect();
    for (id, data) in after {
        let before = view.iter().find(|row| Some(row.id) == id);
        if before.is_none_or(|row| row.data != data) {
            changes.push((id, Some(data)));
        }
    }
    changes
}

/// What was added to rows that stay; none if one of these is not there any more.
fn added(view: &[Visible], mut after: Vec<(Option<u64>, Data)>) -> Option<Vec<Change>> {
    for row in view {
        let at = after.iter().position(|(_, data)| *data == row.data)?;
        after.remove(at);
    }
    Some(after.into_iter().map(|(_, data)| (None, Some(data))).collect())
}

fn same_view(a: &[Visible], b: &[Visible]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.id == y.id && x.data == y.data)
}

/// Does a row in its result mean that a table was looked at? Not so for sums over nothing and for unions with constants.
fn plain_rows(told: &Told) -> bool {
    let Some(Statement::Query(query)) = told.statement() else { return false };
    let model::sql::QueryPart::Select(select) = &query.first else { return false };
    struct Sums(bool);
    impl model::sql::VisitMut for Sums {
        fn expr(&mut self, expr: &mut model::sql::Expr) {
            if let model::sql::Expr::Function { name, .. } = expr {
                let sums = ["count", "sum", "min", "max", "avg", "bit_and", "bit_or", "bit_xor", "total"];
                self.0 |= sums.iter().any(|sum| name.name.eq_ignore_ascii_case(sum))
                    || name.name.to_ascii_lowercase().starts_with("std")
                    || name.name.to_ascii_lowercase().starts_with("var");
            }
        }
    }
    let mut sums = Sums(false);
    Statement::Query(query.clone()).visit_mut(&mut sums);
    let summed = sums.0 && select.group_by.is_empty();
    let whole = select.filter.is_none() && select.having.is_none() && query.limit.is_none();
    query.rest.is_empty() && !select.from.is_empty() && (!summed || whole)
}

fn sees(what: Sees) -> &'static str {
    match what {
        Sees::Newest => "the newest rows, committed or not",
        Sees::Committed => "the newest committed rows",
        Sees::Fresh => "what was committed when it began",
        Sees::Snapshot => "what was committed when the snapshot was taken",
    }
}

fn text(cells: &[Option<Vec<u8>>]) -> String {
    let cell = |cell: &Option<Vec<u8>>| match cell {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => "NULL".to_string(),
    };
    format!("({})", cells.iter().map(cell).collect::<Vec<_>>().join(", "))
}

/// A view for people, written as the server writes rows.
fn shown(stage: &Stage, at: usize, view: &[Visible], like: &RowSet) -> RowSet {
    let mut rows = RowSet::new(like.columns().to_vec());
    for row in view {
        stage.shown(at, &row.data).iter().for_each(|cell| rows.push(cell.as_deref()));
    }
    rows
}
