//! Replays a trace round by round, and keeps every hypothesis about it that the contract allows.
//!
//! One [`Hypothesis`] is enough for most traces. Where the trace does not say what happened (which of two woken statements ran
//! first, whether a read without rows took the snapshot) each possibility becomes a hypothesis of its own. A hypothesis ends when a
//! statement's answer is none of those allowed in it. When the last one ends, that answer is what is wrong.

mod effects;
mod explaining_path;
mod extra_waits;
mod lock_conflicts;
mod statement;
mod transaction_control;
mod waits;

use std::cell::{Cell, RefCell};

pub use explaining_path::ExplainingPath;

use dialect::Execution;
use dialect::contract::{Contract, LevelRules, SnapshotPoint, Visibility};
use model::{
    DbError, Ends, ErrorClass, Level, Reason, Reply, Round, RoundCause, RuleId, Symptom,
    sql::{Rollback, Statement, StatementKind},
    verdict::{Response, evidence::Table},
};

use smallvec::{SmallVec, smallvec};

use super::{
    allowed_outcome::{covers, row_set},
    deviations::KnownDeviation,
    evaluation_cache::EvaluationCache,
    explain_probe::Path,
    hypothesis::{Hypothesis, Savepoint, Waiting},
    row_evaluator::RowEvaluator,
    schema::{Schema, Values},
    table_footprint::TableFootprint,
};

/// At most this many hypotheses are kept; with more, the verdict is undecided.
const MAX_HYPOTHESES: usize = 32;

#[derive(Clone, Debug)]
pub struct Mismatch {
    pub symptom: Symptom,
    /// The rule that it breaks.
    pub rule: RuleId,
    /// The step that shows it; none for the final state.
    pub step: Option<usize>,
    /// What should have come.
    pub expected: Response,
    /// If a wait is missing: for this session.
    pub due: Option<usize>,
}

/// Why a hypothesis is given up.
#[derive(Clone, Debug)]
pub enum Rejection {
    Mismatch(Box<Mismatch>),
    Undecided(Reason),
}

/// A trace to be replayed.
pub struct Replay<'a> {
    /// Case and trace.
    pub seen: &'a Execution,
    pub schema: &'a Schema,
    pub contract: &'a Contract,
    /// Which tables each step reaches.
    pub footprints: &'a [TableFootprint],
    pub evaluated: &'a RefCell<EvaluationCache>,
    /// Are all deviations tried, and not only those that are part of the contract?
    pub tries_reported: bool,
    /// May REPLACE make a new row where it could write over the old one?
    pub replace_may_reinsert: bool,
    /// Those that may explain something here.
    pub deviations: &'a [&'static KnownDeviation],
    /// Not further than the round in which this step answers.
    pub until: Option<usize>,
    /// The access path of a step, where that is known.
    pub path: Option<(usize, &'a Path)>,
    /// Where waits are counted.
    pub waits: Option<&'a Cell<Waits>>,
}

pub use extra_waits::Waits;

/// Hypotheses; most often there is one.
pub(super) type Hypotheses = SmallVec<[Hypothesis; 1]>;

pub type Explained = Result<Hypotheses, Rejection>;

impl<'a> Replay<'a> {
    /// The hypotheses that explain the whole trace.
    pub fn run(&self) -> Explained {
        let mut hypotheses: Hypotheses = smallvec![self.beginning()];
        for round in &self.seen.trace.rounds {
            hypotheses = self.round(hypotheses, round)?;
            if hypotheses.len() > MAX_HYPOTHESES {
                return Err(Rejection::Undecided(Reason::TooManyWorlds));
            }
            if self.until.is_some_and(|step| round.answered.contains(&step)) {
                return Ok(hypotheses);
            }
        }
        let hypotheses = self.finals(hypotheses)?;
        match hypotheses.iter().all(|hypothesis| hypothesis.unchecked) {
            true => Err(Rejection::Undecided(Reason::DirtyReadOfHalfDoneWork)),
            false => Ok(hypotheses),
        }
    }

