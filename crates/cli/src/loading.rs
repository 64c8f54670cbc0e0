//! Reads case files, and shows what is wrong with them.

use std::path::{Path, PathBuf};

use anyhow::Context;
use model::Case;
use notation::Format;

use crate::{
    errors::{Rendered, colour},
    problems,
};

/// Reads a file. The folder of a finding is read, too: its case.
pub fn load(path: &Path) -> anyhow::Result<Case> {
    let inside = path.join("case.iso");
    let path = if inside.is_file() { &inside } else { path };
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&path.display().to_string(), &text)
}

/// Understands a text. Its problems come with the lines that they are about.
pub fn parse(name: &str, text: &str) -> anyhow::Result<Case> {
    notation::read(name, text)
        .map_err(|found| Rendered(problems::render_all(name, text, &found, colour())).into())
}

/// The case files among these: files as they are, folders searched for `.iso`.
pub fn files(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = found.len();
            search(path, &mut found)?;
            anyhow::ensure!(found.len() > before, "no case file (*.iso) is in {}", path.display());
        } else {
            found.push(path.clone());
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn search(folder: &Path, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            search(&path, found)?;
        } else if Format::of(&path).is_some() {
            found.push(path);
        }
    }
    Ok(())
}
