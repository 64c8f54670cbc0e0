//! The run folder: everything that a run leaves behind, and all that is needed to go on with it.
//!
//! ```text
//! settings.json        what was asked for, resolved
//! servers/0.json       what target 0 turned out to be
//! events.jsonl         what happened, a line each
//! progress/0           target 0: a line of counts per schema, written over in place
//! progress/clock       milliseconds of hunting so far
//! quality/0            target 0: what its cases were like
//! findings/1f09.../    a finding each, whole or not there
//! triage.json          what the findings are, compared with what is known; what is known and did not come back
//! learned.json         what the strategies that make cases smaller have learned, if they learn
//! traces/              every case's trace, if that was asked for
//! ```
//!
//! A process that is killed leaves what it wrote: the page cache belongs to the system. What must be whole is written under
//! another name, made durable and renamed.

use std::{
    fs::{self, File, OpenOptions},
    io::{BufRead, BufReader, Read, Write},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Mutex,
};

use model::{Case, ServerInfo, sync::lock};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    HuntError,
    events::TimedEvent,
    filing::Filed,
    quality::Quality,
    settings::Settings,
    tally::{LINE, Tally},
    triage::Triage,
};

/// A run folder, open for writing.
pub struct Folder {
    path: PathBuf,
    events: Mutex<File>,
    clock: File,
    progress: Vec<File>,
}

impl Folder {
    /// Makes a new one. It must not be there, or be empty.
    pub fn create(path: &Path, settings: &Settings) -> Result<Folder, HuntError> {
        let there = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
        if there {
            return Err(HuntError::Unfit(format!("{} is there already and not empty", path.display())));
        }
        for part in ["findings", "progress", "quality", "servers"] {
            let part = path.join(part);
            fs::create_dir_all(&part).map_err(|error| HuntError::at(&part, error))?;
        }
        let folder = Folder::open(path, settings.targets.len())?;
        // Last: a folder with settings is one that can be gone on with.
        write_json(&path.join("settings.json"), settings)?;
        Ok(folder)
    }

    /// Opens one that is there, with what it was told.
    pub fn resume(path: &Path) -> Result<(Folder, Settings), HuntError> {
        let settings: Settings = read_json(&path.join("settings.json"))?;
        let folder = Folder::open(path, settings.targets.len())?;
        folder.mend()?;
        Ok((folder, settings))
    }

    fn open(path: &Path, targets: usize) -> Result<Folder, HuntError> {
        let open = |name: &str, append: bool| {
            let file = path.join(name);
            let mut options = OpenOptions::new();
            options.read(true).create(true).append(append).write(true);
            options.open(&file).map_err(|error| HuntError::at(&file, error))
        };
        let progress = (0..targets).map(|i| open(&format!("progress/{i}"), false));
        Ok(Folder {
            path: path.to_path_buf(),
            events: Mutex::new(open("events.jsonl", true)?),
            clock: open("progress/clock", false)?,
            progress: progress.collect::<Result<_, _>>()?,
        })
    }