    fn round(&self, hypotheses: Hypotheses, round: &Round) -> Explained {
        let several = (round.answered.len() > 1).then(|| self.order(round));
        let (first, rest) = match &several {
            Some((first, rest)) => (&first[..], &rest[..]),
            None => (&[][..], &round.answered[..]),
        };
        let mut next = Hypotheses::new();
        let mut rejected = None;
        for mut hypothesis in hypotheses {
            self.begin(&mut hypothesis, round);
            if let Some(waits) = self.waits
                && let RoundCause::Sent(step) = round.cause
                && round.waiting.iter().any(|wait| wait.step == step)
                && let Some(demanded) = self.demanded(&hypothesis, step)
            {
                let so_far = waits.get();
                let (told, extra) = (so_far.told + 1, so_far.extra + u64::from(!demanded));
                waits.set(Waits { told, extra });
            }
            let doubtful = hypothesis.doubtful;
            let answered = self.answers(hypothesis, first, rest);
            match answered.and_then(|hypotheses| self.settled(hypotheses, round)) {
                Err(rejection) => {
                    let unsure = doubtful.filter(|_| matches!(rejection, Rejection::Mismatch(_)));
                    rejected = worse(rejected, unsure.map_or(rejection, Rejection::Undecided));
                }
                // Most often that is one.
                Ok(hypotheses) if next.is_empty() && hypotheses.len() == 1 => next = hypotheses,
                Ok(hypotheses) => {
                    for hypothesis in hypotheses {
                        if !next.contains(&hypothesis) {
                            next.push(hypothesis);
                        }
                    }
                }
            }
        }
        match (next.is_empty(), rejected) {
            (true, Some(rejected)) => Err(rejected),
            _ => Ok(next),
        }
    }

    /// The answers of a round in the order in which they can have come about: first what frees others, and those whose order
    /// is not known last and apart.
    fn order(&self, round: &Round) -> (Vec<usize>, Vec<usize>) {
        let sent = match round.cause {
            RoundCause::Sent(step) => Some(step),
            RoundCause::Timeout | RoundCause::RolledBack(_) | RoundCause::Killed(_) => None,
        };
        let control = |step: usize| {
            !matches!(
                self.seen.case.tree(step),
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
    fn begin(&self, hypothesis: &mut Hypothesis, round: &Round) {
        match round.cause {
            // One that answers together with others may have waited for them in between.
            RoundCause::Sent(step) => {
                let waits = !round.answered.contains(&step) || round.answered.len() > 1;
                self.start(hypothesis, step, waits);
            }
            RoundCause::RolledBack(session) => hypothesis.roll_back(session),
            RoundCause::Timeout | RoundCause::Killed(_) => {}
        }
    }

    /// A statement is sent: it belongs to a transaction, and its tables are touched.
    pub(super) fn start(&self, hypothesis: &mut Hypothesis, step: usize, waits: bool) {
        let session = self.seen.case.steps[step].session;
        let reach = &self.footprints[step];
        if reach.tables == 0 {
            return;
        }
        let lasts = !self.seen.case.sessions[session].autocommit;
        let rules = self.rules(session);
        let first = rules.is_some_and(|rules| rules.snapshot.is == SnapshotPoint::FirstStatement);
        let locks = match self.seen.case.tree(step) {
            Some(Statement::Query(query)) => {
                !query.locks.is_empty()
                    || !self.contract.waits
                    || rules.is_some_and(|rules| rules.read.is == Visibility::Committed)
            }
            Some(_) | None => true,
        };
        let clock = hypothesis.clock;
        let txn = hypothesis.txn(session, lasts);
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
            let tables = hypothesis.tables.clone();
            let beside = hypothesis.sessions.iter().enumerate().filter(|(of, _)| *of != session);
            let beside = beside.fold(0, |bits, (_, state)| match (&state.waiting, &state.txn) {
                (Some(other), Some(txn))
                    if !matches!(self.seen.case.tree(other.step), Some(Statement::Query(_))) =>
                {
                    bits | txn.touched
                }
                _ => bits,
            });
            hypothesis.sessions[session].waiting =
                Some(Waiting { step, tables, clock, opened_view: opened, beside, ends: 0 });
        }
    }

    pub(super) fn evaluator(&self) -> RowEvaluator<'a> {
        let server = &self.seen.trace.server;
        RowEvaluator { product: server.product, version: &server.version, known: Some(self.evaluated) }
    }

    pub(super) fn rules(&self, session: usize) -> Option<&'a LevelRules> {
        self.contract.at(self.level(session))
    }

