//! From a target to a running server behind the executor's traits. Installs what is missing.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use execute::{ConnectError, LockMonitor, Server, Session, SessionId};
use model::{Product, ServerInfo, Target};

use crate::{
    attach::{AttachError, Door},
    mysql::{MysqlServer, Options},
    net::{Address, Login},
    servers::{Installed, Instance, Progress, ServerError, StartOptions, Store},
    sqlite::{SqliteServer, StartError},
};

pub use crate::locks::Settle;

/// Why a target could not be brought up.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// It could not be installed or started.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// It runs already, but cannot be used.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// SQLite's child did not come up.
    #[error(transparent)]
    Sqlite(#[from] StartError),
    /// It came up, but did not talk to us.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// We do not know our own binary.
    #[error("cannot find Isopod's own binary: {0}")]
    Exe(#[from] std::io::Error),
}

impl LaunchError {
    /// What to do about it, a line each.
    pub fn advice(&self) -> Vec<String> {
        match self {
            LaunchError::Server(error) => error.help.clone(),
            LaunchError::Attach(error) => error.help.clone(),
            LaunchError::Sqlite(_) | LaunchError::Connect(_) | LaunchError::Exe(_) => Vec::new(),
        }
    }
}

/// Brings up servers of one target, as often as one is needed.
pub struct Launcher {
    target: Target,
    settle: Settle,
    exe: PathBuf,
    installed: Option<Installed>,
    door: Option<Door>,
    notes: Vec<String>,
}

impl Launcher {
    /// Makes sure that the target is installed. `exe` is Isopod's own binary. `settle`: how waits are known; if nobody
    /// says so, by /proc on servers that we start and in SQL on others.
    pub fn new(
        target: Target,
        settle: impl Into<Option<Settle>>,
        exe: PathBuf,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Launcher, LaunchError> {
        let settle = settle.into();
        if target.attached().is_some() {
            let door = Some(Door::new(&target, settle)?);
            return Ok(Launcher { target, settle: Settle::Sql, exe, installed: None, door, notes: Vec::new() });
        }
        let settle = settle.unwrap_or(Settle::Proc);
        let installed = match target.product {
            Product::Mysql | Product::Mariadb | Product::Postgres => {
                Some(Store::open()?.ensure(&target, progress)?)
            }
            Product::Sqlite => None,
        };
        Ok(Launcher { target, settle, exe, installed, door: None, notes: Vec::new() })
    }

    /// What the user should know of the server that was brought up last, a line each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Brings one up.
    pub fn launch(&mut self) -> Result<Box<dyn Server>, LaunchError> {
        if let Some(door) = &mut self.door {
            let attached = door.open()?;
            self.notes.clone_from(&attached.notes);
            return Ok(Box::new(attached));
        }
        let Some(installed) = &self.installed else {
            return Ok(Box::new(SqliteServer::start(&self.exe, &self.target)?));
        };
        let instance = installed.start(&self.exe, &self.target, &StartOptions::default())?;
        let flags = instance.flags().to_vec();
        let (socket, pid) = (instance.socket().to_path_buf(), instance.pid());
        let instance = Arc::new(Mutex::new(instance));
        let watched = instance.clone();
        let server = MysqlServer::open(Options {
            address: Address::Unix(socket),
            login: Login::default(),
            name: "case".into(),
            settle: self.settle,
            pid: Some(pid),
            alive: Some(Box::new(move || watched.lock().unwrap_or_else(PoisonError::into_inner).alive())),
        })?;
        let info = ServerInfo { flags, ..server.info().clone() };
        Ok(Box::new(Kept { server: Box::new(server), info, _instance: instance }))
    }
}

/// A server together with the instance behind it, which ends when this does.
struct Kept {
    server: Box<dyn Server>,
    info: ServerInfo,
    _instance: Arc<Mutex<Instance>>,
}

impl Server for Kept {
    fn info(&self) -> &ServerInfo {
        &self.info
    }

    fn connect(&mut self) -> Result<Box<dyn Session>, ConnectError> {
        self.server.connect()
    }

    fn monitor(&mut self) -> Result<Box<dyn LockMonitor>, ConnectError> {
        self.server.monitor()
    }

    fn kill(&mut self, session: SessionId, hard: bool) -> Result<(), ConnectError> {
        self.server.kill(session, hard)
    }

    fn alive(&mut self) -> bool {
        self.server.alive()
    }

    fn pid(&self) -> Option<u32> {
        self.server.pid()
    }
}
