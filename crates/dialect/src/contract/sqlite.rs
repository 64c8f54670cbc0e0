//! SQLite: one writer at a time, and readers that see one state from their first read on.
//!
//! Sources: "Isolation In SQLite", "Write-Ahead Logging" and "File Locking And Concurrency" of sqlite.org.

use model::{ErrorClass, Level};

use super::{Contract, Engine, LevelRules, OnStaleWrite, Promise, Rule, SnapshotPoint, Visibility};

const SNAPSHOT: Rule<Visibility> = Rule {
    is: Visibility::Snapshot,
    source: "Isolation In SQLite: a reader sees the database as of its first read",
    promise: Promise::OneSnapshot,
};
const SINGLE: Rule<Visibility> =
    Rule { is: Visibility::Fresh, source: "Isolation In SQLite", promise: Promise::OnlyCommitted };

/// The contract.
pub fn contract() -> Contract {
    let rules = LevelRules {
        read: SNAPSHOT,
        single_read: SINGLE,
        change: SNAPSHOT,
        source_read: SNAPSHOT,
        inner_read: SNAPSHOT,
        snapshot: Rule {
            is: SnapshotPoint::FirstStatement,
            source: "Transactions: the first statement that reads or writes begins it",
            promise: Promise::OneSnapshot,
        },
        begin_takes_it: false,
        ranges: Rule {
            is: true,
            source: "File Locking And Concurrency: one writer at a time",
            promise: Promise::OneWriter,
        },
        semi_consistent: Rule { is: false, source: "Isolation In SQLite", promise: Promise::OneWriter },
        stale: Rule {
            is: OnStaleWrite::Refused(ErrorClass::Busy),
            source: "Result Codes, SQLITE_BUSY_SNAPSHOT: a read transaction on an old snapshot cannot become a writer",
            promise: Promise::OneWriter,
        },
    };
    Contract {
        engine: Engine::Sqlite,
        levels: vec![(Level::Serializable, rules)],
        waits: false,
        busy: Some(ErrorClass::Busy),
        savepoint_begins: true,
    }
}
