//! `isopod selftest oracles`: every bug that can be planted in Isopod's own engine must be found by a hunt, and the engine without a
//! bug must be hunted in silence.

pub mod forbids;

use std::{cell::RefCell, collections::BTreeMap, path::Path, time::Duration};

use campaign::events::FindingEvent;
use execute::{Placement, Reset, Runner};
use generate::Profile;
use model::{JudgeOverrides, Level, Seed, Target, Verdicts, Violation};
use reference::Bug;
use serde::Serialize;

use super::hunts::{Done, Hunt, complaints, filed};
use crate::Lab;

/// How the bugs are hunted.
pub struct Plan<'a> {
    pub seed: Seed,
    pub profile: &'a Profile,
    /// Who judges; the caller has checked the names. Empty for all.
    pub oracles: &'a [String],
    /// By default one for a bug, so that the first case that shows it is told, and one for each CPU without.
    pub workers: Option<u64>,
}

/// A statement of the engine that says nothing for so many seconds is hung; all others take microseconds.
const HUNG_AFTER: Duration = Duration::from_secs(1);

/// A bug, and what came of it.
#[derive(Serialize)]
pub struct Planted {
    pub bug: &'static str,
    pub levels: Vec<Level>,
    pub cases: u64,
    pub caught: bool,
    /// The number of the case that caught it, from 1.
    pub after: Option<u64>,
    pub oracle: Option<String>,
    pub fingerprint: Option<String>,
    pub violation: Option<Violation>,
    /// Findings before that are there without the bug, too: they catch nothing.
    pub others: u64,
    /// Suspicions that clean runs did not show.
    pub flaky: u64,
}

/// The engine without a bug.
#[derive(Serialize)]
pub struct Clean {
    pub level: Level,
    pub cases: u64,
    /// The number of the case, and what is said of it.
    pub findings: Vec<(u64, Violation)>,
    pub flaky: u64,
    pub verdicts: BTreeMap<String, Verdicts>,
}

#[derive(Default, Serialize)]
pub struct Figures {
    pub bugs: Vec<Planted>,
    pub clean: Vec<Clean>,
}

fn hunt(
    lab: &Lab<'_>,
    plan: &Plan<'_>,
    bug: Option<Bug>,
    levels: &[Level],
    cases: u64,
) -> crate::Result<Done> {
    let target = reference::target(bug);
    let cpus = execute::os::cpus().len().max(1) as u64;
    let without = Target { settings: Default::default(), ..target.clone() };
    // Nobody is pinned for it: the workers are made by this thread and would inherit that.
    let free = Placement { pin: false, realtime: false, cpu: None };
    let lab = &Lab { hung_after: HUNG_AFTER, ..*lab };
    let engine = lab.servers.open(&without, lab.options(Reset::Clean), free)?;
    let engine = RefCell::new(engine);
    let shows =
        |found: &FindingEvent, folder: &Path| without_it(&mut engine.borrow_mut(), bug, found, folder);
    let hunt = Hunt {
        target: &target,
        levels,
        cases,
        until_first: bug.is_some(),
        seed: plan.seed,
        profile: plan.profile,
        oracles: plan.oracles,
        judge_as: JudgeOverrides::default(),
        workers: plan.workers.unwrap_or(if bug.is_some() { 1 } else { cpus }),
        shows: &shows,
    };
    hunt.run(lab)
}

/// Is the finding gone when the bug is? One that stays is a mistake of the oracle, or of the engine, and catches nothing.
fn without_it(
    engine: &mut Runner,
    bug: Option<Bug>,
    found: &FindingEvent,
    folder: &Path,
) -> crate::Result<bool> {
    if bug.is_none() {
        return Ok(true);
    }
    let filed = filed(folder)?;
    let clean = engine.run(&filed.case, filed.trace.level)?;
    Ok(!complaints(&found.oracle, &clean).contains(&found.violation.fingerprint))
}

/// Plants a bug and hunts for it, in at most so many cases.
pub fn plant(
    lab: &Lab<'_>,
    plan: &Plan<'_>,
    bug: Bug,
    levels: Vec<Level>,
    cases: u64,
) -> crate::Result<Planted> {
    let done = hunt(lab, plan, Some(bug), &levels, cases)?;
    let tally = done.summary.total();
    let first = done.first.as_ref();
    Ok(Planted {
        bug: bug.name(),
        levels,
        cases: tally.cases,
        caught: first.is_some(),
        after: first.map(|found| found.case + 1),
        oracle: first.map(|found| found.oracle.clone()),
        fingerprint: first.map(|found| found.violation.fingerprint.to_string()),
        violation: first.map(|found| found.violation.clone()),
        others: done.others,
        flaky: tally.flaky,
    })
}

pub fn clean(lab: &Lab<'_>, plan: &Plan<'_>, level: Level, cases: u64) -> crate::Result<Clean> {
    let done = hunt(lab, plan, None, &[level], cases)?;
    let tally = done.summary.total();
    let found = |row: &model::FindingGroup| (row.smallest.case, row.smallest.violation.clone());
    let target = done.summary.targets.into_iter().next();
    Ok(Clean {
        level,
        cases: tally.cases,
        findings: done.summary.findings.iter().map(found).collect(),
        flaky: tally.flaky,
        verdicts: target.map(|hunted| hunted.quality.verdicts).unwrap_or_default(),
    })
}
