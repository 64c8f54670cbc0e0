//! Goes through a trace round by round, and keeps every account of it that the contract allows.
//!
//! One [`World`] is enough for most traces. Where the trace does not say what happened (which of two woken statements ran
//! first, whether a read without rows took the snapshot) each possibility becomes a world of its own. A world ends when a
//! statement's answer is none of those foretold in it. When the last one ends, that answer is what is wrong.

use std::sync::Arc;

use dialect::contract::{Concession, Contract, LevelRules, Sees, Taken};
use eval::Fault;
use model::{
    Cause, DbError, Ends, ErrorClass, Level, Open, Reply, Round,
    sql::{Begin, InsertModifier, LockWait, Query, Rollback, Statement, TransactionMode},
};

use super::{
    compute::Compute,
    foretold::{Effect, Expected, Foretold},
    reach::Reach,
    scene::Scene,
    schema::{Reason, Schema, Values},
    world::{Savepoint, Waiting, World},
};
use crate::Answer;

/// So many accounts are kept; beyond, nothing is said.
const WORLDS: usize = 32;

/// MySQL's ER_DIVISION_BY_ZERO.
const DIVISION_BY_ZERO: u32 = 1365;

/// MySQL's ER_TRUNCATED_WRONG_VALUE.
const NO_NUMBER: u32 = 1292;

/// What is wrong.
#[derive(Clone, Debug)]
pub struct Broken {
    /// In one word.
    pub kind: &'static str,
    /// The rule that it breaks.
    pub rule: String,
    /// The step that shows it.
    pub step: Option<usize>,
    /// What should have come.
    pub expected: String,
    /// What came.
    pub actual: String,
}

/// Why an account ended.
#[derive(Clone, Debug)]
pub enum Dead {
    /// Something is wrong.
    Broken(Box<Broken>),
    /// It cannot be told.
    Unsure(Reason),
}

/// A trace to go through.
pub struct Replay<'a> {
    /// Case and trace.
    pub seen: &'a Answer,
    /// The tables.
    pub schema: &'a Schema,
    /// The contract.
    pub contract: &'a Contract,
    /// The trees of the steps.
    pub trees: &'a [Option<Arc<Statement>>],
    /// Which tables each step reaches.
    pub reach: &'a [Reach],
    /// Are reported concessions tried?
    pub lenient: bool,
    /// Not further than the round in which this step answers.
    pub until: Option<usize>,
}

type Worlds = Result<Vec<World>, Dead>;

impl<'a> Replay<'a> {
    /// The accounts that reach the end.
    pub fn run(&self) -> Worlds {
        let mut worlds = vec![World::new(self.schema, self.seen.case.sessions.len())];
        for round in &self.seen.trace.rounds {
            worlds = self.round(worlds, round)?;
            if worlds.len() > WORLDS {
                return Err(Dead::Unsure("too-many-worlds"));
            }
            if self.until.is_some_and(|step| round.answered.contains(&step)) {
                return Ok(worlds);
            }
        }
        self.finals(worlds)
    }

    fn round(&self, worlds: Vec<World>, round: &Round) -> Worlds {
        let order = self.order(round);
        let mut next: Vec<World> = Vec::new();
        let mut dead = None;
        for mut world in worlds {
            self.begin(&mut world, round);
            match self.answers(world, &order.0, &order.1).and_then(|worlds| self.settled(worlds, round)) {
                Ok(worlds) => {
                    for world in worlds {
                        if !next.contains(&world) {
                            next.push(world);
                        }
                    }
                }
                Err(death) => dead = worse(dead, death),
            }
        }
        match (next.is_empty(), dead) {
            (true, Some(dead)) => Err(dead),
            _ => Ok(next),
        }
    }

