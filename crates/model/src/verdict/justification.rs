//! Why a run holds that would not hold by the strict rules alone.

use std::{convert::Infallible, fmt, str::FromStr};

use super::{DeviationId, Reason, old};

crate::named! {
    /// Something that a manual exempts from the invariants.
    pub enum ExemptionId {
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

impl FromStr for Justification {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match (text.split_once(' '), text) {
            (None, "asked-for") => Justification::AskedFor,
            (None, name) => Justification::Documented(name.into()),
            (Some(("undocumented", by)), _) => Justification::Undocumented(by.into()),
            (Some(("uncertain", why)), _) => Justification::Uncertain(Reason::from_name(why)),
            (Some((sort, by)), words) => match by.parse() {
                Ok(by) if sort == "exempt" => Justification::Exempt(by),
                _ => old::justification(words),
            },
        })
    }
}
