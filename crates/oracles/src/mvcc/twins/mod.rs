//! Twins: the same case without what a known deviation needs.
//!
//! A known deviation explains a cause, and the model recognises it by what came. Another bug may look the same. So a case that a
//! known deviation explains is run once more as its twin, in which the cause cannot be at work: the statement that waited comes after
//! the one that it waited for, the update writes another value, the key is not changed, the transaction that was rolled back is
//! not there. The twin still has the statement that was wrong. If that is wrong in the twin, too, the known deviation was not the
//! cause, and the finding is new.
//!
//! How a case becomes its twin stands with each deviation (`super::deviations`). One that is only observed has none: it is listed apart,
//! and neither known nor new.

pub mod reorder;

use dialect::Execution;
use model::{Case, Reason, Step, Symptom, Trace, Verdict, Violation, sql::Statement};

use super::{Mvcc, deviations::KnownDeviation, schema::Schema};
use crate::Request;

/// Why there is no twin, or why it says nothing, in a few words that can be counted.
pub type Why = Reason;

/// A known deviation and the step that needs it.
pub type Use = (&'static KnownDeviation, usize);

/// A case on its way to becoming its twin.
pub struct TwinDraft<'a> {
    pub seen: &'a Execution,
    pub schema: &'a Schema,
    /// The statements of the setup.
    pub setup: Vec<String>,
    /// The steps that are left, each with its number in the case.
    pub steps: Vec<(usize, Step)>,
}

/// A twin, ready to be run.
pub struct Twin {
    /// What is to be run.
    pub request: Request,
    /// The known deviations whose cause is gone.
    pub without: Vec<&'static KnownDeviation>,
    /// For each of its steps the number in the case.
    steps: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Nothing is wrong there.
    Gone,
    /// The same is wrong.
    Stays(Box<Violation>),
    /// Nothing can be said.
    Nothing(Why),
}

/// The twin of a run for these uses. `wrong` is the step that shows what is wrong; it has to be in the twin.
pub fn twin(seen: &Execution, schema: &Schema, uses: &[Use], wrong: Option<usize>) -> Result<Twin, Why> {
    let mut draft = TwinDraft {
        seen,
        schema,
        setup: seen.case.setup.statements.clone(),
        steps: seen.case.steps.iter().cloned().enumerate().collect(),
    };
    for (deviation, step) in uses {
        let make = deviation.twin.ok_or(Reason::Undocumented)?;
        make(&mut draft, *step)?;
    }
    let steps: Vec<usize> = draft.steps.iter().map(|(number, _)| *number).collect();
    if wrong.is_some_and(|step| !steps.contains(&step)) {
        return Err(Reason::StatementWouldBeGone);
    }
    let mut without: Vec<&'static KnownDeviation> = uses.iter().map(|(by, _)| *by).collect();
    without.sort_unstable();
    without.dedup();
    let case = Case {
        setup: model::Setup { statements: draft.setup },
        steps: draft.steps.into_iter().map(|(_, step)| step).collect(),
        ..seen.case.case().clone()
    };
    Ok(Twin { request: Request { case, level: seen.trace.level }, without, steps })
}

impl Twin {
    /// What its run shows about what is wrong at this step of the case, and by which symptom.
    pub fn shows(
        &self,
        model: &Mvcc,
        run: &Execution,
        wrong: Option<usize>,
        symptom: Option<Symptom>,
    ) -> Shows {
        let at = |violation: &Violation| violation.step.map(|step| self.steps[step]);
        if run.trace.stalled {
            return Shows::Nothing(Reason::TwinStalls);
        }
        let violation = match model.verdict_without(run, &self.without) {
            Verdict::Holds { .. } => return Shows::Gone,
            Verdict::Undecided { .. } => return Shows::Nothing(Reason::TwinUndecided),
            Verdict::Violated(violation) => violation,
        };
        let same = symptom.is_none_or(|symptom| violation.fingerprint.symptom == symptom);
        if at(&violation) != wrong || !same {
            let mine = wrong.and_then(|step| self.steps.iter().position(|of| *of == step));
            return match place(&run.trace, violation.step) > place(&run.trace, mine) {
                true => Shows::Gone,
                false => Shows::Nothing(Reason::TwinWrongElsewhere),
            };
        }
        // Where it is explained again, what it needs is still there.
        let again = match model.verdict(run) {
            Verdict::Violated(again) => again.fingerprint.deviations().is_some(),
            Verdict::Holds { .. } => true,
            Verdict::Undecided { .. } => return Shows::Nothing(Reason::TwinUndecided),
        };
        match again {
            true => Shows::Nothing(Reason::TwinExplainedAgain),
            false => Shows::Stays(Box::new(violation)),
        }
    }
}

/// When a step answered, in the order of answers; the final state is last.
fn place(trace: &Trace, step: Option<usize>) -> usize {
    step.map_or(usize::MAX, |step| super::place(trace, step))
}

impl TwinDraft<'_> {
    /// The session of a step.
    pub fn session(&self, step: usize) -> usize {
        self.seen.case.steps[step].session
    }

    /// Takes what a session sends from this step on, up to the place of the other step, and puts it behind that.
    pub fn move_behind(&mut self, step: usize, other: usize) -> Result<(), Why> {
        let session = self.session(step);
        let place = |of: usize| self.steps.iter().position(|(number, _)| *number == of);
        let (Some(from), Some(to)) = (place(step), place(other)) else {
            return Err(Reason::StatementWouldBeGone);
        };
        if to < from {
            return Ok(());
        }
        let (moved, stay): (Vec<_>, Vec<_>) =
            self.steps.drain(from..=to).partition(|(_, step)| step.session == session);
        let all = stay.into_iter().chain(moved).collect::<Vec<_>>();
        self.steps.splice(from..from, all);
        Ok(())
    }

    /// Replaces the text of a step.
    pub fn rewrite(&mut self, step: usize, tree: &Statement) {
        let product = self.seen.trace.server.product;
        if let Some((_, of)) = self.steps.iter_mut().find(|(number, _)| *number == step) {
            of.sql = dialect::sql::print(product, tree);
        }
    }
}
