//! A server that is not ours, behind the executor's traits.

use std::{os::fd::RawFd, time::Duration};

use execute::{ConnectError, LockMonitor, RawReply, Server, Session, SessionId, WireReply, ask::ask};
use model::ServerInfo;

use crate::net::SILENCE;

/// Ends our stay: ends what still runs in our schema, and drops it.
pub type Cleanup = Box<dyn FnMut() + Send>;

/// A server that is not ours, with a schema of our own on it. Dropping this drops the schema, and the scratch schemas beside it.
pub struct AttachedServer {
    pub(super) server: Box<dyn Server>,
    pub(super) info: ServerInfo,
    /// Said in every session, when it is new and when it was reset.
    pub(super) statements: Vec<String>,
    /// May we make scratch schemas beside our own?
    pub(super) scratch: bool,
    pub(super) leave: Cleanup,
    /// What the user should know, a line each.
    pub notes: Vec<String>,
}

impl AttachedServer {
    /// Says in a new session what every one of them is told.
    fn configured(&self, mut inner: Box<dyn Session>) -> Result<Box<dyn Session>, ConnectError> {
        if self.statements.is_empty() {
            return Ok(inner);
        }
        for statement in &self.statements {
            execute::ask::demand(inner.as_mut(), statement, SILENCE)?;
        }
        Ok(Box::new(ConfiguredSession { inner, statements: self.statements.clone() }))
    }
}

impl Server for AttachedServer {
    fn info(&self) -> &ServerInfo {
        &self.info
    }

    fn connect(&mut self) -> Result<Box<dyn Session>, ConnectError> {
        let inner = self.server.connect()?;
        self.configured(inner)
    }

    fn connect_scratch(&mut self, number: usize) -> Result<Box<dyn Session>, ConnectError> {
        if !self.scratch {
            return Err(ConnectError::NoScratchSchema);
        }
        let inner = self.server.connect_scratch(number)?;
        self.configured(inner)
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

    /// Its threads are not ours to pin or to prioritise.
    fn pid(&self) -> Option<u32> {
        None
    }

    fn guest(&self) -> bool {
        true
    }
}

impl Drop for AttachedServer {
    fn drop(&mut self) {
        (self.leave)();
    }
}

/// A session with settings of its own, which a reset would forget.
struct ConfiguredSession {
    inner: Box<dyn Session>,
    statements: Vec<String>,
}

impl Session for ConfiguredSession {
    fn id(&self) -> SessionId {
        self.inner.id()
    }

    fn send(&mut self, sql: &str) {
        self.inner.send(sql);
    }

    fn receive(&mut self) -> Option<WireReply> {
        self.inner.receive()
    }

    fn fd(&self) -> RawFd {
        self.inner.fd()
    }

    fn abandon(&mut self) {
        self.inner.abandon();
    }

    fn own_limit(&self) -> Duration {
        self.inner.own_limit()
    }

    fn reset(&mut self) -> bool {
        let inner = &mut self.inner;
        inner.reset()
            && self.statements.iter().all(|statement| {
                matches!(
                    ask(inner.as_mut(), statement, SILENCE),
                    Ok(WireReply { reply: RawReply::Done { .. }, .. })
                )
            })
    }
}
