//! From the folder of a run to what its report shows: findings with the story of their rows, and when what came.

use std::collections::BTreeMap;

use campaign::{
    Event, RunReader,
    overrides::overridden,
    record::{Recorded, replay_elsewhere},
    triage::Comparison,
};
use model::{Level, Target};
use oracles::mvcc::Mvcc;
use report::{BugReport, Overview, bug_report::Seen, overview::ListedGroup};

/// Everything that a report shows.
pub struct ReportData {
    pub run: Overview,
    /// First found first.
    pub bugs: Vec<BugReport>,
}

pub fn gather(run: &RunReader) -> ReportData {
    let mut bugs: Vec<BugReport> = run.findings.iter().map(|recorded| bug(run, recorded)).collect();
    let mut summary = run.summary();
    let mut groups = Vec::new();
    for group in std::mem::take(&mut summary.findings) {
        let mut counts: BTreeMap<(String, Level), u64> = BTreeMap::new();
        let mut members: Vec<&mut BugReport> =
            bugs.iter_mut().filter(|bug| group.findings.contains(&bug.finding.id)).collect();
        for bug in &members {
            *counts.entry((bug.server_name(), bug.finding.shown_at())).or_default() += 1;
        }
        let seen = counts.into_iter().map(|((server, level), findings)| Seen { server, level, findings });
        let seen: Vec<Seen> = seen.collect();
        members.iter_mut().for_each(|bug| bug.seen.clone_from(&seen));
        let smallest = members.iter().find(|bug| bug.finding.id == group.id);
        let title = smallest.map(|bug| bug.title()).unwrap_or_default();
        groups.push(ListedGroup { group, title, ready: None });
    }
    let path = &run.path;
    let name = path.file_name().map_or(path.display().to_string(), |name| name.to_string_lossy().into());
    let run = Overview {
        name,
        date: run.settings.started.clone(),
        hunt: run.settings.command(),
        summary,
        unreadable: run.unreadable,
        groups,
        found_after_ms: run.findings.iter().map(|recorded| recorded.finding.found_after_ms).collect(),
        progress: progress(run),
    };
    ReportData { run, bugs }
}

fn bug(run: &RunReader, Recorded { finding, execution, .. }: &Recorded) -> BugReport {
    // The rows are told as the oracles were told it.
    let shown = overridden(&finding.judged_as, execution);
    let account = Mvcc::default().told_for_people(&shown, finding.violation.step);
    let mut finding = finding.clone();
    finding.known = match run.triage.name(&finding) {
        Comparison::Known(name) => Some(name),
        Comparison::Resembles(_) | Comparison::New => None,
    };
    BugReport {
        replay: replay_elsewhere(&finding, &format!("{}.iso", finding.id)),
        finding,
        execution: execution.clone(),
        isopod: run.settings.isopod.clone(),
        date: run.settings.started.clone(),
        hunt: run.settings.command(),
        sources: oracles::mvcc::source,
        account: account.map_err(|why| why.to_string()),
        seen: Vec::new(),
        elsewhere: Vec::new(),
        ready: None,
    }
}

/// Cases done over all targets, whenever one of them was counted.
fn progress(run: &RunReader) -> Vec<(u64, u64)> {
    let mut last: BTreeMap<&Target, u64> = BTreeMap::new();
    let mut points: Vec<(u64, u64)> = Vec::new();
    for said in &run.events {
        if let Event::Progress { target, tally } = &said.event {
            last.insert(target, tally.cases);
            let sum = last.values().sum();
            match points.last_mut() {
                Some((at, count)) if *at == said.at => *count = sum,
                _ => points.push((said.at, sum)),
            }
        }
    }
    let all = (0..run.progress.len()).map(|target| run.tally(target).cases).sum();
    points.push((run.elapsed_ms, all));
    points
}
