//! Reads case files, and shows what is wrong with them.

use std::path::{Path, PathBuf};

use anyhow::Context;
use campaign::record::read_json;
use model::{Case, Finding};
use notation::Format;

use crate::{
    errors::{Rendered, colour},
    problems,
};

/// The files of a finding's folder that are read here.
const CASE: &str = "case.iso";
const VERDICT: &str = "verdict.json";

/// Reads a file. The folder of a finding is read, too: its case.
pub fn load(path: &Path) -> anyhow::Result<Case> {
    let inside = path.join(CASE);
    let path = if inside.is_file() { &inside } else { path };
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&path.display().to_string(), &text)
}

/// Understands a text. Its problems come with the lines that they are about.
pub fn parse(name: &str, text: &str) -> anyhow::Result<Case> {
    notation::read(name, text)
        .map_err(|found| Rendered(problems::render_all(name, text, &found, colour())).into())
}

/// The finding whose case a file is: its verdict lies beside it.
pub fn filed(path: &Path) -> anyhow::Result<Option<Finding>> {
    let verdict = path.with_file_name(VERDICT);
    let is_case = path.file_name().is_some_and(|name| name == CASE);
    Ok((is_case && verdict.is_file()).then(|| read_json(&verdict)).transpose()?)
}

/// The case files among these: files as they are, folders searched for `.iso`. Of a finding's folder only its case counts, and not what that
/// was before it was reduced.
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
    let case = folder.join(CASE);
    if case.is_file() && folder.join(VERDICT).is_file() {
        found.push(case);
        return Ok(());
    }
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
