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
//! First only the strict rules and what the manual documents are tried. If no hypothesis about the trace holds, the other known deviations
//! are: what they explain is a known violation, named by its report; what nothing explains is a new one.
//!
//! | file | what it holds |
//! |---|---|
//! | `judgement` | the verdict: replays the trace, strictly and then with known deviations |
//! | `replay` | the rounds of a trace, and all hypotheses about them: transaction control, statements, their effects, waits |
//! | `hypothesis` | version chains, transactions, who waits: one way in which it may have happened |
//! | `statement_context`, `from_clause` | what one statement is evaluated with: tables, visible rows, locks of others |
//! | `select`, `insert`, `update_delete` | what each statement may answer and do |
//! | `allowed_outcome` | an answer that is allowed, and whether it is the one that came |
//! | `row_changes` | changes row by row: unique values, foreign keys |
//! | `write_conflicts` | rows that are newer than the snapshot, where that is refused |
//! | `satisfiable` | conditions that no row can make true |
//! | `subqueries`, `projection`, `query_analysis` | subqueries, columns and aggregates of a result, looking at expressions |
//! | `resumed_scan` | scans that go on from where they waited |
//! | `dirty_reads` | dirty reads beside a statement that waits half-way |
//! | `missing_wait` | a wait that did not come: what it damages, and runs that go on from there |
//! | `deviations` | known deviations: what each is, where it exists, what it changes here |
//! | `twins` | the same case without what a deviation needs |
//! | `explain_probe` | by which index a statement went, asked of the server |
//! | `history_report` | the versions of rows and the views of reads, for people |
//! | `schema`, `table_footprint` | tables, and which of them a statement reaches |
//! | `row_evaluator` | values of expressions over rows |
//! | `schema_cache`, `evaluation_cache` | what is kept from one case of a schema to the next |

mod allowed_outcome;
pub mod deviations;
mod dirty_reads;
mod evaluation_cache;
pub mod explain_probe;
mod from_clause;
mod history_report;
mod hypothesis;
mod insert;
mod judgement;
mod missing_wait;
mod projection;
mod query_analysis;
mod replay;
mod resumed_scan;
mod row_changes;
mod row_evaluator;
mod satisfiable;
mod schema;
mod schema_cache;
mod select;
mod statement_context;
mod subqueries;
mod table_footprint;
pub mod twins;
mod update_delete;
mod write_conflicts;

use std::cell::Cell;

use dialect::Execution;
use model::{Case, Reason, Trace, Verdict, sync::lock};

use self::{
    deviations::KnownDeviation,
    explain_probe::Path,
    judgement::{Judgement, ReplayInput},
    replay::Replay,
    schema_cache::SchemaCache,
    twins::{Twin, Use, Why},
};
pub use self::{
    deviations::lookup::{ids, known, named, reports, source},
    missing_wait::suspects,
    replay::Waits,
};
use crate::{Ask, Conversation, Oracle, OracleInfo};

#[derive(Debug, Default)]
pub struct Mvcc {
    schemas: SchemaCache,
}

impl Mvcc {
    /// What it says of a run.
    pub fn verdict(&self, seen: &Execution) -> Verdict {
        self.verdict_without(seen, &[])
    }

