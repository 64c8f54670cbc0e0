//! Families of what nothing explains: cases that are wrong in the same places, over the installed versions and all levels.

use std::collections::{BTreeMap, BTreeSet};

use campaign::{
    Panel,
    confirm::reset,
    matrix::{Column, Matrix},
    record::Recorded,
};
use model::Target;

use crate::{Everywhere, Lab, levels};

/// Where a case is wrong and where it is right; nothing where nobody can tell.
type Pattern = BTreeMap<(String, Column), bool>;

/// What was found out.
#[derive(Default)]
pub struct PlaceFamilies {
    /// For each of them the name of its family.
    pub names: Vec<String>,
    /// Where each family is wrong.
    pub places: BTreeMap<String, String>,
}

/// Runs all of them everywhere, and says which are of one family.
pub fn families(
    lab: &Lab<'_>,
    all: &[&Recorded],
    everywhere: Option<&Everywhere<'_>>,
) -> crate::Result<PlaceFamilies> {
    let mut targets: Vec<Target> = Vec::new();
    for recorded in all {
        // What is installed has its own server among it, with the exact version.
        let own = match everywhere {
            None => vec![recorded.finding.effective_target()],
            Some(places) => places(&recorded.execution.case)?,
        };
        targets.extend(own.into_iter().filter(|target| !targets.contains(target)).collect::<Vec<_>>());
    }
    let mut patterns = vec![Pattern::new(); all.len()];
    let mut progress = lab.job("where what nothing explains is wrong", targets.len() as u64);
    for target in &targets {
        if lab.stopped() {
            return Err("stopped before everything was run".into());
        }
        fill(lab, target, all, &mut patterns);
        progress.step();
    }
    drop(progress);
    Ok(named(patterns))
}

/// Two are one family if nowhere one of them is wrong and the other one right.
fn named(patterns: Vec<Pattern>) -> PlaceFamilies {
    let mut known: Vec<Pattern> = Vec::new();
    let mut found = PlaceFamilies::default();
    for pattern in patterns {
        let fits =
            |of: &Pattern| pattern.iter().all(|(place, wrong)| of.get(place).is_none_or(|is| is == wrong));
        let at = known.iter().position(fits).unwrap_or(known.len());
        if at == known.len() {
            known.push(Pattern::new());
        }
        known[at].extend(pattern);
        found.names.push(format!("new {}", at + 1));
    }
    for (at, pattern) in known.iter().enumerate() {
        found.places.insert(format!("new {}", at + 1), words(pattern));
    }
    found
}

/// Runs all of them on one server. One that does not come up says nothing.
fn fill(lab: &Lab<'_>, target: &Target, all: &[&Recorded], patterns: &mut [Pattern]) {
    let Ok(mut server) = lab.clean_server(target) else { return };
    for (recorded, pattern) in all.iter().zip(patterns) {
        let finding = &recorded.finding;
        let Some(panel) = Panel::of_one(&finding.oracle, finding.judged_as.clone()) else { continue };
        let (reset, found_at) = (reset(finding.condition), Some(finding.level));
        let matrix = Matrix { panel: &panel, times: 1, reset, found_at, first_only: true };
        for (column, cell) in matrix.run(&recorded.execution.case, &mut server, levels(target.product)) {
            match cell {
                Ok(cell) if cell.undecided == 0 => {
                    pattern.insert((target.to_string(), column), cell.wrong > 0);
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
}

/// `RR on mariadb@10.5.29, mysql@9.7.4`
fn words(pattern: &Pattern) -> String {
    let all: BTreeSet<&str> = pattern.keys().map(|(target, _)| target.as_str()).collect();
    let mut targets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for ((target, level), _) in pattern.iter().filter(|(_, wrong)| **wrong) {
        targets.entry(target).or_default().push(level.short());
    }
    let mut by_levels: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (target, levels) in targets {
        by_levels.entry(levels.join(" ")).or_default().push(target);
    }
    let part = |(levels, targets): (&String, &Vec<&str>)| {
        let rest: Vec<&str> = all.iter().copied().filter(|target| !targets.contains(target)).collect();
        match rest.len() {
            0 => format!("{levels} everywhere"),
            few if few < targets.len() => format!("{levels} everywhere but on {}", rest.join(", ")),
            _ => format!("{levels} on {}", targets.join(", ")),
        }
    };
    let parts: Vec<String> = by_levels.iter().map(part).collect();
    if parts.is_empty() { "nowhere at one level for all".into() } else { parts.join("; ") }
}

#[cfg(test)]
mod tests {
    use model::Level;

    use super::*;

    fn pattern(cells: &[(&str, Level, bool)]) -> Pattern {
        let cell = |(target, level, wrong): &(&str, Level, bool)| {
            ((target.to_string(), Column::Level(*level)), *wrong)
        };
        cells.iter().map(cell).collect()
    }

    #[test]
    fn one_family_is_wrong_in_the_same_places() {
        let (rc, rr) = (Level::ReadCommitted, Level::RepeatableRead);
        let found = named(vec![
            pattern(&[("a", rc, false), ("a", rr, true), ("b", rr, true)]),
            pattern(&[("a", rr, true), ("b", rr, true)]),
            pattern(&[("a", rr, true), ("b", rr, false)]),
            pattern(&[]),
        ]);
        assert_eq!(found.names, ["new 1", "new 1", "new 2", "new 1"]);
        assert_eq!(found.places["new 1"], "RR everywhere");
        assert_eq!(found.places["new 2"], "RR on a");
        let but = words(&pattern(&[("a", rr, true), ("b", rr, true), ("c", rr, false), ("a", rc, false)]));
        assert_eq!(but, "RR everywhere but on c");
    }
}
