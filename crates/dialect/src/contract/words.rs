//! What each rule says, in our words, with the place in the manual that says so. People read it; nobody else does.

use model::{Product, RuleId};

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

/// The words of a rule, as the engine of this product has it.
pub fn words(product: Product, rule: RuleId) -> &'static str {
    if let (Product::Sqlite, Some(words)) = (product, of_sqlite(rule)) {
        return words;
    }
    match rule {
        RuleId::NewestRows => {
            mysql!(levels, "at READ UNCOMMITTED a plain read shows the newest rows, committed or not")
        }
        RuleId::FreshSnapshot => {
            mysql!(levels, "at READ COMMITTED each plain read has a fresh snapshot")
        }
        RuleId::OneSnapshot => {
            mysql!(
                levels,
                "at REPEATABLE READ all plain reads of a transaction show the snapshot of the first"
            )
        }
        RuleId::OnlyCommitted => {
            mysql!(reads, "at REPEATABLE READ a plain read by itself has a snapshot of its own")
        }
        RuleId::LockingRead => {
            mysql!(levels, "at SERIALIZABLE a plain SELECT in a transaction is one FOR SHARE")
        }
        RuleId::OwnTransaction => {
            mysql!(levels, "at SERIALIZABLE a plain SELECT by itself is a transaction and takes no locks")
        }
        RuleId::PlainRead => "a plain read shows what its level promises",
        RuleId::NewestForChanges => {
            mysql!(locking, "changes and locking reads work on the newest committed rows")
        }
        RuleId::UnlockedSource => {
            mysql!(locks, "below REPEATABLE READ the SELECT of an INSERT takes no locks")
        }
        RuleId::LockedRows => mysql!(locks, "a statement that changes rows locks what it reads for that"),
        RuleId::LockedRanges => {
            mysql!(
                levels,
                "at REPEATABLE READ gap and next-key locks keep others out of the range that was scanned"
            )
        }
        RuleId::FreeGaps => {
            mysql!(levels, "at READ COMMITTED gaps are locked only for foreign keys and duplicate keys")
        }
        RuleId::SemiConsistent => {
            mysql!(levels, "at READ COMMITTED an UPDATE may judge a locked row on its last committed version")
        }
        RuleId::NoSemiConsistent => {
            mysql!(levels, "only READ COMMITTED and below have semi-consistent reads")
        }
        RuleId::ChangesBesideSnapshot => {
            mysql!(reads, "changes may affect rows that the snapshot does not show")
        }
        RuleId::RefusedByView => {
            mariadb!("a lock on a row that is newer than the read view is refused with error 1020")
        }
        RuleId::ViewWhenSerializable => mariadb!("at SERIALIZABLE, too, a transaction has a read view"),
        RuleId::CommitLasts => "what is committed stays, and nothing else",
        RuleId::SavepointLasts => "a savepoint lasts until it is released or its transaction ends",
        RuleId::DistinctKeys => "no two rows have the same value in a unique key",
        RuleId::OneWriter => "one transaction writes at a time",
        RuleId::LockedRange => "nobody else brings rows into what a transaction has locked",
        RuleId::LockedNotChanged => {
            "a row that another transaction has locked is not changed before that ends"
        }
        RuleId::LockedNotLocked => "a row that another transaction has locked is not locked before that ends",
        RuleId::ChangedIsWaitedFor => "what another transaction is changing is waited for",
        RuleId::ConflictNeedsAnother => "an error of concurrency needs another transaction",
        RuleId::NothingWaits => "nothing waits here: a conflict is an error at once",
        RuleId::PlainReadTakesNoLocks => "a plain read takes no locks",
        RuleId::AskedNotToWait => "it was asked not to wait",
        RuleId::EndWaitsForNobody => "the end of a transaction waits for nobody",
        RuleId::WaitNeedsBlocker => "a wait is for another transaction that is open and in the way",
    }
}

fn of_sqlite(rule: RuleId) -> Option<&'static str> {
    Some(match rule {
        RuleId::OneSnapshot => "Isolation In SQLite: a reader sees the database as of its first read",
        RuleId::OnlyCommitted => "Isolation In SQLite",
        RuleId::OneWriter => "File Locking And Concurrency: one writer at a time",
        _ => return None,
    })
}
