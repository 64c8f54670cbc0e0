//! Where else the findings of a run are wrong: the smallest case of each signature on every installed server, at every level.

use std::collections::BTreeMap;

use campaign::Panel;
use model::JudgeOverrides;
use report::{
    bug_report::{BugReport, Elsewhere},
    overview::ListedGroup,
};

use crate::{
    Everywhere, Lab,
    places::{Attempt, HEADS, PlaceResult, word},
};

/// How often in each place.
const RUNS: u64 = 3;

/// Tries the findings that are chosen, one of a signature, and notes it with every finding of the signature. Gives the tables, by the
/// finding that was tried.
pub fn fill(
    lab: &Lab<'_>,
    (groups, findings): (&[ListedGroup], &mut [BugReport]),
    places: &Everywhere<'_>,
    chosen: impl Fn(&ListedGroup) -> Option<String>,
) -> crate::Result<BTreeMap<String, Vec<PlaceResult>>> {
    let panel = Panel::new(oracles::default_set(), JudgeOverrides::default());
    let mut all = BTreeMap::new();
    for listed in groups {
        let Some(id) = chosen(listed) else { continue };
        let Some(best) = findings.iter().find(|one| one.finding.id == id) else { continue };
        let attempt = Attempt { panel: &panel, runs: RUNS, found_at: Some(best.execution.trace.level) };
        let rows =
            attempt.everywhere(lab, &best.execution.case, &places(&best.execution.case)?, &best.title());
        let table = table(&rows);
        for one in findings.iter_mut().filter(|one| listed.group.findings.contains(&one.finding.id)) {
            one.elsewhere.clone_from(&table);
        }
        all.insert(id, rows);
    }
    Ok(all)
}

/// A server that could not be asked is left out.
fn table(rows: &[PlaceResult]) -> Vec<Elsewhere> {
    let asked: Vec<&PlaceResult> = rows.iter().filter(|row| row.refused.is_none()).collect();
    let there = |head: &&str| asked.iter().any(|row| row.levels.contains_key(head));
    let heads: Vec<&str> = HEADS.into_iter().filter(there).collect();
    let levels = |row: &PlaceResult| {
        heads.iter().map(|head| (head.to_string(), word(row.levels.get(head)))).collect::<Vec<_>>()
    };
    asked.iter().map(|row| Elsewhere { server: row.target.clone(), levels: levels(row) }).collect()
}
