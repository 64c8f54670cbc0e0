//! From a finding to one that can be read: the case is reduced while clean runs show the same fingerprint.
//!
//! While searching, one run of a candidate is enough, and the model alone judges it where it says the same of the finding as the
//! oracle that found it: that costs nothing but the run, and does not depend on what was judged before. The smallest case must then come
//! back as often as the finding itself did, before the oracle that found it, and before one that asks about everything where that
//! says the same of the finding. If it does not, the last one on the way to it that does is taken. What looks new then, only because
//! the model cannot read the case, is looked at once more (`attribution`).
//!
//! The smallest case may end in a stall, and what is wrong come only when the executor has rolled somebody back. Then that ROLLBACK becomes a step, so that
//! the case says all that it takes.

use dialect::Execution;
use model::{Case, Fingerprint, Product, Reply, Step, Verdict};
use oracles::Oracle;
use reduce::{Budget, Predicate, Reduced, Scope, Strategy, Trial, reduce};

use crate::{
    attribution::{Attribution, attribute},
    clean_server::CleanRuns,
    confirm::{Reproduction, Suspicion, series, shows},
};

/// At most this many candidates where each of them costs a server that dies, or the time until a statement counts as hung.
const DEADLY: u64 = 60;
const HANGING: u64 = 20;

/// How to go about it.
pub struct How<'a> {
    /// At most this many candidates.
    pub candidates: u64,
    /// Which of them is next.
    pub strategy: &'a mut dyn Strategy,
    /// Is there no more time?
    pub over: &'a dyn Fn() -> bool,
    /// Hears of each candidate.
    pub told: &'a mut dyn FnMut(&Trial<'_>),
}

impl How<'_> {
    /// Searches among at most so many candidates.
    pub(crate) fn search(
        &mut self,
        case: &Case,
        product: Product,
        scope: Scope,
        candidates: u64,
        holds: impl FnMut(&Case) -> bool,
    ) -> Reduced {
        let mut search = Search { holds, over: self.over, told: self.told };
        reduce(case, product, scope, &mut search, self.strategy, Budget { candidates })
    }
}

/// A predicate with an end from outside and somebody who looks on.
struct Search<'a, F> {
    holds: F,
    over: &'a dyn Fn() -> bool,
    told: &'a mut dyn FnMut(&Trial<'_>),
}

impl<F: FnMut(&Case) -> bool> Predicate for Search<'_, F> {
    fn holds(&mut self, case: &Case) -> bool {
        (self.holds)(case)
    }

    fn over(&mut self) -> bool {
        (self.over)()
    }

    fn tried(&mut self, trial: &Trial<'_>) {
        (self.told)(trial);
    }
}

/// A finding whose case was reduced, or not.
pub struct Reduction {
    pub reproduction: Reproduction,
    /// The case that it had, if it has a smaller one now.
    pub original: Option<Case>,
    /// How many candidates were run.
    pub tried: u64,
    /// Is it certain that nothing more can be left out?
    pub finished: bool,
    /// What it looked like before it was put down to something simpler.
    pub first_fingerprint: Option<Fingerprint>,
    /// What it would be, if its twin said so.
    pub resembles: Option<String>,
}

