//! What an oracle says in the end.
//!
//! Three answers: it holds, it is violated, it cannot be told. The last is counted and shown; it never reads as fine.

use serde::{Deserialize, Serialize};

use crate::level::Level;

/// What an oracle says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing is wrong. `by` names the exemptions (a sentence of the manual each) without which it would be.
    Holds {
        /// By design, and why.
        by: Vec<String>,
    },
    /// Something is wrong.
    Violated(Violation),
    /// It cannot be told.
    Undecided {
        /// Why, as a short name that can be counted.
        reason: String,
    },
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// What is held fixed while a case is made smaller.
    pub fingerprint: Fingerprint,
    /// The step that shows it, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// One sentence for people: what came, and what should have.
    pub story: String,
    /// What it rests on, a line each: rows, versions, lines of a log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

/// Kind, broken rule, kind of statement, level: held fixed while reducing, so that a case does not drift onto another bug.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The kind: `crash`, `hang`, `internal-error`, `aborted-read`.
    pub kind: String,
    /// The rule that is broken, by its name.
    pub rule: String,
    /// The kind of the statement that shows it: `select`, `update`; `final` for the final state.
    pub statement: String,
    /// The level of the session that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
}
