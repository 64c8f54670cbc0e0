//! The instances that are running on this machine for this user, and how to end one from outside.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use super::{
    error::{ErrorKind, Result, ServerError},
    instance, os, scratch,
    spec::InstanceRecord,
    supervisor,
};

/// How long a keeper may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// A running instance, of this process or another one of the same user.
#[derive(Clone, Debug)]
pub struct RunningInstance {
    /// Its name, for `stop`.
    pub id: String,
    pub folder: PathBuf,
    pub(crate) record: InstanceRecord,
}

impl RunningInstance {
    /// `mysql 9.7.4`
    pub fn title(&self) -> &str {
        &self.record.title
    }

    /// The target as it was asked for.
    pub fn target(&self) -> &str {
        &self.record.target
    }

    /// The server's process.
    pub fn pid(&self) -> u32 {
        self.record.pid
    }

    /// The Unix socket that it listens on.
    pub fn socket(&self) -> &Path {
        &self.record.socket
    }

    /// The TCP port on 127.0.0.1 that it listens on, if any.
    pub fn port(&self) -> Option<u16> {
        self.record.port
    }

    /// The account that may do everything on it. By the Unix socket it needs no password.
    pub fn superuser(&self) -> &str {
        &self.record.superuser
    }

    /// The file that holds its password for TCP, if it listens there.
    pub fn password_file(&self) -> Option<PathBuf> {
        self.record.port.map(|_| self.folder.join(supervisor::PASSWORD))
    }

    /// Does it stay until it is stopped, or does it belong to a process at work?
    pub fn detached(&self) -> bool {
        self.record.detached
    }
}

/// The folders in which this user's instances live, best first.
pub fn parents() -> Vec<PathBuf> {
    instance::bases().into_iter().map(|base| base.join(format!("isopod-{}", os::uid()))).collect()
}

pub(crate) fn id(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

pub fn running() -> Vec<RunningInstance> {
    let mut all = Vec::new();
    for parent in parents() {
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            let path = entry.path();
            let folder = path.with_extension("");
            if path.extension().is_some_and(|e| e == "json")
                && scratch::owned(&folder)
                && let Ok(text) = fs::read_to_string(&path)
                && let Ok(record) = serde_json::from_str(&text)
            {
                all.push(RunningInstance { id: id(&folder), folder, record });
            }
        }
    }
    all.sort_by(|a, b| a.id.cmp(&b.id));
    all
}

/// An instance that runs from this installation, if there is one.
pub(crate) fn user_of(install: &Path) -> Option<RunningInstance> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let wanted = real(install)?;
    running().into_iter().find(|one| one.record.install.as_deref().and_then(real).as_ref() == Some(&wanted))
}

/// Ends the instance of this name, or without one all that `server start` has started. Gives what was ended.
pub fn stop(which: Option<&str>) -> Result<Vec<RunningInstance>> {
    let mut chosen = running();
    match which {
        Some(id) => chosen.retain(|running| running.id == id),
        None => chosen.retain(RunningInstance::detached),
    }
    if let (Some(id), true) = (which, chosen.is_empty()) {
        let ids: Vec<String> = running().into_iter().map(|running| running.id).collect();
        let there = if ids.is_empty() {
            "none is running".to_string()
        } else {
            format!("running: {}", ids.join(", "))
        };
        return Err(ServerError::new(ErrorKind::NoInstance, format!("there is no instance {id}")).help(there));
    }
    for running in &chosen {
        // The lock is held, so the keeper lives, and the number is its own.
        os::terminate(running.record.keeper);
    }
    for running in &chosen {
        let begin = Instant::now();
        while scratch::owned(&running.folder) {
            if begin.elapsed() > PATIENCE {
                return Err(ServerError::new(
                    ErrorKind::Tool,
                    format!("the instance {} does not end", running.id),
                )
                .help(format!("its keeper is process {}", running.record.keeper)));
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
    Ok(chosen)
}
