//! The conversation about one run: goes through its events, asks for a probe where a statement is to be judged, and takes up what
//! was shown.

mod effects;
mod explain;
mod probes;
mod transactions;
mod views;
mod violations;

use std::sync::Arc;

use dialect::contract::{Contract, LevelRules, contract};
use dialect::{Execution, sql::Schema};
use history::{Fate, History};
use model::{
    Level, Open, Outcome, Probe, ProbeResult, Reason, Reply, RowSet, Verdict, Violation,
    sql::{Statement, StatementKind},
    verdict::Deviations,
    verdict::Justification,
};

use super::{
    CachedSetup, SetupCache, determinism, early_savepoint,
    scratch::{MARK, MARKED, PLAIN, ScratchTables},
    step_order::{StepEvent, orders},
    table_roles::{TableRoles, UnparsedKind, roles},
    version_chains::{Chain, NOBODY, RowData, Time, VersionFilter, VisibleRow},
};
use crate::{
    Ask, Conversation,
    mvcc::deviations::{self, KnownDeviation},
};

/// At most this many views are tried for one statement.
const WAYS: usize = 8;

/// A view of one table.
type TableView = (usize, Vec<VisibleRow>);

/// A statement that is being run.
struct PendingStatement {
    step: usize,
    roles: TableRoles,
    views: Vec<TableView>,
    schema: usize,
    first_query: FirstQuery,
    /// Other views that it may have had.
    others: Vec<Vec<TableView>>,
    /// Why none of these need be the right one, if that is so.
    open: Option<Reason>,
    /// What is wrong, while it is tried what would explain it.
    wrong: Option<Box<Violation>>,
    /// What is tried: by which known deviation, and on which views.
    explanations: Vec<(Deviations, Vec<TableView>)>,
}

/// What the query before a statement is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstQuery {
    /// There is none.
    No,
    /// Which rows an UPDATE matches.
    Matching,
    /// Does a query look at its tables at all?
    Looks,
}

/// A transaction while the run is gone through.
#[derive(Clone, Debug, Default)]
struct Txn {
    /// Has it begun and not ended?
    open: bool,
    ended: Option<Time>,
    /// When its snapshot may have been taken.
    snapshot: Vec<Time>,
    /// Is the last of these certainly it?
    sure: bool,
    /// The tables that its statements named.
    touched: Vec<usize>,
    /// Tables in which it may have written rows without changing them, nobody knows which.
    unclear: Vec<usize>,
    /// The steps that set them, each with its mark.
    savepoints: Vec<(usize, u64)>,
}

/// What was found so far.
enum Conclusion {
    Violated(Box<Violation>),
    Undecided(Reason),
}

pub struct DecoupledConversation<'a> {
    seen: &'a Execution,
    history: History<'a>,
    known: CachedSetup,
    setups: SetupCache,
    contract: Contract,
    /// How the server is known to leave it.
    deviations: Vec<&'static KnownDeviation>,
    /// What every session says first, if that is a setting that changes no level.
    prelude: Vec<String>,
    orders: Vec<Vec<StepEvent>>,
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
    /// Who waited when each step was sent.
    beside: Vec<Vec<usize>>,
    pending: Option<PendingStatement>,
    /// The first reason why something could not be judged.
    undecided: Option<Reason>,
    /// Why something was accepted that need not have been right.
    uncertain: Vec<Reason>,
    /// What the order that explains most came to; whether that has a name, and how far it got.
    furthest: Option<((bool, usize), Box<Violation>)>,
}

