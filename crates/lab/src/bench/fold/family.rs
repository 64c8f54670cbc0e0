//! The true family of a finding, found out without its signature.
//!
//! The case before it was reduced is run once more on a new server and judged by an oracle that remembers nothing, so its twin
//! is always asked. What explains it there is what the small case must be explained by, too. Where nothing explained the large
//! one and something does the small one, the large one must be right without what that needs; else it is something else beside it.

use campaign::{CleanRuns, Panel, record::Recorded};
use dialect::Execution;
use execute::Reset;
use model::{Case, Verdict};
use oracles::{
    Oracle,
    mvcc::{self, Mvcc, deviations::KnownDeviation},
};

use crate::bench::FreshServers;

/// What a finding is.
#[derive(Debug, PartialEq, Eq)]
pub enum Family {
    /// The known deviations that explain it.
    Explained(String),
    /// Nothing explains it.
    New,
    /// It did not come back.
    Lost,
}

/// What is said of a case.
enum Explanation {
    By(Vec<&'static KnownDeviation>),
    Unexplained(Box<Execution>, Option<usize>),
    Nothing,
}

impl FreshServers<'_> {
    pub fn family(&mut self, recorded: &Recorded) -> crate::Result<Family> {
        let original = recorded.original.as_ref().unwrap_or(recorded.execution.case.case());
        let (before, after) =
            (self.said(recorded, original)?, self.said(recorded, &recorded.execution.case)?);
        let words =
            |by: &[&'static KnownDeviation]| by.iter().map(|by| by.name).collect::<Vec<_>>().join("+");
        Ok(match (before, after) {
            (Explanation::Nothing, _) | (_, Explanation::Nothing) => Family::Lost,
            (Explanation::By(large), Explanation::By(small)) => {
                let within = small.iter().all(|by| large.contains(by));
                let drifted = if within { String::new() } else { format!(", from {}", words(&large)) };
                Family::Explained(words(&small) + &drifted)
            }
            (Explanation::By(large), Explanation::Unexplained(..)) => {
                Family::Explained(format!("unexplained, from {}", words(&large)))
            }
            (Explanation::Unexplained(seen, wrong), Explanation::By(small)) => {
                let beside = if self.is_cause(recorded, &seen, wrong, &small)? { "" } else { "new, beside " };
                Family::Explained(format!("{beside}{}", words(&small)))
            }
            (Explanation::Unexplained(..), Explanation::Unexplained(..)) => Family::New,
        })
    }

    fn said(&mut self, recorded: &Recorded, case: &Case) -> crate::Result<Explanation> {
        let Some((seen, verdict)) = self.judge(&recorded.finding, case)? else {
            return Ok(Explanation::Nothing);
        };
        Ok(match verdict {
            Verdict::Violated(violation) => match mvcc::named(&violation.fingerprint) {
                Some(by) => Explanation::By(by),
                None => Explanation::Unexplained(Box::new(seen), violation.step),
            },
            Verdict::Holds { .. } | Verdict::Undecided { .. } => Explanation::Nothing,
        })
    }

    /// Is the large case right without what the known deviation needs, at one of its statements?
    fn is_cause(
        &mut self,
        recorded: &Recorded,
        seen: &Execution,
        wrong: Option<usize>,
        by: &[&'static KnownDeviation],
    ) -> crate::Result<bool> {
        let panel = Panel::of_one(&recorded.finding.oracle, recorded.finding.judged_as.clone());
        let (Some(judge), &[by]) = (panel.as_ref().and_then(Panel::first), by) else { return Ok(false) };
        let server = self.server(&recorded.finding.effective_target())?;
        let mut holds = |case: &Case| {
            let run = server.rerun(case, recorded.finding.level, Reset::Clean);
            let run = run.filter(|run| !run.trace.stalled);
            run.is_some_and(|run| match judge.verdict(&run, server) {
                // Something else may be wrong in a large case; what was is not.
                Verdict::Violated(other) => other.step != wrong,
                Verdict::Holds { .. } => true,
                Verdict::Undecided { .. } => false,
            })
        };
        let model = Mvcc::default();
        Ok(model.twins(seen, by, wrong).iter().any(|(_, twin)| holds(twin)))
    }
}
