//! What a hunt came to, as plain data: the table of findings, the counts, and how it ended.

use std::collections::BTreeMap;

use model::{Fingerprint, Level, Seed, ShownBy, Signature, Symptom, Target};
use serde::Serialize;

use crate::{
    HuntError,
    events::Ending,
    filing::Filed,
    fold::{Again, Folded, Name, fold},
    hunt::{Campaign, Group},
    quality::{Chance, Quality, chances},
    tally::Tally,
    triage::{Stale, Triage},
};

/// A whole run, across resumes.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The seed.
    pub seed: Seed,
    /// The profile, by name.
    pub profile: String,
    /// The short hash of its text.
    pub profile_hash: String,
    /// The hash of what the reduction began with, if it was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learned: Option<String>,
    /// The oracles, by name.
    pub oracles: Vec<String>,
    /// Where everything is kept.
    pub folder: String,
    /// Milliseconds of hunting.
    pub elapsed: u64,
    /// How it ended.
    pub ending: Ending,
    /// Each target.
    pub targets: Vec<Hunted>,
    /// What was found, first found first.
    pub findings: Vec<Row>,
    /// How often an entry of the user's folder of known ones was looked at, once for each target.
    pub looked: u64,
    /// Those that did not come back.
    pub stale: Vec<Stale>,
    /// Was there no time to compare everything?
    pub cut_short: bool,
}

/// A target of the hunt.
#[derive(Clone, Debug, Serialize)]
pub struct Hunted {
    /// The target.
    pub target: Target,
    /// Its exact version, if it ever came up.
    pub version: Option<String>,
    /// What was counted.
    pub tally: Tally,
    /// What its cases were like.
    pub quality: Quality,
    /// What could have shown, how often.
    pub chances: Vec<Chance>,
    /// Was it given up?
    pub lost: bool,
}

/// Findings of one signature, at whatever level and on whatever target.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The name of the smallest one.
    pub id: String,
    /// Where it was seen.
    pub targets: Vec<Target>,
    /// The name under which it is known.
    pub known: Option<String>,
    /// What it behaves like, if it is new.
    pub like: Option<String>,
    /// What they have in common.
    pub signature: Signature,
    /// Of the smallest one: what is wrong.
    pub kind: Symptom,
    /// What is behind it: the rule that is broken, or what explains it.
    pub rule: String,
    /// What shows it.
    pub statement: ShownBy,
    /// The levels that show it, weakest first.
    pub levels: Vec<Level>,
    /// Milliseconds of hunting before the first one.
    pub first_at: u64,
    /// Cases that showed it.
    pub cases: u64,
    /// Of these, those that clean runs confirmed and that are filed: their names, first found first.
    pub filed: Vec<String>,
    /// The smallest one, whole.
    pub smallest: Filed,
}

/// What was counted.
pub(crate) struct Counted {
    pub tallies: Vec<Tally>,
    pub lost: Vec<bool>,
    pub groups: BTreeMap<(usize, Fingerprint), Group>,
    pub qualities: Vec<Quality>,
    pub triage: Triage,
}

impl Summary {
    pub(crate) fn new(
        campaign: &Campaign<'_>,
        ending: Ending,
        elapsed: u64,
        counted: Counted,
    ) -> Result<Summary, HuntError> {
        let settings = &campaign.settings;
        let findings = rows(campaign, &counted)?;
        let targets = settings.targets.iter().zip(counted.qualities).enumerate();
        let hunted = targets.map(|(at, (target, quality))| Hunted {
            chances: chances(&quality, target.target.product),
            quality,
            target: target.target.clone(),
            version: campaign.folder.server(at).map(|info| info.version.to_string()),
            tally: counted.tallies[at],
            lost: counted.lost[at],
        });
        Ok(Summary {
            seed: settings.seed,
            profile: settings.profile.clone(),
            profile_hash: settings.profile_hash.clone(),
            learned: settings.learned.as_ref().map(|learned| learned.hash.clone()),
            oracles: settings.oracles.clone(),
            folder: campaign.folder.path().display().to_string(),
            elapsed,
            ending,
            targets: hunted.collect(),
            findings,
            looked: counted.triage.looked,
            stale: counted.triage.stale,
            cut_short: counted.triage.cut_short,
        })
    }

    /// Findings that are not known.
    pub fn new_ones(&self) -> impl Iterator<Item = &Row> {
        self.findings.iter().filter(|row| row.known.is_none())
    }

    /// Everything that was counted, over all targets.
    pub fn total(&self) -> Tally {
        let mut sum = Tally::default();
        self.targets.iter().for_each(|hunted| sum.add(&hunted.tally));
        sum
    }
}

fn rows(campaign: &Campaign<'_>, counted: &Counted) -> Result<Vec<Row>, HuntError> {
    let mut filed = campaign.folder.findings()?;
    filed.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
    let targets = &campaign.settings.targets;
    let again: Again = counted
        .groups
        .iter()
        .filter(|(_, group)| group.again > 0)
        .map(|((at, fingerprint), group)| ((targets[*at].target.clone(), fingerprint.clone()), group.again))
        .collect();
    // What is known is what this hunt was told, not what an earlier sitting of it was told.
    let name = |one: &Filed| match campaign.known.name(&one.signature()) {
        Some(name) => Name { known: Some(name), like: None },
        None => counted.triage.name(one),
    };
    let all: Vec<&Filed> = filed.iter().collect();
    Ok(fold(&all, &again, &name).into_iter().map(row).collect())
}

fn row(folded: Folded<'_>) -> Row {
    let smallest = folded.smallest().clone();
    let print = &smallest.violation.fingerprint;
    Row {
        id: smallest.id.clone(),
        targets: folded.targets().into_iter().cloned().collect(),
        kind: print.symptom,
        rule: print.label(),
        statement: print.statement,
        levels: folded.levels().into_keys().collect(),
        first_at: folded.first_at(),
        cases: folded.cases(),
        filed: folded.members.iter().map(|one| one.id.clone()).collect(),
        known: folded.name.known,
        like: folded.name.like,
        signature: folded.signature,
        smallest,
    }
}
