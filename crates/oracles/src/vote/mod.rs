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
//! | fine, by no known deviation | wrong | they disagree: `logic` |
//! | fine by a known deviation | wrong | fine: the decoupled run knows no deviations |
//! | one of them cannot tell | | what the other one says, and that it stands alone |
//!
//! What a known deviation explains is then run once more as its twin (`mvcc/twins`); if the twin shows the same, it is new. Where it is a
//! scan that went on after a wait, the server is asked first by which index it went (`mvcc/plans`), and no other may explain it.
//!
//! A disagreement is about ONE statement on ONE view: a bug of single statements, or a mistake of ours. It is never called an
//! isolation bug.

mod decide;
mod reruns;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use dialect::Execution;
use model::{Case, Fingerprint, Hash64, ProbeResult, Reason, Verdict, sync::lock};

use crate::{
    Ask, Conversation, Oracle, OracleInfo,
    decoupled::Decoupled,
    mvcc::{
        self, Mvcc,
        explain_probe::{self, Plan},
        twins::{Shows, Twin, Use},
    },
};

pub use self::decide::{by_itself, decide};
use self::reruns::{after_plan, after_twin, explained, not_proved, wrong};

/// After this many cases of a known deviation only a share of them is asked about.
const FIRST: usize = 20;

/// One in so many of the others.
const SHARE: u64 = 50;

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
            Verdict::Violated(violation) if violation.fingerprint.deviations().is_none() => true,
            Verdict::Violated(violation) => {
                let mut asked = lock(&self.asked);
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
    fn info(&self) -> OracleInfo {
        OracleInfo {
            name: "vote",
            needs_contract: true,
            needs_server: true,
            default: true,
            help: "model on every case, and decoupled where the model objects or cannot tell",
        }
    }

    fn quick_equivalent(&self) -> Option<Box<dyn Oracle>> {
        Some(Box::<Mvcc>::default())
    }

    // The vote of a hunt asks about a share of what is known only: a case could drift while nobody looks.
    fn thorough_equivalent(&self) -> Option<Box<dyn Oracle>> {
        Some(Box::new(Vote::thorough()))
    }

    fn open<'a>(&self, seen: &'a Execution) -> Box<dyn Conversation + 'a> {
        let (said, uses) = self.model.account(seen, &[]);
        // Of waits the decoupled run says nothing: the model asks for runs of its own.
        if mvcc::suspects(&said) {
            return self.model.open(seen);
        }
        let asked = self.asks(&said, number(&seen.case));
        let second = asked.then(|| self.decoupled.open(seen));
        let model = Arc::clone(&self.model);
        Box::new(VoteConversation { seen, said, uses, second, asked, model, plan: None, twin: None })
    }
}

/// A vote at work.
struct VoteConversation<'a> {
    seen: &'a Execution,
    said: Verdict,
    /// Where the model needs which known deviation.
    uses: Vec<Use>,
    second: Option<Box<dyn Conversation + 'a>>,
    /// Is more to be asked about this case than the model?
    asked: bool,
    model: Arc<Mvcc>,
    /// What both say, and the run in which the plan is asked for.
    plan: Option<(Verdict, Plan)>,
    /// What both say, and the twin that is being run.
    twin: Option<(Verdict, Twin)>,
}

impl VoteConversation<'_> {
    fn go_on(&mut self, ask: Ask) -> Ask {
        match ask {
            Ask::Done(second) => {
                let both = decide(&self.said, Some(&second), &self.seen.trace);
                self.decided(by_itself(both, self.seen))
            }
            Ask::Run(_) | Ask::Probe(_) => ask,
        }
    }

    /// Both have spoken. What a known deviation explains is run again without what that needs.
    fn decided(&mut self, verdict: Verdict) -> Ask {
        if !explained(&verdict, &self.uses) {
            return Ask::Done(verdict);
        }
        if !self.asked {
            return Ask::Done(not_proved(verdict, &self.uses, Reason::PlanNotAsked));
        }
        match (&verdict, explain_probe::plan(self.seen, &self.uses)) {
            (Verdict::Violated(_), Some(plan)) => {
                let request = plan.request.clone();
                self.plan = Some((verdict, plan));
                Ask::Run(vec![request])
            }
            _ => self.without_cause(verdict),
        }
    }

    /// The server has named the way on which the statement went: is it explained by that, too?
    fn planned(&mut self, verdict: Verdict, plan: &Plan, answers: &[Execution]) -> Ask {
        let path = match answers.first() {
            Some(run) => plan.path(self.seen, run),
            None => Err(Reason::PlanNotRun),
        };
        let verdict = match path {
            Ok(path) => {
                let narrowed = self.model.verdict_by(self.seen, plan.step, &path);
                after_plan(verdict, narrowed, &path)
            }
            Err(why) => not_proved(verdict, &self.uses, why),
        };
        match explained(&verdict, &self.uses) {
            true => self.without_cause(verdict),
            false => Ask::Done(verdict),
        }
    }

    /// Runs it again without what explains it.
    fn without_cause(&mut self, verdict: Verdict) -> Ask {
        match self.model.twin(self.seen, &self.uses, wrong(&verdict, &self.uses)) {
            Ok(twin) => {
                let request = twin.request.clone();
                self.twin = Some((verdict, twin));
                Ask::Run(vec![request])
            }
            Err(why) => Ask::Done(after_twin(verdict, &self.uses, Shows::Nothing(why))),
        }
    }
}

