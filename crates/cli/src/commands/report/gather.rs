//! From the folder of a run to what its report shows: findings with the story of their rows, folded by signature, and the counts.

use std::collections::BTreeMap;

use campaign::{
    Event, RunReader,
    overrides::overridden,
    record::{Recorded, replay_command},
    triage::Comparison,
};
use model::{FindingGroup, Level, RunSummary, Target, TargetSummary};
use oracles::mvcc::Mvcc;
use report::{
    Finding, Run,
    finding::Seen,
    run::{Chance, Group, Hunted},
};

/// Everything that a report shows.
pub struct Told {
    pub run: Run,
    /// The findings, first found first.
    pub findings: Vec<Finding>,
}

/// Puts everything together.
pub fn gather(past: &RunReader) -> Told {
    let mut findings: Vec<Finding> = past.findings.iter().map(|recorded| finding(past, recorded)).collect();
    let summary = past.summary();
    let groups = groups(&summary, &findings);
    for group in &groups {
        let mut seen: BTreeMap<(String, Level), u64> = BTreeMap::new();
        for one in findings.iter().filter(|one| group.findings.contains(&one.id)) {
            *seen.entry((one.server_name(), one.level)).or_default() += 1;
        }
        let seen: Vec<Seen> =
            seen.into_iter().map(|((server, level), findings)| Seen { server, level, findings }).collect();
        for one in findings.iter_mut().filter(|one| group.findings.contains(&one.id)) {
            one.seen.clone_from(&seen);
        }
    }
    let run = run(past, &summary, groups);
    Told { run, findings }
}

fn finding(past: &RunReader, Recorded { finding, execution, .. }: &Recorded) -> Finding {
    // The rows are told as the oracles were told it.
    let shown = overridden(&finding.judged_as, execution);
    let account =
        Mvcc::default().told_for_people(&shown, finding.violation.step).map_err(|why| why.to_string());
    Finding {
        id: finding.id.clone(),
        known: match past.triage.name(finding) {
            Comparison::Known(name) => Some(name),
            Comparison::Resembles(_) | Comparison::New => None,
        },
        isopod: past.settings.isopod.clone(),
        target: finding.effective_target().to_string(),
        server: execution.trace.server.clone(),
        origin: (finding.seed.to_string(), finding.case),
        level: finding.shown_at(),
        oracle: finding.oracle.clone(),
        violation: finding.violation.clone(),
        sources: oracles::mvcc::source,
        judged_as: finding.judged_as.to_string(),
        condition: finding.condition.words().to_string(),
        runs: finding.runs,
        reduced_from: finding.reduced_from,
        at: finding.found_after_ms,
        case: execution.case.case().clone(),
        case_file: model::casefile::print(&execution.case).ok(),
        trace: execution.trace.clone(),
        aftermath: execution.aftermath.clone(),
        account,
        replay: replay_command(finding, &past.path),
        seen: Vec::new(),
        elsewhere: Vec::new(),
        ready: None,
    }
}

fn groups(summary: &RunSummary, findings: &[Finding]) -> Vec<Group> {
    let group = |group: &FindingGroup| {
        let best = findings.iter().find(|one| one.id == group.id)?;
        Some(Group {
            id: group.id.clone(),
            known: group.known.clone(),
            like: group.resembles.clone(),
            signature: group.signature.clone(),
            title: best.title(),
            story: best.words().story(),
            rule: best.violation.fingerprint.cause.to_string(),
            first_at: group.found_after_ms,
            cases: group.cases,
            statements: group.smallest.statements,
            levels: group.levels.clone(),
            servers: group.servers.iter().cloned().collect(),
            findings: group.findings.clone(),
            ready: None,
        })
    };
    summary.findings.iter().filter_map(group).collect()
}

fn run(past: &RunReader, summary: &RunSummary, groups: Vec<Group>) -> Run {
    let settings = &past.settings;
    let targets = summary.targets.iter().map(|hunted| {
        let TargetSummary { target, version, tally, quality, lost, .. } = hunted;
        Hunted {
            target: target.to_string(),
            version: version.clone(),
            cases: tally.cases,
            conflicts: tally.conflicts,
            undecided: tally.undecided,
            statements: tally.statements,
            waits: tally.waits,
            failed: tally.failed,
            flaky: tally.flaky,
            features: quality.features.clone(),
            strategies: quality
                .strategies
                .iter()
                .map(|(name, share)| (name.clone(), (share.cases, share.conflicting)))
                .collect(),
            chances: could_show(hunted),
            lost: lost.clone(),
        }
    });
    let name =
        past.path.file_name().map_or(past.path.display().to_string(), |name| name.to_string_lossy().into());
    Run {
        name,
        isopod: settings.isopod.clone(),
        seed: settings.seed.to_string(),
        profile: settings.profile.clone(),
        oracles: settings.oracles.clone(),
        elapsed: past.elapsed_ms,
        judged_as: settings.judge_as.to_string(),
        unreadable: past.unreadable,
        targets: targets.collect(),
        groups,
        found_at: past.findings.iter().map(|recorded| recorded.finding.found_after_ms).collect(),
        progress: progress(past),
    }
}

fn could_show(hunted: &TargetSummary) -> Vec<Chance> {
    let mut all: Vec<Chance> = Vec::new();
    for chance in &hunted.chances {
        match all.iter_mut().find(|known| known.name == chance.name) {
            Some(known) => {
                known.cases.insert(chance.level, chance.cases);
            }
            None => all.push(Chance {
                name: chance.name.clone(),
                family: chance.family,
                cases: [(chance.level, chance.cases)].into(),
            }),
        }
    }
    all
}

/// Cases done over all targets, whenever one of them was counted.
fn progress(past: &RunReader) -> Vec<(u64, u64)> {
    let mut last: BTreeMap<&Target, u64> = BTreeMap::new();
    let mut points: Vec<(u64, u64)> = Vec::new();
    for said in &past.events {
        if let Event::Progress { target, tally } = &said.event {
            last.insert(target, tally.cases);
            let sum = last.values().sum();
            match points.last_mut() {
                Some((at, count)) if *at == said.at => *count = sum,
                _ => points.push((said.at, sum)),
            }
        }
    }
    let all = (0..past.progress.len()).map(|target| past.tally(target).cases).sum();
    points.push((past.elapsed_ms, all));
    points
}
