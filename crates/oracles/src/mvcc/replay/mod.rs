//! Goes through a trace round by round, and keeps every account of it that the contract allows.
//!
//! One [`World`] is enough for most traces. Where the trace does not say what happened (which of two woken statements ran
//! first, whether a read without rows took the snapshot) each possibility becomes a world of its own. A world ends when a
//! statement's answer is none of those foretold in it. When the last one ends, that answer is what is wrong.

mod control;
mod effects;
mod extra;
mod grip;
mod lineage;
mod statement;
mod waits;

pub use lineage::Lineage;
use std::{
    cell::{Cell, RefCell},
    sync::Arc,
};

use dialect::contract::{Concession, Contract, LevelRules, Sees, Taken, manual::always};
use model::{
    Cause, DbError, Ends, ErrorClass, Level, Reply, Round,
    sql::{Rollback, Statement},
};

use smallvec::{SmallVec, smallvec};

use super::{
    compute::Compute,
    computed::Computed,
    foretold::{Expected, covers},
    plans::Path,
    reach::Reach,
    schema::{Reason, Schema, Values},
    world::{Savepoint, Waiting, World},
};
use crate::Answer;

/// An UPDATE may have judged half of what another statement did: which rows it met is then not known.
pub(super) const HALF_JUDGED: Reason = "judges-half-done-work";

/// So many accounts are kept; beyond, nothing is said.
const WORLDS: usize = 32;

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
    /// If a wait is missing: for this session.
    pub due: Option<usize>,
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
    /// What expressions came to.
    pub computed: &'a RefCell<Computed>,
    /// Are reported concessions tried?
    pub lenient: bool,
    /// May a REPLACE make a new row where it could write over the old one?
    pub anew: bool,
    /// Those that may explain something here.
    pub concessions: &'a [Concession],
    /// Not further than the round in which this step answers.
    pub until: Option<usize>,
    /// The way on which the statement of a step went, where that is known.
    pub path: Option<(usize, &'a Path)>,
    /// Where waits are counted.
    pub waits: Option<&'a Cell<Waits>>,
}

pub use extra::Waits;

/// Accounts; most often there is one.
pub(super) type Accounts = SmallVec<[World; 1]>;

type Worlds = Result<Accounts, Dead>;

impl<'a> Replay<'a> {
    /// The accounts that reach the end.
    pub fn run(&self) -> Worlds {
        let mut worlds: Accounts = smallvec![World::new(self.schema, self.seen.case.sessions.len())];
        for round in &self.seen.trace.rounds {
            worlds = self.round(worlds, round)?;
            if worlds.len() > WORLDS {
                return Err(Dead::Unsure("too-many-worlds"));
            }
            if self.until.is_some_and(|step| round.answered.contains(&step)) {
                return Ok(worlds);
            }
        }
        let worlds = self.finals(worlds)?;
        match worlds.iter().all(|world| world.unchecked) {
            true => Err(Dead::Unsure("dirty-read-of-half-done-work")),
            false => Ok(worlds),
        }
    }

    fn round(&self, worlds: Accounts, round: &Round) -> Worlds {
        let several = (round.answered.len() > 1).then(|| self.order(round));
        let (first, rest) = match &several {
            Some((first, rest)) => (&first[..], &rest[..]),
            None => (&[][..], &round.answered[..]),
        };
        let mut next = Accounts::new();
        let mut dead = None;
        for mut world in worlds {
            self.begin(&mut world, round);
            if let Some(waits) = self.waits
                && let Cause::Sent(step) = round.cause
                && round.waiting.iter().any(|wait| wait.step == step)
                && let Some(demanded) = self.demanded(&world, step)
            {
                let so_far = waits.get();
                let (told, extra) = (so_far.told + 1, so_far.extra + u64::from(!demanded));
                waits.set(Waits { told, extra });
            }
            let doubtful = world.doubtful;
            let answered = self.answers(world, first, rest);
            match answered.and_then(|worlds| self.settled(worlds, round)) {
                Err(Dead::Broken(_)) if doubtful => dead = worse(dead, Dead::Unsure(HALF_JUDGED)),
                // Most often that is one.
                Ok(worlds) if next.is_empty() && worlds.len() == 1 => next = worlds,
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
    pub(super) fn start(&self, world: &mut World, step: usize, waits: bool) {
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
            if !txn.steps.contains(&step) {
                txn.steps.push(step);
            }
        }
        let mut opened = false;
        if first && txn.view.is_none() {
            (txn.view, txn.view_by) = (Some(clock), Some(step));
            opened = true;
        }
        if waits {
            let tables = world.tables.clone();
            let beside = world.sessions.iter().enumerate().filter(|(of, _)| *of != session);
            let beside = beside.fold(0, |bits, (_, state)| match (&state.waiting, &state.txn) {
                (Some(other), Some(txn))
                    if !matches!(self.trees[other.step].as_deref(), Some(Statement::Query(_))) =>
                {
                    bits | txn.touched
                }
                _ => bits,
            });
            world.sessions[session].waiting =
                Some(Waiting { step, tables, clock, opened_view: opened, beside, ends: 0 });
        }
    }

    /// How values are computed.
    pub(super) fn compute(&self) -> Compute<'a> {
        let server = &self.seen.trace.server;
        Compute { product: server.product, version: &server.version, known: Some(self.computed) }
    }

    pub(super) fn rules(&self, session: usize) -> Option<&'a LevelRules> {
        self.contract.at(self.level(session))
    }

