//! Where else the findings of a run are wrong: the smallest case of each signature on every installed server, at every level.

use std::collections::BTreeMap;

use campaign::{JudgeOverrides, Panel};
use report::{
    finding::{Elsewhere, Finding},
    run::Group,
};

use super::gather::Told;
use crate::{
    arguments::How,
    commands::where_else::{Attempt, HEADS, Row, places, word},
    oracle_args,
};

/// How often in each place.
const RUNS: u64 = 3;

/// Tries the findings that are chosen, one of a signature, and notes it with every finding of the signature. Gives the tables, by the
/// finding that was tried.
pub fn fill(
    told: &mut Told,
    how: &How,
    chosen: impl Fn(&Group) -> Option<String>,
) -> anyhow::Result<BTreeMap<String, Vec<Row>>> {
    let panel = Panel::new(oracle_args::hunting(&[])?, JudgeOverrides::default());
    let mut all = BTreeMap::new();
    for group in &told.run.groups {
        let Some(id) = chosen(group) else { continue };
        let Some(best) = told.findings.iter().find(|one| one.id == id) else { continue };
        let tried = Attempt { how, panel: &panel, runs: RUNS, found_at: Some(best.trace.level) };
        let rows = everywhere(&tried, best)?;
        let table = table(&rows);
        for one in told.findings.iter_mut().filter(|one| group.findings.contains(&one.id)) {
            one.elsewhere.clone_from(&table);
        }
        all.insert(id, rows);
    }
    Ok(all)
}

fn everywhere(tried: &Attempt<'_>, finding: &Finding) -> anyhow::Result<Vec<Row>> {
    tried.everywhere(&finding.case, &places(&[], &finding.case)?, &finding.title())
}

/// A server that could not be asked is left out.
fn table(rows: &[Row]) -> Vec<Elsewhere> {
    let asked: Vec<&Row> = rows.iter().filter(|row| row.refused.is_none()).collect();
    let there = |head: &&str| asked.iter().any(|row| row.levels.contains_key(head));
    let heads: Vec<&str> = HEADS.into_iter().filter(there).collect();
    let levels = |row: &Row| {
        heads.iter().map(|head| (head.to_string(), word(row.levels.get(head)))).collect::<Vec<_>>()
    };
    asked.iter().map(|row| Elsewhere { server: row.target.clone(), levels: levels(row) }).collect()
}
