//! What is counted.

use std::collections::{BTreeMap, BTreeSet};

use model::Condition;
use reduce::strategy::Kind;
use serde::Serialize;

use super::{Task, one::Made};

/// What each strategy made of one finding.
pub type Strategies = Vec<(&'static str, Option<Made>)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// Statements, those of the setup included, and what says that a session has no autocommit.
    pub statements: usize,
    /// Rows that the setup inserts.
    pub rows: usize,
    /// Characters of all statements.
    pub characters: usize,
}

impl Sizes {
    fn of(product: model::Product, case: &model::Case) -> Sizes {
        let size = reduce::Size::of(case);
        let rows = reduce::rows(product, case);
        Sizes { statements: size.steps + size.setup, rows, characters: size.bytes }
    }
}

/// One finding.
#[derive(Debug, Serialize)]
pub struct TaskFigures {
    pub id: String,
    pub seed: String,
    pub target: String,
    pub family: String,
    /// Does it come back only while purge is at work?
    pub purged: bool,
    pub before: Sizes,
    /// By strategy; none where it did not come back.
    pub after: BTreeMap<&'static str, Option<Sizes>>,
    /// Candidates tried and those that worked, by strategy.
    pub tried: BTreeMap<&'static str, (u64, u64)>,
    /// Seconds, by strategy.
    pub seconds: BTreeMap<&'static str, f64>,
    /// Is it certain that nothing more can be left out?
    pub finished: bool,
}

impl TaskFigures {
    /// What the default strategy made of it.
    pub fn made(&self) -> Option<Sizes> {
        self.after.get(Kind::InOrder.name()).copied().flatten()
    }

    /// How long that took.
    pub fn took(&self) -> Option<f64> {
        self.seconds.get(Kind::InOrder.name()).copied()
    }
}

/// Candidates and successes of a strategy, in the order in which they came.
#[derive(Debug, Default, Serialize)]
pub struct Share {
    /// In fifths of the findings: candidates, and those that worked.
    pub all: [(u64, u64); 5],
    /// The same for the layers that drop statements.
    pub statements: [(u64, u64); 5],
}

/// Did the explanation stay?
#[derive(Debug, Default, Serialize)]
pub struct Drift {
    pub same: u64,
    /// Those of which the original needs several known deviations, and the small case one of these.
    pub fewer: Vec<(String, String, String)>,
    /// The finding, what explained it, and what does now.
    pub other: Vec<(String, String, String)>,
    /// The findings whose originals showed nothing when they were judged afresh: there is nothing to compare with.
    pub gone: Vec<String>,
}

impl Drift {
    pub fn count(&mut self, id: &str, before: &Explained, after: &Explained) {
        let told = || (id.to_string(), before.to_string(), after.to_string());
        match (before, after) {
            (Explained::Not(_), _) => self.gone.push(id.to_string()),
            _ if before == after => self.same += 1,
            (Explained::By(all), Explained::By(some)) if !some.is_empty() && some.is_subset(all) => {
                self.fewer.push(told());
            }
            _ => self.other.push(told()),
        }
    }
}

/// What explains a case.
#[derive(Debug, PartialEq, Eq)]
pub enum Explained {
    /// These known deviations, by name; nothing, if there are none.
    By(BTreeSet<String>),
    /// Nothing is wrong, or it cannot be told.
    Not(String),
}

impl std::fmt::Display for Explained {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Explained::By(names) if names.is_empty() => f.write_str("none"),
            Explained::By(names) => f.write_str(&names.iter().cloned().collect::<Vec<_>>().join("+")),
            Explained::Not(why) => f.write_str(why),
        }
    }
}

#[derive(Debug, Default, Serialize)]
pub struct Figures {
    pub findings: Vec<TaskFigures>,
    #[serde(skip)]
    pub trials: Vec<BTreeMap<&'static str, Vec<(bool, bool)>>>,
    pub drift: Drift,
    pub drift_without_fingerprint: Drift,
}

impl Figures {
    pub fn add(&mut self, task: &Task, made: &Strategies) {
        let product = task.target.product;
        let of = |made: &Made| Sizes::of(product, &made.case);
        let count = |made: &Made| {
            let worked = made.trials.iter().filter(|(_, worked)| *worked).count();
            (made.trials.len() as u64, worked as u64)
        };
        let there = || made.iter().filter_map(|(name, made)| made.as_ref().map(|made| (*name, made)));
        self.findings.push(TaskFigures {
            id: task.finding.id.clone(),
            seed: task.finding.seed.to_string(),
            target: task.target.to_string(),
            family: task.family(),
            purged: task.finding.condition == Condition::Purged,
            before: Sizes::of(product, &task.case),
            after: made.iter().map(|(name, made)| (*name, made.as_ref().map(of))).collect(),
            tried: there().map(|(name, made)| (name, count(made))).collect(),
            seconds: there().map(|(name, made)| (name, made.time.as_secs_f64())).collect(),
            finished: there().all(|(_, made)| made.finished),
        });
        self.trials.push(there().map(|(name, made)| (name, made.trials.clone())).collect());
    }

    /// The strategies, in their order.
    pub fn strategies(&self) -> Vec<&'static str> {
        let all = Kind::ALL.map(Kind::name);
        all.into_iter().filter(|name| self.trials.iter().any(|row| row.contains_key(name))).collect()
    }

    /// Over time.
    pub fn share(&self, strategy: &str) -> Share {
        let mut share = Share::default();
        for (at, row) in self.trials.iter().enumerate() {
            let fifth = at * 5 / self.trials.len().max(1);
            for (statements, worked) in row.get(strategy).into_iter().flatten() {
                let add = |count: &mut (u64, u64)| {
                    count.0 += 1;
                    count.1 += u64::from(*worked);
                };
                add(&mut share.all[fifth]);
                if *statements {
                    add(&mut share.statements[fifth]);
                }
            }
        }
        share
    }
}
