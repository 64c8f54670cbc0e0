//! The MVCC model: version chains kept outside the database, by the engine's contract, that know every answer.
//!
//! The trace is gone through round by round. Before an answer is looked at, the model works out what the contract allows: which
//! rows a read shows, how many a change counts, which error comes, whether others must be waited for. A worked example, at
//! REPEATABLE READ:
//!
//! ```text
//! T1: BEGIN
//! T1: SELECT b FROM t                 the snapshot is taken: commit 0
//! T2: UPDATE t SET b = 99             row 0: (1, 10) at 0, (1, 99) at 1
//! T1: UPDATE t SET c = 7              works on (1, 99): row 0 gets (1, 99, 7) of T1
//! T1: SELECT b FROM t                 its own version comes before the snapshot: 99
//! ```
//!
//! First only the strict rules and what the manual documents are tried. If no account of the trace holds, the reported
//! concessions are: what they explain is a known violation, named by its report; what nothing explains is a new one.
//!
//! | file | what it holds |
//! |---|---|
//! | `hypothesis` | version chains, transactions, who waits: one account of what has happened |
//! | `replay` | the rounds of a trace, and all accounts of them: control, statements, their effects, waits |
//! | `statement_context`, `from_clause` | what one statement meets: tables, visible rows, locks of others |
//! | `select`, `change`, `insert` | what each statement may answer and do |
//! | `inner`, `project`, `names` | queries inside others, what becomes of rows, looking at expressions |
//! | `draft` | changes row by row: unique values, foreign keys |
//! | `resumed` | scans that go on from where they waited |
//! | `half_done` | dirty reads beside a statement that waits half-way |
//! | `suspect` | a wait that did not come: what it damages, and runs that go on from there |
//! | `allowed_outcome` | an answer that is allowed, and whether it is the one that came |
//! | `account` | the versions of rows and the views of reads, told for people |
//! | `plans` | by which index a statement went, asked of the server |
//! | `twins` | the same case without what a concession needs |
//! | `schema`, `compute`, `reach` | tables, values, and which tables a statement reaches |
//! | `schema_cache`, `evaluation_cache` | what is kept from one case of a schema to the next |

pub mod access_path;
mod allowed_outcome;
pub mod deviations;
mod dirty_reads;
mod evaluate;
mod evaluation_cache;
mod expressions;
mod from_clause;
mod hypothesis;
mod insert;
mod missing_wait;
mod projection;
mod replay;
mod resumed_scan;
mod row_changes;
mod row_history;
mod schema;
mod schema_cache;
mod select;
mod statement_context;
mod subqueries;
mod table_footprint;
pub mod twins;
mod update_delete;

use std::{
    cell::{Cell, RefCell},
    sync::Arc,
};

use dialect::contract::Contract;
use model::{
    Case, DeviationId, Evidence, Fingerprint, Reason, RowSet, ShownBy, Symptom, Trace, Verdict, Violation,
    sql::{InsertVerb, Statement},
    sync::lock,
    verdict::{Cause, Deviations, Justification, Response, evidence::Table},
};

pub use self::replay::Waits;
use self::{
    access_path::Path,
    deviations::{KnownDeviation, Status},
    evaluation_cache::EvaluationCache,
    hypothesis::Hypothesis,
    replay::{Mismatch, Rejection, Replay},
    schema::Schema,
    schema_cache::SchemaCache,
    table_footprint::TableFootprint,
    twins::{Twin, Use, Why},
};
use crate::{Answer, Ask, Conversation, Oracle, OracleInfo};

/// The oracle.
#[derive(Debug, Default)]
pub struct Mvcc {
    schemas: SchemaCache,
}

impl Mvcc {
    /// What it says of a run.
    pub fn verdict(&self, seen: &Answer) -> Verdict {
        self.verdict_without(seen, &[])
    }

