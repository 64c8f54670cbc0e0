//! What must hold on every trace of every product, whatever the contract: no value from nowhere, no value of an undone
//! writer, no unique value twice, repeatable reads, indexes that agree, rows in the order that was asked for, columns of one type, no wait where none was wanted, no change
//! in a transaction that only reads, no circle of waits that stays. One file per invariant.
//!
//! What a product's manual exempts stands in [`exemptions`] and nowhere else.

mod constants;
mod deadlock;
pub mod exemptions;
mod indexes;
mod no_wait;
mod projection;
mod provenance;
mod read_only;
mod repeat;
mod sorted;
mod types;
mod unique;
mod writers;

use dialect::Execution;
use history::History;
use model::{
    Evidence, Fingerprint, Reason, Reply, RuleId, ShownBy, Symptom, Verdict, Violation,
    sql::{Statement, StatementKind},
    verdict::{Cause, Justification, Response, evidence::Sighting},
};

use crate::{Ask, Conversation, Oracle, OracleInfo};

/// Something that an invariant complains about.
#[derive(Debug)]
pub(crate) struct InvariantViolation {
    /// The invariant.
    pub symptom: Symptom,
    /// Where; none for the final state.
    pub step: Option<usize>,
    pub sighting: Sighting,
    /// The sentence of the manual that allows it.
    pub by: Option<&'static exemptions::Exemption>,
}

#[derive(Debug, Default)]
pub struct Invariants;

impl Oracle for Invariants {
    fn info(&self) -> OracleInfo {
        OracleInfo {
            name: "invariants",
            needs_contract: false,
            needs_server: false,
            default: true,
            help: "what holds for every engine: no value that nobody wrote, no unique value twice",
        }
    }

    fn open<'a>(&self, seen: &'a Execution) -> Box<dyn Conversation + 'a> {
        Box::new(SingleRunVerdict(judge(seen)))
    }
}

/// One run says all that is needed.
struct SingleRunVerdict(Verdict);

impl Conversation for SingleRunVerdict {
    fn next(&mut self, _answers: &[Execution]) -> Ask {
        Ask::Done(self.0.clone())
    }
}

fn judge(seen: &Execution) -> Verdict {
    let undecided = |reason: Reason| Verdict::Undecided { reason };
    if seen.trace.false_decisions > 0 {
        return undecided(Reason::LateAnswer);
    }
    let schema = seen.case.parsed_setup.schema.as_ref();
    let history = History::new(&seen.case, &seen.trace);
    let mut found = Vec::new();
    indexes::check(seen, &mut found);
    no_wait::check(&history, &mut found);
    deadlock::check(seen, &history, &mut found);
    let unclear = schema.err().map(|_| seen.case.parsed_setup.unread()).or_else(|| unclear(&history));
    if let (None, Ok(schema)) = (unclear, schema) {
        read_only::check(&history, schema, &mut found);
        sorted::check(&history, schema, &mut found);
        types::check(&history, schema, &mut found);
        repeat::check(&history, schema, &mut found);
        unique::check(&history, schema, &mut found);
        provenance::check(&history, schema, &mut found);
    }
    if let Some(bad) = found.iter().find(|found| found.by.is_none()) {
        return Verdict::Violated(violation(&history, bad));
    }
    let died = seen.trace.outcomes.iter().any(|outcome| outcome.reply == Reply::ServerDied);
    match unclear {
        Some(reason) => undecided(reason),
        None if died => undecided(Reason::ServerGone),
        None => {
            let exempt = |found: &InvariantViolation| found.by.map(|by| Justification::Exempt(by.id));
            Verdict::Holds { by: found.iter().filter_map(exempt).collect() }
        }
    }
}

/// Why it cannot be told from the trees who wrote what, if that is so.
fn unclear(history: &History<'_>) -> Option<Reason> {
    history.steps.iter().find_map(|step| match step.kind() {
        None => Some(Reason::Unparsed),
        Some(StatementKind::Ddl) => Some(Reason::SchemaChanged),
        Some(StatementKind::Set) if enforces_foreign_keys(step.statement()) => None,
        Some(StatementKind::Set) => Some(Reason::SettingsChanged),
        Some(_) => None,
    })
}

/// SQLite enforces foreign keys only where a session asks for it. That changes what is refused, not who wrote what.
fn enforces_foreign_keys(tree: Option<&Statement>) -> bool {
    matches!(tree, Some(Statement::Pragma(pragma)) if pragma.name.name.eq_ignore_ascii_case("foreign_keys"))
}

fn violation(history: &History<'_>, found: &InvariantViolation) -> Violation {
    let mut evidence = Evidence { sighting: Some(found.sighting.clone()), ..Evidence::default() };
    evidence.rule = match found.symptom {
        Symptom::AbortedRead => Some(RuleId::OnlyCommitted),
        Symptom::ReadNotRepeatable => Some(RuleId::OneSnapshot),
        Symptom::UniqueValueTwice => Some(RuleId::DistinctKeys),
        Symptom::UnreportedDeadlock => Some(RuleId::DeadlockIsEnded),
        Symptom::NeedlessWait => Some(RuleId::AskedNotToWait),
        _ => None,
    };
    if found.symptom == Symptom::NeedlessWait {
        evidence.expected = Some(Response::AnAnswer { nobody_in_the_way: false });
    }
    let (statement, level) = match found.step {
        Some(step) => {
            let step_of = &history.case.steps[step];
            evidence.session.clone_from(&history.case.sessions[step_of.session].name);
            evidence.sql.clone_from(&step_of.sql);
            // Of what waits for ever there is no answer; what came is what the executor did to it.
            evidence.actual = Some(match found.symptom {
                Symptom::UnreportedDeadlock | Symptom::NeedlessWait => Response::Wait,
                _ => Response::Outcome(Box::new(history.trace.outcomes[step].clone())),
            });
            (ShownBy::Statement(history.steps[step].kind()), history.level(step))
        }
        None => (ShownBy::FinalState, None),
    };
    let fingerprint = Fingerprint { symptom: found.symptom, cause: Cause::Invariant, statement, level };
    Violation { fingerprint, step: found.step, evidence: Box::new(evidence) }
}
