//! The oracles by name.

use oracles::Oracle;

use crate::errors::Advised;

/// The names of all, in the order in which they judge.
pub const NAMES: [&str; 0] = [];

/// The oracles of these names.
pub fn named(names: &[String]) -> anyhow::Result<Vec<Box<dyn Oracle>>> {
    names
        .iter()
        .map(|name| {
            Err(Advised {
                message: format!("`{name}` is not an oracle"),
                advice: vec![format!("there are: {}", NAMES.join(", "))],
            }
            .into())
        })
        .collect()
}
