//! What a statement came to: rows, a count, an error, or a server that is gone. All of these are outcomes
//! of the database, never failures of ours.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::rows::RowSet;

/// What came back for one statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The answer itself.
    pub reply: Reply,
    /// Warnings that a successful statement left behind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Is a transaction open in this session after the statement?
    pub transaction: Open,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// A result set.
    Rows(RowSet),
    /// Success without a result set.
    Done {
        /// Rows affected, as the server counts them.
        affected: u64,
        /// Rows that matched, where the server says so (`Rows matched: 3  Changed: 2`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        matched: Option<u64>,
    },
    /// The server called it a success, but has rolled the transaction back: COMMIT of one that had failed (PostgreSQL).
    RolledBack,
    /// The server refused.
    Error(DbError),
    /// The connection ended before an answer came. The server lives.
    ConnectionLost,
    /// The server process is dead.
    ServerDied,
    /// Neither an answer nor a wait within the limit; the statement was killed.
    Hung,
    /// Still waiting when the case ended; the statement was killed.
    Killed,
    /// Never sent: its session was gone, or still waited when the case ended.
    NotSent,
}

/// Does a session have an open transaction?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Open {
    Yes,
    /// No: the next statement commits by itself.
    No,
    /// One that has failed: until it is rolled back, everything else is refused (PostgreSQL).
    Failed,
    /// The protocol does not say.
    Unknown,
}

/// A warning of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// The server's number.
    pub code: u32,
    /// Its text, for people; never compared.
    pub message: String,
}

/// An error of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DbError {
    /// The server's number.
    pub code: u32,
    /// SQLSTATE, where the protocol has one.
    pub sqlstate: String,
    /// What it means, by the dialect's table.
    pub class: ErrorClass,
    pub ends: Ends,
    /// Its text, for people; never compared.
    pub message: String,
}

/// What an error ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ends {
    /// Only the statement; the transaction stays open.
    Statement,
    /// The whole transaction is rolled back.
    Transaction,
    /// The session is gone.
    Session,
}

crate::named! {
    /// What an error means, the same for every product. Its names are those of case files.
    pub enum ErrorClass {
        /// Chosen as the victim of a deadlock.
        Deadlock = "deadlock",
        /// Waited too long for a lock, or was asked not to wait.
        LockTimeout = "lock-timeout",
        /// The transactions cannot be put in a serial order.
        SerializationFailure = "serialization-failure",
        /// A row was changed by another transaction since the snapshot.
        WriteConflict = "write-conflict",
        /// The database is locked by another writer or reader (SQLite).
        Busy = "busy",
        /// A unique value is there already.
        DuplicateKey = "duplicate-key",
        /// A foreign key, CHECK or NOT NULL refuses.
        Constraint = "constraint",
        /// A value is out of range or does not fit.
        Range = "range",
        /// The statement is not understood, or names what does not exist.
        Syntax = "syntax",
        /// A function or a subquery failed while running.
        Runtime = "runtime",
        /// Not allowed in this transaction (read only, say).
        ReadOnly = "read-only",
        /// The table changed its definition under the transaction.
        TableChanged = "table-changed",
        /// The statement was killed.
        Interrupted = "interrupted",
        /// The connection is gone.
        GoneAway = "gone-away",
        /// Rights are missing.
        Denied = "denied",
        /// The server's own internal error, corruption included.
        Internal = "internal",
        /// Not in the dialect's table.
        Other = "other",
    }
}

impl ErrorClass {
    /// Does it come of other transactions, so that the same statement may succeed alone?
    pub fn by_concurrency(self) -> bool {
        matches!(
            self,
            ErrorClass::Deadlock
                | ErrorClass::LockTimeout
                | ErrorClass::SerializationFailure
                | ErrorClass::WriteConflict
                | ErrorClass::Busy
        )
    }
}

impl Outcome {
    /// For replies that no server sent.
    pub fn bare(reply: Reply) -> Outcome {
        Outcome { reply, warnings: Vec::new(), transaction: Open::No }
    }

    /// The error, if it is one.
    pub fn error(&self) -> Option<&DbError> {
        match &self.reply {
            Reply::Error(error) => Some(error),
            _ => None,
        }
    }

    /// The rows, if it is a result set.
    pub fn rows(&self) -> Option<&RowSet> {
        match &self.reply {
            Reply::Rows(rows) => Some(rows),
            _ => None,
        }
    }

    /// Did the server call it a success, with rows or without?
    pub fn succeeded(&self) -> bool {
        matches!(self.reply, Reply::Rows(_) | Reply::Done { .. })
    }

    /// Is the session or the whole server gone, or does it not answer?
    pub fn is_lost(&self) -> bool {
        matches!(self.reply, Reply::ConnectionLost | Reply::ServerDied | Reply::Hung)
    }

    /// The same answer, but for what no comparison may look at: texts, and the order of rows.
    pub fn same(&self, other: &Outcome) -> bool {
        let reply = match (&self.reply, &other.reply) {
            (Reply::Rows(a), Reply::Rows(b)) => a.columns() == b.columns() && a.same_rows(b),
            (Reply::Error(a), Reply::Error(b)) => a.code == b.code && a.sqlstate == b.sqlstate,
            (a, b) => a == b,
        };
        let codes = |outcome: &Outcome| {
            let mut codes: Vec<u32> = outcome.warnings.iter().map(|warning| warning.code).collect();
            codes.sort_unstable();
            codes
        };
        reply && codes(self) == codes(other) && self.transaction == other.transaction
    }
}

impl fmt::Display for Outcome {
    /// In the words of the case file: `(1, 2)`, `3 rows`, `ok`, `error deadlock`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reply {
            Reply::Rows(rows) => write!(f, "{rows}"),
            Reply::Done { affected: 1, .. } => f.write_str("1 row"),
            Reply::Done { affected, .. } => write!(f, "{affected} rows"),
            Reply::RolledBack => f.write_str("rolled back"),
            Reply::Error(error) => {
                // PostgreSQL has no numbers.
                match error.code {
                    0 => write!(f, "error {} ({})", error.class, error.sqlstate)?,
                    code => write!(f, "error {} ({code})", error.class)?,
                }
                match error.ends {
                    Ends::Statement => Ok(()),
                    Ends::Transaction => f.write_str(", transaction over"),
                    Ends::Session => f.write_str(", session over"),
                }
            }
            Reply::ConnectionLost => f.write_str("connection lost"),
            Reply::ServerDied => f.write_str("server died"),
            Reply::Hung => f.write_str("hung"),
            Reply::Killed => f.write_str("still waiting at the end"),
            Reply::NotSent => f.write_str("not sent"),
        }
    }
}
