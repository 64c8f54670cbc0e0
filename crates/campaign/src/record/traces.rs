//! Traces that are kept: what every case came to, so that it can be judged again without a server.
//!
//! ```text
//! traces/0-1-000.jsonl    target 0, worker 1, its first file; the next one begins when this is full
//! {"format": 1}
//! {"server": {...}}       of all runs below, until another one comes
//! {"setup": [...]}        likewise
//! {"run": {...}}          number, case, trace, aftermath
//! ```
//!
//! A killed process leaves at most its last line half written; whoever reads leaves that one out. A case that was not done then is
//! run again by the hunt that goes on, and stands there twice.

use std::{
    fs::{self, File, OpenOptions},
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
};

use dialect::{Execution, ParseCache};
use model::{Aftermath, Case, ServerInfo, Setup, Trace};
use serde::{Deserialize, Serialize};

use super::{FORMAT, check_format};
use crate::HuntError;

/// A file that has so many bytes is full.
const FULL: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Format(u32),
    Server(ServerInfo),
    Setup(Vec<String>),
    Run(Box<Entry>),
}

/// A run without its server and its setup, which stand above it.
#[derive(Serialize, Deserialize)]
struct Entry {
    number: u64,
    case: Case,
    trace: Trace,
    #[serde(default, skip_serializing_if = "Aftermath::is_empty")]
    aftermath: Aftermath,
}

/// Writes the traces of one worker at one target.
pub struct TraceWriter {
    folder: PathBuf,
    name: String,
    number: u32,
    file: File,
    bytes: u64,
    full: u64,
    server: Option<ServerInfo>,
    setup: Option<Vec<String>>,
}

impl TraceWriter {
    /// Begins a file that is not there yet, below a run folder.
    pub fn open(run: &Path, target: usize, worker: usize) -> Result<TraceWriter, HuntError> {
        let folder = run.join("traces");
        fs::create_dir_all(&folder).map_err(|error| HuntError::at(&folder, error))?;
        let name = format!("{target}-{worker}");
        let (number, file) = next(&folder, &name, 0)?;
        Ok(TraceWriter { folder, name, number, file, bytes: 0, full: FULL, server: None, setup: None })
    }

    pub fn keep(&mut self, number: u64, seen: &Execution) -> Result<(), HuntError> {
        if self.bytes >= self.full {
            (self.number, self.file) = next(&self.folder, &self.name, self.number + 1)?;
            (self.bytes, self.server, self.setup) = (0, None, None);
        }
        let mut lines = Vec::new();
        if self.bytes == 0 {
            lines.push(Line::Format(FORMAT));
        }
        if self.server.as_ref() != Some(&seen.trace.server) {
            lines.push(Line::Server(seen.trace.server.clone()));
            self.server = Some(seen.trace.server.clone());
        }
        if self.setup.as_ref() != Some(&seen.case.setup.statements) {
            lines.push(Line::Setup(seen.case.setup.statements.clone()));
            self.setup = Some(seen.case.setup.statements.clone());
        }
        let Execution { case, mut trace, aftermath } = seen.clone();
        let case = Case { setup: Setup::default(), ..case.case().clone() };
        let server = &mut trace.server;
        (server.version_text, server.settings, server.flags) = Default::default();
        lines.push(Line::Run(Box::new(Entry { number, case, trace, aftermath })));
        let path = &self.folder;
        let mut text = Vec::new();
        for line in &lines {
            serde_json::to_writer(&mut text, line).map_err(|error| HuntError::at(path, error))?;
            text.push(b'\n');
        }
        self.bytes += text.len() as u64;
        self.file.write_all(&text).map_err(|error| HuntError::at(path, error))
    }
}

