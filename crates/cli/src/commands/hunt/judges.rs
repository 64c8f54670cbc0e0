//! The oracles by name.

use oracles::Oracle;

use crate::errors::Advised;

/// The oracles of these names; without any all that judge a run by itself.
pub fn named(names: &[String]) -> anyhow::Result<Vec<Box<dyn Oracle>>> {
    let mut all = oracles::all();
    if names.is_empty() {
        return Ok(all);
    }
    all.extend(oracles::playing());
    if let Some(wrong) = names.iter().find(|name| all.iter().all(|oracle| oracle.name() != name.as_str())) {
        let there: Vec<&str> = all.iter().map(|oracle| oracle.name()).collect();
        return Err(Advised {
            message: format!("`{wrong}` is not an oracle"),
            advice: vec![format!("the oracles: {}", there.join(", "))],
        }
        .into());
    }
    all.retain(|oracle| names.iter().any(|name| name == oracle.name()));
    Ok(all)
}

/// The oracles of these names; without any those that a hunt asks by default.
pub fn hunting(names: &[String]) -> anyhow::Result<Vec<Box<dyn Oracle>>> {
    let usual: Vec<String> = oracles::HUNTING.map(str::to_string).to_vec();
    named(if names.is_empty() { &usual } else { names })
}
