//! The first runs of each violation and of each reason for being undecided, as folders to look at.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use dialect::Execution;
use model::Verdict;

/// Where they go, and how many of each are there.
pub struct Examples {
    folder: PathBuf,
    each: u64,
    kept: BTreeMap<String, u64>,
}

impl Examples {
    /// Into this folder, so many of each.
    pub fn new(folder: &Path, each: u64) -> Examples {
        Examples { folder: folder.to_path_buf(), each, kept: BTreeMap::new() }
    }

    /// Keeps a run if it is one of the first of its kind.
    pub fn offer(&mut self, shown: &Execution, verdict: &Verdict) -> crate::Result<()> {
        let name = match verdict {
            Verdict::Holds { .. } => return Ok(()),
            Verdict::Violated(violation) => {
                let of = &violation.fingerprint;
                let level = of.level.map_or("", |level| level.short());
                // The rule is the longest of them, and the end of a long name is cut off.
                format!("{} {} {level} {}", of.symptom, of.statement, of.cause)
            }
            Verdict::Undecided { reason } => format!("undecided {reason}"),
        };
        let seen = self.kept.entry(name.clone()).or_default();
        *seen += 1;
        if *seen > self.each {
            return Ok(());
        }
        let plain: String =
            name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).take(80).collect();
        let folder = self.folder.join(format!("{plain}-{seen}"));
        let files = [
            ("case.iso", model::casefile::print(&shown.case)?),
            ("trace.json", serde_json::to_string_pretty(&shown.trace)?),
            ("verdict.json", serde_json::to_string_pretty(verdict)?),
        ];
        let write = || {
            fs::create_dir_all(&folder)?;
            files.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text))
        };
        Ok(write().map_err(|error| format!("cannot write to {}: {error}", folder.display()))?)
    }
}
