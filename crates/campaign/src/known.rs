//! What is known already: findings and cases in a folder that the user keeps, and the corpus.
//!
//! Every `verdict.json` below the folder is a finding of an earlier run with its `case.iso`, so the `findings` of a run that was looked
//! through is such a folder; every other `.iso` file is a case of its own. An entry is named by the first link of its case, or by its
//! folder or file.
//!
//! Where known deviations explain a finding its signature says which bug it is, and that is enough. All else that is known is compared
//! by running (`triage`).

use std::{
    fs,
    path::{Path, PathBuf},
};

use model::{Case, Finding, Signature};

use crate::{
    HuntError,
    record::{case_of_finding, read_case, read_json},
};

#[derive(Clone, Debug, Default)]
pub struct Known {
    /// All of it, that of the user first.
    pub entries: Vec<Entry>,
}

/// Where an entry is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user's own folder: whatever is in it is known.
    Own,
    /// The corpus, and the cases of docs/found beside it: what has a link there is known; the rest is in no tracker, and new under its name.
    Corpus,
}

/// One thing that is known.
#[derive(Clone, Debug)]
pub struct Entry {
    pub name: String,
    pub origin: Origin,
    pub case: Case,
    pub finding: Option<Finding>,
}

impl Entry {
    pub fn of_corpus(name: &str, case: Case) -> Entry {
        let name = if case.links.is_empty() { name.to_string() } else { case.links.join(", ") };
        Entry { name, origin: Origin::Corpus, case, finding: None }
    }

    /// Is what is the same as this known, and not only something that has been seen before?
    pub fn settles(&self) -> bool {
        match self.origin {
            Origin::Own => true,
            Origin::Corpus => !self.case.links.is_empty(),
        }
    }
}

impl Known {
    pub fn read(folder: &Path) -> Result<Known, HuntError> {
        let mut files = Vec::new();
        walk(folder, &mut files)?;
        files.sort();
        let entries: Result<Vec<Entry>, HuntError> = files.iter().map(|file| entry(file)).collect();
        Ok(Known { entries: entries? })
    }

    /// Those of the user.
    pub fn own(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.origin == Origin::Own)
    }

    /// The name under which a signature is known without running anything: the link of an entry of the user's, the numbers of the
    /// reports that explain it, or that entry's own name. What nothing explains is never known by its signature alone.
    pub fn name(&self, signature: &Signature) -> Option<String> {
        match signature {
            Signature::Unexplained { .. } => None,
            Signature::Explained(_) => {
                let same = |entry: &&Entry| {
                    entry.finding.as_ref().is_some_and(|finding| finding.signature() == *signature)
                };
                let name = |entry: &Entry| entry.name.clone();
                let linked = self.own().filter(same).find(|entry| !entry.case.links.is_empty()).map(name);
                let reported = || oracles::signature::known(signature);
                linked.or_else(reported).or_else(|| self.own().find(same).map(name))
            }
        }
    }
}

/// The files that are entries: a verdict, or a case that has none beside it.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), HuntError> {
    let entries = fs::read_dir(folder).map_err(|error| HuntError::at(folder, error))?;
    let paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let verdict = folder.join("verdict.json");
    if paths.contains(&verdict) {
        found.push(verdict);
    }
    let is_finding = paths.iter().any(|path| path.ends_with("verdict.json"));
    for path in paths {
        if path.is_dir() {
            walk(&path, found)?;
        } else if !is_finding && path.extension().is_some_and(|end| end == "iso") {
            found.push(path);
        }
    }
    Ok(())
}

fn entry(file: &Path) -> Result<Entry, HuntError> {
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (case, finding, name) = if file.ends_with("verdict.json") {
        let folder = file.parent().unwrap_or(file);
        (case_of_finding(folder)?, Some(read_json::<Finding>(file)?), name(folder))
    } else {
        (read_case(file)?, None, name(file))
    };
    let name = case.links.first().cloned().unwrap_or(name);
    Ok(Entry { name, origin: Origin::Own, case, finding })
}

#[cfg(test)]
mod tests {
    use model::{Level, sql::StatementKind};

    use super::*;
    use crate::fold::tests::finding;

    #[test]
    fn names_of_what_is_explained() {
        let entry = |name: &str, rule: &str, link: Option<&str>| Entry {
            name: link.unwrap_or(name).into(),
            origin: Origin::Own,
            case: Case { links: link.map(str::to_string).into_iter().collect(), ..Case::default() },
            finding: Some(finding(name, rule, StatementKind::Select, Level::RepeatableRead, 3)),
        };
        let (noop, found) = ("noop-without-version", "conflict-by-inner-read");
        let of = |entries: Vec<Entry>, rule: &str| {
            Known { entries }
                .name(&finding("x", rule, StatementKind::Update, Level::ReadCommitted, 9).signature())
        };
        let named = |name: &str| Some(name.to_string());
        assert_eq!(of(vec![], noop), named("MDEV-26642"));
        assert_eq!(of(vec![entry("1f09", noop, None)], noop), named("MDEV-26642"));
        assert_eq!(of(vec![entry("1f09", noop, Some("MINE-1"))], noop), named("MINE-1"));
        assert_eq!((of(vec![], found), of(vec![entry("1f09", found, None)], found)), (None, named("1f09")));
        // Compared by running, and not by name.
        assert_eq!(of(vec![entry("1f09", "rows", Some("MINE-1"))], "rows"), None);
    }
}
