//! The first runs of each violation and of each reason for being undecided, as folders to look at.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use model::{Execution, Verdict};

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
    pub fn offer(&mut self, shown: &Execution, verdict: &Verdict) -> anyhow::Result<()> {
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
        let failed = || format!("cannot write to {}", folder.display());
        fs::create_dir_all(&folder).with_context(failed)?;
        fs::write(folder.join("case.iso"), model::casefile::print(&shown.case)?).with_context(failed)?;
        fs::write(folder.join("trace.json"), serde_json::to_string_pretty(&shown.trace)?)
            .with_context(failed)?;
        fs::write(folder.join("verdict.json"), serde_json::to_string_pretty(verdict)?)
            .with_context(failed)?;
        Ok(())
    }
}
