//! One finding reduced, or judged, on a server of its target.

use std::time::{Duration, Instant};

use campaign::{
    CleanRuns, Judge, Panel,
    confirm::{Suspicion, confirm, reset},
    reducing::{self, How as Reducing},
};
use execute::Reset;
use model::{Case, JudgeOverrides, Verdict};
use oracles::mvcc::Mvcc;
use reduce::{Budget, Scope, Strategy, reduce, strategy::InOrder};

use super::{Task, figures::Explained};
use crate::{Lab, bench::FreshServers};

/// This many clean runs in a row must show a finding, before and after.
const RUNS: u32 = 3;

/// What was made of a finding.
pub struct Made {
    pub case: Case,
    pub time: Duration,
    pub finished: bool,
    /// For each candidate: was it one of the layers that drop statements, and did it work?
    pub trials: Vec<(bool, bool)>,
}

/// The servers in use.
pub struct Bench<'a> {
    lab: &'a Lab<'a>,
    candidates: u64,
    servers: FreshServers<'a>,
}

impl<'a> Bench<'a> {
    pub fn new(lab: &'a Lab<'a>, candidates: u64) -> Bench<'a> {
        Bench { lab, candidates, servers: FreshServers::new(lab, usize::MAX) }
    }

    /// Reduces it; none if it does not come back at all.
    pub fn reduce(&mut self, task: &Task, strategy: &mut dyn Strategy) -> crate::Result<Option<Made>> {
        let (candidates, stop) = (self.candidates, self.lab.stop);
        let finding = &task.finding;
        let panel = Panel::of_one(&finding.oracle, finding.judged_as.clone());
        let Some(judge) = panel.as_ref().and_then(Panel::first) else { return Ok(None) };
        let server = self.servers.server(&task.target)?;
        let Some(seen) = server.rerun(&task.case, finding.level, Reset::Clean) else { return Ok(None) };
        let suspicion = Suspicion { seen: &seen, judge, violation: &finding.violation, leftovers: None };
        let Some(reproduction) = confirm(server, &suspicion, RUNS) else { return Ok(None) };
        let begun = Instant::now();
        let mut trials = Vec::new();
        let mut told = |trial: &reduce::Trial<'_>| {
            let first = matches!(trial.layer, "transactions" | "statements" | "pairs");
            trials.push((first, trial.worked));
        };
        let how = Reducing { candidates, strategy, over: &stop, told: &mut told };
        let done = reducing::reduce_finding(server, &suspicion, reproduction, how);
        let time = begun.elapsed();
        Ok(Some(Made {
            case: done.reproduction.execution.case.case().clone(),
            time,
            finished: done.finished,
            trials,
        }))
    }

    /// The same where any complaint of the model will do.
    pub fn without_fingerprint(&mut self, task: &Task) -> crate::Result<Option<Made>> {
        let budget = Budget { candidates: self.candidates };
        let (level, product) = (task.finding.level, task.target.product);
        let reset = reset(task.finding.condition);
        let server = self.servers.server(&task.target)?;
        let (model, overrides) = (Mvcc::default(), JudgeOverrides::default());
        let judge = Judge { oracle: &model, overrides: &overrides };
        let begun = Instant::now();
        let mut holds = |case: &Case| {
            let seen = server.rerun(case, level, reset);
            seen.is_some_and(|seen| matches!(judge.verdict(&seen, server), Verdict::Violated(_)))
        };
        if !holds(&task.case) {
            return Ok(None);
        }
        let done = reduce(&task.case, product, Scope::Whole, &mut holds, &mut InOrder, budget);
        let (time, finished) = (begun.elapsed(), done.finished);
        Ok(Some(Made { case: done.case, time, finished, trials: Vec::new() }))
    }

    /// What explains a case, judged afresh under the condition of the finding.
    pub fn explained(&mut self, task: &Task, case: &Case) -> crate::Result<Explained> {
        let Some((_, verdict)) = self.servers.judge(&task.finding, case)? else {
            return Ok(Explained::Not("not run".into()));
        };
        Ok(match verdict {
            Verdict::Violated(violation) => {
                let names = oracles::mvcc::named(&violation.fingerprint).unwrap_or_default();
                Explained::By(names.iter().map(|by| by.name.to_string()).collect())
            }
            Verdict::Holds { .. } => Explained::Not("nothing wrong".into()),
            Verdict::Undecided { reason } => Explained::Not(format!("undecided ({reason})")),
        })
    }
}