impl<'a> DecoupledConversation<'a> {
    /// Begins; the reason why not has a name.
    pub fn new(
        seen: &'a Execution,
        known: CachedSetup,
        setups: SetupCache,
    ) -> Result<DecoupledConversation<'a>, Reason> {
        let contract = contract(&seen.trace.server).ok_or(Reason::NoContract)?;
        if let Err(why) = known.scratch.as_ref() {
            return Err(*why);
        }
        let history = History::new(&seen.case, &seen.trace);
        if early_savepoint::goes_back_early(&history) {
            return Err(Reason::EarlySavepoint);
        }
        let (orders, more) = orders(&history);
        let talk = DecoupledConversation {
            txns: vec![Txn::default(); history.transactions.len()],
            sent: vec![0; history.steps.len()],
            beside: vec![Vec::new(); history.steps.len()],
            known,
            setups,
            deviations: deviations::existing(&seen.trace.server, &contract),
            contract,
            prelude: prelude(&history),
            history,
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
            uncertain: Vec::new(),
            furthest: None,
            seen,
        };
        talk.unfit().map_or(Ok(talk), Err)
    }

    /// Why nothing can be said of the whole run, if that is so.
    fn unfit(&self) -> Option<Reason> {
        for (i, step) in self.history.steps.iter().enumerate() {
            let outcome = &self.seen.trace.outcomes[i];
            match step.kind() {
                Some(StatementKind::Ddl) => return Some(Reason::SchemaChanged),
                Some(StatementKind::Set) if self.prelude.contains(&self.seen.case.steps[i].sql) => {}
                Some(StatementKind::Set) => return Some(Reason::SettingsChanged),
                Some(StatementKind::LockTable) => return Some(Reason::LockTable),
                None if UnparsedKind::of(&self.seen.case.steps[i].sql) == UnparsedKind::Other => {
                    return Some(Reason::Unparsed);
                }
                Some(_) | None => {}
            }
            match outcome.reply {
                Reply::ConnectionLost | Reply::ServerDied => return Some(Reason::ServerGone),
                Reply::Hung => return Some(Reason::Hung),
                _ => {}
            }
        }
        None
    }

    fn scratch(&self) -> Option<&ScratchTables> {
        self.known.scratch.as_ref().as_ref().ok()
    }

    fn schema(&self) -> Option<&Schema> {
        self.seen.case.parsed_setup.schema.as_ref().ok()
    }

    fn text(&self, step: usize) -> &'a str {
        &self.seen.case.steps[step].sql
    }

    fn outcome(&self, step: usize) -> &'a Outcome {
        &self.seen.trace.outcomes[step]
    }

    /// The level at which a step runs. Where the history does not know it, because of texts without a tree, none of these sets
    /// one: see [`DecoupledConversation::unfit`].
    fn level(&self, step: usize) -> Level {
        let session = &self.seen.case.sessions[self.seen.case.steps[step].session];
        self.history.level(step).or(session.level).unwrap_or(self.seen.trace.level)
    }

    fn rules(&self, step: usize) -> Option<LevelRules> {
        self.contract.at(self.level(step)).copied()
    }

    /// Begins anew with the next order.
    fn reset(&mut self, rows: &Arc<Vec<RowSet>>) -> Result<(), Reason> {
        let Some(scratch) = self.known.scratch.as_ref().as_ref().ok() else {
            return Err(Reason::SetupNotRead);
        };
        (self.now, self.mark, self.next_id) = (0, 0, 1);
        self.chains = vec![Chain::default(); scratch.tables.len()];
        for (at, read) in rows.iter().enumerate() {
            for (_, data) in scratch.rows(at, read)? {
                self.chains[at].insert(self.next_id, data, NOBODY, 0);
                self.next_id += 1;
            }
        }
        self.txns = vec![Txn::default(); self.history.transactions.len()];
        self.sent = vec![0; self.history.steps.len()];
        self.waiting.clear();
        self.uncertain.clear();
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
                StepEvent::Sent(step) => {
                    self.send(step);
                    Ok(None)
                }
                StepEvent::Waits(step) => {
                    self.waiting.push(step);
                    self.waits(step).map_or(Ok(None), Err)
                }
                StepEvent::RolledBack(session) => {
                    self.roll_back(session);
                    Ok(None)
                }
                StepEvent::Answered(step) => self.answered(step),
            };
            match found {
                Ok(Some(probe)) => return Ask::Probe(probe),
                Ok(None) => {}
                Err(found) => return self.stop(found),
            }
        }
    }

    /// Something is wrong or cannot be told: another order may explain it.
    fn stop(&mut self, found: Conclusion) -> Ask {
        self.pending = None;
        match found {
            Conclusion::Undecided(reason) => {
                let reason = self.undecided.take().unwrap_or(reason);
                Ask::Done(Verdict::Undecided { reason })
            }
            Conclusion::Violated(violation) => {
                // Told is what is wrong in the order that explains most, of several the first. What has a name explains itself.
                let far = self.at.1 + usize::from(violation.step.is_none());
                let rank = (violation.fingerprint.deviations().is_some(), far);
                let furthest = match self.furthest.take() {
                    Some(before) if before.0 >= rank => before,
                    Some(_) | None => (rank, violation),
                };
                self.at = (self.at.0 + 1, 0);
                if self.at.0 < self.orders.len() {
                    self.furthest = Some(furthest);
                    return match self.known.rows.clone().map(|rows| self.reset(&rows)) {
                        Some(Ok(())) => self.go_on(),
                        Some(Err(reason)) => Ask::Done(Verdict::Undecided { reason }),
                        None => Ask::Done(Verdict::Undecided { reason: Reason::NotProbed }),
                    };
                }
                if self.more {
                    return Ask::Done(Verdict::Undecided { reason: Reason::OrderOfAnswers });
                }
                Ask::Done(Verdict::Violated(*furthest.1))
            }
        }
    }

    /// All events are over: the final state.
    fn end(&mut self) -> Ask {
        if self
            .txns
            .iter()
            .zip(&self.history.transactions)
            .any(|(txn, step_info)| txn.open && step_info.fate == Fate::Unknown)
        {
            return self.stop(Conclusion::Undecided(Reason::UnknownFate));
        }
        if let Some(violation) = self.final_state() {
            return self.stop(Conclusion::Violated(Box::new(violation)));
        }
        Ask::Done(match self.undecided.take() {
            Some(reason) => Verdict::Undecided { reason },
            None => {
                Verdict::Holds { by: self.uncertain.iter().copied().map(Justification::Uncertain).collect() }
            }
        })
    }

    fn named(&self, step: usize) -> Option<TableRoles> {
        let (scratch, rules) = (self.scratch()?, self.rules(step)?);
        roles(scratch, &self.history.steps[step], self.text(step), &rules, self.single(step))
    }

    /// Is it a transaction by itself? Of what an error ended nobody knows: there are servers that open a new transaction at once.
    fn single(&self, step: usize) -> bool {
        let alone = |txn: usize| self.history.transactions[txn].steps.len() == 1;
        let outcome = self.outcome(step);
        let ended = outcome.error().is_some_and(|error| error.ends != model::Ends::Statement);
        self.history.steps[step].transaction.is_some_and(alone) && outcome.transaction == Open::No && !ended
    }
}