impl Conversation for VoteConversation<'_> {
    fn next(&mut self, answers: &[Execution]) -> Ask {
        if let Some((verdict, plan)) = self.plan.take() {
            return self.planned(verdict, &plan, answers);
        }
        if let Some((verdict, twin)) = self.twin.take() {
            let symptom = match &verdict {
                Verdict::Violated(violation) => Some(violation.fingerprint.symptom),
                Verdict::Holds { .. } | Verdict::Undecided { .. } => None,
            };
            let shows = match answers.first() {
                Some(run) => twin.shows(&self.model, run, wrong(&verdict, &self.uses), symptom),
                None => Shows::Nothing(Reason::TwinNotRun),
            };
            return Ask::Done(after_twin(verdict, &self.uses, shows));
        }
        match &mut self.second {
            Some(second) => {
                let ask = second.next(answers);
                self.go_on(ask)
            }
            None => self.decided(decide(&self.said, None, &self.seen.trace)),
        }
    }

    fn probed(&mut self, result: ProbeResult) -> Ask {
        match &mut self.second {
            Some(second) => {
                let ask = second.probed(result);
                self.go_on(ask)
            }
            None => Ask::Done(decide(&self.said, None, &self.seen.trace)),
        }
    }
}

/// A number that follows from the case alone.
fn number(case: &Case) -> u64 {
    let texts = case.setup.statements.iter().chain(case.steps.iter().map(|step| &step.sql));
    let mut hash = Hash64::default();
    texts.for_each(|text| hash.add(text.as_bytes()));
    // Its low bits are the weaker ones.
    hash.get() >> 20
}

#[cfg(test)]
mod tests {
    use model::Symptom;

    use super::{
        decide::tests::{RULE, explained, holds, unsure, wrong},
        *,
    };

    #[test]
    fn of_what_is_known_only_the_first_are_asked_about_and_then_a_share() {
        let vote = Vote::default();
        let (known, new) = (
            wrong(Symptom::WrongRows, explained("noop-without-version"), Some(1)),
            wrong(Symptom::WrongRows, RULE, Some(1)),
        );
        let asked = |said: &Verdict| (1..=500).filter(|case| vote.asks(said, *case)).count();
        assert_eq!(asked(&known), 20 + 500 / 50, "{known:?}");
        assert_eq!(asked(&known), 20 + 500 / 50, "the same cases are asked about again");
        assert_eq!(asked(&new), 500);
        assert_eq!((1..=500).filter(|case| Vote::thorough().asks(&known, *case)).count(), 500);
        assert_eq!(asked(&holds(&[])), 10);
        assert_eq!(asked(&unsure(Reason::Unparsed)), 500);
    }

    #[test]
    fn what_is_wrong_without_another_transaction_before_it_is_no_matter_of_isolation() {
        let symptom = |text: &str| {
            let setup = ["CREATE TABLE t (a INT PRIMARY KEY)", "INSERT INTO t VALUES (1), (2)"];
            let level = model::Level::RepeatableRead;
            let (case, trace) = notation::trace(notation::server("mysql@9.7.4"), level, &setup, text);
            let seen = Execution::new(case, trace);
            let said = Mvcc::default().verdict(&seen);
            match by_itself(decide(&said, Some(&unsure(Reason::SetupNotRead)), &seen.trace), &seen) {
                Verdict::Violated(violation) => violation.fingerprint.symptom,
                other => panic!("{other:?}"),
            }
        };
        let (wrong, before) = ("T1: SELECT a FROM t => (1)", "T2: DELETE FROM t WHERE a = 7 => 0 rows");
        assert_eq!(symptom(wrong), Symptom::Logic);
        assert_eq!(symptom(&format!("{wrong}\n{before}")), Symptom::Logic);
        assert_eq!(symptom(&format!("{before}\n{wrong}")), Symptom::WrongRows);
        // A constraint is the statement's own; who is in the way is somebody else.
        assert_eq!(symptom("T1: INSERT INTO t VALUES (3) => duplicate"), Symptom::Logic);
        assert_eq!(symptom("T1: INSERT INTO t VALUES (3) => deadlock"), Symptom::NeedlessError);
    }
}
