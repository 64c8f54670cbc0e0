//! What strategies have learned about operations: plain counts, which can be kept in a file and begun with again.

use std::{cmp::Ordering, collections::BTreeMap};

use serde::{Deserialize, Serialize};

/// What is known of each operation, by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Learned(BTreeMap<String, Record>);

/// What is known of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// How many candidates were tried.
    pub tried: u64,
    /// How many of them worked.
    pub worked: u64,
    /// Its weight among the others.
    pub weight: u64,
}

/// Weights lie between these, so that nothing is ever given up or certain.
const LEAST: u64 = 50;
const MOST: u64 = 2000;

impl Default for Record {
    fn default() -> Record {
        Record { tried: 0, worked: 0, weight: (LEAST + MOST) / 2 }
    }
}

impl Record {
    /// Which of two has the larger mean of all its trials; nothing tried is nothing gained.
    pub fn mean_to(&self, other: &Record) -> Ordering {
        let mine = u128::from(self.worked) * u128::from(other.tried.max(1));
        let theirs = u128::from(other.worked) * u128::from(self.tried.max(1));
        mine.cmp(&theirs)
    }
}

impl Learned {
    pub fn of(&self, operation: &str) -> Record {
        self.0.get(operation).copied().unwrap_or_default()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Record)> {
        self.0.iter().map(|(name, record)| (name.as_str(), record))
    }

    /// One more trial.
    pub fn add(&mut self, operation: &str, worked: bool) {
        let record = self.0.entry(operation.to_string()).or_default();
        record.tried += 1;
        record.worked += u64::from(worked);
        let weight = record.weight.clamp(LEAST, MOST);
        record.weight = if worked { weight + (MOST - weight) / 4 } else { weight - (weight - LEAST) / 8 };
    }
}
