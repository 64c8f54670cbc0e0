//! InnoDB in MySQL and MariaDB.
//!
//! The rules are those of the manuals: MySQL's sections "Transaction Isolation Levels", "Consistent Nonlocking Reads", "Locking
//! Reads" and "Locks Set by Different SQL Statements in InnoDB" (numbered as in 8.4 and 9), and MariaDB's page "SET TRANSACTION", which is
//! the more exact one about innodb_snapshot_isolation. What each of them says stands in `words`.

use model::{ErrorClass, Level, Product, RuleId, ServerInfo};

use super::{Contract, Engine, LevelRules, OnStaleWrite, Rule, SnapshotPoint, Visibility};

pub fn contract(server: &ServerInfo) -> Contract {
    let strict = snapshot_isolation(server);
    let levels = [
        (Level::ReadUncommitted, read_uncommitted()),
        (Level::ReadCommitted, read_committed(strict)),
        (Level::RepeatableRead, repeatable_read(strict)),
        (Level::Serializable, serializable(strict)),
    ];
    Contract {
        engine: Engine::InnoDb,
        levels: levels.to_vec(),
        waits: true,
        busy: None,
        savepoint_begins: false,
        savepoint_names_stack: false,
    }
}

/// Is MariaDB's innodb_snapshot_isolation on? It is asked for, or the default of the version.
fn snapshot_isolation(server: &ServerInfo) -> bool {
    if server.product != Product::Mariadb {
        return false;
    }
    let set = server.settings.iter().find(|(name, _)| name.eq_ignore_ascii_case("innodb_snapshot_isolation"));
    match set {
        Some((_, value)) => value.eq_ignore_ascii_case("ON") || value == "1",
        None => server.version.0.as_slice() >= [11, 6, 2].as_slice(),
    }
}

const fn rule<T>(is: T, id: RuleId) -> Rule<T> {
    Rule { is, id }
}

fn read_uncommitted() -> LevelRules {
    LevelRules {
        read: rule(Visibility::Newest, RuleId::NewestRows),
        single_read: rule(Visibility::Newest, RuleId::NewestRows),
        source_read: rule(Visibility::Newest, RuleId::UnlockedSource),
        ..read_committed(false)
    }
}

fn read_committed(strict: bool) -> LevelRules {
    LevelRules {
        read: rule(Visibility::Fresh, RuleId::FreshSnapshot),
        single_read: rule(Visibility::Fresh, RuleId::FreshSnapshot),
        change: rule(Visibility::Committed, RuleId::NewestForChanges),
        source_read: rule(Visibility::Fresh, RuleId::UnlockedSource),
        inner_read: rule(Visibility::Committed, RuleId::LockedRows),
        snapshot: rule(SnapshotPoint::Never, RuleId::FreshSnapshot),
        begin_takes_it: false,
        ranges: rule(false, RuleId::FreeGaps),
        semi_consistent: rule(!strict, RuleId::SemiConsistent),
        stale: rule(OnStaleWrite::NewestWins, RuleId::ChangesBesideSnapshot),
    }
}

fn repeatable_read(strict: bool) -> LevelRules {
    let committed = rule(Visibility::Committed, RuleId::LockedRows);
    LevelRules {
        read: rule(Visibility::Snapshot, RuleId::OneSnapshot),
        single_read: rule(Visibility::Fresh, RuleId::OnlyCommitted),
        change: rule(Visibility::Committed, RuleId::NewestForChanges),
        source_read: committed,
        inner_read: committed,
        snapshot: rule(SnapshotPoint::FirstRead, RuleId::OneSnapshot),
        begin_takes_it: true,
        ranges: rule(true, RuleId::LockedRanges),
        semi_consistent: rule(false, RuleId::NoSemiConsistent),
        stale: stale(strict),
    }
}

fn serializable(strict: bool) -> LevelRules {
    LevelRules {
        read: rule(Visibility::Committed, RuleId::LockingRead),
        single_read: rule(Visibility::Fresh, RuleId::OwnTransaction),
        snapshot: match strict {
            true => rule(SnapshotPoint::FirstStatement, RuleId::ViewWhenSerializable),
            false => rule(SnapshotPoint::Never, RuleId::LockingRead),
        },
        begin_takes_it: strict,
        ..repeatable_read(strict)
    }
}

fn stale(strict: bool) -> Rule<OnStaleWrite> {
    match strict {
        true => rule(OnStaleWrite::Refused(ErrorClass::WriteConflict), RuleId::RefusedByView),
        false => rule(OnStaleWrite::NewestWins, RuleId::ChangesBesideSnapshot),
    }
}
