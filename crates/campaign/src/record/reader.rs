//! A run read from its folder without touching it, whether it is over or goes on: what resumes begin with and reports are made of.
//!
//! The log may end in a line that is half written, and after a kill hold one in its middle; such lines are left out and
//! counted. Everything else must be whole: a file that is not what it should be is named with the reason.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use model::{Fingerprint, Quality, RunSummary, ServerInfo, Tally, Target, run::LINE};
use serde::de::DeserializeOwned;

use super::{Number, Recorded, WORD, check_format, read_json};
use crate::{
    HuntError,
    events::{Event, TimedEvent},
    fold::Again,
    settings::{HuntTarget, Settings},
    summary::{Counted, of_target, summarize},
    triage::Triage,
};

#[derive(Clone, Debug)]
pub struct RunReader {
    pub path: PathBuf,
    /// The format of its settings, which is that of the Isopod that began it.
    pub format: u32,
    pub settings: Settings,
    /// What each target turned out to be, if it ever came up.
    pub servers: Vec<Option<ServerInfo>>,
    /// What was counted of each target, schema by schema.
    pub progress: Vec<Vec<Tally>>,
    /// What the cases of each target were like.
    pub qualities: Vec<Quality>,
    pub elapsed_ms: u64,
    pub events: Vec<TimedEvent>,
    /// How many lines of the log could not be read.
    pub unreadable: usize,
    /// What was found, first found first.
    pub findings: Vec<Recorded>,
    /// What came of comparing them with what is known.
    pub triage: Triage,
    /// What the strategies of this run have learned so far.
    pub learned: Option<reduce::Learned>,
}

impl RunReader {
    pub fn read(path: &Path) -> Result<RunReader, HuntError> {
        let file = path.join("settings.json");
        if !file.is_file() {
            let why = if path.is_dir() { "it has no settings.json" } else { "there is no such folder" };
            return Err(HuntError::Unfit(format!("{} is not the folder of a run: {why}", path.display())));
        }
        let Number { format } = read_json(&file)?;
        let settings: Settings = read_json(&file)?;
        let targets = 0..settings.targets.len();
        let (events, unreadable) = events(&path.join("events.jsonl"))?;
        let part = |name: String| path.join(name);
        let servers = targets.clone().map(|at| optional(&part(format!("servers/{at}.json"))));
        let progress = targets.clone().map(|at| progress(&part(format!("progress/{at}"))));
        let qualities = targets.map(|at| optional(&part(format!("quality/{at}.json"))));
        let qualities: Result<Vec<Option<Quality>>, HuntError> = qualities.collect();
        Ok(RunReader {
            path: path.to_path_buf(),
            format,
            servers: servers.collect::<Result<_, _>>()?,
            progress: progress.collect::<Result<_, _>>()?,
            qualities: qualities?.into_iter().map(Option::unwrap_or_default).collect(),
            elapsed_ms: clock(&part("progress/clock".into()))?,
            settings,
            events,
            unreadable,
            findings: findings(&path.join("findings"))?,
            triage: optional(&part("triage.json".into()))?.unwrap_or_default(),
            learned: unnumbered(&part("learned.json".into()))?,
        })
    }

    /// What was counted of a target.
    pub fn tally(&self, target: usize) -> Tally {
        let mut sum = Tally::default();
        self.progress[target].iter().for_each(|schema| sum.add(schema));
        sum
    }

    /// How many suspicions of each fingerprint on each target were only counted.
    pub fn counted(&self) -> Again {
        let mut counts = Again::new();
        for (target, _, print) in self.again() {
            *counts.entry((target.clone(), print.clone())).or_default() += 1;
        }
        counts
    }

    /// The suspicions that were only counted, because enough of their kind are filed: each case once.
    pub fn again(&self) -> BTreeSet<(&Target, u64, &Fingerprint)> {
        let mut all = BTreeSet::new();
        for timed in &self.events {
            if let Event::Again { target, case, fingerprint } = &timed.event {
                all.insert((target, *case, fingerprint));
            }
        }
        all
    }

