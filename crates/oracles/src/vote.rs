//! The model and the decoupled run together: two evaluators of one contract, which share nothing else.
//!
//! The model judges every case. The decoupled run costs more than the case itself, so it is asked when the model finds something
//! wrong (of what is known already: the first twenty cases, then one in fifty), when the model cannot tell, and for one in
//! fifty of the rest. Which ones follows from the case alone, so that the same case is asked about again when it is run again.
//!
//! | the model | the decoupled run | the vote |
//! |---|---|---|
//! | wrong at a step | wrong at the same step | wrong, and both say so |
//! | wrong | fine up to there, though it could have seen it | they disagree: `logic` |
//! | fine, by no concession | wrong | they disagree: `logic` |
//! | fine by a concession | wrong | fine: the decoupled run knows no concessions |
//! | one of them cannot tell | | what the other one says, and that it stands alone |
//!
//! What a concession explains is then run once more as its twin (`mvcc/twins`); if the twin shows the same, it is new.
//!
//! A disagreement is about ONE statement on ONE view: a bug of single statements, or a mistake of ours. It is never called an
//! isolation bug.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use dialect::contract::Status;
use model::{Case, Fingerprint, Shown, Trace, Verdict, Violation};

use crate::{
    Answer, Ask, Conversation, Oracle,
    decoupled::Decoupled,
    mvcc::{
        self, Mvcc,
        twins::{Shows, Twin, Use},
    },
};

/// The name of the oracle.
pub const NAME: &str = "vote";

/// So many cases of what is known are asked about before only a share of them is.
const FIRST: usize = 20;

/// One in so many of the others.
const SHARE: u64 = 50;

/// What the decoupled run does not judge: who must wait, and who may be refused because of others.
const WAITS: &[&str] = &["missing-wait", "needless-wait", "needless-error"];

/// The oracle.
#[derive(Debug, Default)]
pub struct Vote {
    model: Arc<Mvcc>,
    decoupled: Decoupled,
    /// Is it asked about all that is wrong, known or not?
    thorough: bool,
    /// The cases of what is known that were asked about, by fingerprint.
    asked: Arc<Mutex<BTreeMap<Fingerprint, BTreeSet<u64>>>>,
}

impl Vote {
    /// One that asks the decoupled run about all that is wrong. What it says of a case does not depend on the cases before it.
    pub fn thorough() -> Vote {
        Vote { thorough: true, ..Vote::default() }
    }

    /// Is the decoupled run to be asked?
    fn asks(&self, said: &Verdict, case: u64) -> bool {
        let sampled = case.is_multiple_of(SHARE);
        match said {
            Verdict::Undecided { .. } => true,
            Verdict::Holds { .. } => sampled,
            Verdict::Violated(_) if self.thorough => true,
            Verdict::Violated(violation) if mvcc::named(&violation.fingerprint).is_none() => true,
            Verdict::Violated(violation) => {
                let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
                let cases = asked.entry(violation.fingerprint.clone()).or_default();
                if cases.len() < FIRST {
                    cases.insert(case);
                }
                sampled || cases.contains(&case)
            }
        }
    }
}

impl Oracle for Vote {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open<'a>(&self, seen: &'a Answer) -> Box<dyn Conversation + 'a> {
        let (said, uses) = self.model.account(seen, &[]);
        // Of waits the decoupled run says nothing: the model asks for runs of its own.
        if mvcc::suspects(&said) {
            return self.model.open(seen);
        }
        let asked = self.asks(&said, number(&seen.case));
        let second = asked.then(|| self.decoupled.open(seen));
        Box::new(Session { seen, said, uses, second, asked, model: Arc::clone(&self.model), twin: None })
    }
}

/// A vote at work.
struct Session<'a> {
    seen: &'a Answer,
    said: Verdict,
    /// Where the model needs which concession.
    uses: Vec<Use>,
    second: Option<Box<dyn Conversation + 'a>>,
    /// Is more to be asked about this case than the model?
    asked: bool,
    model: Arc<Mvcc>,
    /// What both say, and the twin that is being run.
    twin: Option<(Verdict, Twin)>,
}

