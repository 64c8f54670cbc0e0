//! `isopod selftest levels`: real servers as planted bugs. What ran at one level is judged as if it had run at the next one, or on
//! another version, or with another setting; the oracles must find out.

use generate::Profile;
use model::{JudgeOverrides, Level, Seed, Target};
use serde::Serialize;

use super::hunts::{Hunt, complaints, filed};
use crate::Lab;

/// How the lies are told.
pub struct Plan<'a> {
    /// For each lie.
    pub cases: u64,
    /// Stop each hunt at the first finding.
    pub first: bool,
    pub seed: Seed,
    pub profile: &'a Profile,
    /// Who judges; the caller has checked the names. Empty for all.
    pub oracles: &'a [String],
    pub workers: u64,
}

/// One lie, and what came of it.
#[derive(Serialize)]
pub struct Lie {
    pub target: String,
    pub server: String,
    pub ran_at: Vec<Level>,
    pub judged_as: String,
    pub cases: u64,
    /// The number of the first case that a finding was made of, from 1.
    pub after: Option<u64>,
    /// Milliseconds of hunting before it.
    pub millis: Option<u64>,
    pub oracle: Option<String>,
    pub fingerprint: Option<String>,
    /// Cases in which an oracle called something violated; of several oracles the one with most.
    pub violated: u64,
    /// Cases of findings that are new under the lie.
    pub new: u64,
    pub undecided: u64,
    /// Findings before the first one that are there without the lie, too.
    pub others: u64,
    /// Suspicions that clean runs did not show.
    pub flaky: u64,
}

/// Which lies there are for a target: these, or each level as the next one.
pub fn planned(judge_as: &[JudgeOverrides], target: &Target) -> Vec<(Vec<Level>, JudgeOverrides)> {
    let has = dialect::of(target.product).levels;
    if !judge_as.is_empty() {
        let overrides = judge_as.iter().cloned().fold(JudgeOverrides::default(), JudgeOverrides::and);
        return vec![(has.to_vec(), overrides)];
    }
    let pairs = has.windows(2).map(|pair| (vec![pair[0]], JudgeOverrides::of_level(pair[1])));
    pairs.collect()
}

pub fn tell(
    lab: &Lab<'_>,
    plan: &Plan<'_>,
    target: &Target,
    levels: &[Level],
    overrides: JudgeOverrides,
) -> crate::Result<Lie> {
    let hunt = Hunt {
        target,
        levels,
        cases: plan.cases,
        until_first: plan.first,
        seed: plan.seed,
        profile: plan.profile,
        oracles: plan.oracles,
        judge_as: overrides.clone(),
        workers: plan.workers,
        // Whatever an oracle says of the true run, it does not say because of the lie. But another version need not have what
        // is known of this one: if that is new under the lie, the lie is found out.
        shows: &|found, folder| {
            let mut of_the_truth = complaints(&found.oracle, &filed(folder)?);
            if found.known.is_none() && overrides.version.is_some() {
                of_the_truth.retain(|print| oracles::mvcc::known(print).is_none());
            }
            Ok(of_the_truth.is_empty())
        },
    };
    let done = hunt.run(lab)?;
    let hunted = &done.summary.targets[0];
    let verdicts = hunted.quality.verdicts.values();
    let version = hunted.version.clone().unwrap_or_default();
    let first = done.first.as_ref();
    Ok(Lie {
        target: target.to_string(),
        server: format!("{} {version}", target.product),
        ran_at: levels.to_vec(),
        judged_as: overrides.to_string(),
        cases: hunted.tally.cases,
        after: first.map(|found| found.case + 1),
        millis: first.and_then(|found| {
            let row = done.summary.findings.iter().find(|row| row.findings.contains(&found.id));
            row.map(|row| row.found_after_ms)
        }),
        oracle: first.map(|found| found.oracle.clone()),
        fingerprint: first.map(|found| found.violation.fingerprint.to_string()),
        violated: verdicts.map(|verdicts| verdicts.violations()).max().unwrap_or(0),
        new: done.summary.new_ones().map(|row| row.cases).sum(),
        undecided: hunted.tally.undecided,
        others: done.others,
        flaky: hunted.tally.flaky,
    })
}
