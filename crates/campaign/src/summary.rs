//! What a hunt came to, from what it has in memory or from its folder.

use std::path::Path;

use model::{Ending, Finding, Quality, RunSummary, ServerInfo, Tally, Target, TargetSummary};

use crate::{
    fold::{Again, add_replays, fold},
    quality::chances,
    record::Recorded,
    settings::Settings,
    triage::Triage,
};

/// What was counted and found.
pub(crate) struct Counted<'a> {
    pub settings: &'a Settings,
    pub folder: &'a Path,
    pub elapsed_ms: u64,
    pub ending: Option<Ending>,
    pub targets: Vec<TargetSummary>,
    /// First found first.
    pub findings: &'a [Recorded],
    pub again: &'a Again,
    pub triage: &'a Triage,
}

pub(crate) fn of_target(
    target: &Target,
    server: Option<&ServerInfo>,
    tally: Tally,
    quality: Quality,
    lost: Option<String>,
) -> TargetSummary {
    TargetSummary {
        target: target.clone(),
        version: server.map(|info| info.version.to_string()),
        tally,
        chances: chances(&quality, target.product),
        quality,
        lost,
    }
}

pub(crate) fn summarize(counted: Counted<'_>) -> RunSummary {
    let Counted { settings, targets, triage, .. } = counted;
    let findings: Vec<&Finding> = counted.findings.iter().map(|recorded| &recorded.finding).collect();
    let mut groups = fold(findings.iter().copied(), counted.again, &|one| triage.name(one));
    add_replays(&mut groups, &findings, triage);
    RunSummary {
        isopod: settings.isopod.clone(),
        seed: settings.seed,
        profile: settings.profile.clone(),
        profile_hash: settings.profile_hash.clone(),
        learned: settings.learned.as_ref().map(|learned| learned.hash.clone()),
        oracles: settings.oracles.clone(),
        judged_as: settings.judge_as.clone(),
        folder: counted.folder.display().to_string(),
        elapsed_ms: counted.elapsed_ms,
        ending: counted.ending,
        targets,
        findings: groups,
        looked: triage.looked,
        stale: triage.stale.clone(),
        cut_short: triage.cut_short,
    }
}
