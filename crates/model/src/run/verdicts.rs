//! What an oracle said over many runs, counted: how often it held and by which exemptions, what it called violated, and why it
//! could not tell.

use std::{borrow::Borrow, collections::BTreeMap};

use serde::{Deserialize, Serialize};

use super::quality::add;
use crate::{Reason, Verdict, verdict::Justification};

/// What one oracle said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdicts {
    /// Runs in which nothing is wrong.
    pub holds: u64,
    /// Of these, those that need an exemption that a manual gives, and no other.
    pub holds_by_design: u64,
    /// Of these, those that need what is measured and promised nowhere: neither wrong nor by design.
    #[serde(default, alias = "unpromised")]
    pub undocumented: u64,
    /// Runs that need an exemption, by its name; one that needs several counts at each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by: BTreeMap<Justification, u64>,
    /// Runs in which something is wrong, by fingerprint.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub violated: BTreeMap<String, u64>,
    /// What came of the twins of those that a known deviation explains.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub twins: BTreeMap<String, u64>,
    /// Whether a scan that went on after a wait, where one explains them, was proved by the server's plan.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub paths: BTreeMap<String, u64>,
    /// Runs about which it could not tell, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub undecided: BTreeMap<Reason, u64>,
}

/// What each oracle said, by its name.
pub type ByOracle = BTreeMap<String, Verdicts>;

impl Verdicts {
    pub fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Holds { by } => {
                self.holds += 1;
                let undocumented = by.iter().any(Justification::undocumented);
                self.undocumented += u64::from(undocumented);
                self.holds_by_design += u64::from(!by.is_empty() && !undocumented);
                by.iter().for_each(|one| bump(&mut self.by, one));
            }
            Verdict::Violated(violation) => {
                bump(&mut self.violated, violation.fingerprint.to_string().as_str());
                if let Some(twin) = &violation.evidence.twin {
                    bump(&mut self.twins, twin.name().as_str());
                }
                if let Some(path) = &violation.evidence.access_path {
                    bump(&mut self.paths, path.name().as_str());
                }
            }
            Verdict::Undecided { reason } => *self.undecided.entry(*reason).or_default() += 1,
        }
    }

    /// Adds what another has counted.
    pub fn merge(&mut self, other: &Verdicts) {
        self.holds += other.holds;
        self.holds_by_design += other.holds_by_design;
        self.undocumented += other.undocumented;
        add(&mut self.violated, &other.violated);
        add(&mut self.twins, &other.twins);
        add(&mut self.paths, &other.paths);
        add(&mut self.by, &other.by);
        add(&mut self.undecided, &other.undecided);
    }

    /// Runs that it called violated.
    pub fn violations(&self) -> u64 {
        self.violated.values().sum()
    }

    /// Runs about which it could not tell.
    pub fn undecided(&self) -> u64 {
        self.undecided.values().sum()
    }

    /// Runs that it was shown.
    pub fn runs(&self) -> u64 {
        self.holds + self.violations() + self.undecided()
    }
}

/// Adds what others have counted, oracle by oracle.
pub fn merge(sum: &mut ByOracle, more: &ByOracle) {
    more.iter().for_each(|(name, verdicts)| sum.entry(name.clone()).or_default().merge(verdicts));
}

/// Counts one; the name is copied only where it is new.
fn bump<N: ToOwned<Owned: Borrow<N> + Ord> + Ord + ?Sized>(counts: &mut BTreeMap<N::Owned, u64>, name: &N) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => drop(counts.insert(name.to_owned(), 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_is_counted_once_and_each_exemption_by_name() {
        let mut verdicts = Verdicts::default();
        let documented = |name: &str| Justification::Documented(name.into());
        let by = |names: &[&str]| Verdict::Holds { by: names.iter().map(|name| documented(name)).collect() };
        for verdict in
            [by(&[]), by(&["a", "b", "a"]), by(&["b"]), Verdict::Undecided { reason: Reason::Unparsed }]
        {
            verdicts.add(&verdict);
        }
        let mut twice = verdicts.clone();
        twice.merge(&verdicts);
        assert_eq!((verdicts.runs(), verdicts.holds, verdicts.holds_by_design), (4, 3, 2));
        assert_eq!(
            (
                verdicts.by[&documented("a")],
                verdicts.by[&documented("b")],
                verdicts.undecided[&Reason::Unparsed]
            ),
            (1, 2, 1)
        );
        assert_eq!((twice.runs(), twice.by[&documented("b")]), (8, 4));
        // What is promised nowhere is no design.
        let by = [documented("a"), Justification::Undocumented("c".into())].into();
        verdicts.add(&Verdict::Holds { by });
        assert_eq!((verdicts.holds, verdicts.holds_by_design, verdicts.undocumented), (4, 2, 1));
    }
}