/// The first file from this number on that is not there, made.
fn next(folder: &Path, name: &str, from: u32) -> Result<(u32, File), HuntError> {
    for number in from.. {
        let path = folder.join(format!("{name}-{number:03}.jsonl"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((number, file)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(HuntError::at(&path, error)),
        }
    }
    Err(HuntError::Unfit(format!("{} has no room for another file", folder.display())))
}

/// Reads the runs of a file, in order, each with the number of its case.
pub struct TraceReader {
    path: PathBuf,
    lines: Box<dyn BufRead>,
    line: u64,
    /// What it ran on, and what was parsed by its grammar.
    server: Option<(ServerInfo, ParseCache)>,
    setup: Vec<String>,
}

impl TraceReader {
    pub fn open(path: &Path) -> Result<TraceReader, HuntError> {
        let file = File::open(path).map_err(|error| HuntError::at(path, error))?;
        Ok(TraceReader::of(path, BufReader::with_capacity(1 << 20, file)))
    }

    /// The same of what is read already; `path` is for errors.
    pub fn of(path: &Path, lines: impl BufRead + 'static) -> TraceReader {
        let lines = Box::new(lines);
        TraceReader { path: path.to_path_buf(), lines, line: 0, server: None, setup: Vec::new() }
    }

    fn read(&mut self) -> Result<Option<(u64, Execution)>, HuntError> {
        loop {
            let mut text = Vec::new();
            let failed = |error: std::io::Error| HuntError::at(&self.path, error);
            self.lines.read_until(b'\n', &mut text).map_err(failed)?;
            self.line += 1;
            // The end, or what a killed process left of its last line.
            if text.pop() != Some(b'\n') {
                return Ok(None);
            }
            let wrong = |reason: &dyn std::fmt::Display| {
                HuntError::at(&self.path, format!("line {}: {reason}", self.line))
            };
            match serde_json::from_slice(&text).map_err(|error| wrong(&error))? {
                Line::Format(format) => check_format(&self.path, format)?,
                Line::Server(server) => {
                    let parsed = self.server.take().map(|(_, parsed)| parsed);
                    let parsed = parsed.filter(|parsed| parsed.product() == server.product);
                    let parsed = parsed.unwrap_or_else(|| ParseCache::new(server.product));
                    self.server = Some((server, parsed));
                }
                Line::Setup(setup) => self.setup = setup,
                Line::Run(entry) => {
                    let Entry { number, mut case, mut trace, aftermath } = *entry;
                    case.setup.statements = self.setup.clone();
                    let Some((server, parsed)) = &mut self.server else {
                        return Err(wrong(&"no server stands above this run"));
                    };
                    trace.server.clone_from(server);
                    Execution::check(&case, &trace).map_err(|reason| wrong(&reason))?;
                    return Ok(Some((number, Execution { case: parsed.case(case), trace, aftermath })));
                }
            }
        }
    }
}

impl Iterator for TraceReader {
    type Item = Result<(u64, Execution), HuntError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// The files of kept traces at a path: one file, or all of a folder or a run folder, in order.
pub fn files(path: &Path) -> Result<Vec<PathBuf>, HuntError> {
    if path.is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    let below = path.join("traces");
    let folder = if below.is_dir() { &below } else { path };
    let entries = fs::read_dir(folder).map_err(|error| HuntError::at(folder, error))?;
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    found.sort();
    if found.is_empty() {
        return Err(HuntError::Unfit(format!("no kept traces (*.jsonl) are in {}", folder.display())));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(title: &str, setup: &str) -> Execution {
        let mut case = Case { title: title.into(), ..Case::default() };
        case.setup.statements = vec![setup.to_string()];
        let mut execution = crate::confirm::tests::execution(&case, false);
        execution.trace.server.flags = vec!["--port=0".into()];
        execution
    }

    fn read(folder: &Path) -> Vec<(u64, Execution)> {
        let files = files(folder).unwrap();
        let runs = files.iter().flat_map(|path| TraceReader::open(path).unwrap());
        runs.map(Result::unwrap).collect()
    }

    #[test]
    fn runs_come_back_whole_over_full_files_and_a_resume() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let runs = [run("a", "x"), run("b", "x"), run("c", "y")];
        let mut writer = TraceWriter::open(folder, 0, 1).unwrap();
        for (number, run) in runs.iter().enumerate() {
            writer.full = if number < 2 { FULL } else { 1 };
            writer.keep(number as u64, run).unwrap();
        }
        TraceWriter::open(folder, 0, 1).unwrap().keep(7, &runs[0]).unwrap();
        assert!(files(folder).unwrap().len() >= 3, "{:?}", files(folder));
        let back = read(folder);
        assert_eq!(back.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 1, 2, 7]);
        for ((_, back), run) in back.iter().zip(runs.iter().chain(&runs[..1])) {
            assert_eq!((&back.case, &back.trace), (&run.case, &run.trace));
        }
    }

    #[test]
    fn half_a_line_at_the_end_is_left_out_and_elsewhere_it_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mut writer = TraceWriter::open(folder, 0, 0).unwrap();
        writer.keep(0, &run("a", "x")).unwrap();
        writer.file.write_all(b"{\"run\": {\"num").unwrap();
        assert_eq!(read(folder).len(), 1);
        writer.file.write_all(b"\n").unwrap();
        let path = &files(folder).unwrap()[0];
        assert!(TraceReader::open(path).unwrap().any(|kept| kept.is_err()));
    }
}