pub fn reduce_finding(
    runs: &mut dyn CleanRuns,
    suspicion: &Suspicion<'_>,
    reproduction: Reproduction,
    mut how: How<'_>,
) -> Reduction {
    let (condition, [_, times]) = (reproduction.condition, reproduction.runs);
    let product = reproduction.execution.trace.server.product;
    let original = reproduction.execution.case.clone();
    let mut left = how.candidates.min(limit(&reproduction));
    let mut done = Reduction {
        reproduction,
        original: None,
        tried: 0,
        finished: false,
        first_fingerprint: None,
        resembles: None,
    };
    if left == 0 {
        return done;
    }
    let best = &mut done.reproduction;
    let oracle = suspicion.judge.oracle;
    let (quick, thorough) = (oracle.quick_equivalent(), oracle.thorough_equivalent());
    let quick = alike(quick.as_deref(), suspicion, best, runs);
    let thorough = alike(thorough.as_deref(), suspicion, best, runs);
    let last = thorough.as_ref().unwrap_or(suspicion);
    // What the model alone led too far is gone on with from where both agree.
    for suspected in quick.iter().chain([suspicion]) {
        // What the server is asked beside the case costs more than the case, and most findings do not need it.
        runs.set_postchecks(false);
        if !shows(runs, suspected, &best.execution.case, condition) {
            runs.set_postchecks(true);
        }
        let holds = |case: &Case| shows(runs, suspected, case, condition);
        let found = how.search(&best.execution.case, product, Scope::Whole, left, holds);
        runs.set_postchecks(true);
        (done.tried, left) = (done.tried + found.tried, left - found.tried);
        let finished = found.finished;
        let way = way(found, &best.execution.case);
        let came = smallest(&way, |case| series(runs, last, case, condition, times));
        let whole = came.as_ref().map_or(0, |(at, _)| at + 1) == way.len();
        if let Some((_, again)) = came {
            *best = again;
        }
        done.finished = whole && finished;
        if whole || left == 0 {
            break;
        }
    }
    let (attribution, more) = attribute(runs, suspicion, best, left, &mut how);
    done.tried += more;
    match attribution {
        Attribution::Known(other) => {
            *best = *other;
            done.first_fingerprint = Some(suspicion.violation.fingerprint.clone());
        }
        Attribution::Resembles(name) => done.resembles = Some(name),
        Attribution::None => {}
    }
    let smaller = best.execution.case != original;
    if let Some(again) = with_rollbacks(runs, suspicion, best, times) {
        *best = again;
    }
    if smaller {
        let note = reduced_from(&original, &best.execution.case);
        std::sync::Arc::make_mut(&mut best.execution.case).add_note(note);
        done.original = Some(original.case().clone());
    }
    done
}

/// The same with the rollbacks as steps that ended a stall before what is wrong came, if it comes back so.
fn with_rollbacks(
    runs: &mut dyn CleanRuns,
    suspicion: &Suspicion<'_>,
    found: &Reproduction,
    times: u32,
) -> Option<Reproduction> {
    let Reproduction { execution: Execution { case, trace, .. }, violation, .. } = found;
    if violation.is_a_wait() || violation.step.is_some_and(|step| !trace.answered_after_stall(step)) {
        return None;
    }
    let sessions = trace.rolled_back_before(violation.step)?;
    let step = |session| Step { session, sql: "ROLLBACK".to_string(), expect: Vec::new() };
    let mut case = case.case().clone();
    case.steps.extend(sessions.into_iter().map(step));
    let wanted = Suspicion { seen: suspicion.seen, judge: suspicion.judge, violation, leftovers: None };
    let again = series(runs, &wanted, &case, found.condition, times)?;
    (again.violation.step == violation.step).then_some(again)
}

/// The cases on the way to the smallest one, which is the last. The first of the trail is the case itself, perhaps without what it
/// expected.
fn way(found: Reduced, from: &Case) -> Vec<Case> {
    let last = (found.case != *from).then_some(found.case);
    found.trail.into_iter().skip(1).chain(last).collect()
}

fn reduced_from(original: &Case, case: &Case) -> String {
    let left = case.steps.len();
    format!("reduced from {} to {left} statement{}", original.steps.len(), if left == 1 { "" } else { "s" })
}

/// The same suspicion before another oracle, if there is one and it says the same.
fn alike<'a>(
    oracle: Option<&'a dyn Oracle>,
    suspicion: &Suspicion<'a>,
    reproduction: &Reproduction,
    runs: &mut dyn CleanRuns,
) -> Option<Suspicion<'a>> {
    let judge = suspicion.judge.with(oracle?);
    match judge.verdict(&reproduction.execution, runs) {
        Verdict::Violated(violation) if violation.fingerprint == suspicion.violation.fingerprint => {
            Some(Suspicion { seen: suspicion.seen, judge, violation: suspicion.violation, leftovers: None })
        }
        Verdict::Violated(_) | Verdict::Holds { .. } | Verdict::Undecided { .. } => None,
    }
}

/// The smallest of the cases, the largest of which come first, that comes back as often as it must. The last one mostly does; else
/// it is looked for between one that does and one that does not.
pub fn smallest<T>(way: &[Case], mut comes: impl FnMut(&Case) -> Option<T>) -> Option<(usize, T)> {
    let (mut fails, mut back) = (way.len(), 1);
    let (mut good, mut best) = loop {
        let at = way.len().saturating_sub(back);
        match comes(way.get(at)?) {
            Some(found) => break (at, found),
            None if at == 0 => return None,
            None => (fails, back) = (at, back * 2),
        }
    };
    while fails - good > 1 {
        let middle = good + (fails - good) / 2;
        match comes(&way[middle]) {
            Some(found) => (good, best) = (middle, found),
            None => fails = middle,
        }
    }
    Some((good, best))
}

