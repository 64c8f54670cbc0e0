//! What an oracle says in the end, as data: no field holds a sentence, and nobody has to read one back.
//!
//! Three answers: it holds, it is violated, it cannot be told. The last is counted and shown; it never reads as fine.
//!
//! | file | what it holds |
//! |---|---|
//! | `symptom` | what is wrong, by one word |
//! | `rule` | the rules that can be broken |
//! | `cause` | the rule or the known deviations behind it |
//! | `feature` | what a statement is made of, where nothing else tells the cause |
//! | `evidence` | what it rests on: expected and actual answer, twin, second opinion |
//! | `justification` | why a run holds that would not by the strict rules |
//! | `reason` | why it cannot be told |
//! | `old` | files of earlier versions |

mod cause;
pub mod evidence;
mod feature;
mod justification;
mod old;
mod reason;
mod rule;
mod symptom;

use std::{collections::BTreeSet, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{level::Level, named::stored_as_text, sql::StatementKind};

pub(crate) use cause::names;
pub use cause::{Cause, DeviationId, Deviations};
pub use evidence::{Evidence, Response};
pub use feature::Feature;
pub use justification::{ExemptionId, Justification};
pub(crate) use old::AnySignature;
pub use reason::Reason;
pub use rule::RuleId;
pub use symptom::{Symptom, Visible};

/// What an oracle says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing is wrong. `by`: without these it would be.
    Holds {
        by: BTreeSet<Justification>,
    },
    Violated(Violation),
    Undecided {
        reason: Reason,
    },
}

impl Verdict {
    /// Nothing is wrong by the strict rules.
    pub fn holds() -> Verdict {
        Verdict::Holds { by: BTreeSet::new() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "old::AnyViolation")]
pub struct Violation {
    /// What is held fixed while a case is reduced.
    pub fingerprint: Fingerprint,
    /// The step that shows it, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    pub evidence: Box<Evidence>,
}

impl Violation {
    /// The steps that wait for each other, where that is what is wrong.
    pub fn circle(&self) -> &[usize] {
        match &self.evidence.sighting {
            Some(evidence::Sighting::Circle { steps }) => steps,
            _ => &[],
        }
    }

    /// Is what is wrong a wait itself, and nothing that came after it?
    pub fn is_a_wait(&self) -> bool {
        self.waits_wrongly() || !self.circle().is_empty()
    }

    /// Is it wrong that the step waits, whatever comes then?
    pub fn waits_wrongly(&self) -> bool {
        self.fingerprint.symptom == Symptom::NeedlessWait || self.evidence.actual == Some(Response::Wait)
    }
}

/// Symptom, cause, kind of statement, level: held fixed while reducing, so that a case does not drift onto another bug.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "old::AnyFingerprint")]
pub struct Fingerprint {
    pub symptom: Symptom,
    pub cause: Cause,
    pub statement: ShownBy,
    /// The level of the session that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
}

impl Fingerprint {
    /// The known deviations that explain it, if it is explained.
    pub fn deviations(&self) -> Option<&Deviations> {
        self.cause.deviations()
    }

    /// In one word what is behind it, or what is wrong where that says more.
    pub fn label(&self) -> String {
        match &self.cause {
            Cause::Invariant | Cause::Unknown => self.symptom.to_string(),
            cause => cause.to_string(),
        }
    }
}

impl fmt::Display for Fingerprint {
    /// As one line: `wrong-rows · one-snapshot · select · RR`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} · {} · {}", self.symptom, self.cause, self.statement)?;
        self.level.map_or(Ok(()), |level| write!(f, " · {}", level.short()))
    }
}

/// What shows it: a kind of statement, or the final state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ShownBy {
    /// A statement of this kind; none of one that has no tree.
    Statement(Option<StatementKind>),
    FinalState,
}

impl ShownBy {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            ShownBy::Statement(kind) => StatementKind::label(kind),
            ShownBy::FinalState => "final",
        }
    }

    /// Does a statement show it that changes rows?
    pub fn writes(self) -> bool {
        matches!(self, ShownBy::Statement(Some(kind)) if kind.writes())
    }
}

impl fmt::Display for ShownBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ShownBy {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match (name.parse(), name) {
            (Ok(kind), _) => Ok(ShownBy::Statement(Some(kind))),
            (Err(()), "final") => Ok(ShownBy::FinalState),
            (Err(()), "unread") => Ok(ShownBy::Statement(None)),
            (Err(()), other) => Err(format!("{other} is no kind of statement")),
        }
    }
}

stored_as_text!(ShownBy, Justification, Reason);
