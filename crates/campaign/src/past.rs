//! A run that is over, or still going on, read from its folder without touching it: what reports are made of.
//!
//! The log may end in a line that is half written, and after a killed sitting hold one in its middle; such lines are left out and
//! counted. Everything else must be whole: a file that is not what it should be is named with the reason.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use model::{Aftermath, Case, Fingerprint, ServerInfo, Target, Trace};
use serde::de::DeserializeOwned;

use crate::{
    HuntError,
    events::{Event, TimedEvent},
    filing::Filed,
    fold::{Again, Name},
    quality::Quality,
    settings::Settings,
    tally::{LINE, Tally},
    triage::Triage,
};

/// A run.
#[derive(Clone, Debug)]
pub struct Past {
    /// Its folder.
    pub path: PathBuf,
    /// What was asked for.
    pub settings: Settings,
    /// What each target turned out to be, if it ever came up.
    pub servers: Vec<Option<ServerInfo>>,
    /// What was counted of each target.
    pub tallies: Vec<Tally>,
    /// What the cases of each target were like.
    pub qualities: Vec<Quality>,
    /// Milliseconds of hunting.
    pub elapsed: u64,
    /// What happened.
    pub events: Vec<TimedEvent>,
    /// How many lines of the log could not be read.
    pub unreadable: usize,
    /// What was found, first found first.
    pub findings: Vec<Kept>,
    /// What came of comparing them with what is known.
    pub triage: Triage,
}

/// A finding with everything that it rests on.
#[derive(Clone, Debug)]
pub struct Kept {
    /// What is said of it.
    pub filed: Filed,
    /// Its case.
    pub case: Case,
    /// The case as its file has it; none if it could not be written as one.
    pub text: Option<String>,
    /// The case before it was made smaller, as a file.
    pub original: Option<String>,
    /// A run that shows it.
    pub trace: Trace,
    /// What was seen beside it.
    pub aftermath: Aftermath,
}

impl Past {
    /// Reads the folder of a run.
    pub fn read(path: &Path) -> Result<Past, HuntError> {
        let file = path.join("settings.json");
        if !file.is_file() {
            let why = if path.is_dir() { "it has no settings.json" } else { "there is no such folder" };
            return Err(HuntError::Unfit(format!("{} is not the folder of a run: {why}", path.display())));
        }
        let settings: Settings = json(&file)?;
        let targets = 0..settings.targets.len();
        let (events, unreadable) = events(&path.join("events.jsonl"))?;
        let findings = findings(&path.join("findings"))?;
        let part = |name: String| path.join(name);
        let servers = targets.clone().map(|at| optional(&part(format!("servers/{at}.json"))));
        let tallies = targets.clone().map(|at| tally(&part(format!("progress/{at}"))));
        let qualities = targets.map(|at| optional(&part(format!("quality/{at}.json"))));
        let qualities: Result<Vec<Option<Quality>>, HuntError> = qualities.collect();
        Ok(Past {
            path: path.to_path_buf(),
            servers: servers.collect::<Result<_, _>>()?,
            tallies: tallies.collect::<Result<_, _>>()?,
            qualities: qualities?.into_iter().map(Option::unwrap_or_default).collect(),
            elapsed: clock(&part("progress/clock".into()))?,
            settings,
            events,
            unreadable,
            findings,
            triage: optional(&part("triage.json".into()))?.unwrap_or_default(),
        })
    }

    /// How many suspicions of each fingerprint on each target were only counted.
    pub fn counted(&self) -> Again {
        let mut counts = Again::new();
        for (target, _, print) in self.again() {
            *counts.entry((target.clone(), print.clone())).or_default() += 1;
        }
        counts
    }

    /// What is known about a finding: what was when it was filed, and what came of comparing.
    pub fn name(&self, filed: &Filed) -> Name {
        match &filed.known {
            Some(name) => Name { known: Some(name.clone()), like: None },
            None => self.triage.name(filed),
        }
    }

