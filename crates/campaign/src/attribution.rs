//! Findings that only the decoupled run can judge, and findings of two bugs at once: whether they are something simpler that has a
//! name.
//!
//! While a case is reduced its fingerprint stays the same. So a case that the model could not read stays one that it cannot
//! read, and looks new, although without the join or the refused statement beside it it would be known. Such a case is reduced
//! once more, by steps that are accepted if the old fingerprint comes back **or** a bug that has a name shows in the same kind of
//! statement at the same level. That alone would only show that the known bug lives next door. So the name is taken only if, in the case before these
//! steps, too, what the known deviation needs is the cause: its twin (`oracles/src/mvcc/twins`), judged by the oracle that found it, must
//! hold. Otherwise the finding keeps its case and stays new, and it is said what it turned into.
//!
//! ```text
//! T2: INSERT INTO u VALUES (1, 0)                         T2: INSERT INTO u VALUES (1, 0)
//! T2: UPDATE u SET t.a = ''      the model cannot tell
//! T1: UPDATE u SET b = 0                            --->  T1: UPDATE u SET b = 0        the model: MDEV-26642
//! T1: SELECT * FROM u            wrong                    T1: SELECT * FROM u           wrong
//! ```
//!
//! A finding that needs two known deviations is reduced in the same way until it needs one of them, and no twin is asked for: each
//! of them was needed before. One that is in no tracker is not given up for one that is.

use dialect::Execution;
use execute::Reset;
use model::{
    Case, Fingerprint, Verdict, Violation,
    verdict::evidence::{Before, Turned},
};
use oracles::{
    Oracle,
    mvcc::{
        self,
        deviations::{KnownDeviation, Status},
    },
};
use reduce::Scope;

use crate::{
    clean_server::CleanRuns,
    confirm::{Reproduction, Suspicion, reset, series},
    reducing::How,
};

/// What a finding is put down to.
pub enum Attribution {
    /// A bug that has a name; the case is smaller.
    Known(Box<Reproduction>),
    /// It would be this, but the twin does not say so.
    Resembles(String),
    None,
}

/// Tries to put a finding, whose case cannot be reduced, down to something simpler. Says how many candidates that took.
pub fn attribute(
    runs: &mut dyn CleanRuns,
    suspicion: &Suspicion<'_>,
    best: &Reproduction,
    candidates: u64,
    how: &mut How<'_>,
) -> (Attribution, u64) {
    let old = &suspicion.violation.fingerprint;
    let quick = suspicion.judge.oracle.quick_equivalent().filter(|_| suspicion.judge.overrides.is_empty());
    let Some(quick) = quick.filter(|_| candidates > 0 && !(how.over)()) else {
        return (Attribution::None, 0);
    };
    if !may_turn(runs, suspicion, best, quick.as_ref()) {
        return (Attribution::None, 0);
    }
    let product = best.execution.trace.server.product;
    let level = suspicion.seen.trace.level;
    let mut last: Option<Violation> = None;
    // What the finding was, and what follows from it.
    let either = |case: &Case| {
        let old = last.as_ref().map_or(old, |last| &last.fingerprint);
        let Some(execution) = runs.rerun(case, level, reset(best.condition)) else { return false };
        match suspicion.judge.verdict(&execution, runs) {
            Verdict::Violated(violation)
                if violation.fingerprint == *old || follows(old, &violation.fingerprint) =>
            {
                last = Some(violation);
                true
            }
            Verdict::Violated(_) | Verdict::Holds { .. } | Verdict::Undecided { .. } => false,
        }
    };
    let found = how.search(&best.execution.case, product, Scope::Whole, candidates, either);
    let last = last.filter(|violation| violation.fingerprint != *old);
    let Some(violation) = last else { return (Attribution::None, found.tried) };
    let again = Suspicion { violation: &violation, leftovers: None, ..*suspicion };
    let Some(mut turned) = series(runs, &again, &found.case, best.condition, best.runs[1]) else {
        return (Attribution::None, found.tried);
    };
    let by = mvcc::named(&violation.fingerprint).unwrap_or_default();
    let cause = &violation.fingerprint.cause;
    if old.deviations().is_none() && !is_cause(runs, suspicion, best, &turned, &by, quick.as_ref()) {
        let name = cause.deviations().and_then(mvcc::reports).unwrap_or_else(|| cause.to_string());
        return (Attribution::Resembles(name), found.tried);
    }
    let by = match old.deviations() {
        Some(all) if all.len() == by.len() => Turned::SaysTheSame,
        Some(_) => Turned::NeedsFewer,
        None => Turned::GoneInTwin,
    };
    turned.violation.evidence.before = Some(Before { fingerprint: old.clone(), by });
    (Attribution::Known(Box::new(turned)), found.tried)
}