    /// May a statement of a session need this concession?
    pub(super) fn concedes(&self, by: Concession, session: usize) -> bool {
        self.concessions.contains(&by) && by.levels().contains(&self.level(session))
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
            return Ok(smallvec![world]);
        }
        if rest.len() > 5 {
            return Err(Dead::Unsure("many-woken-at-once"));
        }
        let mut all = Accounts::new();
        let mut dead = None;
        for &step in rest {
            let others: Vec<usize> = rest.iter().copied().filter(|other| *other != step).collect();
            match self.then(world.clone(), step, &[], &others) {
                Ok(worlds) => all.extend(worlds),
                Err(death) => {
                    let at_once = matches!(&death, Dead::Broken(broken) if broken.step == Some(step));
                    dead = Some(milder(dead, (death, at_once)));
                }
            }
        }
        match (all.is_empty(), dead) {
            (true, Some((dead, _))) => Err(dead),
            _ => Ok(all),
        }
    }

    fn then(&self, world: World, step: usize, first: &[usize], rest: &[usize]) -> Worlds {
        if first.is_empty() && rest.is_empty() {
            return self.answer(world, step);
        }
        let mut all = Accounts::new();
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
            Reply::NotSent => return Ok(smallvec![world]),
            Reply::ConnectionLost | Reply::ServerDied => return Err(Dead::Unsure("server-gone")),
            Reply::Hung => return Err(Dead::Unsure("hung")),
            Reply::Killed => {
                self.after(&mut world, step, None, outcome.transaction);
                return Ok(smallvec![world]);
            }
            Reply::Rows(_) | Reply::Done { .. } | Reply::RolledBack | Reply::Error(_) => {}
        }
        let Some(tree) = self.trees[step].as_deref() else { return Err(Dead::Unsure("unparsed")) };
        if matches!(
            tree,
            Statement::Begin(_) | Statement::Commit(_) | Statement::Rollback(Rollback { to: None, .. })
        ) {
            world.sessions[session].perhaps_open = false;
        }
        let worlds = match tree {
            Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => {
                self.statement(world, step, tree, waited)?
            }
            Statement::Begin(begin) => self.opens(world, step, begin)?,
            Statement::Commit(_) | Statement::Rollback(Rollback { to: None, .. }) => {
                match outcome.error() {
                    None => {}
                    // The writer may try again.
                    Some(error) if Some(error.class) == self.contract.busy => return Ok(smallvec![world]),
                    // There is none to end.
                    Some(_) if world.sessions[session].txn.is_none() => return Ok(smallvec![world]),
                    Some(_) => return Err(Dead::Unsure("end-refused")),
                }
                match tree {
                    Statement::Commit(_) => world.commit(session),
                    _ => world.roll_back(session),
                }
                smallvec![world]
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
                smallvec![world]
            }
            Statement::Rollback(Rollback { to: Some(target), .. }) => {
                self.back(world, step, &target.name.name, true)?
            }
            Statement::Release(target) => self.back(world, step, &target.name.name, false)?,
            Statement::Pragma(_) => smallvec![world],
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

    /// The final state.
    fn finals(&self, worlds: Accounts) -> Worlds {
        let Some(tables) = &self.seen.trace.final_state else { return Ok(worlds) };
        let mut next = Accounts::new();
        let mut dead = None;
        'worlds: for world in worlds {
            for (name, rows) in tables {
                let Some(table) = self.schema.find(name) else { continue };
                let expected: SmallVec<[&Values; 16]> =
                    world.tables[table].iter().filter_map(|chain| chain.seen(u32::MAX, u32::MAX)).collect();
                if rows.len() != expected.len() || !covers(&expected, rows) {
                    if world.doubtful {
                        dead = worse(dead, Dead::Unsure(HALF_JUDGED));
                        continue 'worlds;
                    }
                    let expected = expected.into_iter().cloned().collect();
                    dead.get_or_insert(Dead::Broken(Box::new(Broken {
                        kind: "wrong-final-state",
                        rule: always::COMMITTED_STAYS.into(),
                        step: None,
                        expected: format!("{name}: {}", Expected::Rows(expected)),
                        actual: format!("{name}: {rows}"),
                        due: None,
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

    pub(super) fn broken(&self, step: usize, kind: &'static str, rule: &str, expected: String) -> Dead {
        let outcome = &self.seen.trace.outcomes[step];
        let actual = match (kind, &outcome.reply) {
            ("needless-wait", _) => "it waits".to_string(),
            // A count may be right and what it matched wrong.
            (_, Reply::Done { matched: Some(matched), .. }) => format!("{outcome} ({matched} matched)"),
            _ => outcome.to_string(),
        };
        let rule = rule.to_string();
        Dead::Broken(Box::new(Broken { kind, rule, step: Some(step), expected, actual, due: None }))
    }

    /// A wait is missing.
    pub(super) fn missing(&self, step: usize, rule: &str, expected: String, due: Option<usize>) -> Dead {
        match self.broken(step, "missing-wait", rule, expected) {
            Dead::Broken(broken) => Dead::Broken(Box::new(Broken { due, ..*broken })),
            Dead::Unsure(why) => Dead::Unsure(why),
        }
    }
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

/// Of two orders of one round the one in which less is wrong, for it may be how it was: only a wait is missing in it, or others
/// answered rightly before the first that did not. Each comes with whether its first statement is the one that is wrong.
fn milder(old: Option<(Dead, bool)>, new: (Dead, bool)) -> (Dead, bool) {
    let Some(old) = old else { return new };
    let rank = |(dead, at_once): &(Dead, bool)| match dead {
        Dead::Unsure(_) => 0,
        Dead::Broken(broken) if broken.kind == "missing-wait" => 1,
        Dead::Broken(_) => 2 + u8::from(*at_once),
    };
    if rank(&new) < rank(&old) { new } else { old }
}
