//! From a suspicion to a finding: what the fast reset showed must come back from clean ones.
//!
//! A fast reset leaves delete-marked rows and old versions behind, and whatever the last case did to the server. What the clean
//! runs do not show is therefore tried under more conditions before it is called flaky: with purge at work (a clean run
//! holds it back by an old read view), with the leftovers written into the setup, where everybody can see them, and with tables that are
//! made anew for each run. TRUNCATE makes the indexes of a table anew in an order of its own, so one of the clean runs is of tables as the setup makes
//! them; what only such runs show, or only the others, is noted with that.
//!
//! A run in which the server dies says nothing about what else is wrong, and is repeated.

use dialect::Execution;
use execute::Reset;
use model::{Case, Condition, Reason, Reply, Verdict, Violation, verdict::Visible};

use crate::{clean_server::CleanRuns, panel::Judge};

/// In a series of runs so many may be lost to a server that dies.
const DEATHS: u32 = 3;

pub fn reset(condition: Condition) -> Reset {
    match condition {
        Condition::Clean | Condition::Leftovers => Reset::Clean,
        Condition::Purged => Reset::Purged,
        Condition::Truncated => Reset::Truncated,
        Condition::Rebuilt => Reset::Rebuilt,
    }
}

/// A suspicion that was reproduced.
pub struct Reproduction {
    /// The last run that shows it.
    pub execution: Execution,
    /// What the oracle says of that run.
    pub violation: Violation,
    pub condition: Condition,
    /// How many runs showed it, of how many.
    pub runs: [u32; 2],
}

/// A violation to be reproduced.
pub struct Suspicion<'a> {
    /// The run that shows it.
    pub seen: &'a Execution,
    /// The oracle that says so.
    pub judge: Judge<'a>,
    pub violation: &'a Violation,
    /// The same case with the leftovers of the one before in its setup, where these are known.
    pub leftovers: Option<Case>,
}

/// Tries to reproduce it, `times` times in a row.
pub fn confirm(runs: &mut dyn CleanRuns, suspicion: &Suspicion<'_>, times: u32) -> Option<Reproduction> {
    let (case, times): (&Case, u32) = (&suspicion.seen.case, times.max(1));
    if let Some(reproduction) = clean(runs, suspicion, case, times) {
        return Some(reproduction);
    }
    let mut tries = Vec::new();
    if runs.purges() {
        tries.push((case, Condition::Purged));
    }
    tries.extend(suspicion.leftovers.as_ref().map(|case| (case, Condition::Leftovers)));
    tries.push((case, Condition::Rebuilt));
    tries.into_iter().find_map(|(case, condition)| series(runs, suspicion, case, condition, times))
}

/// Clean runs, the last of them of tables that are made anew.
fn clean(
    runs: &mut dyn CleanRuns,
    suspicion: &Suspicion<'_>,
    case: &Case,
    times: u32,
) -> Option<Reproduction> {
    let emptied = series(runs, suspicion, case, Condition::Clean, (times - 1).max(1))?;
    if times == 1 {
        return Some(emptied);
    }
    match series(runs, suspicion, case, Condition::Rebuilt, 1) {
        Some(last) => Some(Reproduction { condition: Condition::Clean, runs: [times; 2], ..last }),
        None => series(runs, suspicion, case, Condition::Truncated, times),
    }
}

/// Runs a case `times` times in a row; none if one of them does not show it. A run that the server did not live through is repeated.
pub fn series(
    runs: &mut dyn CleanRuns,
    suspicion: &Suspicion<'_>,
    case: &Case,
    condition: Condition,
    times: u32,
) -> Option<Reproduction> {
    run_series(runs, suspicion, (case, condition), times, DEATHS)
}

/// Does one run show it? A candidate of a search that kills the server is not worth another one.
pub fn shows(runs: &mut dyn CleanRuns, suspicion: &Suspicion<'_>, case: &Case, condition: Condition) -> bool {
    run_series(runs, suspicion, (case, condition), 1, 0).is_some()
}

fn run_series(
    runs: &mut dyn CleanRuns,
    suspicion: &Suspicion<'_>,
    (case, condition): (&Case, Condition),
    times: u32,
    mut deaths: u32,
) -> Option<Reproduction> {
    let level = suspicion.seen.trace.level;
    let (mut last, mut shown) = (None, 0);
    while shown < times {
        let execution = runs.rerun(case, level, reset(condition))?;
        let verdict = suspicion.judge.verdict(&execution, runs);
        match verdict {
            Verdict::Violated(violation) if violation.fingerprint == suspicion.violation.fingerprint => {
                last = Some((execution, violation));
                shown += 1;
            }
            verdict if deaths > 0 && is_lost_to(suspicion.violation, &execution, &verdict) => deaths -= 1,
            Verdict::Violated(_) | Verdict::Holds { .. } | Verdict::Undecided { .. } => return None,
        }
    }
    last.map(|(execution, violation)| Reproduction { execution, violation, condition, runs: [times; 2] })
}