    /// The suspicions that were only counted, because enough of their kind are filed: each case once.
    pub fn again(&self) -> BTreeSet<(&Target, u64, &Fingerprint)> {
        let mut all = BTreeSet::new();
        for said in &self.events {
            if let Event::Again { target, case, fingerprint } = &said.event {
                all.insert((target, *case, fingerprint));
            }
        }
        all
    }
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, HuntError> {
    crate::folder::read_json(path)
}

/// A file that need not be there; if it is, it must be whole.
fn optional<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, HuntError> {
    if path.is_file() { json(path).map(Some) } else { Ok(None) }
}

fn clock(path: &Path) -> Result<u64, HuntError> {
    if !path.is_file() {
        return Ok(0);
    }
    let text = fs::read_to_string(path).map_err(|error| HuntError::at(path, error))?;
    match text.trim() {
        "" => Ok(0),
        text => text.parse().map_err(|_| HuntError::at(path, "this is no number of milliseconds")),
    }
}

fn tally(path: &Path) -> Result<Tally, HuntError> {
    let mut sum = Tally::default();
    if !path.is_file() {
        return Ok(sum);
    }
    let bytes = fs::read(path).map_err(|error| HuntError::at(path, error))?;
    // A schema that was taken and not begun is a hole in the file.
    bytes.chunks(LINE).filter_map(Tally::read).for_each(|line| sum.add(&line));
    Ok(sum)
}

fn events(path: &Path) -> Result<(Vec<TimedEvent>, usize), HuntError> {
    if !path.is_file() {
        return Ok((Vec::new(), 0));
    }
    let bytes = fs::read(path).map_err(|error| HuntError::at(path, error))?;
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let read: Vec<Option<TimedEvent>> = lines.map(|line| serde_json::from_slice(line).ok()).collect();
    let unreadable = read.iter().filter(|said| said.is_none()).count();
    if unreadable > 0 && unreadable == read.len() {
        return Err(HuntError::at(path, "no line of it is an event"));
    }
    Ok((read.into_iter().flatten().collect(), unreadable))
}

/// What is filed below a folder, first found first.
pub(crate) fn findings(folder: &Path) -> Result<Vec<Kept>, HuntError> {
    let mut found = Vec::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    for entry in fs::read_dir(folder).map_err(|error| HuntError::at(folder, error))? {
        let entry = entry.map_err(|error| HuntError::at(folder, error))?;
        // One that is being filed, or was when the process was killed.
        if !entry.file_name().to_string_lossy().starts_with('.') {
            found.push(kept(&entry.path())?);
        }
    }
    found.sort_by(|a, b| (a.filed.at, &a.filed.id).cmp(&(b.filed.at, &b.filed.id)));
    Ok(found)
}

/// The finding in a folder.
pub fn kept(folder: &Path) -> Result<Kept, HuntError> {
    let filed: Filed = json(&folder.join("verdict.json"))?;
    let trace: Trace = json(&folder.join("trace.json"))?;
    let aftermath: Option<Aftermath> = optional(&folder.join("aftermath.json"))?;
    let file = folder.join("case.iso");
    let (case, text) = if file.is_file() {
        (crate::folder::read_case(&file)?, Some(text(&file)?))
    } else {
        (json(&folder.join("case.json"))?, None)
    };
    let misfit = |reason| HuntError::at(&folder.join("trace.json"), reason);
    dialect::Execution::check(&case, &trace).map_err(misfit)?;
    let original = folder.join("original.iso");
    let original = if original.is_file() { Some(self::text(&original)?) } else { None };
    Ok(Kept { filed, case, text, original, trace, aftermath: aftermath.unwrap_or_default() })
}

fn text(path: &Path) -> Result<String, HuntError> {
    fs::read_to_string(path).map_err(|error| HuntError::at(path, error))
}
