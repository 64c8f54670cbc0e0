//! The verdict on a run: its trace is replayed by the strict rules, and if they do not explain it, with the known deviations.

use std::cell::RefCell;

use dialect::{Execution, contract::Contract};
use model::{
    Evidence, Fingerprint, Reason, RowSet, RuleId, ShownBy, Symptom, Verdict, Violation,
    sql::{InsertVerb, Statement},
    verdict::{Cause, Justification, Response, evidence::Table},
};

use super::{
    deviations::{KnownDeviation, Status, lookup::ids},
    evaluation_cache::EvaluationCache,
    explain_probe::Path,
    hypothesis::Hypothesis,
    missing_wait::MissingWait,
    replay::{Explained, Mismatch, Rejection, Replay},
    schema::Schema,
    table_footprint::TableFootprint,
    twins::Use,
};

/// What is said of a run.
pub struct Judgement {
    pub verdict: Verdict,
    /// The deviations that it rests on, and the steps that need them.
    pub uses: Vec<Use>,
    /// If nothing is wrong but that a wait is missing: which.
    pub missing_wait: Option<MissingWait>,
}

impl Judgement {
    pub fn undecided(reason: Reason) -> Judgement {
        Judgement { verdict: Verdict::Undecided { reason }, uses: Vec::new(), missing_wait: None }
    }

    pub fn violated(violation: Violation) -> Judgement {
        Judgement { verdict: Verdict::Violated(violation), uses: Vec::new(), missing_wait: None }
    }

    fn holds(uses: Vec<Use>) -> Judgement {
        let by = each_once(&uses).iter().map(justification).collect();
        Judgement { verdict: Verdict::Holds { by }, uses, missing_wait: None }
    }
}

/// What a replay of a run needs.
pub struct ReplayInput<'a> {
    pub seen: &'a Execution,
    pub schema: &'a Schema,
    pub contract: &'a Contract,
    pub footprints: &'a [TableFootprint],
    pub evaluated: &'a RefCell<EvaluationCache>,
    /// Those that may explain something here.
    pub deviations: &'a [&'static KnownDeviation],
    /// The access path of a step, where that is known.
    pub path: Option<(usize, &'a Path)>,
}

impl<'a> ReplayInput<'a> {
    /// A replay of its trace: with all deviations or only with those that are part of the contract, and not further than the round in which
    /// a step answers.
    pub fn replay(&self, tries_reported: bool, until: Option<usize>) -> Replay<'a> {
        let ReplayInput { seen, schema, contract, footprints, evaluated, deviations, path } = *self;
        Replay {
            seen,
            schema,
            contract,
            footprints,
            evaluated,
            tries_reported,
            replace_may_reinsert: false,
            deviations,
            until,
            path,
            waits: None,
        }
    }

    pub fn judge(&self) -> Judgement {
        let mut strict = self.replay(false, None).run();
        // Whether a row that was replaced is the same one still is not promised, and rarely matters.
        let replace_may_reinsert = matches!(strict, Err(Rejection::Mismatch(_))) && self.replaces();
        let replay = |tries_reported: bool, until: Option<usize>| {
            Replay { replace_may_reinsert, ..self.replay(tries_reported, until) }.run()
        };
        if replace_may_reinsert {
            strict = replay(false, None);
        }
        let mismatch = match strict {
            Ok(hypotheses) => return Judgement::holds(fewest(&hypotheses, |_| true)),
            Err(Rejection::Undecided(why)) => return Judgement::undecided(why),
            Err(Rejection::Mismatch(mismatch)) => mismatch,
        };
        match self.explain(mismatch, |until| replay(true, until)) {
            Ok((mismatch, uses)) => self.violated(&mismatch, uses),
            Err(why) => Judgement::undecided(why),
        }
    }

    /// What is wrong, and the deviations that explain it. `replay` tries all of them, up to a step.
    fn explain(
        &self,
        mismatch: Box<Mismatch>,
        replay: impl Fn(Option<usize>) -> Explained,
    ) -> Result<(Box<Mismatch>, Vec<Use>), Reason> {
        let rounds = &self.seen.trace.rounds;
        let round = |step: usize| rounds.iter().position(|round| round.answered.contains(&step));
        // What comes in a later round than what is wrong has a name of its own.
        let until = mismatch.step.and_then(round).unwrap_or(usize::MAX);
        let reported = |(by, step): &Use| !by.always_tried() && round(*step) <= Some(until);
        let later = match replay(None) {
            Ok(hypotheses) => return Ok((mismatch, fewest(&hypotheses, reported))),
            Err(Rejection::Mismatch(same)) if same.step == mismatch.step => {
                return Ok((mismatch, Vec::new()));
            }
            Err(Rejection::Mismatch(later)) => Some(later),
            Err(Rejection::Undecided(_)) => None,
        };
        // What came first may be explained, but not what comes after it.
        match (replay(mismatch.step), later) {
            (Ok(hypotheses), None) => Ok((mismatch, fewest(&hypotheses, reported))),
            (Err(Rejection::Undecided(why)), None) => Err(why),
            (Err(Rejection::Mismatch(_)), None) => Ok((mismatch, Vec::new())),
            // Which rows a resumed scan has met, or one that judges what is not committed, is not always known for certain, so what follows
            // from one is not held against it.
            (Ok(hypotheses), Some(later)) => {
                let uses = fewest(&hypotheses, reported);
                match uses.iter().any(|(by, _)| by.leaves_rows_open()) {
                    true => Ok((mismatch, uses)),
                    false => Ok((later, Vec::new())),
                }
            }
            (Err(_), Some(later)) => Ok((later, Vec::new())),
        }
    }

    fn violated(&self, mismatch: &Mismatch, uses: Vec<Use>) -> Judgement {
        let violation = violation(self.seen, mismatch, &each_once(&uses));
        let missing_wait = match (mismatch.step, mismatch.due, uses.is_empty()) {
            (Some(step), Some(other), true) => {
                Some(MissingWait { violation: violation.clone(), step, other })
            }
            _ => None,
        };
        Judgement { verdict: Verdict::Violated(violation), uses, missing_wait }
    }

    /// Does a statement put rows in the place of others?
    fn replaces(&self) -> bool {
        let replaces = |step| matches!(self.seen.case.tree(step), Some(Statement::Insert(insert)) if insert.verb == InsertVerb::Replace);
        (0..self.seen.case.steps.len()).any(replaces)
    }
}

