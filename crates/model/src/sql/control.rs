//! Transactions, savepoints and settings.

use super::{Expr, Ident, Literal};
use crate::level::Level;

/// `BEGIN` and `START TRANSACTION`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begin {
    /// Which of the two.
    pub verb: BeginVerb,
    /// `BEGIN IMMEDIATE`.
    pub timing: Option<LockTiming>,
    /// `BEGIN WORK`.
    pub word: Option<TransactionWord>,
    /// `START TRANSACTION READ ONLY, ...`.
    pub modes: Vec<TransactionMode>,
}

impl Begin {
    /// Plain `BEGIN`.
    pub fn plain() -> Begin {
        Begin { verb: BeginVerb::Begin, timing: None, word: None, modes: Vec::new() }
    }
}

/// How a transaction is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BeginVerb {
    /// `BEGIN`
    Begin,
    /// `START TRANSACTION`
    StartTransaction,
}

/// When a transaction takes its locks (SQLite).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockTiming {
    /// `DEFERRED`
    Deferred,
    /// `IMMEDIATE`
    Immediate,
    /// `EXCLUSIVE`
    Exclusive,
}

/// A word that adds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransactionWord {
    /// `WORK`
    Work,
    /// `TRANSACTION`
    Transaction,
}

/// What a transaction is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransactionMode {
    /// `WITH CONSISTENT SNAPSHOT`
    ConsistentSnapshot,
    /// `READ ONLY`
    ReadOnly,
    /// `READ WRITE`
    ReadWrite,
    /// `ISOLATION LEVEL ...`
    Isolation(Level),
}

/// `COMMIT` and `END`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Which of the two.
    pub verb: CommitVerb,
    /// `COMMIT WORK`.
    pub word: Option<TransactionWord>,
}

impl Commit {
    /// Plain `COMMIT`.
    pub fn plain() -> Commit {
        Commit { verb: CommitVerb::Commit, word: None }
    }
}

/// How a transaction is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommitVerb {
    /// `COMMIT`
    Commit,
    /// `END`
    End,
}

/// `ROLLBACK`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rollback {
    /// `ROLLBACK WORK`.
    pub word: Option<TransactionWord>,
    /// `TO SAVEPOINT s`.
    pub to: Option<SavepointTarget>,
}

/// A savepoint that is gone back to or released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavepointTarget {
    /// Was `SAVEPOINT` written?
    pub savepoint_word: bool,
    /// Its name.
    pub name: Ident,
}

/// Where a setting holds, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// `SESSION`
    Session,
    /// `LOCAL`, which is the same
    Local,
    /// `GLOBAL`
    Global,
}

/// `name = value`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetItem {
    /// Where it holds.
    pub scope: Option<Scope>,
    /// What is set.
    pub target: SetTarget,
    /// To what.
    pub value: SetValue,
}

/// What is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetTarget {
    /// `name`
    Name(Ident),
    /// `@x`, `@@session.name`, with its at-signs
    Variable(String),
}

/// To what something is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetValue {
    /// A value; `OFF` is read as a column, which is how SQL reads it too.
    Expr(Expr),
    /// `ON`, which is reserved and so no value elsewhere.
    On,
}

/// `SET [SESSION] TRANSACTION ...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetTransaction {
    /// Where it holds; without it, for the next transaction only.
    pub scope: Option<Scope>,
    /// What is set.
    pub modes: Vec<TransactionMode>,
}

/// `PRAGMA name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pragma {
    /// The database before the dot.
    pub schema: Option<Ident>,
    /// Its name.
    pub name: Ident,
    /// Its value.
    pub value: Option<PragmaValue>,
}

/// The value of a pragma.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PragmaValue {
    /// In parentheses? Otherwise after `=`.
    pub call: bool,
    /// `-` before a number?
    pub negative: bool,
    /// A word or a constant.
    pub value: super::OptionValue,
}

impl PragmaValue {
    /// `= number`
    pub fn number(n: u64) -> PragmaValue {
        let value = super::OptionValue::Literal(Literal::number(n));
        PragmaValue { call: false, negative: false, value }
    }
}
