//! What follows from what both say.

use dialect::Execution;
use model::{
    Fingerprint, Reason, RuleId, Symptom, Trace, Verdict, Violation,
    trace::RoundCause,
    verdict::{Cause, evidence::SecondOpinion},
};

use crate::mvcc;

/// What the decoupled run does not judge: who must wait, who may be refused because of others, and what a lock should have kept out
/// (alone, the statement that shows a phantom is right).
const WAITS: &[Symptom] =
    &[Symptom::MissingWait, Symptom::NeedlessWait, Symptom::NeedlessError, Symptom::Phantom];

/// What follows from what both say; none if the decoupled run was not asked.
pub fn decide(model: &Verdict, decoupled: Option<&Verdict>, trace: &Trace) -> Verdict {
    let Some(decoupled) = decoupled else { return with_opinion(model, SecondOpinion::NotAsked) };
    match (model, decoupled) {
        (Verdict::Holds { .. }, Verdict::Holds { .. } | Verdict::Undecided { .. }) => model.clone(),
        (Verdict::Holds { by }, Verdict::Violated(_)) if !by.is_empty() => model.clone(),
        (Verdict::Holds { .. }, Verdict::Violated(second)) => disagree(second, Cause::DecoupledObjects, None),
        (Verdict::Undecided { .. }, Verdict::Holds { .. }) => decoupled.clone(),
        (Verdict::Undecided { .. }, Verdict::Undecided { .. }) => model.clone(),
        // Scans that go on from where they waited are known, and only the model tells them from others.
        (Verdict::Undecided { .. }, Verdict::Violated(second))
            if second.fingerprint.cause == (Cause::Alone { after_wait: true }) =>
        {
            Verdict::Undecided { reason: Reason::UnsortedAfterWait }
        }
        (Verdict::Undecided { reason }, Verdict::Violated(_)) => {
            with_opinion(decoupled, SecondOpinion::ModelUndecided(*reason))
        }
        (Verdict::Violated(_), Verdict::Undecided { reason }) => {
            with_opinion(model, SecondOpinion::DecoupledUndecided(*reason))
        }
        (Verdict::Violated(_), Verdict::Holds { by }) if !by.is_empty() => {
            with_opinion(model, SecondOpinion::Uncertain)
        }
        (Verdict::Violated(first), Verdict::Holds { .. }) => apart(first, None),
        (Verdict::Violated(first), Verdict::Violated(second)) => {
            let (one, other) = (place(first, trace), place(second, trace));
            if one == other {
                return agreed(first, second);
            }
            if one > other {
                return with_opinion(model, SecondOpinion::EndsEarlier(Box::new(second.clone())));
            }
            // The decoupled run knows few deviations, and goes on with what came: what has a name keeps it. Its twin is still asked.
            if first.fingerprint.deviations().is_some() {
                return with_opinion(model, SecondOpinion::ObjectsLater(Box::new(second.clone())));
            }
            apart(first, Some(second))
        }
    }
}

/// Both object to the same statement. Where only the decoupled run knows what explains it, that gives the name.
fn agreed(first: &Violation, second: &Violation) -> Verdict {
    let mut violation = first.clone();
    let named = |violation: &Violation| violation.fingerprint.deviations().is_some();
    let explains = !named(first) && named(second);
    if explains {
        violation.fingerprint.cause.clone_from(&second.fingerprint.cause);
    }
    violation.evidence.second_opinion =
        Some(SecondOpinion::Agrees { with: Box::new(second.clone()), explains });
    Verdict::Violated(violation)
}

/// The model objects where the decoupled run does not: a disagreement, if that is something it judges.
fn apart(first: &Violation, later: Option<&Violation>) -> Verdict {
    // Nor does it judge what is newer than a snapshot: alone, there is nobody to be refused for.
    let refusal = first.evidence.rule == Some(RuleId::RefusedByView);
    // What a name explains that is nothing wrong alone keeps it.
    let alone = mvcc::deviations::lookup::is_nothing_alone(&first.fingerprint);
    if WAITS.contains(&first.fingerprint.symptom) || refusal || alone {
        let mut violation = first.clone();
        violation.evidence.second_opinion = Some(SecondOpinion::NotJudged);
        return Verdict::Violated(violation);
    }
    disagree(first, Cause::ModelObjects, later)
}

/// What the model objects to without another transaction before it is no matter of isolation, whether the decoupled run could read
/// the case or not.
pub fn by_itself(verdict: Verdict, seen: &Execution) -> Verdict {
    match &verdict {
        Verdict::Violated(violation) if is_by_itself(violation, seen) => {
            disagree(violation, Cause::ModelObjects, None)
        }
        Verdict::Violated(_) | Verdict::Holds { .. } | Verdict::Undecided { .. } => verdict,
    }
}

