//! One statement on tables that hold given rows, outside of any case: what an oracle asks for when it wants to know what the
//! statement does by itself.
//!
//! Probes run in *scratch schemas*: schemas of their own beside that of the cases, with tables of the same names, so that the text
//! of the statement runs unchanged.

use serde::{Deserialize, Serialize};

use crate::{
    outcome::{DbError, Outcome},
    rows::RowSet,
    verdict::Reason,
};

/// What is to be run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// The number of the scratch schema, from 0.
    pub schema: usize,
    /// The statements that make its tables. While they are the same the tables stay.
    pub build: Vec<String>,
    /// What the session that runs the statement says first, once.
    pub prelude: Vec<String>,
    /// The tables that matter; what the others hold does not.
    pub tables: Vec<TableFixture>,
    /// Asked before the statement.
    pub first_query: Option<String>,
    /// The statement; none to see no more than what the tables hold when they are filled.
    pub sql: Option<String>,
    /// Read the tables afterwards? If not, the statement changes nothing.
    pub changes: bool,
}

/// A table of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFixture {
    pub name: String,
    /// The statements that fill it when it is empty.
    pub fill: Vec<String>,
    /// The query that reads it.
    pub read: String,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeResult {
    Ran {
        /// What the first query gave.
        first_query: Option<RowSet>,
        /// What the statement came to; none without one.
        outcome: Option<Outcome>,
        /// Each table afterwards, in the order of the probe; empty if nobody asked for it.
        tables: Vec<RowSet>,
    },
    /// The rows do not go into their table.
    FixtureRefused {
        table: String,
        /// What the server said.
        error: DbError,
    },
    /// It could not be run, for a reason that has a name.
    NotRun(Reason),
}