impl Session<'_> {
    fn go_on(&mut self, ask: Ask) -> Ask {
        match ask {
            Ask::Done(second) => self.decided(decide(&self.said, Some(&second), &self.seen.trace)),
            Ask::Run(_) | Ask::Play(_) => ask,
        }
    }

    /// Both have spoken. What a concession explains is run again without what that needs.
    fn decided(&mut self, verdict: Verdict) -> Ask {
        if !self.asked || !explained(&verdict, &self.uses) {
            return Ask::Done(verdict);
        }
        match self.model.twin(self.seen, &self.uses, wrong(&verdict, &self.uses)) {
            Ok(twin) => {
                let request = twin.request.clone();
                self.twin = Some((verdict, twin));
                Ask::Run(vec![request])
            }
            Err(why) => Ask::Done(after_twin(&verdict, &self.uses, &Shows::Nothing(why))),
        }
    }
}

impl Conversation for Session<'_> {
    fn next(&mut self, answers: &[Answer]) -> Ask {
        if let Some((verdict, twin)) = self.twin.take() {
            let kind = match &verdict {
                Verdict::Violated(violation) => Some(violation.fingerprint.kind.as_str()),
                Verdict::Holds { .. } | Verdict::Undecided { .. } => None,
            };
            let shows = match answers.first() {
                Some(run) => twin.shows(&self.model, run, wrong(&verdict, &self.uses), kind),
                None => Shows::Nothing("twin-not-run"),
            };
            return Ask::Done(after_twin(&verdict, &self.uses, &shows));
        }
        match &mut self.second {
            Some(second) => {
                let ask = second.next(answers);
                self.go_on(ask)
            }
            None => Ask::Done(decide(&self.said, None, &self.seen.trace)),
        }
    }

    fn shown(&mut self, shown: Shown) -> Ask {
        match &mut self.second {
            Some(second) => {
                let ask = second.shown(shown);
                self.go_on(ask)
            }
            None => Ask::Done(decide(&self.said, None, &self.seen.trace)),
        }
    }
}

/// Is it a concession that explains it, one that has a twin?
fn explained(verdict: &Verdict, uses: &[Use]) -> bool {
    match verdict {
        Verdict::Violated(violation) => mvcc::named(&violation.fingerprint).is_some(),
        Verdict::Holds { .. } => {
            !uses.is_empty() && uses.iter().all(|(by, _)| by.status() == Status::Documented)
        }
        Verdict::Undecided { .. } => false,
    }
}

/// The step that needs the explanation.
fn wrong(verdict: &Verdict, uses: &[Use]) -> Option<usize> {
    match verdict {
        Verdict::Violated(violation) => violation.step,
        Verdict::Holds { .. } | Verdict::Undecided { .. } => uses.first().map(|(_, step)| *step),
    }
}

/// What follows from what the twin shows.
fn after_twin(verdict: &Verdict, uses: &[Use], shows: &Shows) -> Verdict {
    let mut names: Vec<&str> = uses.iter().map(|(by, _)| by.name()).collect();
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
            Verdict::Undecided { reason: "unsorted-after-wait".to_string() }
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
    match verdict {
        Verdict::Violated(violation) => with(violation, format!("judged by one oracle alone: {why}")),
        Verdict::Holds { .. } | Verdict::Undecided { .. } => verdict.clone(),
    }
}

fn with(violation: &Violation, line: String) -> Verdict {
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
    let answered = || trace.rounds.iter().flat_map(|round| &round.answered);
    let at = |step: usize| answered().position(|answered| *answered == step);
    violation.step.and_then(at).unwrap_or(usize::MAX)
}