fn is_by_itself(violation: &Violation, seen: &Execution) -> bool {
    let (Some(wrong), Cause::Rule(_)) = (violation.step, &violation.fingerprint.cause) else { return false };
    let error = seen.trace.outcomes[wrong].error();
    let judged = match violation.fingerprint.symptom {
        Symptom::NeedlessError => error.is_some_and(|error| !error.class.by_concurrency()),
        symptom => !WAITS.contains(&symptom),
    };
    let session = |step: usize| seen.case.steps[step].session;
    let mut sent = Vec::new();
    for round in &seen.trace.rounds {
        if let RoundCause::Sent(step) = round.cause {
            sent.push(step);
        }
        if round.answered.contains(&wrong) {
            return judged && sent.iter().all(|step| session(*step) == session(wrong));
        }
    }
    false
}

/// With what the other one says, where something is wrong.
fn with_opinion(verdict: &Verdict, opinion: SecondOpinion) -> Verdict {
    let mut verdict = verdict.clone();
    if let Verdict::Violated(violation) = &mut verdict {
        violation.evidence.second_opinion = Some(opinion);
    }
    verdict
}

fn disagree(objection: &Violation, cause: Cause, later: Option<&Violation>) -> Verdict {
    let mut violation = objection.clone();
    violation.evidence.second_opinion = Some(SecondOpinion::Disagrees {
        objection: objection.fingerprint.clone(),
        later: later.map(|later| Box::new(later.clone())),
    });
    violation.fingerprint = Fingerprint { symptom: Symptom::Logic, cause, ..objection.fingerprint.clone() };
    Verdict::Violated(violation)
}

/// When what shows a violation came, in the order of answers; the final state is last.
fn place(violation: &Violation, trace: &Trace) -> usize {
    violation.step.map_or(usize::MAX, |step| mvcc::place(trace, step))
}

#[cfg(test)]
pub(super) mod tests {
    use model::{
        Level, Product, Round, RuleId, ServerInfo, ShownBy, Version, sql::StatementKind, trace,
        verdict::Justification,
    };

    use super::*;

    fn trace(order: &[usize]) -> Trace {
        let round = |step: &usize| Round {
            cause: trace::RoundCause::Sent(*step),
            answered: vec![*step],
            waiting: Vec::new(),
        };
        let server = ServerInfo::bare(Product::Mysql, Version(vec![9, 7]));
        Trace { rounds: order.iter().map(round).collect(), ..Trace::empty(server, Level::RepeatableRead) }
    }

    /// Wrong rows, by the rule of plain reads or by what this name explains.
    pub fn wrong(symptom: Symptom, cause: Cause, step: Option<usize>) -> Verdict {
        let fingerprint = Fingerprint {
            symptom,
            cause,
            statement: ShownBy::Statement(Some(StatementKind::Select)),
            level: Some(Level::RepeatableRead),
        };
        Verdict::Violated(Violation { fingerprint, step, evidence: Box::default() })
    }

    pub const RULE: Cause = Cause::Rule(RuleId::OneSnapshot);
    pub const ALONE: Cause = Cause::Alone { after_wait: false };

    pub fn explained(by: &str) -> Cause {
        Cause::Deviations([by.into()].into())
    }

    pub fn holds(by: &[&str]) -> Verdict {
        Verdict::Holds { by: by.iter().map(|by| Justification::Documented((*by).into())).collect() }
    }

    pub fn unsure(reason: Reason) -> Verdict {
        Verdict::Undecided { reason }
    }

    /// In short: `holds`, `undecided REASON`, or the symptom and what the other one says.
    fn said(model: &Verdict, decoupled: Option<&Verdict>) -> String {
        match decide(model, decoupled, &trace(&[0, 3, 1, 2])) {
            Verdict::Holds { .. } => "holds".into(),
            Verdict::Undecided { reason } => format!("undecided {reason}"),
            Verdict::Violated(violation) => {
                let opinion = match violation.evidence.second_opinion {
                    Some(SecondOpinion::Agrees { .. }) => "agrees".to_string(),
                    Some(SecondOpinion::NotAsked) => "not asked".to_string(),
                    Some(SecondOpinion::ModelUndecided(why)) => format!("model undecided {why}"),
                    Some(SecondOpinion::DecoupledUndecided(why)) => format!("decoupled undecided {why}"),
                    Some(SecondOpinion::Uncertain) => "uncertain".to_string(),
                    Some(SecondOpinion::NotJudged) => "not judged".to_string(),
                    Some(SecondOpinion::EndsEarlier(_)) => "ends earlier".to_string(),
                    Some(SecondOpinion::ObjectsLater(_)) => "objects later".to_string(),
                    Some(SecondOpinion::Disagrees { later, .. }) => {
                        format!("disagrees{}", if later.is_some() { " until later" } else { "" })
                    }
                    None => "nothing".to_string(),
                };
                format!("{}: {opinion}", violation.fingerprint.symptom)
            }
        }
    }

