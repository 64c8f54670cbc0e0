//! Why a server could not be had: a title in one line, and lines that say what to do about it.

use std::{io, path::Path};

/// Ours, with [`ServerError`].
pub type Result<T> = std::result::Result<T, ServerError>;

/// What went wrong, for code that must tell the cases apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// No source offers this product or version.
    UnknownVersion,
    /// It could be had once, but its source has moved on to another version.
    Gone,
    /// The package client could not reach its registry.
    Unreachable,
    DiskFull,
    /// A program that is needed is not on this machine.
    MissingTool,
    /// A program that was called failed for another reason.
    Tool,
    /// The server ended while it was starting: often a setting that it does not know.
    Refused,
    /// A setting that Isopod itself decides.
    Setting,
    /// The user did not want to wait for it.
    Interrupted,
    NoInstance,
    /// A file could not be read or written.
    Io,
}

/// A failure of ours, ready to be shown.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{title}")]
pub struct ServerError {
    pub kind: ErrorKind,
    /// One line: what could not be done.
    pub title: String,
    /// Further lines: why, and what to do.
    pub help: Vec<String>,
}

impl ServerError {
    /// A failure with a title only.
    pub fn new(kind: ErrorKind, title: impl Into<String>) -> ServerError {
        ServerError { kind, title: title.into(), help: Vec::new() }
    }

    /// The same with one more line of help.
    pub fn help(mut self, line: impl Into<String>) -> ServerError {
        self.help.push(line.into());
        self
    }

    /// A file operation failed; a full disk is told apart.
    pub fn io(doing: &str, path: &Path, error: &io::Error) -> ServerError {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ServerError::disk_full(path),
            _ => ServerError::new(ErrorKind::Io, format!("cannot {doing} {}: {error}", path.display())),
        }
    }

    /// No room left where `path` is.
    pub fn disk_full(path: &Path) -> ServerError {
        ServerError::new(ErrorKind::DiskFull, "the disk is full")
            .help(format!("no space left for {}", path.display()))
            .help("make room, or set ISOPOD_CACHE to a folder on a larger disk")
    }

    /// A program could not be started at all.
    pub fn spawn(program: &str, error: &io::Error) -> ServerError {
        if error.kind() == io::ErrorKind::NotFound {
            let way = match program {
                "npm" => "some servers are fetched with npm: apt-get install npm",
                "mvn" => "some servers are fetched with Maven: apt-get install maven",
                _ => "servers are fetched with apt-get, npm and Maven, and unpacked with dpkg-deb and tar",
            };
            ServerError::new(ErrorKind::MissingTool, format!("{program} is not on this machine")).help(way)
        } else {
            ServerError::new(ErrorKind::Tool, format!("cannot start {program}: {error}"))
        }
    }
}

/// Adds what was being done, and to which file, to an I/O error.
pub(crate) trait IoContext<T> {
    /// `cannot {doing} {path}: ...`
    fn doing(self, doing: &str, path: &Path) -> Result<T>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn doing(self, doing: &str, path: &Path) -> Result<T> {
        self.map_err(|error| ServerError::io(doing, path, &error))
    }
}
