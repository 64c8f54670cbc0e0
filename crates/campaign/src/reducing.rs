//! From a finding to one that can be read: the case is made smaller while clean runs show the same fingerprint.
//!
//! While searching, one run of a candidate is enough; the smallest case must then come back as often as the finding itself did.
//! If it does not, the finding keeps the case that it had.

use model::{Case, Reply};
use reduce::{Budget, reduce};

use crate::confirm::{Confirmed, Rerun, Suspicion, series};

/// So many candidates where each of them costs a server that dies, or the time until a statement counts as hung.
const DEADLY: u64 = 60;
const HANGING: u64 = 20;

/// A finding that was made smaller, or not.
pub struct Smaller {
    /// The finding.
    pub confirmed: Confirmed,
    /// The case that it had, if it has a smaller one now.
    pub original: Option<Case>,
    /// So many candidates were run.
    pub tried: u64,
}

/// Makes the case of a finding smaller. `over` says that there is no more time for it.
pub fn smaller(
    on: &mut dyn Rerun,
    suspicion: &Suspicion<'_>,
    confirmed: Confirmed,
    candidates: u64,
    over: &dyn Fn() -> bool,
) -> Smaller {
    let (condition, [_, times]) = (confirmed.condition, confirmed.runs);
    let budget = Budget { candidates: candidates.min(limit(&confirmed)) };
    let product = confirmed.answer.trace.server.product;
    let mut interesting = |case: &Case| !over() && series(on, suspicion, case, condition, 1).is_some();
    let found = reduce(&confirmed.answer.case, product, &mut interesting, budget);
    let (from, to) = (confirmed.answer.case.steps.len(), found.case.steps.len());
    if reduce::Size::of(&found.case) >= reduce::Size::of(&confirmed.answer.case) {
        return Smaller { confirmed, original: None, tried: found.tried };
    }
    match series(on, suspicion, &found.case, condition, times) {
        Some(mut again) => {
            again.answer.case.notes.push(format!("reduced from {from} to {to} statements"));
            Smaller { confirmed: again, original: Some(confirmed.answer.case), tried: found.tried }
        }
        None => Smaller { confirmed, original: None, tried: found.tried },
    }
}

fn limit(confirmed: &Confirmed) -> u64 {
    let came = |reply: Reply| confirmed.answer.trace.outcomes.iter().any(|outcome| outcome.reply == reply);
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
    use model::{Level, Scene, SessionSpec, Shown, Step};
    use oracles::Answer;

    use super::*;
    use crate::{
        confirm::{
            Condition,
            tests::{Stalls, answer, wrong},
        },
        guise::Guise,
        judge::Judge,
    };

    /// Stalls while both statements are there, and as long as it may.
    struct Two {
        times: u32,
        runs: u32,
    }

    impl Rerun for Two {
        fn rerun(&mut self, case: &Case, _: Level, reset: Reset) -> Option<Answer> {
            assert_eq!(reset, Reset::Purged, "under the condition of the finding");
            self.runs += 1;
            let has = |sql: &str| case.steps.iter().any(|step| step.sql == sql);
            Some(answer(case, has("SELECT 2") && has("SELECT 5") && self.runs <= self.times))
        }

        fn play(&mut self, _: &Scene) -> Option<Shown> {
            None
        }

        fn purges(&self) -> bool {
            true
        }
    }

    fn made_smaller(times: u32, candidates: u64) -> Smaller {
        let steps = (0..8).map(|i| Step { session: 0, sql: format!("SELECT {i}"), expect: Vec::new() });
        let sessions = vec![SessionSpec::plain("T1")];
        let case = Case { title: "Two".into(), sessions, steps: steps.collect(), ..Case::default() };
        let (seen, violation, guise) = (answer(&case, true), wrong(), Guise::default());
        let judge = Judge { oracle: &Stalls, guise: &guise };
        let suspicion = Suspicion { seen: &seen, judge, violation: &violation, leftovers: None };
        let (answer, violation) = (answer(&case, true), wrong());
        let confirmed = Confirmed { answer, violation, condition: Condition::Purged, runs: [3, 3] };
        smaller(&mut Two { times, runs: 0 }, &suspicion, confirmed, candidates, &|| false)
    }

    #[test]
    fn the_smallest_case_is_run_as_often_as_the_finding_was() {
        let done = made_smaller(u32::MAX, 400);
        let steps: Vec<&str> = done.confirmed.answer.case.steps.iter().map(|step| &*step.sql).collect();
        assert_eq!(steps, ["SELECT 2", "SELECT 5"]);
        assert_eq!(done.confirmed.answer.case.notes, ["reduced from 8 to 2 statements"]);
        assert_eq!((done.confirmed.runs, done.original.map(|case| case.steps.len())), ([3, 3], Some(8)));
        // It is shown by the search and two of the three last runs, and the finding keeps its case.
        let flaky = made_smaller(done.tried as u32 + 2, 400);
        assert_eq!((flaky.confirmed.answer.case.steps.len(), flaky.original), (8, None));
    }

    #[test]
    fn no_candidates_no_runs() {
        let done = made_smaller(u32::MAX, 0);
        assert_eq!((done.tried, done.original, done.confirmed.answer.case.steps.len()), (0, None, 8));
    }
}