impl Conversation for DecoupledConversation<'_> {
    fn next(&mut self, _: &[Execution]) -> Ask {
        if let Some(rows) = self.known.rows.clone() {
            return match self.reset(&rows) {
                Ok(()) => self.go_on(),
                Err(reason) => Ask::Done(Verdict::Undecided { reason }),
            };
        }
        let Some(scratch) = self.scratch() else {
            return Ask::Done(Verdict::Undecided { reason: Reason::SetupNotRead });
        };
        Ask::Probe(Box::new(Probe {
            schema: PLAIN,
            build: scratch.build[PLAIN].clone(),
            prelude: self.prelude.clone(),
            tables: scratch.beginning(),
            first_query: None,
            sql: None,
            changes: true,
        }))
    }

    fn probed(&mut self, result: ProbeResult) -> Ask {
        if let Some(pending) = self.pending.take() {
            return match self.judge_probe(pending, result) {
                Ok(Some(probe)) => Ask::Probe(probe),
                Ok(None) => self.go_on(),
                Err(found) => self.stop(found),
            };
        }
        // What the setup makes.
        match result {
            ProbeResult::Ran { tables, .. } => {
                let rows = Arc::new(tables);
                self.setups.keep(&self.known, &rows);
                self.known.rows = Some(rows);
                self.next(&[])
            }
            ProbeResult::FixtureRefused { .. } => {
                Ask::Done(Verdict::Undecided { reason: Reason::SetupNotFilled })
            }
            ProbeResult::NotRun(reason) => Ask::Done(Verdict::Undecided { reason }),
        }
    }
}

/// SQLite enforces foreign keys only in sessions that ask for it. If all of them do so first, the scratch schema does so too.
fn prelude(history: &History<'_>) -> Vec<String> {
    let first = |session: usize| {
        let step = history.steps.iter().position(|step| step.session == session)?;
        match history.steps[step].statement() {
            Some(Statement::Pragma(pragma)) if pragma.name.name.eq_ignore_ascii_case("foreign_keys") => {
                Some(&history.case.steps[step].sql)
            }
            Some(_) | None => None,
        }
    };
    let sessions = history.case.sessions.len();
    let mut said: Vec<&String> = (0..sessions).filter_map(first).collect();
    let all = said.len() == sessions;
    said.dedup();
    match said[..] {
        [text] if all => vec![text.clone()],
        _ => Vec::new(),
    }
}
