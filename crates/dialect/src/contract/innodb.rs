//! InnoDB in MySQL and MariaDB.
//!
//! The rules are those of the manuals: MySQL's sections "Transaction Isolation Levels", "Consistent Nonlocking Reads", "Locking
//! Reads" and "Locks Set by Different SQL Statements in InnoDB" (numbered as in 8.4 and 9), and MariaDB's page "SET TRANSACTION", which is
//! the more exact one about innodb_snapshot_isolation. Each rule is worded so that it can be shown to people.

use model::{ErrorClass, Level, Product, ServerInfo};

use super::{Contract, Engine, LevelRules, OnStaleWrite, Promise, Rule, SnapshotPoint, Visibility};

/// A rule with the section of MySQL's manual that says so.
macro_rules! mysql {
    (levels, $words:literal) => {
        concat!($words, " (MySQL Reference Manual, 17.7.2.1 Transaction Isolation Levels)")
    };
    (reads, $words:literal) => {
        concat!($words, " (MySQL Reference Manual, 17.7.2.3 Consistent Nonlocking Reads)")
    };
    (locking, $words:literal) => {
        concat!($words, " (MySQL Reference Manual, 17.7.2.4 Locking Reads)")
    };
    (locks, $words:literal) => {
        concat!($words, " (MySQL Reference Manual, 17.7.3 Locks Set by Different SQL Statements in InnoDB)")
    };
}

/// A rule with the page of MariaDB's documentation that says so.
macro_rules! mariadb {
    ($words:literal) => {
        concat!($words, " (MariaDB documentation, SET TRANSACTION, innodb_snapshot_isolation)")
    };
}

/// What UPDATE, DELETE, INSERT and locking reads work on.
const CHANGE: &str = mysql!(locking, "changes and locking reads work on the newest committed rows");

/// What queries inside them do.
const INNER: &str = mysql!(locks, "a statement that changes rows locks what it reads for that");

/// Of a server.
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

const fn rule<T>(is: T, source: &'static str, promise: Promise) -> Rule<T> {
    Rule { is, source, promise }
}

fn read_uncommitted() -> LevelRules {
    LevelRules {
        read: rule(
            Visibility::Newest,
            mysql!(levels, "at READ UNCOMMITTED a plain read shows the newest rows, committed or not"),
            Promise::NewestRows,
        ),
        single_read: rule(
            Visibility::Newest,
            mysql!(levels, "at READ UNCOMMITTED a plain read shows the newest rows, committed or not"),
            Promise::NewestRows,
        ),
        source_read: rule(
            Visibility::Newest,
            mysql!(locks, "below REPEATABLE READ the SELECT of an INSERT takes no locks"),
            Promise::UnlockedSource,
        ),
        ..read_committed(false)
    }
}

fn read_committed(strict: bool) -> LevelRules {
    LevelRules {
        read: rule(
            Visibility::Fresh,
            mysql!(levels, "at READ COMMITTED each plain read has a fresh snapshot"),
            Promise::FreshSnapshot,
        ),
        single_read: rule(
            Visibility::Fresh,
            mysql!(levels, "at READ COMMITTED each plain read has a fresh snapshot"),
            Promise::FreshSnapshot,
        ),
        change: rule(Visibility::Committed, CHANGE, Promise::NewestForChanges),
        source_read: rule(
            Visibility::Fresh,
            mysql!(locks, "below REPEATABLE READ the SELECT of an INSERT takes no locks"),
            Promise::UnlockedSource,
        ),
        inner_read: rule(Visibility::Committed, INNER, Promise::LockedRows),
        snapshot: rule(
            SnapshotPoint::Never,
            mysql!(levels, "at READ COMMITTED no snapshot lasts"),
            Promise::FreshSnapshot,
        ),
        begin_takes_it: false,
        ranges: rule(
            false,
            mysql!(levels, "at READ COMMITTED gaps are locked only for foreign keys and duplicate keys"),
            Promise::FreeGaps,
        ),
        semi_consistent: rule(
            !strict,
            mysql!(
                levels,
                "at READ COMMITTED an UPDATE may judge a locked row on its last committed version"
            ),
            Promise::SemiConsistent,
        ),
        stale: rule(
            OnStaleWrite::NewestWins,
            mysql!(reads, "changes may affect rows that no snapshot shows"),
            Promise::ChangesBesideSnapshot,
        ),
    }
}

fn repeatable_read(strict: bool) -> LevelRules {
    let committed = rule(Visibility::Committed, INNER, Promise::LockedRows);
    LevelRules {
        read: rule(
            Visibility::Snapshot,
            mysql!(
                levels,
                "at REPEATABLE READ all plain reads of a transaction show the snapshot of the first"
            ),
            Promise::OneSnapshot,
        ),
        single_read: rule(
            Visibility::Fresh,
            mysql!(reads, "at REPEATABLE READ a plain read by itself has a snapshot of its own"),
            Promise::OnlyCommitted,
        ),
        change: rule(Visibility::Committed, CHANGE, Promise::NewestForChanges),
        source_read: committed,
        inner_read: committed,
        snapshot: rule(
            SnapshotPoint::FirstRead,
            mysql!(reads, "the snapshot is that of the first plain read"),
            Promise::OneSnapshot,
        ),
        begin_takes_it: true,
        ranges: rule(
            true,
            mysql!(
                levels,
                "at REPEATABLE READ gap and next-key locks keep others out of the range that was scanned"
            ),
            Promise::LockedRanges,
        ),
        semi_consistent: rule(
            false,
            mysql!(levels, "only READ COMMITTED and below have semi-consistent reads"),
            Promise::LockedRows,
        ),
        stale: stale(strict),
    }
}

fn serializable(strict: bool) -> LevelRules {
    LevelRules {
        read: rule(
            Visibility::Committed,
            mysql!(levels, "at SERIALIZABLE a plain SELECT in a transaction is one FOR SHARE"),
            Promise::LockingRead,
        ),
        single_read: rule(
            Visibility::Fresh,
            mysql!(levels, "at SERIALIZABLE a plain SELECT by itself is a transaction and takes no locks"),
            Promise::OwnTransaction,
        ),
        snapshot: match strict {
            true => rule(
                SnapshotPoint::FirstStatement,
                mariadb!("at SERIALIZABLE, too, a transaction has a read view"),
                Promise::RefusedByView,
            ),
            false => rule(
                SnapshotPoint::Never,
                mysql!(levels, "at SERIALIZABLE reads lock, and no snapshot lasts"),
                Promise::LockingRead,
            ),
        },
        begin_takes_it: strict,
        ..repeatable_read(strict)
    }
}

fn stale(strict: bool) -> Rule<OnStaleWrite> {
    match strict {
        true => rule(
            OnStaleWrite::Refused(ErrorClass::WriteConflict),
            mariadb!("a lock on a row that is newer than the read view is refused with error 1020"),
            Promise::RefusedByView,
        ),
        false => rule(
            OnStaleWrite::NewestWins,
            mysql!(reads, "changes may affect rows that the snapshot does not show"),
            Promise::ChangesBesideSnapshot,
        ),
    }
}
