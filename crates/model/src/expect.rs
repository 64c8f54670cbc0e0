//! What a case file says should come, and for which levels, servers, versions and settings it says so.
//!
//! Of the expectations that fit a server and a level the narrowest wins: a listed level, a product, a version
//! range and each setting count one. Two that fit equally well and say different things are a [`Tie`];
//! [`Selector::ties`] finds those without a server at hand, so that a case file with one is refused.
//! How all of this is written stands in [`crate::casefile`].

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::{
    level::Level,
    outcome::{DbError, ErrorClass},
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
    pub answer: Option<ExpectedReply>,
}

/// The answer that should come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectedReply {
    /// Success, whatever its count or rows.
    Ok,
    Affected {
        /// This many rows affected.
        count: u64,
        /// Of so many that matched, where that is said.
        of: Option<u64>,
    },
    /// These rows, each as the case file writes it.
    Rows {
        /// Must they come in this order?
        ordered: bool,
        rows: Vec<Vec<Literal>>,
    },
    /// The server called it a success and has rolled the transaction back: COMMIT of one that had failed.
    RolledBack,
    Error {
        /// Which class, number or state.
        what: ErrorMatch,
        /// Is the transaction over (`Some(true)`), still open (`Some(false)`), or not said?
        over: Option<bool>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorMatch {
    /// Any of this class.
    Class(ErrorClass),
    /// This number. One of five digits may also be meant as a SQLSTATE: `40001`.
    Code(u32),
    /// This SQLSTATE, where it cannot be taken for a number: `40P01`.
    State(String),
}

impl ErrorMatch {
    /// A SQLSTATE as the case file writes it: five digits and capital letters, at least one of them a digit, and
    /// no number. `40001` is a number, which fits a SQLSTATE too.
    pub fn is_state(text: &str) -> bool {
        text.len() == 5
            && text.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
            && text.bytes().any(|b| b.is_ascii_digit())
            && (text.starts_with('0') || text.bytes().any(|b| b.is_ascii_uppercase()))
    }

    /// Is it this error? A number of five digits is compared with the SQLSTATE as well.
    pub fn fits(&self, error: &DbError) -> bool {
        match self {
            ErrorMatch::Class(class) => error.class == *class,
            ErrorMatch::Code(code) => {
                error.code == *code || (*code >= 10_000 && error.sqlstate == code.to_string())
            }
            ErrorMatch::State(state) => error.sqlstate == *state,
        }
    }
}

/// A value as the case file writes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Literal {
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
    pub product: Product,
    /// From this version on (included), compared by as many parts as are written.
    pub from: Option<Version>,
    /// Up to this version (included, with all its releases).
    pub to: Option<Version>,
    /// With these settings in force.
    pub settings: Settings,
}

/// Two expectations of one step fit equally well and say different things.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`[{0}]` and `[{1}]` fit equally well and expect different things")]
pub struct Tie(pub Selector, pub Selector);

/// What is expected on this server at this level: the narrowest expectation that fits, if one does.
///
/// Expectations that fit equally well and say the same are no tie.
pub fn pick<'a>(
    expectations: &'a [Expectation],
    server: &ServerInfo,
    level: Level,
) -> Result<Option<&'a Expected>, Tie> {
    let fitting =
        || expectations.iter().filter_map(|e| e.when.weight(server, level).map(|weight| (weight, e)));
    let Some(best) = fitting().map(|(weight, _)| weight).max() else { return Ok(None) };
    let mut winners = fitting().filter(|(weight, _)| *weight == best).map(|(_, e)| e);
    let first = winners.next();
    match (first, first.and_then(|first| winners.find(|e| e.then != first.then))) {
        (Some(first), Some(other)) => Err(Tie(first.when.clone(), other.when.clone())),
        (first, None) => Ok(first.map(|e| &e.then)),
        (None, Some(_)) => Ok(None),
    }
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

    /// Can no version fit, because the range ends before it begins?
    pub fn is_empty_range(&self) -> bool {
        matches!((&self.from, &self.to), (Some(from), Some(to)) if to.cmp_prefix(from).is_lt())
    }

    /// The servers that fit both, if there can be any.
    fn common(&self, other: &ServerMatch) -> Option<ServerMatch> {
        if self.product != other.product {
            return None;
        }
        let mut settings = self.settings.clone();
        for (name, value) in &other.settings {
            match settings.get(name) {
                Some(have) if !have.eq_ignore_ascii_case(value) => return None,
                Some(_) => {}
                None => {
                    settings.insert(name.clone(), value.clone());
                }
            }
        }
        let from = stricter(self.from.as_ref(), other.from.as_ref(), Ordering::Greater);
        let to = stricter(self.to.as_ref(), other.to.as_ref(), Ordering::Less);
        let both = ServerMatch { product: self.product, from, to, settings };
        (!both.is_empty_range()).then_some(both)
    }

    /// Does every server that fits `other` fit this one too?
    fn covers(&self, other: &ServerMatch) -> bool {
        let bound = |mine: Option<&Version>, theirs: Option<&Version>, side: Ordering| match (mine, theirs) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(mine), Some(theirs)) => at_least_as_strict(theirs, mine, side),
        };
        self.product == other.product
            && bound(self.from.as_ref(), other.from.as_ref(), Ordering::Greater)
            && bound(self.to.as_ref(), other.to.as_ref(), Ordering::Less)
            && self.settings.iter().all(|(name, value)| {
                other.settings.get(name).is_some_and(|have| have.eq_ignore_ascii_case(value))
            })
    }
}

