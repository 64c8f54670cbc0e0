//! From a suspicion to a finding: what the fast reset showed must come back from clean ones.
//!
//! A fast reset leaves delete-marked rows and old versions behind, and whatever the last case did to the server. What the clean
//! runs do not show is therefore tried under two more conditions before it is called flaky: with purge at work (a clean run
//! holds it back by an old read view), and with the leftovers written into the setup, where everybody can see them.

use dialect::Execution;
use execute::Reset;
use model::{Case, Condition, Verdict, Violation};

use crate::{clean_server::CleanRuns, panel::Judge};

pub fn reset(condition: Condition) -> Reset {
    match condition {
        Condition::Clean | Condition::Leftovers => Reset::Clean,
        Condition::Purged => Reset::Purged,
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
    let case: &Case = &suspicion.seen.case;
    let mut tries = vec![(case, Condition::Clean)];
    if runs.purges() {
        tries.push((case, Condition::Purged));
    }
    tries.extend(suspicion.leftovers.as_ref().map(|case| (case, Condition::Leftovers)));
    tries.into_iter().find_map(|(case, condition)| series(runs, suspicion, case, condition, times.max(1)))
}

/// Runs a case `times` times in a row; none if one of them does not show it.
pub fn series(
    runs: &mut dyn CleanRuns,
    suspicion: &Suspicion<'_>,
    case: &Case,
    condition: Condition,
    times: u32,
) -> Option<Reproduction> {
    let level = suspicion.seen.trace.level;
    let mut last = None;
    for _ in 0..times {
        let execution = runs.rerun(case, level, reset(condition))?;
        let verdict = suspicion.judge.verdict(&execution, runs);
        match verdict {
            Verdict::Violated(violation) if violation.fingerprint == suspicion.violation.fingerprint => {
                last = Some((execution, violation));
            }
            Verdict::Violated(_) | Verdict::Holds { .. } | Verdict::Undecided { .. } => return None,
        }
    }
    last.map(|(execution, violation)| Reproduction { execution, violation, condition, runs: [times; 2] })
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
            symptom: Symptom::Hang,
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

    /// Shows it under one condition only, and at most this often.
    struct Shows {
        under: Option<Condition>,
        times: u32,
    }

    impl CleanRuns for Shows {
        fn rerun(&mut self, case: &Case, _: Level, reset: Reset) -> Option<Execution> {
            let condition = match (reset, case.title.as_str()) {
                (Reset::Purged, _) => Condition::Purged,
                (_, "leftovers") => Condition::Leftovers,
                _ => Condition::Clean,
            };
            let shows = self.under == Some(condition) && self.times > 0;
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

    fn tried(under: Option<Condition>, times: u32) -> Option<Condition> {
        let seen = execution(&Case::default(), true);
        let leftovers = Some(Case { title: "leftovers".into(), ..Case::default() });
        let violation = wrong();
        let overrides = JudgeOverrides::default();
        let judge = Judge { oracle: &Stalls, overrides: &overrides };
        let suspicion = Suspicion { seen: &seen, judge, violation: &violation, leftovers };
        confirm(&mut Shows { under, times }, &suspicion, 3).map(|reproduction| reproduction.condition)
    }

    #[test]
    fn a_finding_is_noted_with_the_condition_under_which_it_came_back() {
        for condition in [Condition::Clean, Condition::Purged, Condition::Leftovers] {
            assert_eq!(tried(Some(condition), 3), Some(condition));
        }
    }

    #[test]
    fn what_does_not_come_back_every_time_is_no_finding() {
        assert_eq!(tried(Some(Condition::Clean), 2), None);
        assert_eq!(tried(None, 0), None);
    }
}