    /// What it says of a run in which these concessions explain nothing.
    pub fn verdict_without(&self, seen: &Answer, without: &[&'static KnownDeviation]) -> Verdict {
        self.account(seen, without).0
    }

    /// The twin of a run that these concessions explain; `wrong` is the step that shows it.
    pub fn twin(&self, seen: &Answer, uses: &[Use], wrong: Option<usize>) -> Result<Twin, Why> {
        if uses.is_empty() {
            return Err(Reason::NotExplainedByTheModel);
        }
        let server = &seen.trace.server;
        let setup = self.schemas.get(server, &seen.case.setup.statements);
        let schema = setup.schema.as_ref().map_err(|why| *why)?;
        let mut statements = lock(&setup.statement_cache);
        let (trees, _) = statements.read(server.product, schema, &seen.case);
        twins::twin(seen, &trees, schema, uses, wrong)
    }

    /// What it says of a run in which these concessions explain nothing, and the steps that need one of the others.
    pub fn account(&self, seen: &Answer, without: &[&'static KnownDeviation]) -> (Verdict, Vec<Use>) {
        let missing_wait::Told { verdict, uses, .. } = self.suspected(seen, without);
        (verdict, uses)
    }

    /// As [`Mvcc::account`]. If nothing explains that a wait did not come, that is noted.
    fn judged(
        &self,
        seen: &Answer,
        without: &[&'static KnownDeviation],
        suspicion: &mut Option<missing_wait::Suspicion>,
    ) -> (Verdict, Vec<Use>) {
        let undecided = |reason: Reason| (Verdict::Undecided { reason }, Vec::new());
        let told = self.read(seen, without, None, |read| match read.judged() {
            Ok((verdict, uses, suspicious)) => {
                *suspicion = suspicious;
                (verdict, uses)
            }
            Err(why) => undecided(why),
        });
        told.unwrap_or_else(undecided)
    }

    /// What it says of a run in which the statement of a step went this way.
    pub fn verdict_by(&self, seen: &Answer, step: usize, path: &Path) -> Verdict {
        let undecided = |reason: Reason| Verdict::Undecided { reason };
        let told = self.read(seen, &[], Some((step, path)), |read| match read.judged() {
            Ok((verdict, ..)) => verdict,
            Err(why) => undecided(why),
        });
        told.unwrap_or_else(undecided)
    }

    /// How many of the waits of a run nothing demands; nothing where the run is not as the contract wants it.
    pub fn waits(&self, seen: &Answer) -> Option<Waits> {
        let waits = Cell::default();
        let counted =
            |read: &Read<'_>| Replay { waits: Some(&waits), ..read.replaying(false, None) }.run().is_ok();
        self.read(seen, &[], None, counted).ok().filter(|went| *went).map(|_| waits.get())
    }

    /// Does something with a run that was read.
    fn read<T>(
        &self,
        seen: &Answer,
        without: &[&'static KnownDeviation],
        path: Option<(usize, &Path)>,
        act: impl FnOnce(&Read<'_>) -> T,
    ) -> Result<T, Reason> {
        let server = &seen.trace.server;
        let setup = self.schemas.get(server, &seen.case.setup.statements);
        let contract = setup.contract.as_ref().ok_or(Reason::NoContract)?;
        let schema = setup.schema.as_ref().map_err(|why| *why)?;
        let mut statements = lock(&setup.statement_cache);
        let (trees, footprints) = statements.read(server.product, schema, &seen.case);
        let deviations: Vec<&'static KnownDeviation> =
            setup.deviations.iter().copied().filter(|deviation| !without.contains(deviation)).collect();
        Ok(act(&Read {
            seen,
            schema,
            contract,
            trees: &trees,
            footprints: &footprints,
            computed: &statements.evaluated,
            deviations: &deviations,
            path,
        }))
    }
}

/// A run that was read.
struct Read<'a> {
    seen: &'a Answer,
    schema: &'a Schema,
    contract: &'a Contract,
    trees: &'a [Option<Arc<Statement>>],
    footprints: &'a [TableFootprint],
    computed: &'a RefCell<EvaluationCache>,
    deviations: &'a [&'static KnownDeviation],
    path: Option<(usize, &'a Path)>,
}

impl<'a> Read<'a> {
    /// How it is gone through.
    fn replaying(&self, tries_reported: bool, until: Option<usize>) -> Replay<'a> {
        let Read { seen, schema, contract, trees, footprints, computed, deviations, path } = *self;
        let (waits, replace_may_reinsert) = (None, false);
        Replay {
            seen,
            schema,
            contract,
            trees,
            footprints,
            computed,
            tries_reported,
            replace_may_reinsert,
            deviations,
            until,
            path,
            waits,
        }
    }

    /// Does a statement put rows in the place of others?
    fn replaces(&self) -> bool {
        let is = |tree: &Arc<Statement>| matches!(&**tree, Statement::Insert(insert) if insert.verb == InsertVerb::Replace);
        self.trees.iter().flatten().any(is)
    }

    /// What is to be said of it, the steps that need a concession, and a wait that did not come.
    fn judged(&self) -> Result<(Verdict, Vec<Use>, Option<missing_wait::Suspicion>), Reason> {
        let mut strict = self.replaying(false, None).run();
        // Whether a row that was replaced is the same one still is not promised, and rarely matters.
        let replace_may_reinsert = matches!(strict, Err(Rejection::Mismatch(_))) && self.replaces();
        let replay = |tries_reported: bool, until: Option<usize>| {
            Replay { replace_may_reinsert, ..self.replaying(tries_reported, until) }.run()
        };
        if replace_may_reinsert {
            strict = replay(false, None);
        }
        let broken = match strict {
            Ok(hypotheses) => {
                let uses = least(&hypotheses, |_| true);
                return Ok((
                    Verdict::Holds { by: names(&uses).iter().map(justification).collect() },
                    uses,
                    None,
                ));
            }
            Err(Rejection::Undecided(why)) => return Err(why),
            Err(Rejection::Mismatch(broken)) => broken,
        };
        // What comes in a later round than what is wrong has a name of its own.
        let rounds = &self.seen.trace.rounds;
        let round = |step: usize| rounds.iter().position(|round| round.answered.contains(&step));
        let until = broken.step.and_then(round).unwrap_or(usize::MAX);
        let reported = |(by, step): &Use| !by.always_tried() && round(*step) <= Some(until);
        let (broken, explained) = match replay(true, None) {
            Ok(hypotheses) => (broken, least(&hypotheses, reported)),
            // What came first is explained, but not what comes after it. Which rows a resumed scan has met, or one that judges what
            // is not committed, is not always known for certain, so what follows from one is not held against it.
            Err(Rejection::Mismatch(later)) if later.step != broken.step => match replay(true, broken.step) {
                Ok(hypotheses)
                    if least(&hypotheses, reported).iter().any(|(by, _)| by.leaves_rows_open()) =>
                {
                    (broken, least(&hypotheses, reported))
                }
                Ok(_) | Err(_) => (later, Vec::new()),
            },
            Err(Rejection::Mismatch(_)) => (broken, Vec::new()),
            Err(Rejection::Undecided(_)) => match replay(true, broken.step) {
                Ok(hypotheses) => (broken, least(&hypotheses, reported)),
                Err(Rejection::Undecided(why)) => return Err(why),
                Err(Rejection::Mismatch(_)) => (broken, Vec::new()),
            },
        };
        let violation = violation(self.seen, &broken, &names(&explained), self.trees);
        let suspicion = match (broken.step, broken.due, explained.is_empty()) {
            (Some(step), Some(other), true) => {
                Some(missing_wait::Suspicion { violation: violation.clone(), step, other })
            }
            _ => None,
        };
        Ok((Verdict::Violated(violation), explained, suspicion))
    }
}

/// Of all accounts the fewest concessions that one takes, and where.
fn least(hypotheses: &[Hypothesis], wanted: impl Fn(&Use) -> bool) -> Vec<Use> {
    let used = |hypothesis: &Hypothesis| -> Vec<Use> {
        let mut used: Vec<Use> = hypothesis.used.iter().copied().filter(&wanted).collect();
        used.sort_unstable();
        used.dedup();
        used
    };
    hypotheses.iter().map(used).min_by_key(|uses| names(uses).len()).unwrap_or_default()
}

/// When a step answered, in the order of answers.
pub(crate) fn place(trace: &Trace, step: usize) -> usize {
    let mut answered = trace.rounds.iter().flat_map(|round| &round.answered);
    answered.position(|of| *of == step).unwrap_or(usize::MAX)
}

/// Each concession once.
fn names(uses: &[Use]) -> Vec<&'static KnownDeviation> {
    let mut names: Vec<&'static KnownDeviation> = uses.iter().map(|(by, _)| *by).collect();
    names.dedup();
    names
}

/// Why a run holds, if this is needed for it.
fn justification(by: &&'static KnownDeviation) -> Justification {
    match by.status {
        Status::Observed => Justification::Undocumented(by.name.into()),
        Status::Documented | Status::Reported | Status::Found => Justification::Documented(by.name.into()),
    }
}

/// Deviations by their ids.
pub(crate) fn ids<'a>(all: impl IntoIterator<Item = &'a &'static KnownDeviation>) -> Deviations {
    all.into_iter().map(|by| by.name.into()).collect()
}

fn violation(
    seen: &Answer,
    broken: &Mismatch,
    explained: &[&'static KnownDeviation],
    trees: &[Option<Arc<Statement>>],
) -> Violation {
    let cause = match explained {
        [] => Cause::Rule(broken.rule),
        by => Cause::Deviations(ids(by)),
    };
    let mut evidence = Evidence { rule: Some(broken.rule), ..Evidence::default() };
    let (statement, level) = match broken.step {
        Some(step) => {
            let session = &seen.case.sessions[seen.case.steps[step].session];
            evidence.session.clone_from(&session.name);
            evidence.sql.clone_from(&seen.case.steps[step].sql);
            evidence.actual = Some(match broken.symptom {
                Symptom::NeedlessWait => Response::Wait,
                _ => Response::Outcome(Box::new(seen.trace.outcomes[step].clone())),
            });
            let kind = trees[step].as_deref().map(Statement::kind);
            (ShownBy::Statement(kind), Some(session.level.unwrap_or(seen.trace.level)))
        }
        None => {
            let tables = seen.trace.final_state.as_deref().unwrap_or_default();
            if let Response::FinalState(Table { table, .. }) = &broken.expected {
                let of = |(name, _): &&(String, RowSet)| name == table;
                evidence.actual = tables.iter().find(of).map(|(table, rows)| {
                    Response::FinalState(Table { table: table.clone(), rows: rows.clone() })
                });
            }
            (ShownBy::FinalState, None)
        }
    };
    evidence.expected = Some(broken.expected.clone());
    let fingerprint = Fingerprint { symptom: broken.symptom, cause, statement, level };
    Violation { fingerprint, step: broken.step, evidence: Box::new(evidence) }
}

/// The known deviations that explain a fingerprint; none if nothing does.
pub fn named(fingerprint: &Fingerprint) -> Option<Vec<&'static KnownDeviation>> {
    ordered(fingerprint.deviations()?)
}

/// The bug reports by which a fingerprint is known. What was found but is in no tracker has a name, and is new.
pub fn known(fingerprint: &Fingerprint) -> Option<String> {
    reports(fingerprint.deviations()?)
}

/// The bug reports of these deviations; none if one of them is in no tracker.
pub fn reports(all: &Deviations) -> Option<String> {
    let all = ordered(all)?;
    let reported = all.iter().all(|by| by.status == Status::Reported);
    let sources: Vec<&str> = all.iter().map(|by| by.source).collect();
    reported.then(|| sources.join(", "))
}

/// The deviations of these ids, in the order of the registry; none if one of them is not in it.
pub fn ordered(ids: &Deviations) -> Option<Vec<&'static KnownDeviation>> {
    let is = |by: &&'static KnownDeviation| ids.iter().any(|id| id.0 == by.name);
    let all: Vec<_> = deviations::all().filter(is).collect();
    (all.len() == ids.len()).then_some(all)
}

