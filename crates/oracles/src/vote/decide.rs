//! What follows from what both say.

use model::{Fingerprint, Reason, Trace, Verdict, Violation};

use super::afterwards::noted;
use crate::mvcc;

/// What the decoupled run does not judge: who must wait, and who may be refused because of others.
const WAITS: &[&str] = &["missing-wait", "needless-wait", "needless-error"];

/// What follows from what both say; none if the decoupled run was not asked.
pub fn decide(model: &Verdict, decoupled: Option<&Verdict>, trace: &Trace) -> Verdict {
    let Some(decoupled) = decoupled else { return alone(model, "the decoupled run was not asked") };
    match (model, decoupled) {
        (Verdict::Holds { .. }, Verdict::Holds { .. } | Verdict::Undecided { .. }) => model.clone(),
        (Verdict::Holds { by }, Verdict::Violated(_)) if !by.is_empty() => model.clone(),
        (Verdict::Holds { .. }, Verdict::Violated(second)) => {
            disagree(second, "decoupled-objects", "the model finds nothing wrong".to_string())
        }
        (Verdict::Undecided { .. }, Verdict::Holds { .. }) => decoupled.clone(),
        (Verdict::Undecided { .. }, Verdict::Undecided { .. }) => model.clone(),
        // Scans that go on from where they waited are known, and only the model tells them from others.
        (Verdict::Undecided { .. }, Verdict::Violated(second))
            if second.fingerprint.rule.ends_with("-after-wait") =>
        {
            Verdict::Undecided { reason: Reason::UnsortedAfterWait }
        }
        (Verdict::Undecided { reason }, Verdict::Violated(_)) => {
            alone(decoupled, &format!("the model cannot tell ({reason}), so no concession was tried"))
        }
        (Verdict::Violated(_), Verdict::Undecided { reason }) => {
            alone(model, &format!("the decoupled run cannot tell ({reason})"))
        }
        (Verdict::Violated(_), Verdict::Holds { by }) if !by.is_empty() => {
            alone(model, "the decoupled run accepts it without being certain")
        }
        (Verdict::Violated(first), Verdict::Holds { .. }) => {
            apart(first, "the decoupled run finds nothing wrong".to_string())
        }
        (Verdict::Violated(first), Verdict::Violated(second)) => {
            let (one, other) = (place(first, trace), place(second, trace));
            if one == other {
                return agreed(first, second);
            }
            if one > other {
                return with(
                    first,
                    format!("judged by the model alone: the decoupled run ends earlier: {}", second.story),
                );
            }
            apart(first, format!("the decoupled run finds nothing wrong there, but later: {}", second.story))
        }
    }
}

/// Both object to the same statement. Where only the decoupled run knows what explains it, that gives the name.
fn agreed(first: &Violation, second: &Violation) -> Verdict {
    let mut violation = first.clone();
    let named = |violation: &Violation| mvcc::named(&violation.fingerprint).is_some();
    if !named(first) && named(second) {
        violation.evidence.push(format!("by the decoupled run {} explains it", second.fingerprint.rule));
        violation.fingerprint.rule.clone_from(&second.fingerprint.rule);
    }
    violation.evidence.push(format!("the decoupled run agrees: {}", second.story));
    Verdict::Violated(violation)
}

/// The model objects where the decoupled run does not: a disagreement, if that is something it judges.
fn apart(first: &Violation, second: String) -> Verdict {
    if WAITS.contains(&first.fingerprint.kind.as_str()) {
        return with(first, "judged by the model alone: the decoupled run does not judge waits".to_string());
    }
    disagree(first, "model-objects", second)
}

fn alone(verdict: &Verdict, why: &str) -> Verdict {
    noted(verdict, format!("judged by one oracle alone: {why}"))
}

pub fn with(violation: &Violation, line: String) -> Verdict {
    let mut violation = violation.clone();
    violation.evidence.push(line);
    Verdict::Violated(violation)
}

fn disagree(objection: &Violation, rule: &str, other: String) -> Verdict {
    let mut violation = objection.clone();
    let print = &objection.fingerprint;
    let told = format!("it objects by {} ({})", print.rule, print.kind);
    violation.evidence.insert(0, told);
    violation.evidence.push(other);
    violation.story = format!("The model and the decoupled run disagree. {}", objection.story);
    violation.fingerprint = Fingerprint { kind: "logic".into(), rule: rule.into(), ..print.clone() };
    Verdict::Violated(violation)
}

/// When what shows a violation came, in the order of answers; the final state is last.
fn place(violation: &Violation, trace: &Trace) -> usize {
    violation.step.map_or(usize::MAX, |step| mvcc::place(trace, step))
}

#[cfg(test)]
pub(super) mod tests {
    use model::{Cause, Level, Product, Round, ServerInfo, Version};

    use super::*;

