//! A running PostgreSQL server: what it says of itself, its sessions, its monitor, and one schema of ours.

use std::fmt;

use execute::{ConnectError, LockMonitor, Server, Session, SessionId};
use model::ServerInfo;

use crate::{
    locks::Settle,
    net::{Address, Login},
};

/// What is needed to use a server.
pub struct Options {
    /// Where it listens; of a Unix socket the path of the file itself.
    pub address: Address,
    /// Who we are.
    pub login: Login,
    /// The database in which our schema is made.
    pub database: String,
    /// Our schema there will be `isopod_<name>`. One that is left from before is dropped first, so two
    /// users of one database need two names. Small letters, digits and underscores.
    pub name: String,
    /// How to know that statements wait.
    pub settle: Settle,
    /// Its first process, if it runs here.
    pub pid: Option<u32>,
    /// Does it live? Known to whoever started it; without that, it lives if it takes connections.
    pub alive: Option<Box<dyn Fn() -> bool + Send>>,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("address", &self.address)
            .field("database", &self.database)
            .field("name", &self.name)
            .field("settle", &self.settle)
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}

/// A PostgreSQL server.
#[derive(Debug)]
pub struct PgServer {
    options: Options,
    info: ServerInfo,
}

impl PgServer {
    /// Connects, asks what it is and creates our schema.
    pub fn open(options: Options) -> Result<PgServer, ConnectError> {
        Err(ConnectError::Refused {
            server: options.address.to_string(),
            reason: "the client is not built yet".into(),
        })
    }

    /// Drops our schema, and nothing else.
    pub fn drop_schema(&mut self) -> Result<(), ConnectError> {
        Err(ConnectError::Gone)
    }
}

impl Server for PgServer {
    fn info(&self) -> &ServerInfo {
        &self.info
    }

    fn connect(&mut self) -> Result<Box<dyn Session>, ConnectError> {
        Err(ConnectError::Gone)
    }

    fn monitor(&mut self) -> Result<Box<dyn LockMonitor>, ConnectError> {
        Err(ConnectError::Gone)
    }

    fn kill(&mut self, _session: SessionId, _hard: bool) -> Result<(), ConnectError> {
        Err(ConnectError::Gone)
    }

    fn alive(&mut self) -> bool {
        self.options.alive.as_ref().is_some_and(|alive| alive())
    }

    fn pid(&self) -> Option<u32> {
        self.options.pid
    }
}
