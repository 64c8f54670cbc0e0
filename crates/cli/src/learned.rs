//! What strategies have learned, as a file.

use std::{io::ErrorKind, path::Path};

use anyhow::Context;
use model::Seed;
use reduce::Learned;

/// Reads it, with a hash of what was read. A file that is not there yet is nothing learned.
pub fn load(path: &Path) -> anyhow::Result<(Learned, Option<String>)> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((Learned::default(), None)),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
    };
    let learned = serde_json::from_str(&text)
        .with_context(|| format!("{} is not what --learned writes", path.display()))?;
    Ok((learned, Some(format!("{:016x}", Seed(0).sub(&text, 0)))))
}

pub fn save(path: &Path, learned: &Learned) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(learned)? + "\n";
    std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}
