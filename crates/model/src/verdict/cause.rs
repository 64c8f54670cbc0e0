//! Why something is wrong, as far as an oracle can tell: the rule that is broken, or the known deviations that explain it.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

use super::RuleId;

/// A known deviation, by its name in kebab-case. Which there are is said by `dialect::contract`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DeviationId(pub String);

impl fmt::Display for DeviationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<&str> for DeviationId {
    fn from(name: &str) -> DeviationId {
        DeviationId(name.to_string())
    }
}

/// Known deviations that explain something together.
pub type Deviations = BTreeSet<DeviationId>;

/// As one word.
pub(crate) fn names(deviations: &Deviations) -> String {
    deviations.iter().map(|by| by.0.as_str()).collect::<Vec<_>>().join("+")
}

/// What is behind a violation. Part of its fingerprint and, without the level, of its signature.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// This rule of the contract is broken, and nothing explains it.
    Rule(RuleId),
    /// These explain it.
    Deviations(Deviations),
    /// It holds on every server, whatever the contract.
    Invariant,
    /// Alone on what it should see, the statement answers otherwise.
    Alone {
        /// Had it waited? Then it may have judged rows before and after.
        after_wait: bool,
    },
    /// The model objects, the decoupled run does not.
    ModelObjects,
    /// The decoupled run objects, the model does not.
    DecoupledObjects,
    /// A place in the server's code, `row0sel.cc:99`.
    CrashSite(String),
    /// What the server wrote into its log, without what changes from run to run.
    LogWords(String),
    /// The code of an internal error.
    ErrorCode(String),
    /// The server's own check of its data.
    IntegrityCheck,
    /// Nothing says why.
    Unknown,
}

impl Cause {
    /// The known deviations that explain it, if it is explained.
    pub fn deviations(&self) -> Option<&Deviations> {
        match self {
            Cause::Deviations(by) => Some(by),
            _ => None,
        }
    }

    /// The cause without regard to the level.
    pub fn at_any_level(&self) -> Cause {
        match self {
            Cause::Rule(rule) => Cause::Rule(rule.at_any_level()),
            other => other.clone(),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Rule(rule) => f.pad(rule.name()),
            Cause::Deviations(by) => f.pad(&names(by)),
            Cause::Invariant => f.pad("invariant"),
            Cause::Alone { after_wait: false } => f.pad("alone"),
            Cause::Alone { after_wait: true } => f.pad("alone-after-wait"),
            Cause::ModelObjects => f.pad("model-objects"),
            Cause::DecoupledObjects => f.pad("decoupled-objects"),
            Cause::CrashSite(place) => f.pad(&format!("assertion {place}")),
            Cause::LogWords(words) => f.pad(words),
            Cause::ErrorCode(code) => f.pad(code),
            Cause::IntegrityCheck => f.pad("integrity-check"),
            Cause::Unknown => f.pad("unknown"),
        }
    }
}