    /// What a killed process may have left half written: the last line of the log, and findings that were not renamed yet.
    fn mend(&self) -> Result<(), HuntError> {
        let mut events = lock(&self.events);
        let length = events.metadata().map_err(|error| HuntError::at(&self.path, error))?.len();
        let mut last = [b'\n'];
        if length > 0 {
            events.read_exact_at(&mut last, length - 1).map_err(|error| HuntError::at(&self.path, error))?;
        }
        if last != *b"\n" {
            events.write_all(b"\n").map_err(|error| HuntError::at(&self.path, error))?;
        }
        for entry in fs::read_dir(self.path.join("findings")).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with('.') {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        Ok(())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes an event to the log.
    pub fn log(&self, said: &TimedEvent) -> Result<(), HuntError> {
        let mut line = serde_json::to_string(said).map_err(|error| HuntError::at(&self.path, error))?;
        line.push('\n');
        let mut events = lock(&self.events);
        events.write_all(line.as_bytes()).map_err(|error| HuntError::at(&self.path, error))
    }

    /// The events of all sittings. A line that a killed process left half written is left out.
    pub fn events(&self) -> Result<Vec<TimedEvent>, HuntError> {
        let path = self.path.join("events.jsonl");
        let file = File::open(&path).map_err(|error| HuntError::at(&path, error))?;
        let lines = BufReader::new(file).lines().map_while(Result::ok);
        Ok(lines.filter_map(|line| serde_json::from_str(&line).ok()).collect())
    }

    /// How long was hunted so far, in milliseconds.
    pub fn clock(&self) -> u64 {
        let mut text = String::new();
        let _ = (&self.clock).read_to_string(&mut text);
        text.trim().parse().unwrap_or(0)
    }

    /// Notes how long was hunted so far.
    pub fn set_clock(&self, millis: u64) -> Result<(), HuntError> {
        let text = format!("{millis:>15}\n");
        self.clock.write_all_at(text.as_bytes(), 0).map_err(|error| HuntError::at(&self.path, error))
    }

    /// A tally for each schema of a target that was begun.
    pub fn progress(&self, target: usize) -> Result<Vec<Tally>, HuntError> {
        let path = self.path.join(format!("progress/{target}"));
        let bytes = fs::read(&path).map_err(|error| HuntError::at(&path, error))?;
        // A schema that was taken and not begun is a hole in the file.
        Ok(bytes.chunks(LINE).map(|line| Tally::read(line).unwrap_or_default()).collect())
    }

    /// Notes how far a schema of a target has come. With this a case is done.
    pub fn set_progress(&self, target: usize, schema: u64, tally: &Tally) -> Result<(), HuntError> {
        let line = tally.line();
        self.progress[target]
            .write_all_at(line.as_bytes(), schema * LINE as u64)
            .map_err(|error| HuntError::at(&self.path, error))
    }

    /// What a target turned out to be in an earlier sitting.
    pub fn server(&self, target: usize) -> Option<ServerInfo> {
        read_json(&self.path.join(format!("servers/{target}.json"))).ok()
    }

    /// Keeps what a target turned out to be.
    pub fn set_server(&self, target: usize, info: &ServerInfo) -> Result<(), HuntError> {
        write_json(&self.path.join(format!("servers/{target}.json")), info)
    }

    /// What was counted of the quality of a target's cases.
    pub fn quality(&self, target: usize) -> Quality {
        read_json(&self.path.join(format!("quality/{target}.json"))).unwrap_or_default()
    }

    /// Keeps it.
    pub fn set_quality(&self, target: usize, quality: &Quality) -> Result<(), HuntError> {
        write_json(&self.path.join(format!("quality/{target}.json")), quality)
    }

    /// What the strategies of this run have learned so far.
    pub fn learned(&self) -> Option<reduce::Learned> {
        read_json(&self.path.join("learned.json")).ok()
    }

    /// Keeps it.
    pub fn set_learned(&self, learned: &reduce::Learned) -> Result<(), HuntError> {
        write_json(&self.path.join("learned.json"), learned)
    }

    /// Keeps what came of comparing the findings with what is known.
    pub fn set_triage(&self, triage: &Triage) -> Result<(), HuntError> {
        write_json(&self.path.join("triage.json"), triage)
    }

    /// The findings that are filed.
    pub fn findings(&self) -> Result<Vec<Filed>, HuntError> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.path.join("findings")).into_iter().flatten().flatten() {
            if !entry.file_name().to_string_lossy().starts_with('.') {
                found.push(read_json(&entry.path().join("verdict.json"))?);
            }
        }
        found.sort_by(|a: &Filed, b: &Filed| (&a.target, a.case, &a.id).cmp(&(&b.target, b.case, &b.id)));
        Ok(found)
    }

    /// Files a finding: all of its files, or none of them. One that is there already stays.
    pub fn file(&self, id: &str, files: &[(&str, Vec<u8>)]) -> Result<(), HuntError> {
        let (there, new) =
            (self.path.join("findings").join(id), self.path.join("findings").join(format!(".{id}")));
        if there.exists() {
            return Ok(());
        }
        let failed = |error: std::io::Error| HuntError::at(&new, error);
        let _ = fs::remove_dir_all(&new);
        fs::create_dir_all(&new).map_err(failed)?;
        for (name, bytes) in files {
            write_durable(&new.join(name), bytes)?;
        }
        sync_folder(&new);
        fs::rename(&new, &there).map_err(failed)?;
        sync_folder(&self.path.join("findings"));
        Ok(())
    }

    /// Writes a file beside the others, whole or not at all.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), HuntError> {
        write_whole(&self.path.join(name), bytes)
    }
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), HuntError> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| HuntError::at(path, error))?;
    bytes.push(b'\n');
    write_whole(path, &bytes)
}

/// Reads a case file.
pub fn read_case(path: &Path) -> Result<Case, HuntError> {
    let text = fs::read_to_string(path).map_err(|error| HuntError::at(path, error))?;
    notation::read(&path.to_string_lossy(), &text).map_err(|problems| {
        let first = problems.first().map(|problem| format!("line {}: {}", problem.line, problem.message));
        HuntError::at(path, first.unwrap_or_else(|| "this is no case file".into()))
    })
}

/// Reads a JSON file.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, HuntError> {
    let bytes = fs::read(path).map_err(|error| HuntError::at(path, error))?;
    serde_json::from_slice(&bytes).map_err(|error| HuntError::at(path, error))
}

fn write_durable(path: &Path, bytes: &[u8]) -> Result<(), HuntError> {
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|error| HuntError::at(path, error))
}

fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), HuntError> {
    let new = path.with_extension("new");
    write_durable(&new, bytes)?;
    fs::rename(&new, path).map_err(|error| HuntError::at(path, error))
}

/// Makes names durable, where the system can; a killed process loses nothing without it.
fn sync_folder(path: &Path) {
    let _ = File::open(path).and_then(|folder| folder.sync_all());
}
