//! What the oracles said, a line each: how much held only by design or undocumented, what the twins showed, and why they could not
//! tell.

use std::collections::BTreeMap;

use model::run::ByOracle;
use model::{Reason, verdict::Justification};
use oracles::invariants::exemptions;
use report::findings::{share, thousands};

/// At most this many reasons are named.
const NAMED: usize = 4;

/// A line for each oracle that exempted something or could not tell.
pub fn lines(verdicts: &ByOracle) -> Vec<String> {
    let mut lines = Vec::new();
    for (oracle, said) in verdicts {
        let runs = said.runs();
        let mut parts = Vec::new();
        let (undocumented, design): (BTreeMap<&Justification, u64>, BTreeMap<&Justification, u64>) =
            said.by.iter().map(|(by, count)| (by, *count)).partition(|(by, _)| by.undocumented());
        if said.holds_by_design > 0 {
            parts.push(format!(
                "{} hold by design ({})",
                share(said.holds_by_design, runs),
                most(&design, runs)
            ));
        }
        if said.undocumented > 0 {
            parts.push(format!(
                "{} undocumented ({})",
                share(said.undocumented, runs),
                most(&undocumented, runs)
            ));
        }
        if said.undecided() > 0 {
            parts.push(format!(
                "{} undecided ({})",
                share(said.undecided(), runs),
                most(&said.undecided, runs)
            ));
        }
        if !said.twins.is_empty() {
            let twins: Vec<String> =
                said.twins.iter().map(|(what, count)| format!("{what} {}", thousands(*count))).collect();
            parts.push(format!("twins: {}", twins.join(", ")));
        }
        if !parts.is_empty() {
            lines.push(format!("{oracle}: {}", parts.join(", ")));
        }
    }
    lines
}

/// The most frequent names with their shares.
fn most<K: Named>(counts: &BTreeMap<K, u64>, of: u64) -> String {
    let mut sorted: Vec<(&str, u64)> = counts.iter().map(|(by, count)| (by.name(), *count)).collect();
    sorted.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let mut named: Vec<String> =
        sorted.iter().take(NAMED).map(|(name, count)| format!("{name} {}", share(*count, of))).collect();
    if sorted.len() > NAMED {
        named.push(format!("{} more", sorted.len() - NAMED));
    }
    named.join(", ")
}

/// What is counted under a name.
trait Named {
    fn name(&self) -> &str;
}

impl Named for Reason {
    fn name(&self) -> &str {
        Reason::name(*self)
    }
}

impl Named for &Justification {
    /// An exemption has words of its own, and what was accepted without certainty is not called by design.
    fn name(&self) -> &str {
        match self {
            Justification::Exempt(by) => exemptions::of(*by).name,
            Justification::Uncertain(_) => "accepted without certainty",
            other => Justification::name(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Verdict;

    use super::*;

    #[test]
    fn a_line_says_what_counts_most_first() {
        let mut verdicts = ByOracle::new();
        verdicts.entry("crash".into()).or_default().add(&Verdict::holds());
        let model = verdicts.entry("model".into()).or_default();
        model.add(&Verdict::Holds { by: [Justification::Documented("skip".into())].into() });
        model.add(&Verdict::Holds { by: [Justification::Undocumented("savepoint".into())].into() });
        for (reason, times) in [("a", 1), ("b", 3), ("c", 1), ("d", 1), ("e", 1), ("f", 1)] {
            (0..times).for_each(|_| model.add(&Verdict::Undecided { reason: Reason::Expression(reason) }));
        }
        assert_eq!(
            lines(&verdicts),
            ["model: 10% hold by design (skip 10%), 10% undocumented (savepoint 10%), \
              80% undecided (b 30%, a 10%, c 10%, d 10%, 2 more)"]
        );
    }
}
