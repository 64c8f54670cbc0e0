//! Transactions, savepoints and settings.

use super::{Expr, Ident, Literal, ObjectName, keyword::keywords};
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
    /// Are there commas between them? PostgreSQL can do without.
    pub commas: bool,
}

impl Begin {
    pub fn plain() -> Begin {
        Begin { verb: BeginVerb::Begin, timing: None, word: None, modes: Vec::new(), commas: true }
    }
}

/// What a transaction is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransactionMode {
    /// `WITH CONSISTENT SNAPSHOT`
    ConsistentSnapshot,
    ReadOnly,
    ReadWrite,
    Isolation(Level),
    Deferrable,
    NotDeferrable,
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
    pub fn plain() -> Commit {
        Commit { verb: CommitVerb::Commit, word: None }
    }
}

/// `ROLLBACK` and `ABORT`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rollback {
    /// Which of the two.
    pub verb: RollbackVerb,
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
    pub name: Ident,
}

/// `name = value`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetItem {
    /// Where it holds.
    pub scope: Option<Scope>,
    pub target: SetTarget,
    /// Was `TO` written? Otherwise `=`.
    pub to_word: bool,
    pub value: SetValue,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetTarget {
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
    /// Are there commas between them?
    pub commas: bool,
}

/// `LOCK TABLE t IN ... MODE NOWAIT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockTable {
    /// Was `TABLE` written?
    pub table_word: bool,
    /// The tables.
    pub names: Vec<ObjectName>,
    /// Between IN and MODE.
    pub mode: Option<TableLock>,
    pub nowait: bool,
}

/// `PRAGMA name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pragma {
    /// The database before the dot.
    pub schema: Option<Ident>,
    pub name: Ident,
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

    /// On or off, if it is one of the words for these.
    pub fn as_bool(&self) -> Option<bool> {
        let word = match &self.value {
            super::OptionValue::Word(word) => &word.name,
            super::OptionValue::Literal(Literal::Number(number)) => number,
            super::OptionValue::Literal(_) => return None,
        };
        match word.to_ascii_lowercase().as_str() {
            "1" | "on" | "yes" | "true" => Some(true),
            "0" | "off" | "no" | "false" => Some(false),
            _ => None,
        }
    }
}

keywords! {
    /// How a transaction is opened.
    pub enum BeginVerb {
        Begin = "BEGIN",
        StartTransaction = "START TRANSACTION",
    }

    /// When a transaction takes its locks (SQLite).
    pub enum LockTiming {
        Deferred = "DEFERRED",
        Immediate = "IMMEDIATE",
        Exclusive = "EXCLUSIVE",
    }

    /// A word that adds nothing.
    pub enum TransactionWord {
        Work = "WORK",
        Transaction = "TRANSACTION",
    }

    /// How a transaction is committed.
    pub enum CommitVerb {
        Commit = "COMMIT",
        End = "END",
    }

    /// How a transaction is rolled back.
    #[derive(Default)]
    pub enum RollbackVerb {
        #[default]
        Rollback = "ROLLBACK",
        Abort = "ABORT",
    }

    /// Where a setting holds, as written.
    pub enum Scope {
        Session = "SESSION",
        /// `LOCAL`: the same, but for the transaction only in PostgreSQL
        Local = "LOCAL",
        Global = "GLOBAL",
    }

    /// How a whole table is locked.
    pub enum TableLock {
        AccessShare = "ACCESS SHARE",
        RowShare = "ROW SHARE",
        RowExclusive = "ROW EXCLUSIVE",
        ShareUpdateExclusive = "SHARE UPDATE EXCLUSIVE",
        Share = "SHARE",
        ShareRowExclusive = "SHARE ROW EXCLUSIVE",
        Exclusive = "EXCLUSIVE",
        AccessExclusive = "ACCESS EXCLUSIVE",
    }
}
