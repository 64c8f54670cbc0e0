//! The four isolation levels of the SQL standard, as names. What an engine owes at a level is its contract.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// An isolation level, from weak to strong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Level {
    #[serde(rename = "RU")]
    ReadUncommitted,
    #[serde(rename = "RC")]
    ReadCommitted,
    #[serde(rename = "RR")]
    RepeatableRead,
    #[serde(rename = "SER")]
    Serializable,
}

impl Level {
    /// All of them, weakest first.
    pub const ALL: [Level; 4] =
        [Level::ReadUncommitted, Level::ReadCommitted, Level::RepeatableRead, Level::Serializable];

    /// The short name that case files and flags use.
    pub fn short(self) -> &'static str {
        match self {
            Level::ReadUncommitted => "RU",
            Level::ReadCommitted => "RC",
            Level::RepeatableRead => "RR",
            Level::Serializable => "SER",
        }
    }

    /// The name that SQL uses.
    pub fn sql(self) -> &'static str {
        match self {
            Level::ReadUncommitted => "READ UNCOMMITTED",
            Level::ReadCommitted => "READ COMMITTED",
            Level::RepeatableRead => "REPEATABLE READ",
            Level::Serializable => "SERIALIZABLE",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.short())
    }
}

/// The text is no level's name.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not an isolation level; the levels are RU, RC, RR and SER")]
pub struct UnknownLevel(pub String);

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        let plain = text.trim().to_ascii_uppercase().replace(['-', '_'], " ");
        Level::ALL
            .into_iter()
            .find(|level| level.short() == plain || level.sql() == plain)
            .ok_or_else(|| UnknownLevel(text.to_string()))
    }
}