/// Of all hypotheses the fewest deviations that one needs, and where.
fn fewest(hypotheses: &[Hypothesis], wanted: impl Fn(&Use) -> bool) -> Vec<Use> {
    let used = |hypothesis: &Hypothesis| -> Vec<Use> {
        let mut used: Vec<Use> = hypothesis.used.iter().copied().filter(&wanted).collect();
        used.sort_unstable();
        used.dedup();
        used
    };
    hypotheses.iter().map(used).min_by_key(|uses| each_once(uses).len()).unwrap_or_default()
}

/// The deviations of sorted uses.
pub fn each_once(uses: &[Use]) -> Vec<&'static KnownDeviation> {
    let mut deviations: Vec<&'static KnownDeviation> = uses.iter().map(|(by, _)| *by).collect();
    deviations.dedup();
    deviations
}

/// Why a run holds, if this is needed for it.
fn justification(by: &&'static KnownDeviation) -> Justification {
    match by.status {
        Status::Observed => Justification::Undocumented(by.name.into()),
        Status::Documented | Status::Reported | Status::Found => Justification::Documented(by.name.into()),
    }
}

fn violation(seen: &Execution, mismatch: &Mismatch, explained: &[&'static KnownDeviation]) -> Violation {
    let cause = match explained {
        [] => Cause::Rule(mismatch.rule),
        by => Cause::Deviations(ids(by)),
    };
    // What the statement sees is not what an error of a constraint that did not come is about.
    let constraint = match mismatch.expected {
        Response::Error(class) => RuleId::kept_by(class),
        _ => None,
    };
    let mut evidence = Evidence { rule: Some(constraint.unwrap_or(mismatch.rule)), ..Evidence::default() };
    let (statement, level) = match mismatch.step {
        Some(step) => {
            let session = &seen.case.sessions[seen.case.steps[step].session];
            evidence.session.clone_from(&session.name);
            evidence.sql.clone_from(&seen.case.steps[step].sql);
            evidence.actual = Some(match mismatch.symptom {
                Symptom::NeedlessWait => Response::Wait,
                _ => Response::Outcome(Box::new(seen.trace.outcomes[step].clone())),
            });
            evidence.waited = mismatch.symptom == Symptom::MissingWait && seen.trace.waited(step);
            (ShownBy::Statement(seen.case.kind(step)), Some(session.level.unwrap_or(seen.trace.level)))
        }
        None => {
            let tables = seen.trace.final_state.as_deref().unwrap_or_default();
            if let Response::FinalState(Table { table, .. }) = &mismatch.expected {
                let of = |(name, _): &&(String, RowSet)| name == table;
                evidence.actual = tables.iter().find(of).map(|(table, rows)| {
                    Response::FinalState(Table { table: table.clone(), rows: rows.clone() })
                });
            }
            (ShownBy::FinalState, None)
        }
    };
    evidence.expected = Some(mismatch.expected.clone());
    let fingerprint = Fingerprint { symptom: mismatch.symptom, cause, statement, level };
    Violation { fingerprint, step: mismatch.step, evidence: Box::new(evidence) }
}
