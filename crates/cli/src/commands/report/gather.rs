//! From the folder of a run to what its report shows: findings with the story of their rows, folded by signature, and the counts.

use std::collections::{BTreeMap, BTreeSet};

use campaign::{
    Event, Filed, Past,
    fold::{Folded, fold},
    past::Kept,
    quality::{Quality, chances},
};
use dialect::Execution;
use model::{Level, Target};
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
pub fn gather(past: &Past) -> Told {
    let mut findings: Vec<Finding> = past.findings.iter().map(|kept| finding(past, kept)).collect();
    let groups = groups(past, &findings);
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
    let run = run(past, groups);
    Told { run, findings }
}

fn finding(past: &Past, kept: &Kept) -> Finding {
    let Kept { filed, case, text, trace, aftermath, .. } = kept;
    let mut target = filed.target.clone();
    target.settings.extend(filed.drawn.clone());
    let seen = Execution::looked_after(case.clone(), trace.clone(), aftermath.clone());
    // The rows are told as the oracles were told it.
    let shown = filed.judged_as.apply(&seen);
    let account =
        Mvcc::default().told_for_people(&shown, filed.violation.step).map_err(|why| why.to_string());
    Finding {
        id: filed.id.clone(),
        known: past.name(filed).known,
        isopod: past.settings.isopod.clone(),
        target: target.to_string(),
        server: trace.server.clone(),
        origin: (filed.seed.to_string(), filed.case),
        level: filed.violation.fingerprint.level.unwrap_or(filed.level),
        oracle: filed.oracle.clone(),
        violation: filed.violation.clone(),
        sources: oracles::mvcc::source,
        judged_as: filed.judged_as.to_string(),
        condition: filed.condition.words().to_string(),
        runs: filed.runs,
        reduced_from: filed.reduced_from,
        at: filed.at,
        case: case.clone(),
        case_file: text.clone(),
        trace: trace.clone(),
        aftermath: aftermath.clone(),
        account,
        replay: filed.replay(&past.path),
        seen: Vec::new(),
        elsewhere: Vec::new(),
        ready: None,
    }
}

fn groups(past: &Past, findings: &[Finding]) -> Vec<Group> {
    let filed: Vec<&Filed> = past.findings.iter().map(|kept| &kept.filed).collect();
    let group = |folded: Folded<'_>| {
        let smallest = folded.smallest();
        let best = findings.iter().find(|one| one.id == smallest.id)?;
        let ids: Vec<String> = folded.members.iter().map(|one| one.id.clone()).collect();
        let of = |one: &&Finding| ids.contains(&one.id);
        let servers: BTreeSet<String> = findings.iter().filter(of).map(Finding::server_name).collect();
        Some(Group {
            id: best.id.clone(),
            known: best.known.clone(),
            like: folded.name.like.clone(),
            signature: folded.signature.clone(),
            title: best.title(),
            story: best.words().story(),
            rule: best.violation.fingerprint.label(),
            first_at: folded.first_at(),
            cases: folded.cases(),
            statements: best.case.steps.len(),
            levels: folded.levels(),
            servers: servers.into_iter().collect(),
            findings: ids,
            ready: None,
        })
    };
    fold(&filed, &past.counted(), &|one| past.name(one)).into_iter().filter_map(group).collect()
}

fn run(past: &Past, groups: Vec<Group>) -> Run {
    let settings = &past.settings;
    let targets = settings.targets.iter().enumerate().map(|(at, hunted)| {
        let tally = &past.tallies[at];
        let quality = &past.qualities[at];
        Hunted {
            target: hunted.target.to_string(),
            version: past.servers[at].as_ref().map(|info| info.version.to_string()),
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
            chances: could_show(quality, &hunted.target),
            lost: lost(past, &hunted.target),
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
        elapsed: past.elapsed,
        judged_as: settings.judge_as.to_string(),
        unreadable: past.unreadable,
        targets: targets.collect(),
        groups,
        found_at: past.findings.iter().map(|kept| kept.filed.at).collect(),
        progress: progress(past),
    }
}

fn could_show(quality: &Quality, target: &Target) -> Vec<Chance> {
    let mut all: Vec<Chance> = Vec::new();
    for chance in chances(quality, target.product) {
        match all.iter_mut().find(|known| known.name == chance.name) {
            Some(known) => {
                known.cases.insert(chance.level, chance.cases);
            }
            None => all.push(Chance {
                name: chance.name.to_string(),
                family: chance.family,
                cases: [(chance.level, chance.cases)].into(),
            }),
        }
    }
    all
}

fn lost(past: &Past, target: &Target) -> Option<String> {
    past.events.iter().rev().find_map(|said| match &said.event {
        Event::Lost { target: of, reason } if of == target => Some(reason.clone()),
        _ => None,
    })
}

/// Cases done over all targets, whenever one of them was counted.
fn progress(past: &Past) -> Vec<(u64, u64)> {
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
    points.push((past.elapsed, past.tallies.iter().map(|tally| tally.cases).sum()));
    points
}