    /// The answers of a round in the order in which they can have come about: first what frees others, and those whose order
    /// is not known last and apart.
    fn order(&self, round: &Round) -> (Vec<usize>, Vec<usize>) {
        let sent = match round.cause {
            Cause::Sent(step) => Some(step),
            Cause::Timeout | Cause::RolledBack(_) | Cause::Killed(_) => None,
        };
        let control = |step: usize| {
            !matches!(
                self.trees[step].as_deref(),
                Some(
                    Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_)
                )
            )
        };
        let victim = |step: usize| {
            // One that is refused for what others have committed may come after any of these.
            let frees =
                |error: &DbError| error.ends == Ends::Transaction && error.class != ErrorClass::WriteConflict;
            self.seen.trace.outcomes[step].error().is_some_and(frees)
        };
        let mut first: Vec<usize> =
            round.answered.iter().copied().filter(|&step| Some(step) == sent && control(step)).collect();
        let taken = first.clone();
        first.extend(round.answered.iter().filter(|step| !taken.contains(step) && victim(**step)));
        let rest = round.answered.iter().copied().filter(|step| !first.contains(step)).collect();
        (first, rest)
    }

    /// What a round begins with.
    fn begin(&self, world: &mut World, round: &Round) {
        match round.cause {
            // One that answers together with others may have waited for them in between.
            Cause::Sent(step) => {
                let waits = !round.answered.contains(&step) || round.answered.len() > 1;
                self.start(world, step, waits);
            }
            Cause::RolledBack(session) => world.roll_back(session),
            Cause::Timeout | Cause::Killed(_) => {}
        }
    }

    /// A statement is sent: it belongs to a transaction, and its tables are touched.
    fn start(&self, world: &mut World, step: usize, waits: bool) {
        let session = self.seen.case.steps[step].session;
        let reach = &self.reach[step];
        if reach.tables == 0 {
            return;
        }
        let lasts = !self.seen.case.sessions[session].autocommit;
        let rules = self.rules(session);
        let first = rules.is_some_and(|rules| rules.snapshot.is == Taken::FirstStatement);
        let locks = match self.trees[step].as_deref() {
            Some(Statement::Query(query)) => {
                !query.locks.is_empty()
                    || !self.contract.waits
                    || rules.is_some_and(|rules| rules.read.is == Sees::Committed)
            }
            Some(_) | None => true,
        };
        let clock = world.clock;
        let txn = world.txn(session, lasts);
        txn.touched |= reach.tables;
        if locks {
            txn.locking |= reach.tables;
        }
        let mut opened = false;
        if first && txn.view.is_none() {
            (txn.view, txn.view_by) = (Some(clock), Some(step));
            opened = true;
        }
        if waits {
            let tables = world.tables.clone();
            world.sessions[session].waiting = Some(Waiting { step, tables, clock, opened_view: opened });
        }
    }

    fn rules(&self, session: usize) -> Option<&'a LevelRules> {
        self.contract.at(self.level(session))
    }

    /// The level of a session.
    fn level(&self, session: usize) -> Level {
        self.seen.case.sessions[session].level.unwrap_or(self.seen.trace.level)
    }

    /// All answers of a round: the first in this order, the rest in every order.
    fn answers(&self, world: World, first: &[usize], rest: &[usize]) -> Worlds {
        if let [step, more @ ..] = first {
            return self.then(world, *step, more, rest);
        }
        if let [step] = rest {
            return self.then(world, *step, &[], &[]);
        }
        if rest.is_empty() {
            return Ok(vec![world]);
        }
        if rest.len() > 5 {
            return Err(Dead::Unsure("many-woken-at-once"));
        }
        let mut all = Vec::new();
        let mut dead = None;
        for &step in rest {
            let others: Vec<usize> = rest.iter().copied().filter(|other| *other != step).collect();
            match self.then(world.clone(), step, &[], &others) {
                Ok(worlds) => all.extend(worlds),
                Err(death) => dead = worse(dead, death),
            }
        }
        match (all.is_empty(), dead) {
            (true, Some(dead)) => Err(dead),
            _ => Ok(all),
        }
    }

    fn then(&self, world: World, step: usize, first: &[usize], rest: &[usize]) -> Worlds {
        let mut all = Vec::new();
        let mut dead = None;
        for world in self.answer(world, step)? {
            match self.answers(world, first, rest) {
                Ok(worlds) => all.extend(worlds),
                Err(death) => dead = worse(dead, death),
            }
        }
        match (all.is_empty(), dead) {
            (true, Some(dead)) => Err(dead),
            _ => Ok(all),
        }
    }

    /// A step has answered.
    fn answer(&self, mut world: World, step: usize) -> Worlds {
        let session = self.seen.case.steps[step].session;
        let outcome = &self.seen.trace.outcomes[step];
        let waited = world.sessions[session].waiting.take();
        match &outcome.reply {
            Reply::NotSent => return Ok(vec![world]),
            Reply::ConnectionLost | Reply::ServerDied => return Err(Dead::Unsure("server-gone")),
            Reply::Hung => return Err(Dead::Unsure("hung")),
            Reply::Killed => {
                self.after(&mut world, step, None, outcome.transaction);
                return Ok(vec![world]);
            }
            Reply::Rows(_) | Reply::Done { .. } | Reply::RolledBack | Reply::Error(_) => {}
        }
        let Some(tree) = self.trees[step].as_deref() else { return Err(Dead::Unsure("unparsed")) };
        let worlds = match tree {
            Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => {
                self.statement(world, step, tree, waited)?
            }
            Statement::Begin(begin) => self.opens(world, step, begin)?,
            Statement::Commit(_) | Statement::Rollback(Rollback { to: None, .. }) => {
                match outcome.error() {
                    None => {}
                    // The writer may try again.
                    Some(error) if Some(error.class) == self.contract.busy => return Ok(vec![world]),
                    // There is none to end.
                    Some(_) if world.sessions[session].txn.is_none() => return Ok(vec![world]),
                    Some(_) => return Err(Dead::Unsure("end-refused")),
                }
                match tree {
                    Statement::Commit(_) => world.commit(session),
                    _ => world.roll_back(session),
                }
                vec![world]
            }
            Statement::Savepoint(name) => {
                if !self.seen.case.sessions[session].autocommit {
                    world.txn(session, true);
                } else if self.contract.savepoint_begins && world.sessions[session].txn.is_none() {
                    world.txn(session, true).by_savepoint = true;
                }
                if outcome.error().is_none()
                    && let Some(txn) = &mut world.sessions[session].txn
                {
                    txn.savepoints.retain(|known| !known.name.eq_ignore_ascii_case(&name.name));
                    let early = txn.touched == 0 && txn.view.is_none();
                    let length = txn.undo.len();
                    txn.savepoints.push(Savepoint { name: name.name.clone(), length, early });
                }
                vec![world]
            }
            Statement::Rollback(Rollback { to: Some(target), .. }) => {
                self.back(world, step, &target.name.name, true)?
            }
            Statement::Release(target) => self.back(world, step, &target.name.name, false)?,
            Statement::Pragma(_) => vec![world],
            Statement::CreateTable(_)
            | Statement::CreatePartition(_)
            | Statement::CreateIndex(_)
            | Statement::DropTable(_)
            | Statement::DropIndex(_)
            | Statement::Truncate(_) => return Err(Dead::Unsure("schema-changed")),
            Statement::Set(_) | Statement::SetTransaction(_) => return Err(Dead::Unsure("settings-changed")),
            Statement::LockTable(_) => return Err(Dead::Unsure("lock-table")),
        };
        Ok(worlds)
    }

    fn opens(&self, mut world: World, step: usize, begin: &Begin) -> Worlds {
        let session = self.seen.case.steps[step].session;
        match self.seen.trace.outcomes[step].error() {
            None => {}
            Some(error) if Some(error.class) == self.contract.busy => return Ok(vec![world]),
            Some(_) => return Err(Dead::Unsure("begin-refused")),
        }
        world.commit(session);
        let clock = world.clock;
        let txn = world.txn(session, true);
        txn.lasts = true;
        if begin.timing.is_some_and(|timing| timing != model::sql::LockTiming::Deferred) {
            txn.view = Some(clock);
            (txn.touched, txn.locking) = (u64::MAX, u64::MAX);
        }
        for mode in &begin.modes {
            match mode {
                TransactionMode::ConsistentSnapshot => {
                    if self.rules(session).is_some_and(|rules| rules.begin_takes_it) {
                        txn.view = Some(clock);
                    }
                }
                TransactionMode::ReadOnly => txn.read_only = true,
                TransactionMode::ReadWrite => {}
                TransactionMode::Isolation(_)
                | TransactionMode::Deferrable
                | TransactionMode::NotDeferrable => return Err(Dead::Unsure("begin-with-level")),
            }
        }
        Ok(vec![world])
    }

    /// ROLLBACK TO and RELEASE.
    fn back(&self, mut world: World, step: usize, name: &str, undo: bool) -> Worlds {
        let session = self.seen.case.steps[step].session;
        let failed = self.seen.trace.outcomes[step].error().is_some();
        let known = world.sessions[session].txn.as_ref().and_then(|txn| {
            let at = txn.savepoints.iter().position(|known| known.name.eq_ignore_ascii_case(name))?;
            Some((at, txn.savepoints[at].length, txn.savepoints[at].early))
        });
        match (known, failed) {
            (None, true) => Ok(vec![world]),
            (Some((at, length, early)), false) => {
                if undo {
                    world.undo_to(session, length);
                }
                let mut worlds = Vec::new();
                let mut over = false;
                if let Some(txn) = &mut world.sessions[session].txn {
                    txn.savepoints.truncate(if undo { at + 1 } else { at });
                    over = !undo && txn.by_savepoint && at == 0;
                }
                if over {
                    world.commit(session);
                }
                if undo && early && self.contract.waits {
                    let mut gone = world.clone();
                    if let Some(txn) = &mut gone.sessions[session].txn {
                        (txn.view, txn.touched, txn.locking) = (None, 0, 0);
                        txn.locks.clear();
                        txn.ranges.clear();
                        txn.trespassed.clear();
                    }
                    gone.used.push((Concession::EarlySavepointEndsAll, step));
                    worlds.push(gone);
                }
                worlds.insert(0, world);
                Ok(worlds)
            }
            (None, false) | (Some(_), true) => Err(self.broken(
                step,
                "savepoint",
                "a savepoint lasts until it is released or its transaction ends",
                if failed { "ok" } else { "an error" }.to_string(),
            )),
        }
    }

    /// A statement on rows.
    fn statement(&self, mut world: World, step: usize, tree: &Statement, waited: Option<Waiting>) -> Worlds {
        let session = self.seen.case.steps[step].session;
        let outcome = &self.seen.trace.outcomes[step];
        let reply = &outcome.reply;
        // The statement may have been queued while its transaction was ended by another.
        self.start(&mut world, step, false);
        if let Reply::Error(error) = reply
            && let Some(allowed) = self.concurrency(&mut world, step, error, waited.as_ref())
        {
            if !allowed {
                return Err(self.broken(
                    step,
                    "needless-error",
                    "an error of concurrency needs another transaction",
                    "an answer".into(),
                ));
            }
            // What could not even begin has taken no snapshot.
            if let Some(txn) = &mut world.sessions[session].txn
                && error.class == ErrorClass::Busy
                && txn.view_by == Some(step)
            {
                txn.view = None;
            }
            self.after(&mut world, step, Some(error), outcome.transaction);
            return Ok(vec![world]);
        }
        if let Reply::Error(error) = reply
            && matches!(error.class, ErrorClass::Other | ErrorClass::Syntax | ErrorClass::Denied)
        {
            return Err(Dead::Unsure("server-refuses"));
        }
        let all = self.foretell(&world, step, tree, waited.as_ref()).map_err(|fault| match fault {
            Fault::Unsure(why) => Dead::Unsure(why),
            Fault::Error(_) => Dead::Unsure("error-foretold"),
        })?;
        let success = !matches!(reply, Reply::Error(_));
        let mut worlds = Vec::new();
        let mut dead = None;
        let parents = self.schema.tables.iter().any(|table| !table.parents.is_empty());
        for foretold in
            all.iter().filter(|foretold| foretold.fits(reply) || parents && foretold.fits_either(reply))
        {
            if success && !foretold.due.is_empty() && foretold.reply != Expected::Anything {
                continue;
            }
            let mut next = world.clone();
            match self.apply(&mut next, step, foretold, success) {
                Ok(()) => {
                    let error = outcome.error();
                    self.after(&mut next, step, error, outcome.transaction);
                    if !worlds.contains(&next) {
                        worlds.push(next);
                    }
                }
                Err(death) => dead = worse(dead, death),
            }
        }
        if !worlds.is_empty() {
            return Ok(worlds);
        }
        if let Some(dead) = dead {
            return Err(dead);
        }
        let due = all.iter().any(|foretold| !foretold.due.is_empty());
        if due && success {
            return Err(self.broken(
                step,
                "missing-wait",
                "what another transaction is changing is waited for",
                "a wait".into(),
            ));
        }
        let expected = all.first().map_or_else(String::new, |foretold| foretold.reply.to_string());
        let kind = match (reply, all.first().map(|foretold| &foretold.reply)) {
            (Reply::Error(_), _) => "needless-error",
            (_, Some(Expected::Error(_))) => "missing-error",
            (Reply::Rows(_), _) => "wrong-rows",
            _ => "wrong-count",
        };
        Err(self.broken(step, kind, self.seen_by(session, tree), expected))
    }

    /// The rule by which a statement sees what it sees.
    fn seen_by(&self, session: usize, tree: &Statement) -> &'static str {
        let Some(rules) = self.rules(session) else { return "" };
        match tree {
            Statement::Query(query) if query.locks.is_empty() => rules.read.source,
            _ => rules.change.source,
        }
    }

    /// If it is an error of concurrency: is it allowed here?
    fn concurrency(
        &self,
        world: &mut World,
        step: usize,
        error: &DbError,
        waited: Option<&Waiting>,
    ) -> Option<bool> {
        let session = self.seen.case.steps[step].session;
        let tree = self.trees[step].as_deref()?;
        let others = world.others(session, u64::MAX).next().is_some();
        match error.class {
            // A circle has at least one other who waits.
            ErrorClass::Deadlock => {
                let waits =
                    |(of, state): (usize, &super::world::Session)| of != session && state.waiting.is_some();
                Some(others && (self.seen.trace.waited(step) || world.sessions.iter().enumerate().any(waits)))
            }
            ErrorClass::LockTimeout => match tree {
                Statement::Query(query) if no_wait(query) => None,
                _ => Some(others && self.seen.trace.waited(step)),
            },
            ErrorClass::Busy => Some(others || world.clock > 0),
            ErrorClass::Interrupted => Some(true),
            // In strict mode a division by zero is an error of a statement that changes rows, if the scan comes to it.
            // So is text that is no number where one is wanted.
            ErrorClass::Runtime | ErrorClass::Range
                if [DIVISION_BY_ZERO, NO_NUMBER].contains(&error.code) =>
            {
                (!matches!(tree, Statement::Query(_))).then_some(true)
            }
            // Not every version ignores the errors of foreign keys.
            ErrorClass::Constraint
                if ignores(tree) && !self.schema.tables.iter().all(|t| t.parents.is_empty()) =>
            {
                Some(true)
            }
            ErrorClass::ReadOnly => {
                let txn = world.sessions[session].txn.as_ref();
                Some(txn.is_some_and(|txn| txn.read_only))
            }
            ErrorClass::WriteConflict => Some(self.stale(world, step, waited)),
            ErrorClass::SerializationFailure
            | ErrorClass::DuplicateKey
            | ErrorClass::Constraint
            | ErrorClass::Range
            | ErrorClass::Syntax
            | ErrorClass::Runtime
            | ErrorClass::TableChanged
            | ErrorClass::GoneAway
            | ErrorClass::Denied
            | ErrorClass::Internal
            | ErrorClass::Other => None,
        }
    }

    /// May a statement be refused because something has changed since the snapshot?
    fn stale(&self, world: &mut World, step: usize, waited: Option<&Waiting>) -> bool {
        let session = self.seen.case.steps[step].session;
        let reach = &self.reach[step];
        let Some(txn) = &world.sessions[session].txn else { return false };
        let refused = self.rules(session).is_some_and(|rules| {
            rules.stale.is == dialect::contract::Stale::Refused(ErrorClass::WriteConflict)
        });
        let view = match (refused, waited) {
            (true, _) => txn.view,
            // As found: a query inside takes a snapshot of its own, below the levels for which this is promised.
            (false, Some(waited)) if self.lenient && reach.inner => Some(waited.clock),
            (false, _) => None,
        };
        let Some(view) = view else { return false };
        let newer = |(table, rows): (usize, &super::world::Rows)| {
            reach.tables & (1 << table) != 0 && rows.iter().any(|chain| chain.changed_at(txn.id) > view)
        };
        let stale = world.tables.iter().enumerate().any(newer);
        if stale && !refused {
            world.used.push((Concession::ConflictByInnerRead, step));
        }
        stale
    }

    fn foretell(
        &self,
        world: &World,
        step: usize,
        tree: &Statement,
        waited: Option<&Waiting>,
    ) -> Result<Vec<Foretold>, Fault> {
        let session = self.seen.case.steps[step].session;
        let rules = self.rules(session).ok_or(Fault::Unsure("no-contract-at-this-level"))?;
        let txn = world.sessions[session].txn.as_ref();
        let scene = Scene {
            schema: self.schema,
            compute: Compute {
                product: self.seen.trace.server.product,
                version: &self.seen.trace.server.version,
            },
            rules,
            world,
            session,
            me: txn.map_or(u32::MAX, |txn| txn.id),
            view: txn.and_then(|txn| txn.view),
            lasts: txn.is_some_and(|txn| txn.lasts),
            step,
            lenient: self.lenient,
            waited,
            inner: &world.tables,
            keeps_moved: false,
            judges_open: false,
            overlooks: false,
        };
        let once = |scene: &Scene<'_>| match tree {
            Statement::Query(query) => scene.query(query),
            Statement::Insert(insert) => scene.insert(insert),
            Statement::Update(update) => scene.update(update),
            Statement::Delete(delete) => scene.delete(delete),
            _ => Err(Fault::Unsure("statement")),
        };
        let mut all = once(&scene)?;
        // A query inside may have been answered before the wait.
        if let Some(waited) = waited
            && self.reach[step].inner
            && matches!(rules.source_read.is, Sees::Fresh | Sees::Newest)
            && let Ok(more) = once(&scene.reading(&waited.tables))
        {
            all.extend(more);
        }
        let tried = [
            (Concession::JudgesUncommitted, Scene { judges_open: true, ..scene }),
            (Concession::ForeignKeyBesideNull, Scene { overlooks: true, ..scene }),
        ];
        for (by, scene) in tried {
            if self.lenient && self.contract.concessions.contains(&by) {
                let new = |one: &Foretold| {
                    all.iter().all(|known| {
                        (&known.effects, &known.reply, &known.due) != (&one.effects, &one.reply, &one.due)
                    })
                };
                let more: Vec<Foretold> = once(&scene)?.into_iter().filter(new).collect();
                all.extend(more.into_iter().map(|foretold| Foretold { by: Some(by), ..foretold }));
            }
        }
        if self.lenient && (0..self.schema.tables.len()).any(|table| !scene.left_behind(table).is_empty()) {
            let by = Some(Concession::KeyChangeKeepsOldRow);
            let more = once(&Scene { keeps_moved: true, ..scene })?;
            all.extend(more.into_iter().map(|foretold| Foretold { by, ..foretold }));
        }
        Ok(all)
    }

    /// Carries out what was foretold.
    fn apply(&self, world: &mut World, step: usize, foretold: &Foretold, success: bool) -> Result<(), Dead> {
        let session = self.seen.case.steps[step].session;
        if let Some(by) = foretold.by {
            world.used.push((by, step));
        }
        if success {
            self.trespass(world, session, step, &foretold.effects)?;
        }
        if let Some(txn) = &mut world.sessions[session].txn {
            if let (Some(moment), true) = (foretold.opens_view, txn.lasts) {
                txn.view.get_or_insert(moment);
            }
            if success {
                let met = |lock: &super::world::Lock| txn.trespassed.contains(&(lock.table, lock.row));
                if foretold.locks.iter().any(met) {
                    return Err(self.broken(
                        step,
                        "phantom",
                        "nobody else brings rows into what a transaction has locked",
                        "the rows that were locked before".into(),
                    ));
                }
            }
            txn.locks.extend(foretold.locks.iter().cloned());
            if foretold.range && success {
                txn.ranges.push(step);
            }
        }
        for effect in &foretold.effects {
            match effect {
                Effect::Put { table, row, data, noop } => {
                    world.write(session, *table, *row, data.clone(), *noop)
                }
                Effect::Insert { table, data } => world.insert(session, *table, data.clone()),
            }
        }
        Ok(())
    }

    /// Does a change touch what another transaction has locked?
    fn trespass(
        &self,
        world: &mut World,
        session: usize,
        step: usize,
        effects: &[Effect],
    ) -> Result<(), Dead> {
        let mut into: Vec<(usize, usize, usize)> = Vec::new();
        let mut fresh = 0;
        for effect in effects {
            let (table, row, old, new) = match effect {
                Effect::Put { noop: true, .. } => continue,
                Effect::Put { table, row, data, .. } => {
                    (*table, *row, world.tables[*table][*row].newest().cloned(), data.clone())
                }
                Effect::Insert { table, data } => {
                    fresh += 1;
                    (*table, world.tables[*table].len() + fresh - 1, None, Some(data.clone()))
                }
            };
            for (other, state) in world.sessions.iter().enumerate().filter(|(other, _)| *other != session) {
                let Some(txn) = &state.txn else { continue };
                let locked = txn.locks.iter().find(|lock| {
                    (lock.table, lock.row) == (table, row)
                        && lock.columns.is_none_or(|columns| match (&old, &new) {
                            (Some(old), Some(new)) => !super::scene::alike(old, new, columns),
                            _ => true,
                        })
                });
                if let Some(lock) = locked {
                    return Err(self.broken(
                        step,
                        "missing-wait",
                        "a row that another transaction has locked is not changed before that ends",
                        format!("a wait for the lock of step {}", lock.step + 1),
                    ));
                }
                for &range in &txn.ranges {
                    if self.selects(range, table, old.as_ref()) != self.selects(range, table, new.as_ref()) {
                        into.push((other, table, row));
                    }
                }
            }
        }
        for (other, table, row) in into {
            if let Some(txn) = &mut world.sessions[other].txn {
                txn.trespassed.push((table, row));
            }
        }
        Ok(())
    }

    /// Does the condition of a step select these values? Where that is not clear, no.
    fn selects(&self, step: usize, table: usize, values: Option<&Values>) -> bool {
        let Some(values) = values else { return false };
        let filter = match self.trees[step].as_deref() {
            Some(Statement::Query(Query { first: model::sql::QueryPart::Select(select), .. })) => {
                &select.filter
            }
            Some(Statement::Update(update)) => &update.filter,
            Some(Statement::Delete(delete)) => &delete.filter,
            Some(_) | None => return false,
        };
        if self.reach[step].target != Some(table) || filter.as_ref().is_some_and(super::select::nested) {
            return false;
        }
        let compute =
            Compute { product: self.seen.trace.server.product, version: &self.seen.trace.server.version };
        match filter {
            None => true,
            Some(filter) => {
                compute.truth(&self.schema.tables[table].columns, filter, values) == Ok(Some(true))
            }
        }
    }

    /// What the answer leaves of the transaction.
    fn after(&self, world: &mut World, step: usize, error: Option<&DbError>, open: Open) {
        let session = self.seen.case.steps[step].session;
        let ends = error.map(|error| error.ends);
        match ends {
            Some(Ends::Transaction | Ends::Session) => {
                let lasted = world.sessions[session].txn.as_ref().is_some_and(|txn| txn.lasts);
                world.roll_back(session);
                if lasted && (open == Open::Yes || self.goes_on(step)) {
                    world.txn(session, true);
                }
            }
            Some(Ends::Statement) | None => {
                let single = world.sessions[session].txn.as_ref().is_some_and(|txn| !txn.lasts);
                if single {
                    world.commit(session);
                }
            }
        }
    }

    /// After an error that ended its transaction the protocol does not say whether a session is in a new one; its next
    /// answer does.
    fn goes_on(&self, step: usize) -> bool {
        let session = self.seen.case.steps[step].session;
        let later =
            (step + 1..self.trees.len()).filter(|&later| self.seen.case.steps[later].session == session);
        for later in later {
            let outcome = &self.seen.trace.outcomes[later];
            match (self.trees[later].as_deref(), &outcome.reply) {
                (Some(Statement::Begin(_) | Statement::Commit(_)), _) => return false,
                (Some(Statement::Rollback(rollback)), _) if rollback.to.is_none() => return false,
                (_, Reply::Rows(_) | Reply::Done { .. }) => return outcome.transaction == Open::Yes,
                (_, Reply::NotSent | Reply::Killed) => return false,
                _ => {}
            }
        }
        false
    }

    /// After a round: do those wait that may?
    fn settled(&self, worlds: Vec<World>, round: &Round) -> Worlds {
        let mut next = Vec::new();
        let mut dead = None;
        for world in worlds {
            match self.waits(&world, round) {
                Ok(()) => next.push(world),
                Err(death) => dead = worse(dead, death),
            }
        }
        match (next.is_empty(), dead) {
            (true, Some(dead)) => Err(dead),
            _ => Ok(next),
        }
    }

    fn waits(&self, world: &World, round: &Round) -> Result<(), Dead> {
        for wait in &round.waiting {
            let step = wait.step;
            let session = self.seen.case.steps[step].session;
            let lasts = world.sessions[session].txn.as_ref().is_some_and(|txn| txn.lasts);
            let rules = self.rules(session).ok_or(Dead::Unsure("no-contract-at-this-level"))?;
            if !self.contract.waits {
                return Err(self.broken(
                    step,
                    "needless-wait",
                    "nothing waits here: a conflict is an error at once",
                    "an answer".into(),
                ));
            }
            let never = match self.trees[step].as_deref() {
                None => return Err(Dead::Unsure("unparsed")),
                Some(Statement::Query(query)) if query.locks.is_empty() => {
                    let sees = if lasts { rules.read.is } else { rules.single_read.is };
                    (sees != Sees::Committed).then_some("a plain read takes no locks")
                }
                // The clause does not reach into the queries inside.
                Some(Statement::Query(query)) if no_wait(query) && !self.reach[step].inner => {
                    Some("it was asked not to wait")
                }
                Some(
                    Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_),
                ) => None,
                Some(
                    Statement::Begin(_)
                    | Statement::Commit(_)
                    | Statement::Rollback(_)
                    | Statement::Savepoint(_)
                    | Statement::Release(_),
                ) => Some("the end of a transaction waits for nobody"),
                Some(_) => return Err(Dead::Unsure("schema-changed")),
            };
            if let Some(rule) = never {
                return Err(self.broken(step, "needless-wait", rule, "an answer".into()));
            }
        }
        for (session, state) in world.sessions.iter().enumerate() {
            let (Some(waiting), Some(txn)) = (&state.waiting, &state.txn) else { continue };
            if world.others(session, txn.touched).next().is_none() {
                return Err(self.broken(
                    waiting.step,
                    "needless-wait",
                    "a wait ends with the transactions that it waits for",
                    "an answer: no other transaction is open on its tables".into(),
                ));
            }
        }
        Ok(())
    }

    /// The final state.
    fn finals(&self, worlds: Vec<World>) -> Worlds {
        let Some(tables) = &self.seen.trace.final_state else { return Ok(worlds) };
        let mut next = Vec::new();
        let mut dead = None;
        'worlds: for world in worlds {
            for (name, rows) in tables {
                let Some(table) = self.schema.find(name) else { continue };
                let expected: Vec<_> = world.tables[table]
                    .iter()
                    .filter_map(|chain| chain.seen(u32::MAX, u32::MAX))
                    .map(|values| values.to_vec())
                    .collect();
                let foretold = Foretold::only(Expected::Rows(expected));
                if !foretold.fits(&Reply::Rows(rows.clone())) {
                    dead.get_or_insert(Dead::Broken(Box::new(Broken {
                        kind: "wrong-final-state",
                        rule: "what is committed stays, and nothing else".into(),
                        step: None,
                        expected: format!("{name}: {}", foretold.reply),
                        actual: format!("{name}: {rows}"),
                    })));
                    continue 'worlds;
                }
            }
            next.push(world);
        }
        match (next.is_empty(), dead) {
            (true, Some(dead)) => Err(dead),
            _ => Ok(next),
        }
    }

    fn broken(&self, step: usize, kind: &'static str, rule: &str, expected: String) -> Dead {
        let actual = match kind {
            "needless-wait" => "it waits".to_string(),
            _ => self.seen.trace.outcomes[step].to_string(),
        };
        Dead::Broken(Box::new(Broken { kind, rule: rule.to_string(), step: Some(step), expected, actual }))
    }
}

/// Is it to go on after errors?
fn ignores(tree: &Statement) -> bool {
    match tree {
        Statement::Update(update) => update.modifier == Some(InsertModifier::Ignore),
        Statement::Insert(insert) => insert.modifier == Some(InsertModifier::Ignore),
        _ => false,
    }
}

/// Is it asked not to wait?
fn no_wait(query: &Query) -> bool {
    query.locks.iter().any(|lock| matches!(lock.wait, Some(LockWait::Nowait | LockWait::SkipLocked)))
}

/// Of two reasons the one that says less: where something cannot be told, nothing is called wrong.
fn worse(old: Option<Dead>, new: Dead) -> Option<Dead> {
    Some(match (old, new) {
        (None, new) => new,
        (Some(Dead::Broken(_)), Dead::Unsure(why)) => Dead::Unsure(why),
        // Rows and counts say more than a wait that did not come.
        (Some(Dead::Broken(old)), Dead::Broken(new)) if old.kind == "missing-wait" => Dead::Broken(new),
        (Some(old), _) => old,
    })
}
