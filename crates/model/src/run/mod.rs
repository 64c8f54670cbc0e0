//! A whole hunt, across its resumes: what it came to.

mod quality;
mod tally;
pub mod verdicts;

pub use quality::{ByLevel, Chance, EXAMPLES, Quality, Share};
pub use tally::{LINE, Tally};
pub use verdicts::{ByOracle, Verdicts};

use serde::{Deserialize, Serialize};

use crate::{FindingGroup, JudgeOverrides, Seed, Target};

/// What a hunt came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The version of Isopod.
    pub isopod: String,
    pub seed: Seed,
    /// The generator's profile, by name.
    pub profile: String,
    /// The short hash of its text.
    pub profile_hash: String,
    /// The hash of what the reduction began with, if it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<String>,
    /// The oracles, by name.
    pub oracles: Vec<String>,
    /// What they were told instead of what is true.
    #[serde(default, skip_serializing_if = "JudgeOverrides::is_empty")]
    pub judged_as: JudgeOverrides,
    /// Where everything is kept.
    pub folder: String,
    pub elapsed_ms: u64,
    /// None while it goes on, and after it was killed.
    pub ending: Option<Ending>,
    pub targets: Vec<TargetSummary>,
    /// What was found, first found first.
    pub findings: Vec<FindingGroup>,
    /// How often an entry of the user's folder of known ones was looked at, once for each target.
    pub looked: u64,
    /// Those that did not come back.
    pub stale: Vec<Stale>,
    /// Was there no time to compare everything?
    pub cut_short: bool,
}

/// A target of the hunt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetSummary {
    pub target: Target,
    /// Its exact version, if it ever came up.
    pub version: Option<String>,
    pub tally: Tally,
    /// What its cases were like.
    pub quality: Quality,
    /// What could have shown, how often.
    pub chances: Vec<Chance>,
    /// Why it was abandoned, if it was.
    pub lost: Option<String>,
}

/// An entry of the user's folder of known findings that did not come back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stale {
    pub name: String,
    pub target: Target,
    /// In how many runs.
    pub runs: u32,
}

/// Why a hunt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The budget is used up.
    Budget,
    /// The user asked.
    Asked,
    /// No target is left that works.
    Nothing,
}

impl RunSummary {
    /// Findings that are not known, without those that a fresh server did not show.
    pub fn new_ones(&self) -> impl Iterator<Item = &FindingGroup> {
        self.findings.iter().filter(|group| group.is_new())
    }

    /// Everything that was counted, over all targets.
    pub fn total(&self) -> Tally {
        let mut sum = Tally::default();
        self.targets.iter().for_each(|hunted| sum.add(&hunted.tally));
        sum
    }
}
