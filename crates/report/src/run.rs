//! A run as its summary needs it: what was hunted, what was found, and how good the cases were.

use std::collections::BTreeMap;

use model::{Level, Signature};

use crate::ready::Checklist;

/// A whole run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The name of its folder.
    pub name: String,
    /// The version of Isopod, the seed, the profile and the oracles.
    pub isopod: String,
    pub seed: String,
    /// The generator's profile.
    pub profile: String,
    /// Who judged.
    pub oracles: Vec<String>,
    /// Milliseconds of hunting.
    pub elapsed: u64,
    /// What the oracles were told instead of what is true; empty for nothing.
    pub judged_as: String,
    /// Lines of the log that could not be read.
    pub unreadable: usize,
    pub targets: Vec<Hunted>,
    /// The findings, folded, first found first.
    pub groups: Vec<Group>,
    /// When each finding was filed, in milliseconds of hunting.
    pub found_at: Vec<u64>,
    /// Cases done by then, over all targets: time and count.
    pub progress: Vec<(u64, u64)>,
}

/// A target.
#[derive(Clone, Debug, Default)]
pub struct Hunted {
    /// As it was asked for.
    pub target: String,
    /// Its exact version, if it ever came up.
    pub version: Option<String>,
    pub cases: u64,
    /// Of these, those with a conflict.
    pub conflicts: u64,
    /// Of these, those about which an oracle could not say anything.
    pub undecided: u64,
    /// Statements sent, those that waited, those that failed.
    pub statements: u64,
    /// Of these, those that waited.
    pub waits: u64,
    /// Of these, those that failed.
    pub failed: u64,
    /// Suspicions that no clean run showed again.
    pub flaky: u64,
    /// Cases by feature.
    pub features: BTreeMap<String, u64>,
    /// Cases by strategy, and how many of them conflicted.
    pub strategies: BTreeMap<String, (u64, u64)>,
    /// What could have shown: name, is it a family of known bugs, and in how many cases at each level that it exists at.
    pub chances: Vec<Chance>,
    /// Why nothing more was hunted there.
    pub lost: Option<String>,
}

/// How often something could have shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chance {
    pub name: String,
    /// Is it a family of known bugs? A phenomenon otherwise.
    pub family: bool,
    /// Cases, by level.
    pub cases: BTreeMap<Level, u64>,
}

/// Findings of one signature.
#[derive(Clone, Debug)]
pub struct Group {
    /// The finding that stands for it: the one with the smallest case.
    pub id: String,
    /// What its findings have in common.
    pub signature: Signature,
    /// The name under which it is known; none is new.
    pub known: Option<String>,
    /// What it behaves like, if it is new.
    pub like: Option<String>,
    pub title: String,
    /// One sentence.
    pub story: String,
    /// The rule that is broken, by its name.
    pub rule: String,
    /// Milliseconds of hunting before the first one.
    pub first_at: u64,
    /// Cases that showed it, counted or kept.
    pub cases: u64,
    /// How many statements the smallest case has.
    pub statements: usize,
    /// Cases by level.
    pub levels: BTreeMap<Level, u64>,
    /// The servers that showed it.
    pub servers: Vec<String>,
    /// All findings that are kept, as names.
    pub findings: Vec<String>,
    /// Is it ready to be filed? None if nobody has asked.
    pub ready: Option<Checklist>,
}

impl Run {
    /// Cases done, over all targets.
    pub fn cases(&self) -> u64 {
        self.targets.iter().map(|hunted| hunted.cases).sum()
    }

    /// A count, over all targets.
    pub fn sum(&self, of: impl Fn(&Hunted) -> u64) -> u64 {
        self.targets.iter().map(of).sum()
    }
}
