//! What a hunt came to, from what it has in memory or from its folder.

use std::path::Path;

use model::{Ending, Quality, RunSummary, ServerInfo, Tally, TargetSummary};

use crate::{
    fold::{Again, fold},
    quality::chances,
    record::Recorded,
    settings::Settings,
    triage::Triage,
};

/// What was counted and found; what is of a target stands at its place among those of the settings.
pub(crate) struct Counted<'a> {
    pub settings: &'a Settings,
    pub folder: &'a Path,
    pub elapsed_ms: u64,
    pub ending: Option<Ending>,
    pub servers: &'a [Option<ServerInfo>],
    pub tallies: Vec<Tally>,
    pub qualities: Vec<Quality>,
    /// Why it was abandoned.
    pub lost: Vec<Option<String>>,
    /// First found first.
    pub findings: &'a [Recorded],
    pub again: &'a Again,
    pub triage: &'a Triage,
}

pub(crate) fn summarize(counted: Counted<'_>) -> RunSummary {
    let Counted { settings, servers, tallies, qualities, lost, triage, .. } = counted;
    let findings = counted.findings.iter().map(|recorded| &recorded.finding);
    let parts = tallies.into_iter().zip(qualities).zip(lost).zip(servers);
    let targets = settings.targets.iter().zip(parts);
    let targets = targets.map(|(hunted, (((tally, quality), lost), server))| TargetSummary {
        chances: chances(&quality, hunted.target.product),
        target: hunted.target.clone(),
        version: server.as_ref().map(|info| info.version.to_string()),
        tally,
        quality,
        lost,
    });
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
        targets: targets.collect(),
        findings: fold(findings, counted.again, &|one| triage.name(one)),
        looked: triage.looked,
        stale: triage.stale.clone(),
        cut_short: triage.cut_short,
    }
}
