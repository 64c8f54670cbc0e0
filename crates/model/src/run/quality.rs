//! What the cases of a run were like, as plain data that adds up over workers and can be stored.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::verdicts::{self, ByOracle};
use crate::{ErrorClass, Level};

/// At most this many examples of what was not understood are kept.
pub const EXAMPLES: usize = 8;

/// Counts by level.
pub type ByLevel = BTreeMap<Level, u64>;

/// Cases, and how many of them showed a conflict in their trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    pub cases: u64,
    /// Those in which something waited or was refused because of another transaction.
    pub conflicting: u64,
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quality {
    /// Cases run.
    pub cases: u64,
    /// Cases in which a statement waited.
    pub waited: u64,
    /// Cases in which a statement was refused because of another transaction (deadlock, serialization failure and the like).
    pub refused: u64,
    /// Cases in which either happened.
    pub conflicting: u64,
    /// Statements sent.
    pub statements: u64,
    /// Statements that failed, by the class of their error.
    pub failed: BTreeMap<ErrorClass, u64>,
    /// The first few that the server did not understand: a mistake of ours. Error, then text.
    #[serde(default)]
    pub not_understood: BTreeSet<String>,
    /// Cases by level; one with several levels counts at each.
    pub levels: ByLevel,
    /// Cases by feature.
    pub features: BTreeMap<String, u64>,
    /// Cases by strategy.
    pub strategies: BTreeMap<String, Share>,
    /// Cases that could have shown it, by name and by the level of the session that would have seen it.
    pub opportunities: BTreeMap<String, ByLevel>,
    /// Which kinds of statement of two sessions met at a table, at which level.
    pub meetings: BTreeSet<(String, String, Level)>,
    /// Waits in some of the cases of which the model can tell whether something demands them.
    #[serde(default)]
    pub waits_told: u64,
    /// Those among them that nothing demands: over-restrictive.
    #[serde(default)]
    pub waits_extra: u64,
    /// What the oracles said of the first run of each case.
    #[serde(default)]
    pub verdicts: ByOracle,
}

impl Quality {
    /// Adds what another has counted.
    pub fn merge(&mut self, other: &Quality) {
        self.cases += other.cases;
        self.waited += other.waited;
        self.refused += other.refused;
        self.conflicting += other.conflicting;
        self.statements += other.statements;
        self.waits_told += other.waits_told;
        self.waits_extra += other.waits_extra;
        let room = EXAMPLES.saturating_sub(self.not_understood.len());
        self.not_understood.extend(other.not_understood.iter().take(room).cloned());
        add(&mut self.failed, &other.failed);
        add(&mut self.levels, &other.levels);
        add(&mut self.features, &other.features);
        for (name, share) in &other.strategies {
            let mine = self.strategies.entry(name.clone()).or_default();
            mine.cases += share.cases;
            mine.conflicting += share.conflicting;
        }
        for (name, levels) in &other.opportunities {
            add(self.opportunities.entry(name.clone()).or_default(), levels);
        }
        self.meetings.extend(other.meetings.iter().cloned());
        verdicts::merge(&mut self.verdicts, &other.verdicts);
    }

    /// How many cases could have shown this at this level.
    pub fn could_show(&self, name: &str, level: Level) -> u64 {
        self.opportunities.get(name).and_then(|levels| levels.get(&level)).copied().unwrap_or_default()
    }
}

pub(super) fn add<K: Ord + Clone>(sum: &mut BTreeMap<K, u64>, more: &BTreeMap<K, u64>) {
    more.iter().for_each(|(key, count)| *sum.entry(key.clone()).or_default() += count);
}

/// A line of the list of opportunities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chance {
    /// What could have shown.
    pub name: String,
    /// Is it a family of known bugs? A phenomenon otherwise.
    pub family: bool,
    pub level: Level,
    /// In how many cases.
    pub cases: u64,
    /// If it has never shown in n opportunities, its rate is below 3/n with 95% confidence: n of that, none without any.
    pub below: Option<String>,
}