    pub fn summary(&self) -> RunSummary {
        let ending = self.events.iter().rev().find_map(|timed| match &timed.event {
            Event::Ended { why, .. } => Some(Some(*why)),
            Event::Begun { .. } => Some(None),
            _ => None,
        });
        let lost = |target: &Target| {
            self.events.iter().rev().find_map(|timed| match &timed.event {
                Event::Lost { target: of, reason } if of == target => Some(reason.clone()),
                _ => None,
            })
        };
        let targets = self.settings.targets.iter().enumerate().map(|(at, HuntTarget { target, .. })| {
            let (server, quality) = (self.servers[at].as_ref(), self.qualities[at].clone());
            of_target(target, server, self.tally(at), quality, lost(target))
        });
        summarize(Counted {
            settings: &self.settings,
            folder: &self.path,
            elapsed_ms: self.elapsed_ms,
            ending: ending.flatten(),
            targets: targets.collect(),
            findings: &self.findings,
            again: &self.counted(),
            triage: &self.triage,
        })
    }
}

/// A file that need not be there; if it is, it must be whole.
fn optional<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, HuntError> {
    if path.is_file() { read_json(path).map(Some) } else { Ok(None) }
}

/// The bytes of a file that need not be there.
fn bytes(path: &Path) -> Result<Option<Vec<u8>>, HuntError> {
    if path.is_file() {
        fs::read(path).map(Some).map_err(|error| HuntError::at(path, error))
    } else {
        Ok(None)
    }
}

fn unnumbered<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, HuntError> {
    let read = bytes(path)?.map(|bytes| serde_json::from_slice(&bytes));
    read.transpose().map_err(|error| HuntError::at(path, error))
}

/// A file that is not JSON, with the number of its format; one that is not there is empty.
fn plain(path: &Path) -> Result<(u32, Vec<u8>), HuntError> {
    let bytes = bytes(path)?.unwrap_or_default();
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(LINE)]).into_owned();
    let format = match head.split_ascii_whitespace().collect::<Vec<_>>()[..] {
        [WORD, number, ..] => {
            number.parse().map_err(|_| HuntError::at(path, "this is no number of a format"))?
        }
        _ => 0,
    };
    check_format(path, format)?;
    Ok((format, bytes))
}

fn clock(path: &Path) -> Result<u64, HuntError> {
    match String::from_utf8_lossy(&plain(path)?.1).split_ascii_whitespace().last() {
        None => Ok(0),
        Some(text) => text.parse().map_err(|_| HuntError::at(path, "this is no number of milliseconds")),
    }
}

/// A tally for each schema of a target that was begun.
fn progress(path: &Path) -> Result<Vec<Tally>, HuntError> {
    let (format, bytes) = plain(path)?;
    let lines = bytes.chunks(LINE).skip(usize::from(format > 0));
    // A schema that was taken and not begun is a hole in the file.
    Ok(lines.map(|line| Tally::read(line).unwrap_or_default()).collect())
}

fn events(path: &Path) -> Result<(Vec<TimedEvent>, usize), HuntError> {
    let bytes = bytes(path)?.unwrap_or_default();
    let (mut read, mut unreadable) = (Vec::new(), 0);
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let timed: Option<TimedEvent> = serde_json::from_slice(line).ok();
        let format = match &timed {
            Some(TimedEvent { event: Event::Begun { format, .. }, .. }) => *format,
            Some(_) => 0,
            // It may be unreadable because it is newer.
            None => serde_json::from_slice(line).map_or(0, |Number { format }| format),
        };
        check_format(path, format)?;
        unreadable += usize::from(timed.is_none());
        read.extend(timed);
    }
    if unreadable > 0 && read.is_empty() {
        return Err(HuntError::at(path, "no line of it is an event"));
    }
    Ok((read, unreadable))
}

/// What is filed below a folder, first found first.
fn findings(folder: &Path) -> Result<Vec<Recorded>, HuntError> {
    let mut found = Vec::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    for entry in fs::read_dir(folder).map_err(|error| HuntError::at(folder, error))? {
        let entry = entry.map_err(|error| HuntError::at(folder, error))?;
        // One that is being filed, or was when the process was killed.
        if !entry.file_name().to_string_lossy().starts_with('.') {
            found.push(Recorded::read(&entry.path())?);
        }
    }
    found.sort_by(Recorded::by_time);
    Ok(found)
}