/// Makes a case smaller while `holds` says so; which must hold that many times in a row of the case and of the smallest one. None if it does
/// not of the case. Gives the case, how many candidates were tried, and whether it is certain that nothing more can be left out.
pub fn by_predicate(
    case: &Case,
    product: Product,
    scope: Scope,
    times: u64,
    holds: &mut dyn FnMut(&Case) -> bool,
    mut how: How<'_>,
) -> Option<(Case, u64, bool)> {
    if !(0..times).all(|_| holds(case)) {
        return None;
    }
    let found = how.search(case, product, scope, how.candidates, &mut *holds);
    let (tried, finished) = (found.tried, found.finished);
    let way = way(found, case);
    Some(match smallest(&way, |case| (0..times).all(|_| holds(case)).then_some(())) {
        Some((at, ())) => {
            let mut smaller = way[at].clone();
            smaller.notes.push(reduced_from(case, &smaller));
            (smaller, tried, finished && at + 1 == way.len())
        }
        None => (case.clone(), tried, finished && way.is_empty()),
    })
}

fn limit(reproduction: &Reproduction) -> u64 {
    let came =
        |reply: Reply| reproduction.execution.trace.outcomes.iter().any(|outcome| outcome.reply == reply);
    if came(Reply::Hung) {
        HANGING
    } else if came(Reply::ServerDied) {
        DEADLY
    } else {
        u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use execute::Reset;
    use model::{
        Condition, JudgeOverrides, Level, Outcome, Probe, ProbeResult, Round, RoundCause, SessionSpec,
        Symptom, Violation, Wait,
    };
    use reduce::strategy::InOrder;

    use super::*;
    use crate::{
        confirm::tests::{Stalls, execution, wrong},
        panel::Judge,
    };

    /// Stalls while both statements are there, and as long as it may.
    struct Two {
        times: u32,
        runs: u32,
    }

    impl CleanRuns for Two {
        fn rerun(&mut self, case: &Case, _: Level, reset: Reset) -> Option<Execution> {
            assert_eq!(reset, Reset::Purged, "under the condition of the finding");
            self.runs += 1;
            let has = |sql: &str| case.steps.iter().any(|step| step.sql == sql);
            Some(execution(case, has("SELECT 2") && has("SELECT 5") && self.runs <= self.times))
        }

        fn probe(&mut self, _: &Probe) -> Option<ProbeResult> {
            None
        }

        fn purges(&self) -> bool {
            true
        }
    }

    fn reduced(times: u32, candidates: u64) -> Reduction {
        let steps = (0..8).map(|i| Step { session: 0, sql: format!("SELECT {i}"), expect: Vec::new() });
        let sessions = vec![SessionSpec::plain("T1")];
        let case = Case { title: "Two".into(), sessions, steps: steps.collect(), ..Case::default() };
        let (seen, violation, overrides) = (execution(&case, true), wrong(), JudgeOverrides::default());
        let judge = Judge { oracle: &Stalls, overrides: &overrides };
        let suspicion = Suspicion { seen: &seen, judge, violation: &violation, leftovers: None };
        let (execution, violation) = (execution(&case, true), wrong());
        let reproduction = Reproduction { execution, violation, condition: Condition::Purged, runs: [3, 3] };
        let how = How { candidates, strategy: &mut InOrder, over: &|| false, told: &mut |_| {} };
        reduce_finding(&mut Two { times, runs: 0 }, &suspicion, reproduction, how)
    }

    #[test]
    fn the_smallest_case_is_run_as_often_as_the_finding_was() {
        let done = reduced(u32::MAX, 400);
        let steps: Vec<&str> = done.reproduction.execution.case.steps.iter().map(|step| &*step.sql).collect();
        assert_eq!(steps, ["SELECT 2", "SELECT 5"]);
        assert_eq!(done.reproduction.execution.case.notes, ["reduced from 8 to 2 statements"]);
        assert_eq!((done.reproduction.runs, done.original.map(|case| case.steps.len())), ([3, 3], Some(8)));
        // It is shown by the search and two of the three last runs, and the finding keeps its case.
        let flaky = reduced(done.tried as u32 + 2, 400);
        assert_eq!((flaky.reproduction.execution.case.steps.len(), flaky.original), (8, None));
    }

    #[test]
    fn the_smallest_that_comes_back_is_looked_for_on_the_way() {
        let way: Vec<Case> = (0..20).map(|at| Case { title: at.to_string(), ..Case::default() }).collect();
        for good in 0..20 {
            let mut asked = 0;
            let found = smallest(&way, |case| {
                asked += 1;
                (case.title.parse::<usize>().unwrap() <= good).then_some(())
            });
            assert_eq!(found.map(|(at, ())| at), Some(good));
            assert!(asked < 12, "{asked}");
        }
        assert_eq!(smallest(&[], |_| Some(())), None);
    }

    #[test]
    fn no_candidates_no_runs() {
        let done = reduced(u32::MAX, 0);
        assert_eq!((done.tried, done.original, done.reproduction.execution.case.steps.len()), (0, None, 8));
    }

    /// The second statement waits for the first, until somebody rolls that back.
    struct Blocked;

    impl CleanRuns for Blocked {
        fn rerun(&mut self, case: &Case, _: Level, _: Reset) -> Option<Execution> {
            let sent = |step, answered: &[usize]| Round {
                cause: RoundCause::Sent(step),
                answered: answered.to_vec(),
                waiting: Vec::new(),
            };
            let waits = Round { waiting: vec![Wait { step: 1, blockers: vec![0] }], ..sent(1, &[]) };
            let stalled = case.steps.len() == 2;
            let last = match stalled {
                true => Round { cause: RoundCause::RolledBack(0), ..sent(0, &[1]) },
                false => sent(2, &[2, 1]),
            };
            let mut run = execution(case, stalled);
            run.trace.rounds = vec![sent(0, &[0]), waits, last];
            run.trace.outcomes = vec![Outcome::bare(Reply::NotSent); case.steps.len()];
            Some(run)
        }

        fn probe(&mut self, _: &Probe) -> Option<ProbeResult> {
            None
        }

        fn purges(&self) -> bool {
            true
        }
    }

    /// Calls the second statement wrong.
    struct Second(fn() -> Violation);

    impl oracles::Oracle for Second {
        fn info(&self) -> oracles::OracleInfo {
            Stalls.info()
        }

        fn open<'a>(&self, _: &'a Execution) -> Box<dyn oracles::Conversation + 'a> {
            Box::new(Second(self.0))
        }
    }

    impl oracles::Conversation for Second {
        fn next(&mut self, _: &[Execution]) -> oracles::Ask {
            oracles::Ask::Done(Verdict::Violated((self.0)()))
        }
    }

    #[test]
    fn a_rollback_that_ended_a_stall_becomes_a_step() {
        let sessions = vec![SessionSpec::plain("T1"), SessionSpec::plain("T2")];
        let step = |session, sql: &str| Step { session, sql: sql.into(), expect: Vec::new() };
        let steps = vec![step(0, "UPDATE t SET a = 1"), step(1, "UPDATE t SET a = 2")];
        let case = Case { sessions, steps, ..Case::default() };
        let ended_by_us = |violation: fn() -> Violation| {
            let seen = Blocked.rerun(&case, Level::ReadCommitted, Reset::Clean).unwrap();
            let (oracle, overrides, wrong) = (Second(violation), JudgeOverrides::default(), violation());
            let judge = Judge { oracle: &oracle, overrides: &overrides };
            let suspicion = Suspicion { seen: &seen, judge, violation: &wrong, leftovers: None };
            let found = Reproduction {
                execution: seen.clone(),
                violation: violation(),
                condition: Condition::Clean,
                runs: [3, 3],
            };
            with_rollbacks(&mut Blocked, &suspicion, &found, 3)
        };
        let again = ended_by_us(|| Violation { step: Some(1), ..wrong() }).unwrap();
        let steps: Vec<(usize, &str)> =
            again.execution.case.steps.iter().map(|step| (step.session, &*step.sql)).collect();
        assert_eq!(steps, [(0, "UPDATE t SET a = 1"), (1, "UPDATE t SET a = 2"), (0, "ROLLBACK")]);
        assert!(!again.execution.trace.stalled && again.runs == [3, 3]);
        // What was wrong before the stall, or is the wait itself, needs no end of it.
        assert!(ended_by_us(|| Violation { step: Some(0), ..wrong() }).is_none());
        let waits = || {
            let mut violation = Violation { step: Some(1), ..wrong() };
            violation.fingerprint.symptom = Symptom::NeedlessWait;
            violation
        };
        assert!(ended_by_us(waits).is_none());
    }
}
