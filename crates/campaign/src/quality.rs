//! How good the cases are: how many conflicted, what failed, which features occurred, and what could have shown.
//!
//! [`Counter`] is given every case of a hunt with its trace; [`Quality`] is what it has counted. What takes more runs of a case, the comparison with serial orders, is in [`sample`](crate::sample).

use std::collections::{BTreeMap, BTreeSet};

use dialect::{Execution, ParsedCase};
use generate::Made;
use history::{History, StepInfo, refused_by_others};
use model::{Chance, ErrorClass, Level, Product, Quality, Trace, Verdict, run::EXAMPLES, schema::SetupData};
use oracles::{
    Oracle,
    opportunities::{self, OpportunityKind},
};
/// Waits are looked at in one case of this many: a number that has nothing to do with how many orders a set has.
const SAMPLED: u64 = 53;

pub struct Counter {
    /// Those that may be able to tell which waits nothing demands.
    oracles: Vec<Box<dyn Oracle>>,
    pub quality: Quality,
}

impl Default for Counter {
    fn default() -> Counter {
        Counter { oracles: oracles::without_server(), quality: Quality::default() }
    }
}

impl Counter {
    pub fn add(&mut self, made: &Made, case: &ParsedCase, trace: &Trace) {
        // What does not read as data has no keys that we know of.
        let unknown = SetupData::default();
        let setup = case.parsed_setup.data.as_ref().unwrap_or(&unknown);
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
            let seen = opportunity.levels(&history, setup);
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

/// From so many cases on, that something did not show says how rare it is.
const BOUNDS: u64 = 30;

/// The opportunities at every level at which they can exist on this product, those that never came included.
/// Where nobody could have judged it there are none; few cases bound no rate.
pub fn chances(quality: &Quality, product: Product) -> Vec<Chance> {
    if !dialect::contract::exists(product) {
        return Vec::new();
    }
    let mut chances = Vec::new();
    for opportunity in &opportunities::ALL {
        for &level in (opportunity.exists)(product) {
            let cases = quality.could_show(opportunity.name, level);
            let below = (cases >= BOUNDS).then(|| format!("3/{cases}"));
            let family = opportunity.sort == OpportunityKind::Family;
            chances.push(Chance { name: opportunity.name.to_string(), family, level, cases, below });
        }
    }
    chances
}
