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

impl Case {
    /// Do its sessions need different levels? A session without one of its own is at the level of the run; where nobody knows that
    /// level, it counts as one of its own.
    pub fn has_mixed_levels(&self, run: Option<Level>) -> bool {
        let mut levels = self.sessions.iter().map(|session| session.level.or(run));
        let first = levels.next();
        levels.any(|level| Some(level) != first)
    }
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
    pub table: String,
    /// What it should hold, by selector.
    pub expect: Vec<Expectation>,
}

/// Where a case is known to come out differently, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFailure {
    pub at: Selector,
    /// What comes instead of the expectation at these steps (index from 0).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<(usize, crate::expect::Expected)>,
    /// What these tables hold instead in the end.
    #[serde(rename = "final", default, skip_serializing_if = "Vec::is_empty")]
    pub final_state: Vec<(String, crate::expect::Expected)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_without_a_level_counts_as_one_where_that_of_the_run_is_not_known() {
        let (rc, rr) = (Some(Level::ReadCommitted), Some(Level::RepeatableRead));
        let mixed = |levels: &[Option<Level>], run| {
            let spec = |level: &Option<Level>| SessionSpec { level: *level, ..SessionSpec::plain("T") };
            let case = Case { sessions: levels.iter().map(spec).collect(), ..Case::default() };
            case.has_mixed_levels(run)
        };
        assert!(mixed(&[rr, rc], None) && mixed(&[rr, rc, rr], rr));
        assert!(!mixed(&[rr, rr], None) && !mixed(&[None, None], None) && !mixed(&[], None));
        assert!(mixed(&[None, rr], None) && mixed(&[None, rr], rc) && !mixed(&[None, rr], rr));
    }
}