/// Is `a` a bound that lets no more through than `b`? `side` says which way is stricter. A longer version
/// is the stricter one of two that agree: `..10.1.5` leaves out `10.1.6`, `..10.1` does not.
fn at_least_as_strict(a: &Version, b: &Version, side: Ordering) -> bool {
    let order = a.cmp_prefix(b);
    order == side || (order == Ordering::Equal && a.0.len() >= b.0.len())
}

fn stricter(a: Option<&Version>, b: Option<&Version>, side: Ordering) -> Option<Version> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if at_least_as_strict(a, b, side) { a } else { b }.clone()),
        (one, other) => one.or(other).cloned(),
    }
}

/// Where two selectors both match, and how narrow each of them is there.
struct Overlap {
    levels: Vec<Level>,
    server: Option<ServerMatch>,
    weights: (usize, usize),
}

impl Selector {
    /// If it fits this server and level: how narrow it is. The narrowest expectation wins.
    pub fn weight(&self, server: &ServerInfo, level: Level) -> Option<usize> {
        if !self.levels.is_empty() && !self.levels.contains(&level) {
            return None;
        }
        let by_level = self.level_weight();
        if self.servers.is_empty() {
            return Some(by_level);
        }
        self.servers.iter().filter(|s| s.matches(server)).map(ServerMatch::weight).max().map(|w| w + by_level)
    }

    /// Does it fit everywhere?
    pub fn is_any(&self) -> bool {
        self.levels.is_empty() && self.servers.is_empty()
    }

    /// Is there a server and a level that fits both?
    pub fn overlaps(&self, other: &Selector) -> bool {
        !self.overlap(other).is_empty()
    }

    /// Can both fit with the same weight, where none of `others` fits better?
    ///
    /// `[RR]` and `[mysql]` meet on MySQL at RR; beside `[mysql, RR]`, which is narrower there, that is no tie.
    pub fn ties<'a>(&self, other: &Selector, others: impl Iterator<Item = &'a Selector> + Clone) -> bool {
        self.overlap(other).iter().any(|both| {
            both.weights.0 == both.weights.1
                && !others.clone().any(|third| third.weight_throughout(both) > Some(both.weights.0))
        })
    }

    fn level_weight(&self) -> usize {
        usize::from(!self.levels.is_empty())
    }

    fn overlap(&self, other: &Selector) -> Vec<Overlap> {
        let has = |selector: &Selector, level: &Level| {
            selector.levels.is_empty() || selector.levels.contains(level)
        };
        let levels: Vec<Level> =
            Level::ALL.into_iter().filter(|level| has(self, level) && has(other, level)).collect();
        if levels.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for mine in self.alternatives() {
            for theirs in other.alternatives() {
                let server = match (mine, theirs) {
                    (Some(mine), Some(theirs)) => match mine.common(theirs) {
                        Some(both) => Some(both),
                        None => continue,
                    },
                    (one, other) => one.or(other).cloned(),
                };
                let weight = |s: Option<&ServerMatch>| s.map_or(0, ServerMatch::weight);
                found.push(Overlap {
                    levels: levels.clone(),
                    server,
                    weights: (weight(mine) + self.level_weight(), weight(theirs) + other.level_weight()),
                });
            }
        }
        found
    }

    fn alternatives(&self) -> Vec<Option<&ServerMatch>> {
        if self.servers.is_empty() { vec![None] } else { self.servers.iter().map(Some).collect() }
    }

    /// Its weight in a whole region, if it fits all of it.
    fn weight_throughout(&self, region: &Overlap) -> Option<usize> {
        if !self.levels.is_empty() && !region.levels.iter().all(|level| self.levels.contains(level)) {
            return None;
        }
        let server = match (&region.server, self.servers.is_empty()) {
            (_, true) => Some(0),
            (None, false) => None,
            (Some(server), false) => {
                self.servers.iter().filter(|s| s.covers(server)).map(ServerMatch::weight).max()
            }
        };
        server.map(|weight| weight + self.level_weight())
    }
}
