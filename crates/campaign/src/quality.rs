//! How good the cases are: how many conflicted, what failed, which features occurred, and what could have shown.
//!
//! [`Counter`] is given every case of a hunt with its trace; [`Quality`] is what it has counted, plain data that adds up over workers
//! and can be stored. What takes more runs of a case, the comparison with serial orders, is in [`sample`](crate::sample).

use std::collections::{BTreeMap, BTreeSet};

use dialect::{Execution, ParsedCase};
use generate::Made;
use history::{History, StepInfo, refused_by_others};
use model::{ErrorClass, Level, Product, Trace, Verdict, schema::SetupData};
use oracles::{
    Oracle,
    opportunities::{self, OpportunityKind},
};
use serde::{Deserialize, Serialize};

use crate::verdicts::{self, ByOracle};

/// Waits are looked at in one case of this many: a number that has nothing to do with how many orders a set has.
const SAMPLED: u64 = 53;

/// At most this many examples of what was not understood are kept.
const EXAMPLES: usize = 8;

/// Counts by level.
pub type ByLevel = BTreeMap<Level, u64>;

/// Cases, and how many of them showed a conflict in their trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// All of them.
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

fn add<K: Ord + Clone>(sum: &mut BTreeMap<K, u64>, more: &BTreeMap<K, u64>) {
    more.iter().for_each(|(key, count)| *sum.entry(key.clone()).or_default() += count);
}

/// Counts case after case.
pub struct Counter {
    /// Those that may be able to tell which waits nothing demands.
    oracles: Vec<Box<dyn Oracle>>,
    /// What it has counted.
    pub quality: Quality,
}

impl Default for Counter {
    fn default() -> Counter {
        Counter { oracles: oracles::without_server(), quality: Quality::default() }
    }
}

impl Counter {
    /// Adds a case and what came of it.
    pub fn add(&mut self, made: &Made, case: &ParsedCase, trace: &Trace) {
        // What does not read as data has no keys that we know of.
        let unknown = SetupData::default();
        let setup = case.schema.data.as_ref().unwrap_or(&unknown);
        let history = History::new(case, trace);
        let quality = &mut self.quality;
        quality.cases += 1;
        let (waited, refused) = conflict(trace);
        let conflicting = waited || refused;
        quality.waited += u64::from(waited);
        quality.refused += u64::from(refused);
        quality.conflicting += u64::from(conflicting);
        quality.statements += trace.rounds.len() as u64;
        for (step, outcome) in made.case.steps.iter().zip(&trace.outcomes) {
            let Some(error) = outcome.error() else { continue };
            *quality.failed.entry(error.class).or_default() += 1;
            if error.class == ErrorClass::Syntax && quality.not_understood.len() < EXAMPLES {
                quality.not_understood.insert(format!("{} · {}", error.message, step.sql));
            }
        }
        let levels: BTreeSet<Level> =
            history.transactions.iter().filter_map(|transaction| transaction.level).collect();
        levels.iter().for_each(|level| *quality.levels.entry(*level).or_default() += 1);
        for feature in &made.features {
            bump(&mut quality.features, feature);
        }
        let strategy = entry(&mut quality.strategies, made.strategy.name());
        strategy.cases += 1;
        strategy.conflicting += u64::from(conflicting);
        for opportunity in &opportunities::ALL {
            let seen = (opportunity.seen)(&history, setup);
            if !seen.is_empty() {
                let levels = entry(&mut quality.opportunities, opportunity.name);
                seen.iter().for_each(|level| *levels.entry(level).or_default() += 1);
            }
        }
        meet(&history, &mut quality.meetings);
    }

    /// Adds the waits of a case, if it is one of those in which they are counted.
    pub fn waits(&mut self, number: u64, seen: &Execution) {
        if number.is_multiple_of(SAMPLED)
            && let Some(waits) = self.oracles.iter().find_map(|oracle| oracle.waits(seen))
        {
            self.quality.waits_told += waits.told;
            self.quality.waits_extra += waits.extra;
        }
    }

    /// Adds what an oracle said of a case.
    pub fn said(&mut self, oracle: &str, verdict: &Verdict) {
        entry(&mut self.quality.verdicts, oracle).add(verdict);
    }
}

/// Did anything wait, and was anything refused because of another transaction?
pub fn conflict(trace: &Trace) -> (bool, bool) {
    let waited = trace.rounds.iter().any(|round| !round.waiting.is_empty());
    let refused =
        trace.outcomes.iter().filter_map(model::Outcome::error).any(|error| refused_by_others(error.class));
    (waited, refused)
}

fn bump(counts: &mut BTreeMap<String, u64>, name: &str) {
    *entry(counts, name) += 1;
}

/// Without a new string for a name that is there already.
fn entry<'a, V: Default>(map: &'a mut BTreeMap<String, V>, name: &str) -> &'a mut V {
    if !map.contains_key(name) {
        map.insert(name.to_string(), V::default());
    }
    map.get_mut(name).expect("it was put there")
}

/// Notes which kinds of statement met at a table while both transactions were open, one of them writing or locking.
fn meet(history: &History<'_>, meetings: &mut BTreeSet<(String, String, Level)>) {
    for (mine, other) in history.concurrent() {
        let Some(level) = mine.level else { continue };
        for one in history.steps_of(mine).filter_map(StepInfo::access) {
            for two in history.steps_of(other).filter_map(StepInfo::access) {
                let table = |t: &String| two.reads(t) || two.writes(t);
                let together = one.reads.iter().any(table) || one.writes.iter().any(table);
                let kinds = (one.lock_kind, two.lock_kind);
                if together && kinds.0 <= kinds.1 && kinds != ("select", "select") {
                    meetings.insert((kinds.0.to_string(), kinds.1.to_string(), level));
                }
            }
        }
    }
}

/// A line of the list of opportunities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chance {
    /// What could have shown.
    pub name: &'static str,
    /// Is it a family of known bugs? A phenomenon otherwise.
    pub family: bool,
    /// At which level.
    pub level: Level,
    /// In how many cases.
    pub cases: u64,
    /// If it has never shown in n opportunities, its rate is below 3/n with 95% confidence: n of that, none without any.
    pub below: Option<String>,
}

/// The opportunities at every level at which they can exist on this product, those that never came included.
pub fn chances(quality: &Quality, product: Product) -> Vec<Chance> {
    let mut chances = Vec::new();
    for opportunity in &opportunities::ALL {
        for &level in (opportunity.exists)(product) {
            let cases = quality.could_show(opportunity.name, level);
            let below = (cases > 0).then(|| format!("3/{cases}"));
            let family = opportunity.sort == OpportunityKind::Family;
            chances.push(Chance { name: opportunity.name, family, level, cases, below });
        }
    }
    chances
}
