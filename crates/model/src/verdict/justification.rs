//! Why a run holds that would not hold by the strict rules alone.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{DeviationId, Reason, named, old};

named! {
    /// Something that a manual exempts from the invariants.
    ExemptionId {
        DirtyRead = "dirty-read",
        /// InnoDB: own changes beside an old snapshot.
        MixedSnapshot = "mixed-snapshot",
        /// PostgreSQL: own changes beside the snapshot.
        OwnUpdates = "own-updates",
        MixedLevels = "mixed-levels",
        /// Read by a serializable transaction that did not commit.
        NotCommitted = "not-committed",
        /// InnoDB: NOWAIT and SKIP LOCKED beside locks of whole tables.
        RowLocksOnly = "row-locks-only",
        /// The same in PostgreSQL.
        RowLevelLocks = "row-level-locks",
        /// PostgreSQL: a locking read sorts before it locks.
        SortedBeforeLocked = "sorted-before-locked",
        /// InnoDB: circles of waits through locks of whole tables.
        TableLocks = "table-locks",
    }
}

/// One of the reasons why a run holds. In files it is one word or two: `semi-consistent-skip`, `undocumented x`, `exempt y`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Justification {
    /// A deviation that the manual documents.
    Documented(DeviationId),
    /// One that was measured and is documented nowhere.
    Undocumented(DeviationId),
    Exempt(ExemptionId),
    /// Accepted, but another answer might have been right, too.
    Uncertain(Reason),
    /// A step of the case asks for it: it ends sessions or the server.
    AskedFor,
}

impl Justification {
    /// Is it promised nowhere?
    pub fn undocumented(&self) -> bool {
        matches!(self, Justification::Undocumented(_))
    }

    /// The name without what sort it is of.
    pub fn name(&self) -> &str {
        match self {
            Justification::Documented(by) | Justification::Undocumented(by) => &by.0,
            Justification::Exempt(by) => by.name(),
            Justification::Uncertain(why) => why.name(),
            Justification::AskedFor => "asked-for",
        }
    }
}

impl fmt::Display for Justification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sort = match self {
            Justification::Documented(_) | Justification::AskedFor => "",
            Justification::Undocumented(_) => "undocumented ",
            Justification::Exempt(_) => "exempt ",
            Justification::Uncertain(_) => "uncertain ",
        };
        write!(f, "{sort}{}", self.name())
    }
}

impl Serialize for Justification {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Justification {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(match text.split_once(' ') {
            None if text == "asked-for" => Justification::AskedFor,
            None => Justification::Documented(DeviationId(text)),
            Some(("undocumented", by)) => Justification::Undocumented(by.into()),
            Some(("uncertain", why)) => Justification::Uncertain(Reason::from_name(why)),
            Some(("exempt", by)) if by.parse::<ExemptionId>().is_ok() => {
                Justification::Exempt(by.parse().unwrap_or(ExemptionId::DirtyRead))
            }
            Some(_) => old::justification(&text),
        })
    }
}
