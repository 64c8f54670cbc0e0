//! `isopod bench reduce`: how small findings get, how many candidates that takes with each strategy, and whether they stay the
//! same bug.
//!
//! The cases are those of run folders, as they were before they were made smaller. Every strategy reduces all of them, one after
//! the other, and what it learns it keeps from one to the next. In the end originals and reduced cases are run once more on a new
//! server and judged afresh: the known deviation that explains one must explain the other. For comparison the same is done without
//! the fingerprint, where any complaint will do.

pub mod figures;
pub mod listings;
mod one;

use std::{collections::BTreeMap, path::PathBuf};

use campaign::{
    Filed,
    folder::{read_case, read_json},
};
use model::{Case, Seed, Target};
use reduce::{Learned, strategy::Kind};

use self::{
    figures::{Figures, Strategies},
    one::{Bench, Made},
};
use crate::{Lab, Nothing};

/// What is measured.
pub struct Plan<'a> {
    /// Run folders.
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

/// A finding that is to be made smaller.
pub struct Finding {
    pub filed: Filed,
    pub target: Target,
    pub case: Case,
}

impl Finding {
    /// The known family, or the rule that is broken.
    pub fn family(&self) -> String {
        let print = &self.filed.violation.fingerprint;
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
    for finding in &findings {
        let mut row = Strategies::new();
        for strategy in &mut strategies {
            if lab.stopped() {
                return Ok(None);
            }
            row.push((strategy.name(), bench.reduce(finding, strategy.as_mut())?));
            progress.step();
        }
        let loose = if plan.quick { None } else { Some(bench.without_fingerprint(finding)?) };
        if loose.is_some() {
            progress.step();
        }
        figures.add(finding, &row);
        let first = row.into_iter().next().and_then(|(_, made)| made);
        made.push((first, loose.flatten()));
    }
    drop(progress);
    drift(lab, plan, &findings, &made, &mut figures)?;
    let reduced = findings.iter().zip(made);
    let reduced = reduced.filter_map(|(finding, (made, _))| Some((finding.filed.id.clone(), made?.case)));
    Ok(Some((figures, reduced.collect())))
}

/// Judges originals and reduced cases afresh.
fn drift(
    lab: &Lab<'_>,
    plan: &Plan<'_>,
    findings: &[Finding],
    made: &[(Option<Made>, Option<Made>)],
    figures: &mut Figures,
) -> crate::Result<()> {
    let mut bench = Bench::new(lab, plan.candidates);
    for (finding, (kept, loose)) in findings.iter().zip(made) {
        let before = bench.explained(finding, &finding.case)?;
        if let Some(kept) = kept {
            figures.drift.count(&finding.filed.id, &before, &bench.explained(finding, &kept.case)?);
        }
        if let Some(loose) = loose {
            let after = bench.explained(finding, &loose.case)?;
            figures.drift_without_fingerprint.count(&finding.filed.id, &before, &after);
        }
    }
    Ok(())
}

/// The findings of all runs, families in turn, and within a family the runs.
fn load(plan: &Plan<'_>) -> crate::Result<Vec<Finding>> {
    let mut by_family: BTreeMap<String, BTreeMap<usize, Vec<Finding>>> = BTreeMap::new();
    for (number, run) in plan.runs.iter().enumerate() {
        let folder = run.join("findings");
        let mut names: Vec<PathBuf> = std::fs::read_dir(&folder)
            .map_err(|error| Nothing::RunFolder(format!("{}: {error}", folder.display()).into()))?
            .flatten()
            .map(|entry| entry.path())
            .collect();
        names.sort();
        for name in names {
            let filed: Filed = read_json(&name.join("verdict.json"))?;
            let path =
                [name.join("original.iso"), name.join("case.iso")].into_iter().find(|path| path.exists());
            // What no case file can say cannot be read back.
            let Some(path) = path else { continue };
            let case = read_case(&path)?;
            let mut target = filed.target.clone();
            target.settings.extend(filed.drawn.clone());
            let finding = Finding { filed, target, case };
            by_family.entry(finding.family()).or_default().entry(number).or_default().push(finding);
        }
    }
    let most = plan.findings.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let runs_in_turn = |runs: BTreeMap<usize, Vec<Finding>>| in_turn(runs.into_values().collect());
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
