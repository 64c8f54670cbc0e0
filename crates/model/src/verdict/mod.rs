//! What an oracle says in the end.
//!
//! Three answers: it holds, it is violated, it cannot be told. The last is counted and shown; it never reads as fine.

mod cause;
mod reason;
mod rule;
mod symptom;

use serde::{Deserialize, Serialize};

use crate::level::Level;

pub use cause::{Cause, DeviationId, Deviations};
pub use reason::Reason;
pub use rule::RuleId;
pub use symptom::{Symptom, Visible};

/// An enum whose variants have names: in files, in counts, on the command line.
macro_rules! named {
    ($(#[$doc:meta])* $enum:ident { $($(#[$of:meta])* $name:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        pub enum $enum { $($(#[$of])* #[serde(rename = $text)] $name,)* }

        impl $enum {
            pub const ALL: &'static [$enum] = &[$($enum::$name,)*];

            pub fn name(self) -> &'static str {
                match self { $($enum::$name => $text,)* }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $enum {
            type Err = ();

            fn from_str(text: &str) -> Result<Self, ()> {
                $enum::ALL.iter().copied().find(|one| one.name() == text).ok_or(())
            }
        }
    };
}
use named;

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
        /// Why.
        reason: Reason,
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
