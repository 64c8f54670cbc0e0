//! What a case file says should come, and for which levels, servers, versions and settings it says so.

use serde::{Deserialize, Serialize};

use crate::{
    level::Level,
    outcome::ErrorClass,
    target::{Product, ServerInfo, Settings, Version},
};

/// One `=>` line: what should come, where its selector matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expectation {
    /// Where it holds.
    #[serde(default)]
    pub when: Selector,
    /// What should come.
    pub then: Expected,
}

/// What should come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// Must it wait first? `false` means that it must answer at once.
    pub waits: bool,
    /// And then; none means that only the waiting is stated.
    pub answer: Option<Answer>,
}

/// The answer that should come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Success, whatever its count or rows.
    Ok,
    /// This many rows affected.
    Affected(u64),
    /// These rows, each as the case file writes it.
    Rows {
        /// Must they come in this order?
        ordered: bool,
        /// The rows.
        rows: Vec<Vec<Literal>>,
    },
    /// An error.
    Error {
        /// Which class, or which number.
        what: ErrorMatch,
        /// Is the transaction over (`Some(true)`), still open (`Some(false)`), or not said?
        over: Option<bool>,
    },
}

/// Which error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorMatch {
    /// Any of this class.
    Class(ErrorClass),
    /// This number.
    Code(u32),
}

/// A value as the case file writes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Literal {
    /// `NULL`
    Null,
    /// `7`, `1.10`, `-3e5`: compared with the server's bytes as they are.
    Number(String),
    /// `'seven'`
    Text(String),
    /// `x'07'`
    Bytes(Vec<u8>),
}

/// Levels, servers, versions and settings; empty lists mean any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selector {
    /// At one of these levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Level>,
    /// On one of these servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerMatch>,
}

/// `mariadb@10.6..11.4 innodb_snapshot_isolation=OFF`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerMatch {
    /// The product.
    pub product: Product,
    /// From this version on (included), compared by as many parts as are written.
    pub from: Option<Version>,
    /// Up to this version (included, with all its releases).
    pub to: Option<Version>,
    /// With these settings in force.
    pub settings: Settings,
}

impl ServerMatch {
    /// Does this server fit?
    pub fn matches(&self, server: &ServerInfo) -> bool {
        self.product == server.product
            && self.from.as_ref().is_none_or(|from| server.version.cmp_prefix(from).is_ge())
            && self.to.as_ref().is_none_or(|to| server.version.cmp_prefix(to).is_le())
            && self.settings.iter().all(|(name, value)| {
                server.settings.get(name).is_some_and(|have| have.eq_ignore_ascii_case(value))
            })
    }

    /// How narrow it is: the product, a version bound and each setting count one.
    fn weight(&self) -> usize {
        1 + usize::from(self.from.is_some() || self.to.is_some()) + self.settings.len()
    }
}

impl Selector {
    /// If it fits this server and level: how narrow it is. The narrowest expectation wins.
    pub fn weight(&self, server: &ServerInfo, level: Level) -> Option<usize> {
        if !self.levels.is_empty() && !self.levels.contains(&level) {
            return None;
        }
        let by_level = usize::from(!self.levels.is_empty());
        if self.servers.is_empty() {
            return Some(by_level);
        }
        self.servers.iter().filter(|s| s.matches(server)).map(ServerMatch::weight).max().map(|w| w + by_level)
    }
}
