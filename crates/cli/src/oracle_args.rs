//! The oracles by name, and what the help says of them.

use oracles::{Oracle, OracleInfo};

use crate::errors::Advised;

/// The oracles of these names; without any all that judge a stored trace.
pub fn named(names: &[String]) -> anyhow::Result<Vec<Box<dyn Oracle>>> {
    if names.is_empty() {
        return Ok(oracles::without_server());
    }
    oracles::named(names).map_err(|wrong| {
        let advice = vec![format!("the oracles: {}", list(|_| true))];
        Advised::new(format!("`{wrong}` is not an oracle"), advice).into()
    })
}

/// The oracles of these names; without any those that a hunt asks by default.
pub fn hunting(names: &[String]) -> anyhow::Result<Vec<Box<dyn Oracle>>> {
    if names.is_empty() { Ok(oracles::default_set()) } else { named(names) }
}

/// What `--oracle` says where a hunt's default set judges.
pub fn help_hunting() -> String {
    format!("Who judges, with commas: {}; by default {}", list(|_| true), list(|oracle| oracle.default))
}

/// What `--oracle` says where there is no server.
pub fn help_stored() -> String {
    format!("Who judges, with commas; by default those who need no server: {}", without_server())
}

/// One line for each oracle, for the end of a help page.
pub fn lines() -> String {
    let line = |oracle: OracleInfo| format!("\n  {:<11} {}", oracle.name, oracle.help);
    let lines: String = oracles::registry().iter().map(|oracle| line(oracle.info())).collect();
    format!("Oracles:{lines}")
}

pub fn without_server() -> String {
    list(|oracle| !oracle.needs_server)
}

pub fn with_server() -> String {
    list(|oracle| oracle.needs_server)
}

fn list(wanted: impl Fn(&OracleInfo) -> bool) -> String {
    let infos = oracles::registry().into_iter().map(|oracle| oracle.info());
    infos.filter(wanted).map(|info| info.name).collect::<Vec<_>>().join(", ")
}
