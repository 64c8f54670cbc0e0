//! What is known already: findings of earlier runs, in a folder that the user keeps, recognised by their fingerprint.
//!
//! Every `verdict.json` below the folder is one of them, so the `findings` of a run that was looked through is such a folder. Its
//! name is the first link of the `case.iso` beside it, or that of its folder.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use model::Fingerprint;

use crate::{HuntError, filing::Filed, folder::read_json};

/// Names of what is known, by fingerprint.
#[derive(Clone, Debug, Default)]
pub struct Known(BTreeMap<Fingerprint, String>);

impl Known {
    /// Reads a folder.
    pub fn read(folder: &Path) -> Result<Known, HuntError> {
        let mut files = Vec::new();
        walk(folder, &mut files)?;
        files.sort();
        let mut known = BTreeMap::new();
        for file in files {
            let filed: Filed = read_json(&file)?;
            known.entry(filed.violation.fingerprint).or_insert_with(|| name(&file));
        }
        Ok(Known(known))
    }

    /// The name under which it is known: the user's own, or the numbers of the reports that explain it.
    pub fn name(&self, fingerprint: &Fingerprint) -> Option<String> {
        self.0.get(fingerprint).cloned().or_else(|| oracles::mvcc::known(fingerprint))
    }

    /// How many are known.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Is none known?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), HuntError> {
    for entry in fs::read_dir(folder).map_err(|error| HuntError::at(folder, error))?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, found)?;
        } else if entry.file_name() == "verdict.json" {
            found.push(path);
        }
    }
    Ok(())
}

fn name(file: &Path) -> String {
    let folder = file.parent().unwrap_or(file);
    let link = fs::read_to_string(folder.join("case.iso"))
        .ok()
        .and_then(|text| model::casefile::parse(&text).ok())
        .and_then(|case| case.case().links.first().cloned());
    link.unwrap_or_else(|| folder.file_name().unwrap_or_default().to_string_lossy().into_owned())
}
