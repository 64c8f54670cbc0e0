//! What a hunt came to, as plain data: the table of findings, the counts, and how it ended.

use std::collections::BTreeMap;

use model::{Fingerprint, Level, Seed, Target};
use serde::Serialize;

use crate::{
    HuntError,
    events::Ending,
    filing::Filed,
    hunt::{Campaign, Group},
    quality::{Chance, Quality, chances},
    tally::Tally,
};

/// A whole run, over all sittings.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The seed.
    pub seed: Seed,
    /// The profile, by name.
    pub profile: String,
    /// The short hash of its text.
    pub profile_hash: String,
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

/// Findings of one target that look the same but for their level.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The name of the first one.
    pub id: String,
    /// The target.
    pub target: Target,
    /// The name under which it is known.
    pub known: Option<String>,
    /// Kind, rule and statement.
    pub kind: String,
    /// The rule that is broken.
    pub rule: String,
    /// The kind of statement that shows it.
    pub statement: String,
    /// The levels that show it, weakest first.
    pub levels: Vec<Level>,
    /// Milliseconds of hunting before the first one.
    pub first_at: u64,
    /// Cases that showed it.
    pub cases: u64,
    /// Of these, those that clean runs confirmed and that are filed.
    pub filed: u64,
    /// The first one, whole.
    pub first: Filed,
}

impl Summary {
    pub(crate) fn new(
        campaign: &Campaign<'_>,
        ending: Ending,
        elapsed: u64,
        tallies: &[Tally],
        lost: &[bool],
        groups: &BTreeMap<(usize, Fingerprint), Group>,
        qualities: Vec<Quality>,
    ) -> Result<Summary, HuntError> {
        let settings = &campaign.settings;
        let quarry = settings.quarry.iter().zip(qualities).enumerate();
        let hunted = quarry.map(|(at, (quarry, quality))| Hunted {
            chances: chances(&quality, quarry.target.product),
            quality,
            target: quarry.target.clone(),
            version: campaign.folder.server(at).map(|info| info.version.to_string()),
            tally: tallies[at],
            lost: lost[at],
        });
        Ok(Summary {
            seed: settings.seed,
            profile: settings.profile.clone(),
            profile_hash: settings.profile_hash.clone(),
            oracles: settings.oracles.clone(),
            folder: campaign.folder.path().display().to_string(),
            elapsed,
            ending,
            targets: hunted.collect(),
            findings: rows(campaign, groups)?,
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

impl Row {
    /// Is it of the same kind, at whatever level?
    fn is_of(&self, print: &Fingerprint) -> bool {
        (&self.kind, &self.rule, &self.statement) == (&print.kind, &print.rule, &print.statement)
    }
}

fn rows(
    campaign: &Campaign<'_>,
    groups: &BTreeMap<(usize, Fingerprint), Group>,
) -> Result<Vec<Row>, HuntError> {
    let mut filed = campaign.folder.findings()?;
    filed.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
    let mut rows: Vec<Row> = Vec::new();
    for one in filed {
        let print = &one.violation.fingerprint;
        // What is known is what this hunt was told, not what an earlier sitting of it was told.
        let known = campaign.known.name(print);
        let same = rows.iter_mut().find(|row| {
            row.target == one.target && row.known == known && (known.is_some() || row.is_of(print))
        });
        match same {
            Some(row) => {
                row.cases += 1;
                row.filed += 1;
                row.levels.extend(print.level);
            }
            None => rows.push(Row {
                id: one.id.clone(),
                target: one.target.clone(),
                known,
                kind: print.kind.clone(),
                rule: print.rule.clone(),
                statement: print.statement.clone(),
                levels: print.level.into_iter().collect(),
                first_at: one.at,
                cases: 1,
                filed: 1,
                first: one,
            }),
        }
    }
    for row in &mut rows {
        row.levels.sort_unstable();
        row.levels.dedup();
        let own = groups.iter().filter(|((at, print), _)| {
            campaign.settings.quarry[*at].target == row.target
                && campaign.known.name(print) == row.known
                && (row.known.is_some() || row.is_of(print))
        });
        row.cases += own.map(|(_, group)| group.again).sum::<u64>();
    }
    Ok(rows)
}
