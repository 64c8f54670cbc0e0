//! SQLite: one writer at a time, and readers that see one state from their first read on.
//!
//! Sources: "Isolation In SQLite", "Write-Ahead Logging" and "File Locking And Concurrency" of sqlite.org.

use model::{ErrorClass, Level, RuleId};

use super::{Contract, Engine, LevelRules, OnStaleWrite, Rule, SnapshotPoint, Visibility};

const SNAPSHOT: Rule<Visibility> = Rule { is: Visibility::Snapshot, id: RuleId::OneSnapshot };
const SINGLE: Rule<Visibility> = Rule { is: Visibility::Fresh, id: RuleId::OnlyCommitted };

pub fn contract() -> Contract {
    let rules = LevelRules {
        read: SNAPSHOT,
        single_read: SINGLE,
        change: SNAPSHOT,
        source_read: SNAPSHOT,
        inner_read: SNAPSHOT,
        snapshot: Rule { is: SnapshotPoint::FirstStatement, id: RuleId::OneSnapshot },
        begin_takes_it: false,
        ranges: Rule { is: true, id: RuleId::OneWriter },
        semi_consistent: Rule { is: false, id: RuleId::OneWriter },
        // SQLITE_BUSY_SNAPSHOT: only in WAL mode can another commit beside a transaction that has read.
        stale: Rule { is: OnStaleWrite::Refused(ErrorClass::WriteConflict), id: RuleId::OneWriter },
    };
    Contract {
        engine: Engine::Sqlite,
        levels: vec![(Level::Serializable, rules)],
        waits: false,
        busy: Some(ErrorClass::Busy),
        savepoint_begins: true,
        // "SAVEPOINT" of sqlite.org: names need not be unique, and the most recent one of a name is meant.
        savepoint_names_stack: true,
    }
}
