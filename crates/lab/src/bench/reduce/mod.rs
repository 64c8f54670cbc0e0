//! `isopod bench reduce`: how small findings get, how many candidates that takes with each strategy, and whether they stay the
//! same bug.
//!
//! The cases are those of run folders, as they were before they were reduced. Every strategy reduces all of them, one after
//! the other, and what it learns it keeps from one to the next. In the end originals and reduced cases are run once more on a new
//! server and judged afresh: the known deviation that explains one must explain the other. For comparison the same is done without
//! the fingerprint, where any complaint will do.

pub mod figures;
pub mod listings;
mod one;

use std::{collections::BTreeMap, path::PathBuf};

use campaign::{RunReader, record::Recorded};
use model::{Case, Finding, Seed, Target};
use reduce::{Learned, strategy::Kind};

use self::{
    figures::{Figures, Strategies},
    one::{Bench, Made},
};
use crate::{Lab, Nothing};

pub struct Plan<'a> {
    pub runs: &'a [PathBuf],
    /// At most.
    pub findings: Option<u64>,
    /// Only the default strategy, and no drift without the fingerprint.
    pub quick: bool,
    /// At most, for each finding.
    pub candidates: u64,
    /// Where the chance of the strategies begins.
    pub seed: Seed,
}

/// The reduced cases of the first strategy, by the names of their findings.
pub type Reduced = Vec<(String, Case)>;

/// A finding whose case is to be reduced.
pub struct Task {
    pub finding: Finding,
    pub target: Target,
    pub case: Case,
}

impl Task {
    /// The known family, or the rule that is broken.
    pub fn family(&self) -> String {
        let print = &self.finding.violation.fingerprint;
        oracles::mvcc::known(print).unwrap_or_else(|| format!("{} {}", print.symptom, print.statement))
    }
}

/// Reduces them; nothing if the user asked to stop.
pub fn measure(lab: &Lab<'_>, plan: &Plan<'_>) -> crate::Result<Option<(Figures, Reduced)>> {
    let findings = load(plan)?;
    let kinds: &[Kind] = if plan.quick { &[Kind::InOrder] } else { &Kind::ALL };
    let mut strategies: Vec<_> = kinds.iter().map(|kind| kind.begin(plan.seed, Learned::default())).collect();
    let rounds = findings.len() as u64 * (kinds.len() as u64 + u64::from(!plan.quick));
    let mut progress = lab.job("reducing", rounds);
    let mut bench = Bench::new(lab, plan.candidates);
    let mut figures = Figures::default();
    let mut made = Vec::new();
    for task in &findings {
        let mut row = Strategies::new();
        for strategy in &mut strategies {
            if lab.stopped() {
                return Ok(None);
            }
            row.push((strategy.name(), bench.reduce(task, strategy.as_mut())?));
            progress.step();
        }
        let loose = if plan.quick { None } else { Some(bench.without_fingerprint(task)?) };
        if loose.is_some() {
            progress.step();
        }
        figures.add(task, &row);
        let first = row.into_iter().next().and_then(|(_, made)| made);
        made.push((first, loose.flatten()));
    }
    drop(progress);
    drift(lab, plan, &findings, &made, &mut figures)?;
    let reduced = findings.iter().zip(made);
    let reduced = reduced.filter_map(|(task, (made, _))| Some((task.finding.id.clone(), made?.case)));
    Ok(Some((figures, reduced.collect())))
}

/// Judges originals and reduced cases afresh.
fn drift(
    lab: &Lab<'_>,
    plan: &Plan<'_>,
    findings: &[Task],
    made: &[(Option<Made>, Option<Made>)],
    figures: &mut Figures,
) -> crate::Result<()> {
    let mut bench = Bench::new(lab, plan.candidates);
    for (task, (kept, loose)) in findings.iter().zip(made) {
        let before = bench.explained(task, &task.case)?;
        if let Some(kept) = kept {
            figures.drift.count(&task.finding.id, &before, &bench.explained(task, &kept.case)?);
        }
        if let Some(loose) = loose {
            let after = bench.explained(task, &loose.case)?;
            figures.drift_without_fingerprint.count(&task.finding.id, &before, &after);
        }
    }
    Ok(())
}

/// The findings of all runs, families in turn, and within a family the runs.
fn load(plan: &Plan<'_>) -> crate::Result<Vec<Task>> {
    let mut by_family: BTreeMap<String, BTreeMap<usize, Vec<Task>>> = BTreeMap::new();
    for (number, run) in plan.runs.iter().enumerate() {
        let run = RunReader::read(run).map_err(|error| Nothing::RunFolder(error.into()))?;
        let mut findings = run.findings;
        findings.sort_by(|a, b| a.finding.id.cmp(&b.finding.id));
        for Recorded { finding, execution, original } in findings {
            let case = original.unwrap_or_else(|| execution.case.case().clone());
            // What no case file can say cannot be read back.
            if model::casefile::print(&case).is_err() {
                continue;
            }
            let task = Task { target: finding.effective_target(), finding, case };
            by_family.entry(task.family()).or_default().entry(number).or_default().push(task);
        }
    }
    let most = plan.findings.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let runs_in_turn = |runs: BTreeMap<usize, Vec<Task>>| in_turn(runs.into_values().collect());
    let mut found = in_turn(by_family.into_values().map(runs_in_turn).collect());
    found.truncate(most);
    if found.is_empty() {
        return Err(Nothing::Findings.into());
    }
    Ok(found)
}

/// The first of each list, then the second of each, and so on.
fn in_turn<T>(lists: Vec<Vec<T>>) -> Vec<T> {
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    let mut found = Vec::new();
    loop {
        let before = found.len();
        lists.iter_mut().for_each(|list| found.extend(list.next()));
        if found.len() == before {
            return found;
        }
    }
}