    fn trace(order: &[usize]) -> Trace {
        let round =
            |step: &usize| Round { cause: Cause::Sent(*step), answered: vec![*step], waiting: Vec::new() };
        let server = ServerInfo::bare(Product::Mysql, Version(vec![9, 7]));
        Trace { rounds: order.iter().map(round).collect(), ..Trace::empty(server, Level::RepeatableRead) }
    }

    pub fn wrong(kind: &str, rule: &str, step: Option<usize>) -> Verdict {
        let fingerprint = Fingerprint {
            kind: kind.into(),
            rule: rule.into(),
            statement: "select".into(),
            level: Some(Level::RepeatableRead),
        };
        Verdict::Violated(Violation { fingerprint, step, story: "It is wrong.".into(), evidence: Vec::new() })
    }

    pub fn holds(by: &[&str]) -> Verdict {
        Verdict::Holds { by: by.iter().map(|by| by.to_string()).collect() }
    }

    pub fn unsure(reason: Reason) -> Verdict {
        Verdict::Undecided { reason }
    }

    /// In short: `holds`, `undecided REASON`, or the kind and the last line of evidence.
    fn said(model: &Verdict, decoupled: Option<&Verdict>) -> String {
        match decide(model, decoupled, &trace(&[0, 3, 1, 2])) {
            Verdict::Holds { .. } => "holds".into(),
            Verdict::Undecided { reason } => format!("undecided {reason}"),
            Verdict::Violated(violation) => {
                let line = violation.evidence.last().cloned().unwrap_or_default();
                format!("{}: {line}", violation.fingerprint.kind)
            }
        }
    }

    #[test]
    fn both_at_the_same_step_agree() {
        let (model, decoupled) =
            (wrong("rows", "r", Some(2)), wrong("incorrect-query-result", "rows", Some(2)));
        assert!(said(&model, Some(&decoupled)).starts_with("rows: the decoupled run agrees"));
        let (model, decoupled) = (wrong("rows", "r", None), wrong("incorrect-final-state", "final", None));
        assert!(said(&model, Some(&decoupled)).starts_with("rows: the decoupled run agrees"));
    }

    #[test]
    fn a_name_that_only_the_decoupled_run_has_is_taken() {
        let rule = |model: &str, decoupled: &str| {
            let (model, second) = (wrong("rows", model, Some(2)), wrong("x", decoupled, Some(2)));
            match decide(&model, Some(&second), &trace(&[2])) {
                Verdict::Violated(violation) => violation.fingerprint.rule,
                Verdict::Holds { .. } | Verdict::Undecided { .. } => String::new(),
            }
        };
        assert_eq!(rule("r", "key-change-keeps-old-row"), "key-change-keeps-old-row");
        assert_eq!(rule("changed-during-wait", "key-change-keeps-old-row"), "changed-during-wait");
        assert_eq!(rule("r", "rows"), "r");
    }

    #[test]
    fn who_objects_to_what_the_other_has_seen_is_alone() {
        let model = wrong("rows", "r", Some(3));
        assert!(said(&model, Some(&holds(&[]))).starts_with("logic:"));
        // Step 3 answered before step 1.
        assert!(said(&model, Some(&wrong("x", "rows", Some(1)))).starts_with("logic:"));
        assert!(
            said(&model, Some(&wrong("x", "rows", Some(0)))).starts_with("rows: judged by the model alone")
        );
        let second = wrong("incorrect-query-result", "rows", Some(1));
        assert!(said(&holds(&[]), Some(&second)).starts_with("logic:"));
        assert_eq!(said(&holds(&["semi-consistent-skip"]), Some(&second)), "holds");
    }

    #[test]
    fn waits_are_the_models_business() {
        let model = wrong("missing-wait", "r", Some(1));
        assert!(said(&model, Some(&holds(&[]))).starts_with("missing-wait: judged by the model alone"));
    }

    #[test]
    fn who_cannot_tell_leaves_it_to_the_other() {
        let second = wrong("incorrect-query-result", "rows", Some(1));
        assert!(said(&unsure(Reason::Unparsed), Some(&second)).contains("the model cannot tell (unparsed)"));
        let waited = wrong("incorrect-query-result", "rows-after-wait", Some(1));
        assert_eq!(said(&unsure(Reason::Unparsed), Some(&waited)), "undecided unsorted-after-wait");
        assert_eq!(said(&unsure(Reason::Unparsed), Some(&holds(&[]))), "holds");
        assert_eq!(
            said(&unsure(Reason::Unparsed), Some(&unsure(Reason::FickleFunction))),
            "undecided unparsed"
        );
        let first = wrong("rows", "r", Some(1));
        assert!(said(&first, Some(&unsure(Reason::Hung))).starts_with("rows: judged by one oracle alone"));
        assert!(said(&first, Some(&holds(&["uncertain"]))).starts_with("rows: judged by one oracle alone"));
        assert!(said(&first, None).starts_with("rows: judged by one oracle alone"));
    }
}