/// Where a deviation is documented or reported.
pub fn source(id: &DeviationId) -> Option<&'static str> {
    deviations::find(&id.0).map(|by| by.source)
}

impl Oracle for Mvcc {
    fn info(&self) -> OracleInfo {
        OracleInfo {
            name: "model",
            needs_contract: true,
            needs_server: false,
            default: false,
            help: "version chains outside the database, by the contract of the engine",
        }
    }

    fn explained_by(&self, seen: &Answer) -> Vec<Use> {
        self.account(seen, &[]).1
    }

    fn twins(&self, seen: &Answer, by: &'static KnownDeviation, wrong: Option<usize>) -> Vec<(usize, Case)> {
        let twin = |step| Some((step, self.twin(seen, &[(by, step)], wrong).ok()?.request.case));
        (0..seen.case.steps.len()).filter_map(twin).collect()
    }

    fn waits(&self, seen: &Answer) -> Option<Waits> {
        Mvcc::waits(self, seen)
    }

    fn open<'a>(&self, seen: &'a Answer) -> Box<dyn Conversation + 'a> {
        let told = self.suspected(seen, &[]);
        match told.suspicion {
            Some(suspicion) => Box::new(missing_wait::Talk::new(self.continued(seen, &suspicion), suspicion)),
            None => Box::new(Said(Some(told.verdict))),
        }
    }
}

pub use self::missing_wait::suspects;

/// All that it has to say.
struct Said(Option<Verdict>);

impl Conversation for Said {
    fn next(&mut self, _: &[Answer]) -> Ask {
        Ask::Done(self.0.take().unwrap_or(Verdict::Undecided { reason: Reason::AskedTwice }))
    }
}
