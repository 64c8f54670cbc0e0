//! A case: what to set up, which sessions there are, and the order in which their statements are submitted.
//!
//! A case is an artefact. It replays without whatever made it. **A step is text, and that text is what is
//! sent**; a syntax tree of it can be had from `dialect`, but only where printing the tree gives the same tokens.

use serde::{Deserialize, Serialize};

use crate::{
    expect::{Expectation, Selector},
    level::Level,
    target::Product,
};

/// A whole case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// One line: what it shows.
    pub title: String,
    /// Bug numbers and the like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<String>,
    /// Where it comes from and whatever else is worth keeping, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The products that it is written for; empty means all.
    #[serde(rename = "for", default, skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<Product>,
    /// Who takes part, in order of first appearance or as declared.
    pub sessions: Vec<SessionSpec>,
    /// What runs first, in a session of its own.
    pub setup: Setup,
    /// The statements in submitted order: this IS the schedule.
    pub steps: Vec<Step>,
    /// What each table should hold in the end.
    #[serde(rename = "final", default, skip_serializing_if = "Vec::is_empty")]
    pub final_state: Vec<FinalState>,
    /// Where it is known not to come out as expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fails: Vec<KnownFailure>,
}

/// The statements that create and fill the tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Setup {
    /// Without the closing semicolon.
    pub statements: Vec<String>,
}

/// One participant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSpec {
    /// `T1`
    pub name: String,
    /// Its own level; none means the level of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// Is autocommit on? When it is off, a transaction is open without BEGIN.
    pub autocommit: bool,
}

impl SessionSpec {
    /// A session with nothing special about it.
    pub fn plain(name: impl Into<String>) -> SessionSpec {
        SessionSpec { name: name.into(), level: None, autocommit: true }
    }
}

/// One statement of one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Index into [`Case::sessions`].
    pub session: usize,
    /// What is sent, without the closing semicolon.
    pub sql: String,
    /// What should come, by selector.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Expectation>,
}

/// What one table should hold in the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalState {
    /// The table.
    pub table: String,
    /// What it should hold, by selector.
    pub expect: Vec<Expectation>,
}

/// Where a case is known to come out differently, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFailure {
    /// Where.
    pub at: Selector,
    /// What comes instead of the expectation at these steps (index from 0).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<(usize, crate::expect::Expected)>,
    /// What these tables hold instead in the end.
    #[serde(rename = "final", default, skip_serializing_if = "Vec::is_empty")]
    pub final_state: Vec<(String, crate::expect::Expected)>,
}
