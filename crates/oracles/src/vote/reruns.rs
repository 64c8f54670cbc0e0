//! What follows from the runs that come after both have spoken: the way on which a statement went, and the twin.

use model::{
    Reason, Verdict,
    verdict::evidence::{self, AccessPath},
};

use crate::mvcc::{
    self,
    deviations::Status,
    explain_probe::Path,
    twins::{Shows, Use},
};

/// Is it a known deviation that explains it, one that has a twin?
pub fn explained(verdict: &Verdict, uses: &[Use]) -> bool {
    match verdict {
        Verdict::Violated(violation) => violation.fingerprint.deviations().is_some(),
        Verdict::Holds { .. } => {
            !uses.is_empty() && uses.iter().all(|(by, _)| by.status == Status::Documented)
        }
        Verdict::Undecided { .. } => false,
    }
}

/// The step that needs the explanation.
pub fn wrong(verdict: &Verdict, uses: &[Use]) -> Option<usize> {
    match verdict {
        Verdict::Violated(violation) => violation.step,
        Verdict::Holds { .. } | Verdict::Undecided { .. } => uses.first().map(|(_, step)| *step),
    }
}

/// What follows from what explains it on the way that the server has named.
pub fn after_plan(mut verdict: Verdict, narrowed: Verdict, path: &Path) -> Verdict {
    let way = match path {
        Path::Table => AccessPath::Table,
        Path::Index(name) => AccessPath::Index(name.clone()),
    };
    if let Verdict::Violated(first) = &mut verdict {
        first.evidence.access_path = Some(match narrowed {
            // On this way no scan that went on explains it.
            Verdict::Violated(second)
                if first.step == second.step && second.fingerprint.deviations().is_none() =>
            {
                let elsewhere = first.fingerprint.deviations().cloned().unwrap_or_default();
                let evidence = std::mem::take(&mut first.evidence);
                *first = second;
                first.evidence.second_opinion = evidence.second_opinion;
                AccessPath::Unexplained { path: Box::new(way), elsewhere }
            }
            Verdict::Violated(_) | Verdict::Holds { .. } | Verdict::Undecided { .. } => way,
        });
    }
    verdict
}

/// A scan that went on explains it, and by which way it went is not known.
pub fn not_proved(mut verdict: Verdict, uses: &[Use], why: Reason) -> Verdict {
    if let Verdict::Violated(violation) = &mut verdict
        && uses.iter().any(|(by, _)| by.resumed_scan.is_some())
    {
        violation.evidence.access_path = Some(AccessPath::Unknown(why));
    }
    verdict
}

/// What follows from what the twin shows.
pub fn after_twin(mut verdict: Verdict, uses: &[Use], shows: Shows) -> Verdict {
    let without = mvcc::ids(uses.iter().map(|(by, _)| by));
    let step = wrong(&verdict, uses);
    match &mut verdict {
        Verdict::Violated(first) => {
            first.evidence.twin = Some(match shows {
                Shows::Gone => evidence::Twin::Gone { without },
                Shows::Nothing(why) => evidence::Twin::None(why),
                Shows::Stays(shows) => {
                    first.fingerprint.cause.clone_from(&shows.fingerprint.cause);
                    evidence::Twin::Stays { without, shows, alone: false }
                }
            });
            verdict
        }
        Verdict::Holds { .. } => match shows {
            Shows::Stays(shows) => {
                let mut violation = (*shows).clone();
                violation.step = step;
                violation.evidence.twin = Some(evidence::Twin::Stays { without, shows, alone: true });
                Verdict::Violated(violation)
            }
            Shows::Gone | Shows::Nothing(_) => verdict,
        },
        Verdict::Undecided { .. } => verdict,
    }
}

#[cfg(test)]
mod tests {
    use model::{Symptom, Violation, verdict::Cause};

    use super::{
        super::decide::tests::{RULE, explained, holds, wrong},
        *,
    };

    const ROWS: Symptom = Symptom::WrongRows;

    /// The cause and the twin.
    fn twin(verdict: Verdict) -> (String, String) {
        match verdict {
            Verdict::Violated(Violation { fingerprint, evidence, .. }) => {
                (fingerprint.cause.to_string(), evidence.twin.unwrap().name())
            }
            Verdict::Holds { .. } => ("holds".into(), String::new()),
            Verdict::Undecided { reason } => (reason.to_string(), String::new()),
        }
    }

    #[test]
    fn a_twin_that_shows_it_too_makes_it_new() {
        let uses = [(mvcc::deviations::find("noop-without-version").unwrap(), 1)];
        let noop = "noop-without-version";
        let known = wrong(ROWS, explained(noop), Some(2));
        let Verdict::Violated(stays) = wrong(ROWS, RULE, Some(1)) else { panic!() };
        let after = |verdict: &Verdict, shows: Shows| {
            let (cause, twin) = twin(after_twin(verdict.clone(), &uses, shows));
            format!("{cause} {twin}")
        };
        assert_eq!(after(&known, Shows::Gone), format!("{noop} gone"));
        assert_eq!(after(&known, Shows::Nothing(Reason::NoUpdate)), format!("{noop} none (no-update)"));
        assert_eq!(after(&known, Shows::Stays(Box::new(stays.clone()))), "one-snapshot stays");
        let fine = holds(&["semi-consistent-skip"]);
        assert_eq!(after(&fine, Shows::Gone), "holds ");
        assert_eq!(after(&fine, Shows::Stays(Box::new(stays))), "one-snapshot stays");
    }

    #[test]
    fn what_no_scan_explains_on_the_way_that_was_gone_is_new() {
        let moved = explained("moved-across-scan");
        let known = wrong(Symptom::WrongCount, moved.clone(), Some(2));
        let after = |narrowed: Verdict, path: Path| -> (Cause, AccessPath) {
            let Verdict::Violated(after) = after_plan(known.clone(), narrowed, &path) else { panic!() };
            (after.fingerprint.cause, after.evidence.access_path.unwrap())
        };
        let by_index = (moved.clone(), AccessPath::Index("i".into()));
        assert_eq!(after(known.clone(), Path::Index("i".into())), by_index);
        let unexplained = AccessPath::Unexplained {
            path: Box::new(AccessPath::Table),
            elsewhere: moved.deviations().unwrap().clone(),
        };
        let new = wrong(Symptom::WrongCount, RULE, Some(2));
        assert_eq!(after(new, Path::Table), (RULE, unexplained));
        // Something else that is wrong says nothing about this.
        let other = wrong(ROWS, RULE, Some(4));
        assert_eq!(after(other, Path::Index("i".into())), by_index);
    }
}