/// A number that follows from the case alone (FNV-1a).
fn number(case: &Case) -> u64 {
    let texts = case.setup.statements.iter().chain(case.steps.iter().map(|step| &step.sql));
    let bytes = texts.flat_map(|text| text.as_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    // Its low bits are the weaker ones.
    hash >> 20
}

#[cfg(test)]
mod tests {
    use model::{Cause, Level, Product, Round, ServerInfo, Version};

    use super::*;

    fn trace(order: &[usize]) -> Trace {
        let round =
            |step: &usize| Round { cause: Cause::Sent(*step), answered: vec![*step], waiting: Vec::new() };
        Trace {
            server: ServerInfo {
                product: Product::Mysql,
                version: Version(vec![9, 7]),
                version_text: String::new(),
                settings: Default::default(),
                flags: Vec::new(),
            },
            level: Level::RepeatableRead,
            rounds: order.iter().map(round).collect(),
            outcomes: Vec::new(),
            stalled: false,
            false_decisions: 0,
            final_state: None,
        }
    }

    fn wrong(kind: &str, rule: &str, step: Option<usize>) -> Verdict {
        let fingerprint = Fingerprint {
            kind: kind.into(),
            rule: rule.into(),
            statement: "select".into(),
            level: Some(Level::RepeatableRead),
        };
        Verdict::Violated(Violation { fingerprint, step, story: "It is wrong.".into(), evidence: Vec::new() })
    }

    fn holds(by: &[&str]) -> Verdict {
        Verdict::Holds { by: by.iter().map(|by| by.to_string()).collect() }
    }

    fn unsure(reason: &str) -> Verdict {
        Verdict::Undecided { reason: reason.into() }
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
        assert!(said(&unsure("unread"), Some(&second)).contains("the model cannot tell (unread)"));
        let waited = wrong("incorrect-query-result", "rows-after-wait", Some(1));
        assert_eq!(said(&unsure("unread"), Some(&waited)), "undecided unsorted-after-wait");
        assert_eq!(said(&unsure("unread"), Some(&holds(&[]))), "holds");
        assert_eq!(said(&unsure("unread"), Some(&unsure("fickle-function"))), "undecided unread");
        let first = wrong("rows", "r", Some(1));
        assert!(said(&first, Some(&unsure("x"))).starts_with("rows: judged by one oracle alone"));
        assert!(said(&first, Some(&holds(&["uncertain"]))).starts_with("rows: judged by one oracle alone"));
        assert!(said(&first, None).starts_with("rows: judged by one oracle alone"));
    }

    #[test]
    fn a_twin_that_shows_it_too_makes_it_new() {
        let uses = [(dialect::contract::Concession::NoopWithoutVersion, 1)];
        let known = wrong("rows", "noop-without-version", Some(2));
        let Verdict::Violated(stays) = wrong("rows", "a rule", Some(1)) else { panic!() };
        let after = |verdict: &Verdict, shows: Shows| match after_twin(verdict, &uses, &shows) {
            Verdict::Violated(violation) => {
                let line = violation.evidence.last().unwrap();
                format!("{}, {}", violation.fingerprint.rule, line.split([';', '.']).next().unwrap())
            }
            Verdict::Holds { .. } => "holds".into(),
            Verdict::Undecided { reason } => reason,
        };
        assert_eq!(after(&known, Shows::Gone), "noop-without-version, twin: gone");
        assert_eq!(
            after(&known, Shows::Nothing("no-update")),
            "noop-without-version, twin: none (no-update)"
        );
        assert_eq!(after(&known, Shows::Stays(Box::new(stays.clone()))), "a rule, twin: stays");
        let fine = holds(&["semi-consistent-skip"]);
        assert_eq!(after(&fine, Shows::Gone), "holds");
        assert_eq!(after(&fine, Shows::Stays(Box::new(stays))), "a rule, twin: stays");
    }

    #[test]
    fn of_what_is_known_only_the_first_are_asked_about_and_then_a_share() {
        let vote = Vote::default();
        let (known, new) = (wrong("rows", "noop-without-version", Some(1)), wrong("rows", "r", Some(1)));
        let asked = |said: &Verdict| (1..=500).filter(|case| vote.asks(said, *case)).count();
        assert_eq!(asked(&known), 20 + 500 / 50, "{known:?}");
        assert_eq!(asked(&known), 20 + 500 / 50, "the same cases are asked about again");
        assert_eq!(asked(&new), 500);
        assert_eq!((1..=500).filter(|case| Vote::thorough().asks(&known, *case)).count(), 500);
        assert_eq!(asked(&holds(&[])), 10);
        assert_eq!(asked(&unsure("unread")), 500);
    }
}
