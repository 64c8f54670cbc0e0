//! What the oracles said, a line each: how much held only by design or undocumented, what the twins showed, and why they could not
//! tell.

use std::{cmp::Reverse, collections::BTreeMap};

use model::{run::ByOracle, verdict::Justification};
use oracles::invariants::exemptions;
use report::findings::{share, thousands};

/// At most this many reasons are named.
const NAMED: usize = 4;

/// A line for each oracle that exempted something or could not tell.
pub fn lines(verdicts: &ByOracle) -> Vec<String> {
    let mut lines = Vec::new();
    for (oracle, said) in verdicts {
        let held = |undocumented: bool| -> Vec<(&str, u64)> {
            let by = said.by.iter().filter(|(by, _)| by.undocumented() == undocumented);
            by.map(|(by, count)| (name(by), *count)).collect()
        };
        let undecided = said.undecided.iter().map(|(reason, count)| (reason.name(), *count)).collect();
        let counts = [
            ("hold by design", said.holds_by_design, held(false)),
            ("undocumented", said.undocumented, held(true)),
            ("undecided", said.undecided(), undecided),
        ];
        let part = |(what, count, names): (&str, u64, Vec<(&str, u64)>)| {
            format!("{} {what} ({})", share(count, said.runs()), most(names, said.runs()))
        };
        let mut parts: Vec<String> =
            counts.into_iter().filter(|(_, count, _)| *count > 0).map(part).collect();
        for (of, counted) in [("twins", &said.twins), ("resumed scans", &said.paths)] {
            if counted.is_empty() {
                continue;
            }
            let mut sorted: Vec<_> = counted.iter().collect();
            sorted.sort_by_key(|(what, count)| (Reverse(**count), *what));
            let more = sorted.len().saturating_sub(NAMED);
            let mut named: Vec<String> = sorted
                .into_iter()
                .take(NAMED)
                .map(|(what, count)| format!("{what} {}", thousands(*count)))
                .collect();
            named.extend((more > 0).then(|| format!("{more} more")));
            parts.push(format!("{of}: {}", named.join(", ")));
        }
        if !parts.is_empty() {
            lines.push(format!("{oracle}: {}", parts.join(", ")));
        }
    }
    lines
}

/// The most frequent names with their shares.
fn most(counted: Vec<(&str, u64)>, of: u64) -> String {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    counted.into_iter().for_each(|(name, count)| *sums.entry(name).or_default() += count);
    let mut sorted: Vec<(&str, u64)> = sums.into_iter().collect();
    sorted.sort_by_key(|(name, count)| (Reverse(*count), *name));
    let mut named: Vec<String> =
        sorted.iter().take(NAMED).map(|(name, count)| format!("{name} {}", share(*count, of))).collect();
    if sorted.len() > NAMED {
        named.push(format!("{} more", sorted.len() - NAMED));
    }
    named.join(", ")
}

/// An exemption has words of its own, and what was accepted without certainty is not called by design.
fn name(by: &Justification) -> &str {
    match by {
        Justification::Exempt(by) => exemptions::of(*by).name,
        Justification::Uncertain(_) => "accepted without certainty",
        other => other.name(),
    }
}

#[cfg(test)]
mod tests {
    use model::{Reason, Verdict};

    use super::*;

    #[test]
    fn a_name_is_said_once() {
        let mut verdicts = ByOracle::new();
        let model = verdicts.entry("model".into()).or_default();
        for reason in [Reason::Hung, Reason::Unparsed] {
            model.add(&Verdict::Holds { by: [Justification::Uncertain(reason)].into() });
        }
        assert_eq!(lines(&verdicts), ["model: 100% hold by design (accepted without certainty 100%)"]);
    }

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
