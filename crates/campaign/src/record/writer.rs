//! Writes the folder of a run.
//!
//! A process that is killed leaves what it wrote: the page cache belongs to the system. What must be whole is written under
//! another name, made durable and renamed. A case is done when its line of progress is written, which is the last thing.

use std::{
    fs::{self, File, OpenOptions},
    io::Write,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Mutex,
};

use model::{Quality, ServerInfo, Tally, run::LINE, sync::lock};
use serde::Serialize;

use super::{FORMAT, Recorded, RunReader, WORD, to_json};
use crate::{HuntError, events::TimedEvent, settings::Settings, triage::Triage};

/// A run folder, open for writing.
pub struct RunWriter {
    path: PathBuf,
    events: Mutex<File>,
    clock: File,
    progress: Vec<File>,
}

impl RunWriter {
    /// Makes a new one. It must not be there, or be empty.
    pub fn create(path: &Path, settings: &Settings) -> Result<RunWriter, HuntError> {
        let there = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
        if there {
            return Err(HuntError::Unfit(format!("{} is there already and not empty", path.display())));
        }
        for part in ["findings", "progress", "quality", "servers"] {
            let part = path.join(part);
            fs::create_dir_all(&part).map_err(|error| HuntError::at(&part, error))?;
        }
        let writer = RunWriter::open(path, settings.targets.len())?;
        let head = format!("{:<width$}\n", format!("{WORD} {FORMAT}"), width = LINE - 1);
        for file in &writer.progress {
            file.write_all_at(head.as_bytes(), 0).map_err(|error| HuntError::at(path, error))?;
        }
        // Last: a folder with settings is one that can be gone on with.
        write_json(&path.join("settings.json"), settings)?;
        Ok(writer)
    }

    /// Opens one that is there, to go on with it.
    pub fn resume(run: &RunReader) -> Result<RunWriter, HuntError> {
        if run.format != FORMAT {
            let path = run.path.display();
            let why = "was begun by an earlier Isopod, which kept its progress in another format";
            return Err(HuntError::Unfit(format!("{path} {why}")));
        }
        no_links(&run.path)?;
        let writer = RunWriter::open(&run.path, run.settings.targets.len())?;
        writer.mend()?;
        Ok(writer)
    }

    fn open(path: &Path, targets: usize) -> Result<RunWriter, HuntError> {
        let open = |name: &str, append: bool| {
            let file = path.join(name);
            let mut options = OpenOptions::new();
            options.read(true).create(true).append(append).write(true);
            options.open(&file).map_err(|error| HuntError::at(&file, error))
        };
        let progress = (0..targets).map(|i| open(&format!("progress/{i}"), false));
        Ok(RunWriter {
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

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn log(&self, event: &TimedEvent) -> Result<(), HuntError> {
        let mut line = serde_json::to_string(event).map_err(|error| HuntError::at(&self.path, error))?;
        line.push('\n');
        let mut events = lock(&self.events);
        events.write_all(line.as_bytes()).map_err(|error| HuntError::at(&self.path, error))
    }

    /// Notes how long was hunted so far.
    pub fn set_clock(&self, millis: u64) -> Result<(), HuntError> {
        let text = format!("{WORD} {FORMAT} {millis:>15}\n");
        self.clock.write_all_at(text.as_bytes(), 0).map_err(|error| HuntError::at(&self.path, error))
    }

    /// Notes how far a schema of a target has come. With this a case is done.
    pub fn set_progress(&self, target: usize, schema: u64, tally: &Tally) -> Result<(), HuntError> {
        // The first line is the number of the format.
        self.progress[target]
            .write_all_at(tally.line().as_bytes(), (schema + 1) * LINE as u64)
            .map_err(|error| HuntError::at(&self.path, error))
    }

    pub fn set_server(&self, target: usize, info: &ServerInfo) -> Result<(), HuntError> {
        write_json(&self.path.join(format!("servers/{target}.json")), info)
    }

    pub fn set_quality(&self, target: usize, quality: &Quality) -> Result<(), HuntError> {
        write_json(&self.path.join(format!("quality/{target}.json")), quality)
    }

    pub fn set_learned(&self, learned: &reduce::Learned) -> Result<(), HuntError> {
        let path = self.path.join("learned.json");
        let mut bytes = serde_json::to_vec_pretty(learned).map_err(|error| HuntError::at(&path, error))?;
        bytes.push(b'\n');
        write_whole(&path, &bytes)
    }

    pub fn set_triage(&self, triage: &Triage) -> Result<(), HuntError> {
        write_json(&self.path.join("triage.json"), triage)
    }

    /// Files a finding: all of its files, or none of them. One that is there already stays.
    pub fn file(&self, recorded: &Recorded) -> Result<(), HuntError> {
        let (id, findings) = (&recorded.finding.id, self.path.join("findings"));
        let (there, new) = (findings.join(id), findings.join(format!(".{id}")));
        if there.exists() {
            return Ok(());
        }
        let failed = |error: std::io::Error| HuntError::at(&new, error);
        let _ = fs::remove_dir_all(&new);
        fs::create_dir_all(&new).map_err(failed)?;
        for (name, bytes) in recorded.files(&self.path)? {
            write_durable(&new.join(name), &bytes)?;
        }
        sync_folder(&new);
        fs::rename(&new, &there).map_err(failed)?;
        sync_folder(&findings);
        Ok(())
    }

    /// Writes a file beside the others, whole or not at all.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), HuntError> {
        write_whole(&self.path.join(name), bytes)
    }
}

/// A folder that somebody else has made may hold links to files that are not part of it: what is written there must stay in it.
fn no_links(run: &Path) -> Result<(), HuntError> {
    for folder in ["", "findings", "progress", "quality", "servers", "traces"] {
        let folder = run.join(folder);
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                let path = entry.path();
                return Err(HuntError::Unfit(format!(
                    "{} is a link, and a run folder has none",
                    path.display()
                )));
            }
        }
    }
    Ok(())
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), HuntError> {
    write_whole(path, &to_json(path, value)?)
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