/// Is it worth trying? Of what the quick oracle can judge and one known deviation explains, the name stands.
fn may_turn(
    runs: &mut dyn CleanRuns,
    suspicion: &Suspicion<'_>,
    best: &Reproduction,
    quick: &dyn Oracle,
) -> bool {
    let two = suspicion.violation.fingerprint.deviations().is_some_and(|by| by.len() > 1);
    two || matches!(suspicion.judge.with(quick).verdict(&best.execution, runs), Verdict::Undecided { .. })
}

/// May a finding of the old fingerprint become one of the new?
fn follows(old: &Fingerprint, new: &Fingerprint) -> bool {
    // The final state has a level only for the decoupled run.
    let levels = old.level == new.level || old.level.is_none() || new.level.is_none();
    if old.statement != new.statement || !levels {
        return false;
    }
    let Some(by) = mvcc::named(new) else { return false };
    let reported = |by: &&'static KnownDeviation| by.status == Status::Reported;
    match mvcc::named(old) {
        None => by.len() == 1 && by.iter().all(|by| reported(by) || by.status == Status::Found),
        // What the decoupled run alone has named, the model may name in its own words.
        Some(all) if all == by => old.symptom != new.symptom,
        Some(all) => {
            let fewer = by.len() < all.len() && by.iter().all(|one| all.contains(one));
            fewer && (all.iter().all(reported) || !by.iter().all(reported))
        }
    }
}

/// In the case before: is it gone without what the known deviation needs?
fn is_cause(
    runs: &mut dyn CleanRuns,
    suspicion: &Suspicion<'_>,
    best: &Reproduction,
    turned: &Reproduction,
    by: &[&'static KnownDeviation],
    quick: &dyn Oracle,
) -> bool {
    let &[by] = by else { return false };
    // Whose statement needs it, of those who take part: the one who sees what is wrong, or another.
    let own = |execution: &Execution, violation: &Violation, step: usize| {
        violation.step.map(|wrong| execution.case.steps[wrong].session == execution.case.steps[step].session)
    };
    let uses = quick.explained_by(&turned.execution);
    let Some((_, needs)) = uses.into_iter().find(|(of, _)| *of == by) else { return false };
    let whose = own(&turned.execution, &turned.violation, needs);
    let twins = quick.twins(&best.execution, by, best.violation.step);
    let mut twins = twins.iter().filter(|(step, _)| own(&best.execution, &best.violation, *step) == whose);
    twins.any(|(_, twin)| holds(runs, suspicion, twin))
}

fn holds(runs: &mut dyn CleanRuns, suspicion: &Suspicion<'_>, twin: &Case) -> bool {
    let execution = runs.rerun(twin, suspicion.seen.trace.level, Reset::Clean);
    let execution = execution.filter(|execution| !execution.trace.stalled);
    execution
        .is_some_and(|execution| matches!(suspicion.judge.verdict(&execution, runs), Verdict::Holds { .. }))
}

#[cfg(test)]
mod tests {
    use model::{Level, ShownBy, Symptom, sql::StatementKind, verdict::Cause};

    use super::*;

    fn fingerprint(by: &[&str], statement: StatementKind) -> Fingerprint {
        let cause = match by {
            [] => Cause::Alone { after_wait: false },
            by => Cause::Deviations(by.iter().map(|by| (*by).into()).collect()),
        };
        let (symptom, level) = (Symptom::WrongRows, Some(Level::RepeatableRead));
        Fingerprint { symptom, cause, statement: ShownBy::Statement(Some(statement)), level }
    }

    #[test]
    fn what_may_follow_from_what() {
        let (noop, key, found) =
            ("noop-without-version", "key-change-keeps-old-row", "conflict-by-inner-read");
        let select = StatementKind::Select;
        let follows =
            |old: &[&str], new: &[&str]| follows(&fingerprint(old, select), &fingerprint(new, select));
        assert!(follows(&[], &[noop]) && follows(&[noop, key], &[noop]) && follows(&[noop, key], &[key]));
        assert!(follows(&[], &[found]), "it has a name then, and stays new");
        // Not to something new, to two at once, to another one, or back.
        let documented = "semi-consistent-skip";
        for (old, new) in [
            (&[][..], &[][..]),
            (&[], &[noop, key]),
            (&[], &[documented]),
            (&[noop], &[key]),
            (&[noop], &[noop]),
            (&[key], &[noop, key]),
        ] {
            assert!(!follows(old, new), "{old:?} {new:?}");
        }
        // What is in no tracker stays.
        assert!(follows(&[noop, found], &[found]) && !follows(&[noop, found], &[noop]));
        assert!(!super::follows(&fingerprint(&[], select), &fingerprint(&[noop], StatementKind::Update)));
    }
}