/// Did the server die under a run that is about something else, or before it could be asked about it?
pub(crate) fn is_lost_to(violation: &Violation, execution: &Execution, verdict: &Verdict) -> bool {
    let died = execution.trace.outcomes.iter().any(|outcome| outcome.reply == Reply::ServerDied);
    let unasked = matches!(verdict, Verdict::Undecided { reason: Reason::NotProbed });
    violation.fingerprint.symptom.visible() != Visible::Server && (died || unasked)
}

#[cfg(test)]
pub(crate) mod tests {
    use model::{
        Fingerprint, JudgeOverrides, Level, Probe, ProbeResult, ServerInfo, ShownBy, Symptom, Trace,
        verdict::Cause,
    };
    use oracles::{Ask, Conversation, Oracle, OracleInfo};

    use super::*;

    /// Calls every trace wrong that stalled.
    pub(crate) struct Stalls;

    struct Said(bool);

    impl Conversation for Said {
        fn next(&mut self, _: &[Execution]) -> Ask {
            Ask::Done(if self.0 { Verdict::Violated(wrong()) } else { Verdict::holds() })
        }
    }

    impl Oracle for Stalls {
        fn info(&self) -> OracleInfo {
            OracleInfo {
                name: "stalls",
                needs_contract: false,
                needs_server: false,
                default: false,
                help: "",
            }
        }

        fn open<'a>(&self, seen: &'a Execution) -> Box<dyn Conversation + 'a> {
            Box::new(Said(seen.trace.stalled))
        }
    }

    pub(crate) fn wrong() -> Violation {
        let fingerprint = Fingerprint {
            symptom: Symptom::WrongFinalState,
            cause: Cause::Unknown,
            statement: ShownBy::FinalState,
            level: None,
        };
        Violation { fingerprint, step: None, evidence: Box::default() }
    }

    pub(crate) fn execution(case: &Case, stalled: bool) -> Execution {
        let server = ServerInfo::bare(model::Product::Mysql, model::Version(vec![9, 7]));
        let trace = Trace { stalled, ..Trace::empty(server, Level::RepeatableRead) };
        Execution::new(case.clone(), trace)
    }

    /// Shows it under one condition only, and at most this often; the server dies under the first so many runs.
    struct Shows {
        under: Option<Condition>,
        times: u32,
        deaths: u32,
    }

    impl CleanRuns for Shows {
        fn rerun(&mut self, case: &Case, _: Level, reset: Reset) -> Option<Execution> {
            if self.deaths > 0 {
                self.deaths -= 1;
                let mut died = execution(case, false);
                died.trace.outcomes.push(model::Outcome::bare(Reply::ServerDied));
                return Some(died);
            }
            let condition = match (reset, case.title.as_str()) {
                (Reset::Purged, _) => Condition::Purged,
                (Reset::Rebuilt, _) => Condition::Rebuilt,
                (_, "leftovers") => Condition::Leftovers,
                _ => Condition::Truncated,
            };
            let either = matches!(condition, Condition::Truncated | Condition::Rebuilt);
            let fits = self.under == Some(condition) || self.under == Some(Condition::Clean) && either;
            let shows = fits && self.times > 0;
            self.times -= u32::from(shows);
            Some(execution(case, shows))
        }

        fn probe(&mut self, _: &Probe) -> Option<ProbeResult> {
            None
        }

        fn purges(&self) -> bool {
            true
        }
    }

    fn tried(under: Option<Condition>, times: u32, deaths: u32) -> Option<Condition> {
        let seen = execution(&Case::default(), true);
        let leftovers = Some(Case { title: "leftovers".into(), ..Case::default() });
        let violation = wrong();
        let overrides = JudgeOverrides::default();
        let judge = Judge { oracle: &Stalls, overrides: &overrides };
        let suspicion = Suspicion { seen: &seen, judge, violation: &violation, leftovers };
        confirm(&mut Shows { under, times, deaths }, &suspicion, 3).map(|reproduction| reproduction.condition)
    }

    #[test]
    fn a_finding_is_noted_with_the_condition_under_which_it_came_back() {
        for condition in [Condition::Clean, Condition::Purged, Condition::Leftovers, Condition::Rebuilt] {
            assert_eq!(tried(Some(condition), 3, 0), Some(condition));
        }
        // Two clean runs, one of new tables that does not show it, and three more.
        assert_eq!(tried(Some(Condition::Truncated), 5, 0), Some(Condition::Truncated));
    }

    #[test]
    fn what_does_not_come_back_every_time_is_no_finding() {
        assert_eq!(tried(Some(Condition::Clean), 2, 0), None);
        assert_eq!(tried(None, 0, 0), None);
    }

    #[test]
    fn a_server_that_dies_is_no_vote_against_a_finding() {
        assert_eq!(tried(Some(Condition::Clean), 3, DEATHS), Some(Condition::Clean));
        assert_eq!(tried(None, 0, DEATHS), None);
    }
}
