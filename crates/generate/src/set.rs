//! A set of transactions: a script for each session, before anybody says in which order they run.

use model::{Level, sql::Statement};

use crate::conflicts::Strategy;

/// A set of transactions on one schema.
#[derive(Clone, Debug)]
pub struct Set {
    /// Which one of its seed.
    pub number: u64,
    /// How they were made to collide.
    pub strategy: Strategy,
    /// One for each session.
    pub scripts: Vec<Script>,
}

/// What one session does.
#[derive(Clone, Debug)]
pub struct Script {
    /// Its level.
    pub level: Level,
    /// Is autocommit on?
    pub autocommit: bool,
    /// Its statements from BEGIN to COMMIT, both included where there are any.
    pub statements: Vec<Statement>,
}
