//! `isopod bench fold`: do signatures fold findings into their true groups?
//!
//! The findings are those of run folders, best of many seeds and targets. The signature of each is computed from its small case, as the
//! hunt does it; findings whose case was not reduced are left out and counted. The true family is found out without it, on new servers (`family`): by what explains the case as it was *before* it was
//! reduced, by the twin test there, and, where nothing explains it, by where it is wrong over all installed versions and
//! levels. No group may hold two families, and no family may be in more than two groups.

mod family;
mod places;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use campaign::{RunReader, record::Recorded};
use model::Signature;
use oracles::signature::signature;
use serde::Serialize;

use self::{family::Family, places::PlaceFamilies};
use crate::{Everywhere, Lab, Nothing, bench::FreshServers};

/// A signature, and which families are in its group.
#[derive(Debug, Serialize)]
pub struct Group {
    pub signature: Signature,
    /// The names of its findings, by family.
    pub families: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Serialize)]
pub struct Folding {
    pub seeds: usize,
    pub runs: usize,
    /// How many findings were folded.
    pub findings: usize,
    /// Findings whose case was not reduced, and which were left out.
    pub large: usize,
    /// Findings of which nobody can say what they are, because they did not come back.
    pub lost: Vec<String>,
    /// The groups, the largest first.
    pub groups: Vec<Group>,
    /// Where the families are wrong that nothing explains.
    pub places: BTreeMap<String, String>,
    /// Signatures that hold two families.
    pub mixed: Vec<String>,
    /// Families that are in more than two groups.
    pub split: Vec<String>,
}

/// Folds the findings of run folders, at most so many; nothing if the user asked to stop. `everywhere`: where a case that nothing
/// explains is run; without it only on its own server.
pub fn measure(
    lab: &Lab<'_>,
    runs: &[PathBuf],
    most: Option<u64>,
    everywhere: Option<&Everywhere<'_>>,
) -> crate::Result<Option<Folding>> {
    let pasts: Result<Vec<RunReader>, _> = runs.iter().map(|run| RunReader::read(run)).collect();
    let pasts = pasts.map_err(|error| Nothing::RunFolder(error.into()))?;
    let all = dealt(&pasts, most);
    if all.is_empty() {
        return Err(Nothing::Findings.into());
    }
    let mut progress = lab.job("judging afresh", all.len() as u64);
    let mut bench = FreshServers::new(lab, 1);
    let mut families = Vec::new();
    for recorded in &all {
        if lab.stopped() {
            return Ok(None);
        }
        families.push(bench.family(recorded)?);
        progress.step();
    }
    drop((progress, bench));
    let unexplained: Vec<&Recorded> = all
        .iter()
        .zip(&families)
        .filter(|(_, family)| **family == Family::New)
        .map(|(recorded, _)| *recorded)
        .collect();
    let patterns = places::families(lab, &unexplained, everywhere)?;
    let seeds: BTreeSet<String> = pasts.iter().map(|past| past.settings.seed.to_string()).collect();
    let large = pasts
        .iter()
        .flat_map(|past| &past.findings)
        .filter(|recorded| recorded.finding.reduced_from.is_none());
    let mut folding = folded(&all, &families, patterns);
    (folding.seeds, folding.runs, folding.large) = (seeds.len(), pasts.len(), large.count());
    Ok(Some(folding))
}

/// The findings of all runs, one of each run in turn.
fn dealt<'a>(pasts: &'a [RunReader], most: Option<u64>) -> Vec<&'a Recorded> {
    let most = most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let small = |past: &'a RunReader| -> Vec<&'a Recorded> {
        past.findings.iter().filter(|recorded| recorded.finding.reduced_from.is_some()).collect()
    };
    let runs: Vec<Vec<&Recorded>> = pasts.iter().map(small).collect();
    let longest = runs.iter().map(Vec::len).max().unwrap_or(0);
    let turns = (0..longest).flat_map(|at| runs.iter().filter_map(move |run| run.get(at).copied()));
    let mut all: Vec<&Recorded> = turns.take(most).collect();
    // One server after the other.
    all.sort_by_key(|recorded| recorded.finding.effective_target());
    all
}

fn folded(all: &[&Recorded], families: &[Family], patterns: PlaceFamilies) -> Folding {
    let mut names = patterns.names.into_iter();
    let mut groups: BTreeMap<Signature, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    let mut lost = Vec::new();
    for (recorded, family) in all.iter().zip(families) {
        let name = match family {
            Family::Lost => {
                lost.push(recorded.finding.id.clone());
                continue;
            }
            Family::Explained(names) => names.clone(),
            Family::New => names.next().unwrap_or_default(),
        };
        let product = recorded.execution.trace.server.product;
        let signature = signature(product, &recorded.execution.case, &recorded.finding.violation);
        let group = groups.entry(signature).or_default();
        group.entry(name).or_default().push(recorded.finding.id.clone());
    }
    let mut groups: Vec<Group> =
        groups.into_iter().map(|(signature, families)| Group { signature, families }).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.families.values().map(Vec::len).sum::<usize>()));
    let mixed = groups.iter().filter(|group| group.families.len() > 1);
    let homes = homes(&groups);
    Folding {
        seeds: 0,
        runs: 0,
        large: 0,
        findings: all.len() - lost.len(),
        mixed: mixed.map(|group| group.signature.to_string()).collect(),
        split: homes.iter().filter(|(_, groups)| **groups > 2).map(|(name, _)| name.to_string()).collect(),
        places: patterns.places,
        lost,
        groups,
    }
}

/// In how many groups each family is. Two at once are in the group of both as well as in their own.
pub fn homes(groups: &[Group]) -> BTreeMap<&str, usize> {
    let mut homes: BTreeMap<&str, usize> = BTreeMap::new();
    for group in groups {
        let each: BTreeSet<&str> = group.families.keys().flat_map(|family| family.split('+')).collect();
        each.into_iter().for_each(|family| *homes.entry(family).or_default() += 1);
    }
    homes
}
