//! What an engine owes at each level, as data: one file per engine.
//!
//! A [`Contract`] answers for each level what each kind of statement sees, when a snapshot is taken, what keeps others out, and
//! what happens to a write on a row that has changed since the snapshot. Each rule is a [`Rule`]: what holds, and its
//! [`RuleId`], by which [`words`] has it in our words and [`manual`] in those of each product. Known ways in which an
//! engine leaves these rules stand with the oracles (`oracles/src/mvcc/deviations`).
//!
//! The oracles that judge by the contract are two, and share nothing else.

pub(crate) mod innodb;
pub mod manual;
pub(crate) mod reference;
pub(crate) mod sqlite;
mod words;

pub use manual::{Quote, Sentence};
use model::{ErrorClass, Level, Product, RuleId, ServerInfo};
pub use words::{DeviationWords, deviation, words};

/// What holds, and the rule that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule<T> {
    /// What holds.
    pub is: T,
    pub id: RuleId,
}

/// Which versions of rows a statement works on. Its own transaction's changes always come on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// The newest, committed or not.
    Newest,
    /// The newest committed when it runs; what others are changing is waited for.
    Committed,
    /// The newest committed when it began, without waiting.
    Fresh,
    /// What was committed when the transaction's snapshot was taken.
    Snapshot,
}

/// When a transaction's snapshot is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotPoint {
    /// There is none that lasts.
    Never,
    /// By the first plain read.
    FirstRead,
    /// By the first statement that touches a table.
    FirstStatement,
}

/// What becomes of a write or a lock on a row that another transaction has changed and committed since the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnStaleWrite {
    /// It works on the newest row.
    NewestWins,
    /// It is refused with an error of this class.
    Refused(ErrorClass),
}

/// What holds at one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelRules {
    /// A plain SELECT inside a transaction.
    pub read: Rule<Visibility>,
    /// A plain SELECT that is a transaction by itself.
    pub single_read: Rule<Visibility>,
    /// UPDATE, DELETE, INSERT and locking SELECT.
    pub change: Rule<Visibility>,
    /// The queries inside INSERT .. SELECT and in SET and IN of an UPDATE.
    pub source_read: Rule<Visibility>,
    /// The queries inside other statements that change rows.
    pub inner_read: Rule<Visibility>,
    pub snapshot: Rule<SnapshotPoint>,
    /// Does START TRANSACTION WITH CONSISTENT SNAPSHOT take it at once?
    pub begin_takes_it: bool,
    /// Do locking statements keep others from bringing rows into what they selected?
    pub ranges: Rule<bool>,
    /// May an UPDATE pass by a row that another has locked and whose last committed version does not match?
    pub semi_consistent: Rule<bool>,
    /// A row changed since the snapshot.
    pub stale: Rule<OnStaleWrite>,
}

/// A storage engine with rules of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    InnoDb,
    Reference,
    Sqlite,
}

/// What an engine owes.
#[derive(Clone, Debug)]
pub struct Contract {
    pub engine: Engine,
    pub levels: Vec<(Level, LevelRules)>,
    /// Does anything wait here? Elsewhere a conflict is an error at once.
    pub waits: bool,
    /// The error that says so.
    pub busy: Option<ErrorClass>,
    /// Does a savepoint outside a transaction begin one?
    pub savepoint_begins: bool,
    /// Does a savepoint leave an older one of its name where it is, to be met again when it is released? Elsewhere it takes its place.
    pub savepoint_names_stack: bool,
}

impl Contract {
    /// What holds at this level; none where the engine does not have it.
    pub fn at(&self, level: Level) -> Option<&LevelRules> {
        self.levels.iter().find(|(of, _)| *of == level).map(|(_, rules)| rules)
    }
}

/// The contract of a server, by its product, version and settings; none where there is none yet.
pub fn contract(server: &ServerInfo) -> Option<Contract> {
    crate::of(server.product).contract.map(|contract| contract(server))
}

/// Does a product have a contract?
pub fn exists(product: Product) -> bool {
    crate::of(product).contract.is_some()
}