    /// The deviations that a statement of a session may need.
    pub(super) fn tried(&self, session: usize) -> impl Iterator<Item = &'static KnownDeviation> {
        let level = self.level(session);
        let all = self.deviations.iter().copied();
        all.filter(move |one| (self.tries_reported || one.always_tried()) && one.levels.contains(&level))
    }

    /// The level of a session.
    fn level(&self, session: usize) -> Level {
        self.seen.case.sessions[session].level.unwrap_or(self.seen.trace.level)
    }

    /// All answers of a round: the first in this order, the rest in every order.
    fn answers(&self, hypothesis: Hypothesis, first: &[usize], rest: &[usize]) -> Explained {
        if let [step, more @ ..] = first {
            return self.then(hypothesis, *step, more, rest);
        }
        if let [step] = rest {
            return self.then(hypothesis, *step, &[], &[]);
        }
        if rest.is_empty() {
            return Ok(smallvec![hypothesis]);
        }
        if rest.len() > 5 {
            return Err(Rejection::Undecided(Reason::ManyWokenAtOnce));
        }
        let mut all = Hypotheses::new();
        let mut rejected = None;
        for &step in rest {
            let others: Vec<usize> = rest.iter().copied().filter(|other| *other != step).collect();
            match self.then(hypothesis.clone(), step, &[], &others) {
                Ok(hypotheses) => all.extend(hypotheses),
                Err(rejection) => {
                    let rank = self.rank(&rejection, step, &others);
                    rejected = Some(milder(rejected, (rejection, rank)));
                }
            }
        }
        match (all.is_empty(), rejected) {
            (true, Some((rejected, _))) => Err(rejected),
            _ => Ok(all),
        }
    }

    /// How much is wrong in an order of answers that begins with this step: the least where only a wait is missing, or where others answered
    /// rightly before the first that did not.
    fn rank(&self, rejection: &Rejection, step: usize, others: &[usize]) -> u8 {
        let Rejection::Mismatch(broken) = rejection else { return 0 };
        let at_once = broken.step == Some(step);
        if broken.symptom != Symptom::MissingWait {
            return 2 + u8::from(at_once);
        }
        // What it waited for has ended in this very round: it came after that.
        let freed = |other: &usize| {
            let error = self.seen.trace.outcomes[*other].error();
            Some(self.seen.case.steps[*other].session) == broken.due
                && error.is_some_and(|error| error.ends == Ends::Transaction)
        };
        if at_once && self.seen.trace.waited(step) && others.iter().any(freed) { 4 } else { 1 }
    }

    fn then(&self, hypothesis: Hypothesis, step: usize, first: &[usize], rest: &[usize]) -> Explained {
        if first.is_empty() && rest.is_empty() {
            return self.answer(hypothesis, step);
        }
        let mut all = Hypotheses::new();
        let mut rejected = None;
        for hypothesis in self.answer(hypothesis, step)? {
            match self.answers(hypothesis, first, rest) {
                Ok(hypotheses) => all.extend(hypotheses),
                Err(rejection) => rejected = worse(rejected, rejection),
            }
        }
        match (all.is_empty(), rejected) {
            (true, Some(rejected)) => Err(rejected),
            _ => Ok(all),
        }
    }

    fn answer(&self, mut hypothesis: Hypothesis, step: usize) -> Explained {
        let session = self.seen.case.steps[step].session;
        let outcome = &self.seen.trace.outcomes[step];
        let waited = hypothesis.sessions[session].waiting.take();
        match &outcome.reply {
            Reply::NotSent => return Ok(smallvec![hypothesis]),
            Reply::ConnectionLost | Reply::ServerDied => {
                return Err(Rejection::Undecided(Reason::ServerGone));
            }
            Reply::Hung => return Err(Rejection::Undecided(Reason::Hung)),
            Reply::Killed => {
                self.after(&mut hypothesis, step, None, outcome.transaction);
                return Ok(smallvec![hypothesis]);
            }
            Reply::Rows(_) | Reply::Done { .. } | Reply::RolledBack | Reply::Error(_) => {}
        }
        let Some(tree) = self.seen.case.tree(step) else {
            return Err(Rejection::Undecided(Reason::Unparsed));
        };
        if matches!(
            tree,
            Statement::Begin(_) | Statement::Commit(_) | Statement::Rollback(Rollback { to: None, .. })
        ) {
            hypothesis.sessions[session].perhaps_open = false;
        }
        let hypotheses = match tree {
            Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => {
                self.statement(hypothesis, step, tree, waited)?
            }
            Statement::Begin(begin) => self.opens(hypothesis, step, begin)?,
            Statement::Commit(_) | Statement::Rollback(Rollback { to: None, .. }) => {
                match outcome.error() {
                    None => {}
                    // The writer may try again.
                    Some(error) if Some(error.class) == self.contract.busy => {
                        return Ok(smallvec![hypothesis]);
                    }
                    // There is none to end.
                    Some(_) if hypothesis.sessions[session].txn.is_none() => {
                        return Ok(smallvec![hypothesis]);
                    }
                    Some(_) => return Err(Rejection::Undecided(Reason::EndRefused)),
                }
                match tree {
                    Statement::Commit(_) => hypothesis.commit(session),
                    _ => hypothesis.roll_back(session),
                }
                smallvec![hypothesis]
            }
            Statement::Savepoint(name) => {
                if !self.seen.case.sessions[session].autocommit {
                    hypothesis.txn(session, true);
                } else if self.contract.savepoint_begins && hypothesis.sessions[session].txn.is_none() {
                    hypothesis.txn(session, true).by_savepoint = true;
                }
                if outcome.error().is_none()
                    && let Some(txn) = &mut hypothesis.sessions[session].txn
                {
                    if !self.contract.savepoint_names_stack {
                        txn.savepoints.retain(|known| !known.name.eq_ignore_ascii_case(&name.name));
                    }
                    let early = txn.touched == 0 && txn.view.is_none();
                    let length = txn.undo.len();
                    txn.savepoints.push(Savepoint { name: name.name.clone(), length, early });
                }
                smallvec![hypothesis]
            }
            Statement::Rollback(Rollback { to: Some(target), .. }) => {
                self.back(hypothesis, step, &target.name.name, true)?
            }
            Statement::Release(target) => self.back(hypothesis, step, &target.name.name, false)?,
            Statement::Pragma(pragma) => {
                self.asks_for_foreign_keys(&mut hypothesis, step, pragma)?;
                smallvec![hypothesis]
            }
            _ => {
                return Err(Rejection::Undecided(match tree.kind() {
                    StatementKind::Set => Reason::SettingsChanged,
                    StatementKind::LockTable => Reason::LockTable,
                    StatementKind::Ddl => Reason::SchemaChanged,
                    _ => Reason::StatementNotModelled,
                }));
            }
        };
        Ok(hypotheses)
    }

    fn finals(&self, hypotheses: Hypotheses) -> Explained {
        let Some(tables) = &self.seen.trace.final_state else { return Ok(hypotheses) };
        let mut next = Hypotheses::new();
        let mut rejected = None;
        'hypotheses: for hypothesis in hypotheses {
            for (name, rows) in tables {
                let Some(table) = self.schema.find(name) else { continue };
                let expected: SmallVec<[&Values; 16]> = hypothesis.tables[table]
                    .iter()
                    .filter_map(|chain| chain.seen(u32::MAX, u32::MAX))
                    .collect();
                if rows.len() != expected.len() || !covers(&expected, rows) {
                    if let Some(why) = hypothesis.doubtful {
                        rejected = worse(rejected, Rejection::Undecided(why));
                        continue 'hypotheses;
                    }
                    let table = Table { table: name.clone(), rows: row_set(&expected, Some(rows)) };
                    rejected.get_or_insert(Rejection::Mismatch(Box::new(Mismatch {
                        symptom: Symptom::WrongFinalState,
                        rule: RuleId::CommitLasts,
                        step: None,
                        expected: Response::FinalState(table),
                        due: None,
                    })));
                    continue 'hypotheses;
                }
            }
            next.push(hypothesis);
        }
        match (next.is_empty(), rejected) {
            (true, Some(rejected)) => Err(rejected),
            _ => Ok(next),
        }
    }

    /// Something is wrong at a step.
    pub(super) fn mismatch(step: usize, symptom: Symptom, rule: RuleId, expected: Response) -> Rejection {
        Rejection::Mismatch(Box::new(Mismatch { symptom, rule, step: Some(step), expected, due: None }))
    }

    pub(super) fn missing(step: usize, rule: RuleId, expected: Response, due: Option<usize>) -> Rejection {
        let symptom = Symptom::MissingWait;
        Rejection::Mismatch(Box::new(Mismatch { symptom, rule, step: Some(step), expected, due }))
    }
}

/// Of two reasons the one that says less: where something cannot be told, nothing is called wrong.
fn worse(old: Option<Rejection>, new: Rejection) -> Option<Rejection> {
    Some(match (old, new) {
        (None, new) => new,
        (Some(Rejection::Mismatch(_)), Rejection::Undecided(why)) => Rejection::Undecided(why),
        // Rows and counts say more than a wait that did not come.
        (Some(Rejection::Mismatch(old)), Rejection::Mismatch(new)) if old.symptom == Symptom::MissingWait => {
            Rejection::Mismatch(new)
        }
        (Some(old), _) => old,
    })
}

/// Of two orders of one round the one in which less is wrong, for it may be how it was. Each comes with its rank.
fn milder(old: Option<(Rejection, u8)>, new: (Rejection, u8)) -> (Rejection, u8) {
    match old {
        Some(old) if old.1 <= new.1 => old,
        _ => new,
    }
}