    const ROWS: Symptom = Symptom::WrongRows;

    #[test]
    fn both_at_the_same_step_agree() {
        for step in [Some(2), None] {
            let (model, decoupled) = (wrong(ROWS, RULE, step), wrong(Symptom::WrongCount, ALONE, step));
            assert_eq!(said(&model, Some(&decoupled)), "wrong-rows: agrees");
        }
    }

    #[test]
    fn a_name_that_only_the_decoupled_run_has_is_taken() {
        let cause = |model: Cause, decoupled: Cause| {
            let (model, second) = (wrong(ROWS, model, Some(2)), wrong(ROWS, decoupled, Some(2)));
            match decide(&model, Some(&second), &trace(&[2])) {
                Verdict::Violated(violation) => violation.fingerprint.cause,
                Verdict::Holds { .. } | Verdict::Undecided { .. } => Cause::Unknown,
            }
        };
        let (key, changed) = (explained("key-change-keeps-old-row"), explained("changed-during-wait"));
        assert_eq!(cause(RULE, key.clone()), key);
        assert_eq!(cause(changed.clone(), key), changed);
        assert_eq!(cause(RULE, ALONE), RULE);
    }

    #[test]
    fn who_objects_to_what_the_other_has_seen_is_alone() {
        let model = wrong(ROWS, RULE, Some(3));
        assert_eq!(said(&model, Some(&holds(&[]))), "logic: disagrees");
        // Step 3 answered before step 1.
        assert_eq!(said(&model, Some(&wrong(ROWS, ALONE, Some(1)))), "logic: disagrees until later");
        assert_eq!(said(&model, Some(&wrong(ROWS, ALONE, Some(0)))), "wrong-rows: ends earlier");
        let second = wrong(ROWS, ALONE, Some(1));
        assert_eq!(said(&holds(&[]), Some(&second)), "logic: disagrees");
        assert_eq!(said(&holds(&["semi-consistent-skip"]), Some(&second)), "holds");
    }

    #[test]
    fn a_conflict_that_is_not_seen_is_the_models_business() {
        let mut missed = wrong(Symptom::MissingError, RULE, Some(1));
        if let Verdict::Violated(violation) = &mut missed {
            violation.evidence.rule = Some(RuleId::RefusedByView);
        }
        assert_eq!(said(&missed, Some(&holds(&[]))), "missing-error: not judged");
    }

    #[test]
    fn what_has_a_name_and_is_nothing_alone_keeps_it() {
        let named = wrong(Symptom::MissingError, explained("foreign-key-beside-null"), Some(1));
        assert_eq!(said(&named, Some(&holds(&[]))), "missing-error: not judged");
        let named = wrong(ROWS, explained("gone-row-by-index"), Some(1));
        assert_eq!(said(&named, Some(&holds(&[]))), "wrong-rows: not judged");
    }

    #[test]
    fn waits_are_the_models_business() {
        let model = wrong(Symptom::MissingWait, RULE, Some(1));
        assert_eq!(said(&model, Some(&holds(&[]))), "missing-wait: not judged");
        let model = wrong(Symptom::Phantom, RULE, Some(3));
        assert_eq!(said(&model, Some(&holds(&[]))), "phantom: not judged");
        assert_eq!(said(&model, Some(&wrong(ROWS, ALONE, Some(1)))), "phantom: not judged");
    }

    #[test]
    fn what_has_a_name_keeps_it_where_the_other_objects_later() {
        let known = wrong(ROWS, explained("key-change-keeps-old-row"), Some(3));
        assert_eq!(said(&known, Some(&wrong(ROWS, ALONE, Some(1)))), "wrong-rows: objects later");
        assert_eq!(said(&known, Some(&holds(&[]))), "logic: disagrees");
    }

    #[test]
    fn who_cannot_tell_leaves_it_to_the_other() {
        let (second, unread) = (wrong(ROWS, ALONE, Some(1)), unsure(Reason::Unparsed));
        assert_eq!(said(&unread, Some(&second)), "wrong-rows: model undecided unparsed");
        let waited = wrong(ROWS, Cause::Alone { after_wait: true }, Some(1));
        assert_eq!(said(&unread, Some(&waited)), "undecided unsorted-after-wait");
        assert_eq!(said(&unread, Some(&holds(&[]))), "holds");
        assert_eq!(said(&unread, Some(&unsure(Reason::FickleFunction))), "undecided unparsed");
        let first = wrong(ROWS, RULE, Some(1));
        assert_eq!(said(&first, Some(&unsure(Reason::Hung))), "wrong-rows: decoupled undecided hung");
        assert_eq!(said(&first, Some(&holds(&["uncertain"]))), "wrong-rows: uncertain");
        assert_eq!(said(&first, None), "wrong-rows: not asked");
    }
}
