//! Where else the findings of a run are wrong: the smallest case of each signature on every installed server, at every level.

use report::finding::Elsewhere;

use super::gather::Told;
use crate::{
    arguments::How,
    commands::{
        hunt::judges,
        where_else::{HEADS, Row, Tried, places, word},
    },
};

/// So often in each place.
const RUNS: u64 = 3;

/// Tries them, and notes it with every finding of the signature.
pub fn fill(told: &mut Told, how: &How) -> anyhow::Result<()> {
    let oracles = judges::hunting(&[])?;
    let tried = Tried { how, oracles: &oracles, runs: RUNS };
    for group in &told.run.groups {
        let Some(best) = told.findings.iter().find(|one| one.id == group.id) else { continue };
        let rows = tried.everywhere(&best.case, &places(&[], &best.case)?, &best.title())?;
        let table = table(&rows);
        for one in told.findings.iter_mut().filter(|one| group.findings.contains(&one.id)) {
            one.elsewhere.clone_from(&table);
        }
    }
    Ok(())
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
