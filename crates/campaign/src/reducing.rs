//! From a finding to one that can be read: the case is reduced while clean runs show the same fingerprint.
//!
//! While searching, one run of a candidate is enough, and the model alone judges it where it says the same of the finding as the
//! oracle that found it: that costs nothing but the run, and does not depend on what was judged before. The smallest case must then come
//! back as often as the finding itself did, before the oracle that found it, and before one that asks about everything where that
//! says the same of the finding. If it does not, the last one on the way to it that does is taken. What looks new then, only because
//! the model cannot read the case, is looked at once more (`attribution`).

use model::{Case, Condition, Fingerprint, Product, Reply, Verdict};
use oracles::Oracle;
use reduce::{Budget, Predicate, Scope, Strategy, Trial, reduce};

use crate::{
    attribution::{Attribution, attribute},
    clean_server::CleanRuns,
    confirm::{Reproduction, Suspicion, series},
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
    let mut left = how.candidates.min(limit(&reproduction));
    if left == 0 {
        return Reduction {
            reproduction,
            original: None,
            tried: 0,
            finished: false,
            first_fingerprint: None,
            resembles: None,
        };
    }
    let product = reproduction.execution.trace.server.product;
    let oracle = suspicion.judge.oracle;
    let (quick, thorough) = (oracle.quick_equivalent(), oracle.thorough_equivalent());
    let quick = alike(quick.as_deref(), suspicion, &reproduction, runs);
    let thorough = alike(thorough.as_deref(), suspicion, &reproduction, runs);
    let last = thorough.as_ref().unwrap_or(suspicion);
    let original = reproduction.execution.case.clone();
    let (mut best, mut tried, mut finished) = (reproduction, 0, false);
    // What the model alone led too far is gone on with from where both agree.
    for suspected in quick.iter().chain([suspicion]) {
        // What the server is asked beside the case costs more than the case, and most findings do not need it.
        runs.set_postchecks(false);
        if series(runs, suspected, &best.execution.case, condition, 1).is_none() {
            runs.set_postchecks(true);
        }
        let mut search = Search { runs, suspicion: suspected, condition, over: how.over, told: how.told };
        let budget = Budget { candidates: left };
        let found = reduce(&best.execution.case, product, Scope::Whole, &mut search, how.strategy, budget);
        runs.set_postchecks(true);
        (tried, left) = (tried + found.tried, left - found.tried);
        // The first of them is the case itself, perhaps without what it expected.
        let mut way: Vec<Case> = found.trail.into_iter().skip(1).collect();
        if found.case != *best.execution.case.case() {
            way.push(found.case);
        }
        let came = smallest(&way, |case| series(runs, last, case, condition, times));
        let whole = came.as_ref().map_or(0, |(at, _)| at + 1) == way.len();
        if let Some((_, again)) = came {
            best = again;
        }
        finished = whole && found.finished;
        if whole || left == 0 {
            break;
        }
    }
    let (mut first_fingerprint, mut resembles) = (None, None);
    let (attribution, more) = attribute(runs, suspicion, &best, left, &mut how);
    tried += more;
    match attribution {
        Attribution::Known(other) => {
            best = *other;
            first_fingerprint = Some(suspicion.violation.fingerprint.clone());
        }
        Attribution::Resembles(name) => resembles = Some(name),
        Attribution::None => {}
    }
    if best.execution.case == original {
        return Reduction {
            reproduction: best,
            original: None,
            tried,
            finished,
            first_fingerprint,
            resembles,
        };
    }
    let (from, to) = (original.steps.len(), best.execution.case.steps.len());
    std::sync::Arc::make_mut(&mut best.execution.case)
        .add_note(format!("reduced from {from} to {to} statements"));
    Reduction {
        reproduction: best,
        original: Some(original.case().clone()),
        tried,
        finished,
        first_fingerprint,
        resembles,
    }
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
    how: How<'_>,
) -> Option<(Case, u64, bool)> {
    if !(0..times).all(|_| holds(case)) {
        return None;
    }
    let How { candidates, strategy, over, told } = how;
    let mut predicate = PredicateWithProgress { holds, over, told };
    let found = reduce(case, product, scope, &mut predicate, strategy, Budget { candidates });
    let mut way: Vec<Case> = found.trail.into_iter().skip(1).collect();
    if found.case != *case {
        way.push(found.case);
    }
    Some(match smallest(&way, |case| (0..times).all(|_| holds(case)).then_some(())) {
        Some((at, ())) => {
            let mut smaller = way[at].clone();
            let (from, to) = (case.steps.len(), smaller.steps.len());
            smaller.notes.push(format!("reduced from {from} to {to} statements"));
            (smaller, found.tried, found.finished && at + 1 == way.len())
        }
        None => (case.clone(), found.tried, found.finished && way.is_empty()),
    })
}

struct PredicateWithProgress<'a> {
    holds: &'a mut dyn FnMut(&Case) -> bool,
    over: &'a dyn Fn() -> bool,
    told: &'a mut dyn FnMut(&Trial<'_>),
}

impl Predicate for PredicateWithProgress<'_> {
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

/// A search on a server.
struct Search<'a, 'b> {
    runs: &'a mut dyn CleanRuns,
    suspicion: &'a Suspicion<'b>,
    condition: Condition,
    over: &'a dyn Fn() -> bool,
    told: &'a mut dyn FnMut(&Trial<'_>),
}

impl Predicate for Search<'_, '_> {
    fn holds(&mut self, case: &Case) -> bool {
        series(self.runs, self.suspicion, case, self.condition, 1).is_some()
    }

    fn over(&mut self) -> bool {
        (self.over)()
    }

    fn tried(&mut self, trial: &Trial<'_>) {
        (self.told)(trial);
    }
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
    use dialect::Execution;
    use execute::Reset;
    use model::{JudgeOverrides, Level, Probe, ProbeResult, SessionSpec, Step};
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
}