    /// What it says of a run in which these deviations explain nothing.
    pub fn verdict_without(&self, seen: &Execution, without: &[&'static KnownDeviation]) -> Verdict {
        self.account(seen, without).0
    }

    /// The twin of a run that these deviations explain; `wrong` is the step that shows it.
    pub fn twin(&self, seen: &Execution, uses: &[Use], wrong: Option<usize>) -> Result<Twin, Why> {
        if uses.is_empty() {
            return Err(Reason::NotExplainedByTheModel);
        }
        let server = &seen.trace.server;
        let setup = self.schemas.get(server, &seen.case.parsed_setup);
        let schema = setup.schema.as_ref().map_err(|why| *why)?;
        twins::twin(seen, schema, uses, wrong)
    }

    /// What it says of a run in which these deviations explain nothing, and the steps that need one of the others.
    pub fn account(&self, seen: &Execution, without: &[&'static KnownDeviation]) -> (Verdict, Vec<Use>) {
        let Judgement { verdict, uses, .. } = self.with_damage(seen, without);
        (verdict, uses)
    }

    /// As [`Mvcc::account`], and the wait that is missing, if nothing explains that.
    fn judgement(&self, seen: &Execution, without: &[&'static KnownDeviation]) -> Judgement {
        let judged = self.read(seen, without, None, |run| run.judge());
        judged.unwrap_or_else(Judgement::undecided)
    }

    /// What it says of a run in which the statement of a step had this access path.
    pub fn verdict_by(&self, seen: &Execution, step: usize, path: &Path) -> Verdict {
        let judged = self.read(seen, &[], Some((step, path)), |run| run.judge());
        judged.unwrap_or_else(Judgement::undecided).verdict
    }

    /// How many of the waits of a run nothing demands; none where the run is not as the contract wants it.
    pub fn waits(&self, seen: &Execution) -> Option<Waits> {
        let waits = Cell::default();
        let counted =
            |run: &ReplayInput<'_>| Replay { waits: Some(&waits), ..run.replay(false, None) }.run().is_ok();
        self.read(seen, &[], None, counted).ok().filter(|went| *went).map(|_| waits.get())
    }

    /// Parses a run and does something with it.
    fn read<T>(
        &self,
        seen: &Execution,
        without: &[&'static KnownDeviation],
        path: Option<(usize, &Path)>,
        act: impl FnOnce(&ReplayInput<'_>) -> T,
    ) -> Result<T, Reason> {
        let server = &seen.trace.server;
        let setup = self.schemas.get(server, &seen.case.parsed_setup);
        let contract = setup.contract.as_ref().ok_or(Reason::NoContract)?;
        let schema = setup.schema.as_ref().map_err(|why| *why)?;
        let mut statements = lock(&setup.statement_cache);
        let footprints = statements.footprints(schema, &seen.case);
        let deviations: Vec<&'static KnownDeviation> =
            setup.deviations.iter().copied().filter(|deviation| !without.contains(deviation)).collect();
        Ok(act(&ReplayInput {
            seen,
            schema,
            contract,
            footprints: &footprints,
            evaluated: &statements.evaluated,
            deviations: &deviations,
            path,
        }))
    }
}

/// When a step answered, in the order of answers.
pub(crate) fn place(trace: &Trace, step: usize) -> usize {
    let mut answered = trace.rounds.iter().flat_map(|round| &round.answered);
    answered.position(|of| *of == step).unwrap_or(usize::MAX)
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

    fn explained_by(&self, seen: &Execution) -> Vec<Use> {
        self.account(seen, &[]).1
    }

    fn twins(
        &self,
        seen: &Execution,
        by: &'static KnownDeviation,
        wrong: Option<usize>,
    ) -> Vec<(usize, Case)> {
        let twin = |step| Some((step, self.twin(seen, &[(by, step)], wrong).ok()?.request.case));
        (0..seen.case.steps.len()).filter_map(twin).collect()
    }

    fn waits(&self, seen: &Execution) -> Option<Waits> {
        Mvcc::waits(self, seen)
    }

    fn open<'a>(&self, seen: &'a Execution) -> Box<dyn Conversation + 'a> {
        let Judgement { verdict, missing_wait, .. } = self.with_damage(seen, &[]);
        match missing_wait {
            Some(missing) => Box::new(missing_wait::Talk::new(self.continuations(seen, &missing), missing)),
            None => Box::new(Decided(Some(verdict))),
        }
    }
}

/// A conversation that asks for nothing.
struct Decided(Option<Verdict>);

impl Conversation for Decided {
    fn next(&mut self, _: &[Execution]) -> Ask {
        Ask::Done(self.0.take().unwrap_or(Verdict::Undecided { reason: Reason::AskedTwice }))
    }
}
