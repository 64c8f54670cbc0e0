//! What follows from the runs that come after both have spoken: the way on which a statement went, and the twin.

use model::Verdict;

use super::decide::with;
use crate::mvcc::{
    self,
    access_path::Path,
    deviations::Status,
    twins::{Shows, Use},
};

/// Is it a concession that explains it, one that has a twin?
pub fn explained(verdict: &Verdict, uses: &[Use]) -> bool {
    match verdict {
        Verdict::Violated(violation) => mvcc::named(&violation.fingerprint).is_some(),
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
pub fn after_plan(verdict: &Verdict, narrowed: Verdict, path: &Path) -> Verdict {
    let way = match path {
        Path::Table => "by the table itself".to_string(),
        Path::Index(name) => format!("by index {name}"),
    };
    match (verdict, narrowed) {
        (Verdict::Violated(first), Verdict::Violated(second))
            if first.step == second.step && mvcc::named(&second.fingerprint).is_none() =>
        {
            let mut violation = first.clone();
            violation.fingerprint.rule.clone_from(&second.fingerprint.rule);
            violation.evidence.push(format!(
                "path: {way}, as the server says; on this way no scan that went on explains it, though {} would on another",
                first.fingerprint.rule
            ));
            Verdict::Violated(violation)
        }
        (_, Verdict::Violated(_) | Verdict::Holds { .. } | Verdict::Undecided { .. }) => {
            noted(verdict, format!("path: {way}, as the server says"))
        }
    }
}

/// With one more line of evidence, where there is any.
pub fn noted(verdict: &Verdict, line: String) -> Verdict {
    match verdict {
        Verdict::Violated(violation) => with(violation, line),
        Verdict::Holds { .. } | Verdict::Undecided { .. } => verdict.clone(),
    }
}

/// What follows from what the twin shows.
pub fn after_twin(verdict: &Verdict, uses: &[Use], shows: &Shows) -> Verdict {
    let mut names: Vec<&str> = uses.iter().map(|(by, _)| by.name).collect();
    names.dedup();
    let names = names.join(", ");
    match (verdict, shows) {
        (Verdict::Violated(first), Shows::Gone) => with(
            first,
            format!("twin: gone; the same case without what {names} needs shows nothing wrong there"),
        ),
        (Verdict::Violated(first), Shows::Nothing(why)) => with(first, format!("twin: none ({why})")),
        (Verdict::Violated(first), Shows::Stays(second)) => {
            let mut violation = first.clone();
            violation.fingerprint.rule.clone_from(&second.fingerprint.rule);
            violation.evidence.push(format!(
                "twin: stays; {names} would explain it, but the same case without what that needs shows it too: {}",
                second.story
            ));
            Verdict::Violated(violation)
        }
        (Verdict::Holds { .. }, Shows::Stays(second)) => {
            let mut violation = (**second).clone();
            violation.step = wrong(verdict, uses);
            violation.story = format!(
                "{names} would explain this case, but not its twin, in which that is not needed. {}",
                second.story
            );
            violation
                .evidence
                .push(format!("twin: stays; the numbers of steps are those of the twin of {names}"));
            Verdict::Violated(violation)
        }
        (Verdict::Holds { .. }, Shows::Gone | Shows::Nothing(_)) | (Verdict::Undecided { .. }, _) => {
            verdict.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::decide::tests::{holds, wrong},
        *,
    };

    /// The rule, and how the last line of evidence begins.
    fn told(verdict: Verdict) -> String {
        match verdict {
            Verdict::Violated(violation) => {
                let line = violation.evidence.last().unwrap();
                format!("{}, {}", violation.fingerprint.rule, line.split([';', '.']).next().unwrap())
            }
            Verdict::Holds { .. } => "holds".into(),
            Verdict::Undecided { reason } => reason.to_string(),
        }
    }

    #[test]
    fn a_twin_that_shows_it_too_makes_it_new() {
        let uses = [(mvcc::deviations::find("noop-without-version").unwrap(), 1)];
        let known = wrong("rows", "noop-without-version", Some(2));
        let Verdict::Violated(stays) = wrong("rows", "a rule", Some(1)) else { panic!() };
        let after = |verdict: &Verdict, shows: Shows| told(after_twin(verdict, &uses, &shows));
        assert_eq!(after(&known, Shows::Gone), "noop-without-version, twin: gone");
        assert_eq!(
            after(&known, Shows::Nothing(model::Reason::NoUpdate)),
            "noop-without-version, twin: none (no-update)"
        );
        assert_eq!(after(&known, Shows::Stays(Box::new(stays.clone()))), "a rule, twin: stays");
        let fine = holds(&["semi-consistent-skip"]);
        assert_eq!(after(&fine, Shows::Gone), "holds");
        assert_eq!(after(&fine, Shows::Stays(Box::new(stays))), "a rule, twin: stays");
    }

    #[test]
    fn what_no_scan_explains_on_the_way_that_was_gone_is_new() {
        let known = wrong("count", "moved-across-scan", Some(2));
        let after = |narrowed: Verdict, path: Path| told(after_plan(&known, narrowed, &path));
        let by_index = "moved-across-scan, path: by index i, as the server says";
        assert_eq!(after(known.clone(), Path::Index("i".into())), by_index);
        let new = wrong("count", "a rule", Some(2));
        assert_eq!(after(new, Path::Table), "a rule, path: by the table itself, as the server says");
        // Something else that is wrong says nothing about this.
        let other = wrong("rows", "a rule", Some(4));
        assert_eq!(after(other, Path::Index("i".into())), by_index);
    }
}
