//! Starts the child, opens sessions in it, and takes it down again.

use std::{
    io::{self, Read, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use execute::{ConnectError, LaunchError, LockMonitor, RawReply, Server, Session, SessionId, ask::demand};
use model::{ServerInfo, Target, Version, target::Settings};

use super::{
    child,
    folder::ChildFolder,
    locks::NoWaitMonitor,
    session::SqliteSession,
    settings::{BadSetting, CheckedSettings},
};
use crate::net::SILENCE;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("sqlite@{asked} cannot be had: the SQLite that is built in is {found}")]
    Version { asked: Version, found: String },
    #[error(transparent)]
    Setting(#[from] BadSetting),
    #[error("no folder for sqlite's database: {0}")]
    Folder(#[source] io::Error),
    #[error("{} did not come up as sqlite's child: {reason}", exe.display())]
    Child { exe: PathBuf, reason: String },
    /// It came up, but the first session did not.
    #[error(transparent)]
    Connect(#[from] ConnectError),
}

impl From<StartError> for LaunchError {
    fn from(error: StartError) -> LaunchError {
        LaunchError::not_started(error, Vec::new())
    }
}

/// A running child with one empty database. Dropping it ends the child and removes its folder.
#[derive(Debug)]
pub struct SqliteServer {
    child: Child,
    control: ChildStdin,
    news: ChildStdout,
    folder: ChildFolder,
    info: ServerInfo,
    opening: Vec<String>,
    next: SessionId,
    /// Our own binary and the target, to start another one like this.
    origin: (PathBuf, Target),
    /// A child has one database, so each scratch schema is a child of its own.
    scratch: Vec<SqliteServer>,
}

impl SqliteServer {
    /// Starts `EXE __sqlite FOLDER`, whose `main` is [`child::main`].
    pub fn start(exe: &Path, target: &Target) -> Result<SqliteServer, StartError> {
        let chosen = CheckedSettings::new(&target.settings)?;
        let folder = ChildFolder::choose().map_err(StartError::Folder)?;
        let failed = |reason: String| StartError::Child { exe: exe.to_path_buf(), reason };
        let mut child = Command::new(exe)
            .arg("__sqlite")
            .arg(folder.path())
            // Journals of statements that change many pages go there: its sandbox lets it write nowhere else.
            .env("SQLITE_TMPDIR", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // An interrupt from the keyboard is for us; the child ends when we do.
            .process_group(0)
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        let (Some(control), Some(mut news)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed("it has no pipes".into()));
        };
        let version = match hear(&mut news) {
            Ok(version) => version,
            Err(error) => {
                let _ = child.kill();
                let ended = child.wait().map_or(String::new(), |status| format!(", {status}"));
                return Err(failed(format!("{error}{ended}")));
            }
        };
        let mut server = SqliteServer {
            child,
            control,
            news,
            folder,
            info: ServerInfo {
                product: target.product,
                version: version.parse().map_err(|_| failed(format!("`{version}` is no version")))?,
                version_text: format!("SQLite {version}"),
                settings: Settings::new(),
                flags: Vec::new(),
            },
            opening: chosen.opening(),
            next: 1,
            origin: (exe.to_path_buf(), target.clone()),
            scratch: Vec::new(),
        };
        if let Some(asked) = target.version.as_ref().filter(|asked| !server.info.version.within(asked)) {
            return Err(StartError::Version { asked: asked.clone(), found: version });
        }
        let mut first = server.session()?;
        if let Some(sql) = chosen.once() {
            demand(&mut first, &sql, SILENCE)?;
        }
        for name in chosen.names() {
            if let RawReply::Rows(rows) = demand(&mut first, &format!("PRAGMA {name}"), SILENCE)?.reply {
                server.info.settings.insert(name.to_string(), chosen.read_back(name, &rows)?);
            }
        }
        Ok(server)
    }

    /// The child's folder, with the database in it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn session(&mut self) -> Result<SqliteSession, ConnectError> {
        let id = self.next;
        self.next += 1;
        SqliteSession::open(self.folder.path(), id, self.opening.clone())
    }
}

/// One piece of news from the child: its length, and itself.
fn hear(news: &mut ChildStdout) -> io::Result<String> {
    let mut length = [0];
    news.read_exact(&mut length)?;
    let mut text = vec![0; length[0] as usize];
    news.read_exact(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

impl Server for SqliteServer {
    fn info(&self) -> &ServerInfo {
        &self.info
    }

    fn connect(&mut self) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(self.session()?))
    }

    fn connect_scratch(&mut self, number: usize) -> Result<Box<dyn Session>, ConnectError> {
        while self.scratch.len() <= number {
            let started = SqliteServer::start(&self.origin.0, &self.origin.1).map_err(|error| {
                ConnectError::Refused { server: "sqlite".into(), reason: error.to_string() }
            })?;
            self.scratch.push(started);
        }
        self.scratch[number].connect()
    }

    fn monitor(&mut self) -> Result<Box<dyn LockMonitor>, ConnectError> {
        Ok(Box::new(NoWaitMonitor))
    }

    fn kill(&mut self, session: SessionId, hard: bool) -> Result<(), ConnectError> {
        let mut request = [0; child::KILL];
        request[..8].copy_from_slice(&session.to_le_bytes());
        request[8] = u8::from(hard);
        self.control.write_all(&request).map_err(|_| ConnectError::Gone)?;
        hear(&mut self.news).map_err(|_| ConnectError::Gone)?;
        Ok(())
    }

    fn alive(&mut self) -> bool {
        if !matches!(self.child.try_wait(), Ok(None)) {
            return false;
        }
        // A process that is being killed closes its sockets some time before it can be waited for. The control
        // thread answers at any time, so an answer means life and the end of the pipe means death.
        const NOBODY: SessionId = 0;
        if self.kill(NOBODY, false).is_ok() {
            return true;
        }
        let _ = self.child.wait();
        false
    }

    fn pid(&self) -> Option<u32> {
        Some(self.child.id())
    }
}

impl Drop for SqliteServer {
    fn drop(&mut self) {
        // Killed rather than asked: there is nothing to save, and the folder goes right after.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
