//! InnoDB in MySQL and MariaDB.
//!
//! The rules are those of the manuals: MySQL's "Transaction Isolation Levels" (ISO), "Consistent Nonlocking Reads" (CNR),
//! "Locking Reads" (LR) and "Locks Set by Different SQL Statements" (LS); MariaDB's "SET TRANSACTION" (MST), which is the more
//! exact one about innodb_snapshot_isolation.

use model::{ErrorClass, Level, Product, ServerInfo};

use super::{Concession, Contract, LevelRules, Rule, Sees, Stale, Taken};

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
        engine: "InnoDB",
        levels: levels.to_vec(),
        waits: true,
        busy: None,
        savepoint_begins: false,
        concessions: Concession::ALL.into_iter().filter(|by| by.exists(server, strict)).collect(),
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

const fn rule<T>(is: T, source: &'static str) -> Rule<T> {
    Rule { is, source }
}

fn read_uncommitted() -> LevelRules {
    LevelRules {
        read: rule(Sees::Newest, "ISO, READ UNCOMMITTED: a possible earlier version of a row might be used"),
        single_read: rule(Sees::Newest, "ISO, READ UNCOMMITTED"),
        source_read: rule(Sees::Newest, "LS, INSERT INTO T SELECT; ISO, READ UNCOMMITTED"),
        ..read_committed(false)
    }
}

fn read_committed(strict: bool) -> LevelRules {
    LevelRules {
        read: rule(
            Sees::Fresh,
            "ISO, READ COMMITTED: each consistent read sets and reads its own fresh snapshot",
        ),
        single_read: rule(Sees::Fresh, "ISO, READ COMMITTED"),
        change: rule(Sees::Committed, "LR; CNR: the snapshot applies to SELECT, not necessarily to DML"),
        source_read: rule(Sees::Fresh, "LS, INSERT INTO T SELECT: as a consistent read at READ COMMITTED"),
        inner_read: rule(Sees::Committed, "LS: the statement locks what it reads"),
        snapshot: rule(Taken::Never, "ISO, READ COMMITTED"),
        begin_takes_it: false,
        ranges: rule(false, "ISO, READ COMMITTED: gap locking only for foreign keys and duplicate keys"),
        semi_consistent: rule(
            !strict,
            "ISO, READ COMMITTED: semi-consistent read; MST: not with snapshot isolation",
        ),
        stale: rule(Stale::NewestWins, "CNR; MST"),
    }
}

fn repeatable_read(strict: bool) -> LevelRules {
    let committed = rule(Sees::Committed, "LS: the statement locks what it reads");
    LevelRules {
        read: rule(
            Sees::Snapshot,
            "ISO, REPEATABLE READ: reads within a transaction read the snapshot of the first",
        ),
        single_read: rule(Sees::Fresh, "ISO, REPEATABLE READ"),
        change: rule(Sees::Committed, "LR; CNR: the snapshot applies to SELECT, not necessarily to DML"),
        source_read: committed,
        inner_read: committed,
        snapshot: rule(Taken::FirstRead, "ISO, REPEATABLE READ: established by the first read"),
        begin_takes_it: true,
        ranges: rule(
            true,
            "ISO, REPEATABLE READ: gap locks or next-key locks block insertions into the range scanned",
        ),
        semi_consistent: rule(false, "ISO, REPEATABLE READ"),
        stale: stale(strict),
    }
}

fn serializable(strict: bool) -> LevelRules {
    LevelRules {
        read: rule(Sees::Committed, "ISO, SERIALIZABLE: plain SELECT becomes SELECT .. FOR SHARE"),
        single_read: rule(
            Sees::Fresh,
            "ISO, SERIALIZABLE: with autocommit the SELECT is its own transaction",
        ),
        snapshot: match strict {
            true => rule(Taken::FirstStatement, "MST, innodb_snapshot_isolation"),
            false => rule(Taken::Never, "ISO, SERIALIZABLE"),
        },
        begin_takes_it: strict,
        ..repeatable_read(strict)
    }
}

fn stale(strict: bool) -> Rule<Stale> {
    match strict {
        true => rule(
            Stale::Refused(ErrorClass::WriteConflict),
            "MST: a lock on a record that is not in the read view is refused with error 1020",
        ),
        false => rule(Stale::NewestWins, "CNR: DML may affect rows that the snapshot does not show"),
    }
}
