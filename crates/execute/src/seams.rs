//! The seams between the scheduler and a database: what it needs to be told, and nothing else.

use std::{fmt, os::fd::RawFd, path::PathBuf, time::Duration};

use model::{Level, Open, RowSet, ServerInfo};

/// The server's own number of a connection (`CONNECTION_ID()`).
pub type SessionId = u64;

/// An answer as the wire gave it, before a dialect says what an error means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireReply {
    pub reply: RawReply,
    /// How many warnings the server counted.
    pub warnings: u16,
    /// Is a transaction open? Errors often do not say so.
    pub transaction: Open,
}

/// What came over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawReply {
    Rows(RowSet),
    /// Success without one.
    Done {
        affected: u64,
        /// Rows matched, where the server says so.
        matched: Option<u64>,
    },
    /// Success in the server's words, but the transaction was rolled back: COMMIT of a failed one.
    RolledBack,
    /// The server refused.
    Error(RawError),
    /// What came is no answer, or too large for one. The connection is of no more use.
    Unreadable(String),
    Lost,
}

/// An error as the server sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawError {
    pub code: u32,
    /// SQLSTATE, or empty.
    pub sqlstate: String,
    pub message: String,
}

impl fmt::Display for RawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // PostgreSQL has no numbers.
            RawError { code: 0, sqlstate, message } => write!(f, "{message} ({sqlstate})"),
            RawError { code, message, .. } => write!(f, "{message} ({code})"),
        }
    }
}

/// One connection. Sending never waits for the answer, and at most one statement is outstanding.
pub trait Session {
    /// The server's number of this connection.
    fn id(&self) -> SessionId;

    /// Sends one statement. A broken connection shows as [`RawReply::Lost`] at the next `receive`.
    fn send(&mut self, sql: &str);

    /// The answer to the statement sent last, if it has come completely. Never blocks.
    fn receive(&mut self) -> Option<WireReply>;

    /// What to poll for input; negative if the answer is there and nothing has to be awaited.
    fn fd(&self) -> RawFd;

    /// Forgets all session state (variables, level, temporary tables) but keeps the connection, or
    /// says that the connection must be opened anew. Blocks; only between cases.
    fn reset(&mut self) -> bool;

    /// The answer to the statement sent last is not awaited any more. Whatever comes now would be taken for the answer to
    /// the next one, so the connection is of no more use: from here on it counts as broken.
    fn abandon(&mut self);

    /// How long a statement of our own may take here at most, whoever sends it.
    fn own_limit(&self) -> Duration {
        Duration::MAX
    }
}

pub trait Server {
    /// What it is, as it described itself when it came up.
    fn info(&self) -> &ServerInfo;

    /// Opens a session, with our own schema as its default. Blocks.
    fn connect(&mut self) -> Result<Box<dyn Session>, ConnectError>;

    /// Opens a session in a scratch schema: another schema of our own than that of the cases, which is made when it is first asked
    /// for. Blocks.
    fn connect_scratch(&mut self, _number: usize) -> Result<Box<dyn Session>, ConnectError> {
        Err(ConnectError::NoScratchSchema)
    }

    /// A monitor for this server, of the kind asked for at start.
    fn monitor(&mut self) -> Result<Box<dyn LockMonitor>, ConnectError>;

    /// Ends the statement that a session is running (`KILL QUERY`), or the whole session if `hard`.
    fn kill(&mut self, session: SessionId, hard: bool) -> Result<(), ConnectError>;

    /// Is its process still there? Asked after a connection was lost.
    fn alive(&mut self) -> bool;

    /// Its process, if it runs on this machine and we started it: for pinning and priorities.
    fn pid(&self) -> Option<u32>;

    /// The files that it writes its error log to, if it is ours and has some. They can be read after its death, as long as
    /// this lives.
    fn logs(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Are we guests there? Then nothing is prepared outside our own schemas.
    fn guest(&self) -> bool {
        false
    }
}

/// What a monitor knows about the statements that have not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Every one of them provably waits.
    AllWait,
    /// At least one is still at work, or it cannot be told yet.
    Working,
}

/// Knows whether statements wait.
pub trait LockMonitor {
    /// How it knows: `proc`, `sql` or `never`, for people.
    fn how(&self) -> &'static str;

    /// Prepares to watch a session; called once after it was opened.
    fn watch(&mut self, _session: SessionId) -> Result<(), ConnectError> {
        Ok(())
    }

    /// No longer watches a session.
    fn forget(&mut self, _session: SessionId) {}

    /// Do all of these sessions wait? They have a statement outstanding each.
    fn check(&mut self, outstanding: &[SessionId]) -> Result<Settled, ConnectError>;

    /// For each of these waiting sessions, the sessions that it waits for. Only a label; may be empty.
    fn blockers(&mut self, waiting: &[SessionId]) -> Vec<Vec<SessionId>>;

    /// How long to wait for an answer before it is worth asking this monitor (again).
    fn patience(&self) -> Duration;
}

/// Why WE could not go on. What the database answers is never one of these.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The server does not take connections.
    #[error("cannot connect to {server}: {reason}")]
    Refused { server: String, reason: String },
    /// A statement of our own failed.
    #[error("the server refused a statement of Isopod's own: {statement}: {reason}")]
    Own { statement: String, reason: String },
    /// The server sent what is no answer, or one that is too large.
    #[error("the server's answer cannot be read: {reason} (to {statement})")]
    Unreadable { statement: String, reason: String },
    /// The level was set but did not hold.
    #[error("the session was set to {asked} but reports {found}")]
    Level { asked: Level, found: String },
    /// The case reaches outside of its schema, on a server that is not ours, and nobody said that it is trusted. Nothing
    /// was sent.
    #[error("the case is not trusted: {0}")]
    Untrusted(String),
    /// This server has no second schema for us.
    #[error("there is no second schema for us on this server")]
    NoScratchSchema,
    /// The connection or the server went away.
    #[error("the server went away")]
    Gone,
}
