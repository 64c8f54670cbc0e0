//! The first runs of each violation and of each reason for being undecided, as folders to look at.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use model::Verdict;
use oracles::Answer;

/// So many of each.
const EACH: usize = 3;

/// Where they go, and how many of each are there.
pub struct Examples {
    folder: PathBuf,
    kept: BTreeMap<String, usize>,
}

impl Examples {
    /// Into this folder.
    pub fn new(folder: &Path) -> Examples {
        Examples { folder: folder.to_path_buf(), kept: BTreeMap::new() }
    }

    /// Keeps a run if it is one of the first of its kind.
    pub fn offer(&mut self, shown: &Answer, verdict: &Verdict) -> anyhow::Result<()> {
        let name = match verdict {
            Verdict::Holds { .. } => return Ok(()),
            Verdict::Violated(violation) => {
                let of = &violation.fingerprint;
                let level = of.level.map_or("", |level| level.short());
                format!("{} {} {} {level}", of.kind, of.rule, of.statement)
            }
            Verdict::Undecided { reason } => format!("undecided {reason}"),
        };
        let seen = self.kept.entry(name.clone()).or_default();
        *seen += 1;
        if *seen > EACH {
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
