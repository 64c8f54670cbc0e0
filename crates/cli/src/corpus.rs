//! The built-in cases, carried in the binary.

use campaign::known;
use model::Case;

use crate::errors::Advised;

/// One built-in case.
pub struct Entry {
    /// `phenomena/write-skew`
    pub name: &'static str,
    pub text: &'static str,
    pub case: Case,
}

const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/corpus.rs"));

/// What hunts found and not every version of its product can run: not tested with the corpus, and compared with what is found.
const FOUND: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/found.rs"));

/// The cases that say where they fail: what a finding is compared with.
pub fn known_to_fail() -> anyhow::Result<Vec<known::Entry>> {
    let corpus = FILES.iter().map(|(name, text)| (format!("corpus/{name}"), *text));
    let found = FOUND.iter().map(|(name, text)| (format!("docs/found/{name}"), *text));
    let mut entries = Vec::new();
    for (name, text) in corpus.chain(found) {
        let case = crate::loading::parse(&format!("{name}.iso"), text)?;
        if !case.fails.is_empty() {
            entries.push(known::Entry::of_corpus(&name, case));
        }
    }
    Ok(entries)
}

/// All of them, in order of their names. They were checked when they were written, so a broken one is our fault.
pub fn all() -> anyhow::Result<Vec<Entry>> {
    FILES
        .iter()
        .map(|&(name, text)| {
            let case = crate::loading::parse(&format!("corpus/{name}.iso"), text)?;
            Ok(Entry { name, text, case })
        })
        .collect()
}

/// Those whose name or link holds one of the words; all without words.
pub fn matching(words: &[String]) -> anyhow::Result<Vec<Entry>> {
    let mut entries = all()?;
    let known = |entry: &Entry, word: &String| {
        let word = word.to_lowercase();
        entry.name.contains(&word) || entry.case.links.iter().any(|link| link.to_lowercase().contains(&word))
    };
    if let Some(word) = words.iter().find(|word| !entries.iter().any(|entry| known(entry, word))) {
        anyhow::bail!(Advised::new(
            format!("no case of the corpus has a name or link with `{word}` in it"),
            ["all of them: isopod corpus list"]
        ));
    }
    entries.retain(|entry| words.is_empty() || words.iter().any(|word| known(entry, word)));
    Ok(entries)
}
