//! For each bug a small case that shows it, with what should come and what comes instead.

use crate::Bug;

impl Bug {
    /// A case file that comes out as it says on a clean engine, and not where the bug is planted.
    pub fn case(self) -> &'static str {
        match self {
            Bug::Crash => include_str!("../cases/crash.iso"),
            Bug::Hang => include_str!("../cases/hang.iso"),
            Bug::InternalError => include_str!("../cases/internal-error.iso"),
            Bug::AbortedRead => include_str!("../cases/aborted-read.iso"),
            Bug::DuplicateUnique => include_str!("../cases/duplicate-unique.iso"),
            Bug::LostUpdate => include_str!("../cases/lost-update.iso"),
            Bug::DirtyRead => include_str!("../cases/dirty-read.iso"),
            Bug::IntermediateRead => include_str!("../cases/intermediate-read.iso"),
            Bug::NonRepeatableRead => include_str!("../cases/non-repeatable-read.iso"),
            Bug::PhantomInsert => include_str!("../cases/phantom-insert.iso"),
            Bug::PhantomDelete => include_str!("../cases/phantom-delete.iso"),
            Bug::PhantomUpdate => include_str!("../cases/phantom-update.iso"),
            Bug::SnapshotTooLate => include_str!("../cases/snapshot-too-late.iso"),
            Bug::SnapshotTooEarly => include_str!("../cases/snapshot-too-early.iso"),
            Bug::ResumedScan => include_str!("../cases/resumed-scan.iso"),
            Bug::NoopUpdateNoVersion => include_str!("../cases/noop-update-no-version.iso"),
            Bug::KeyChangeLeavesOldRow => include_str!("../cases/key-change-leaves-old-row.iso"),
            Bug::DuplicateRowAfterRollback => include_str!("../cases/duplicate-row-after-rollback.iso"),
            Bug::DeleteMissesMovedRow => include_str!("../cases/delete-misses-moved-row.iso"),
            Bug::MissingRowLock => include_str!("../cases/missing-row-lock.iso"),
            Bug::MissingUniqueLock => include_str!("../cases/missing-unique-lock.iso"),
            Bug::LockReleasedEarly => include_str!("../cases/lock-released-early.iso"),
            Bug::LockNeverReleased => include_str!("../cases/lock-never-released.iso"),
            Bug::LostWakeup => include_str!("../cases/lost-wakeup.iso"),
            Bug::LostOwnWrite => include_str!("../cases/lost-own-write.iso"),
            Bug::RollbackLeavesRow => include_str!("../cases/rollback-leaves-row.iso"),
            Bug::SavepointUndoesTooMuch => include_str!("../cases/savepoint-undoes-too-much.iso"),
            Bug::SavepointUndoesTooLittle => include_str!("../cases/savepoint-undoes-too-little.iso"),
            Bug::WriteSkew => include_str!("../cases/write-skew.iso"),
        }
    }
}
