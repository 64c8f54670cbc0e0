//! The named ways in which an engine is known to leave its strict rules.
//!
//! A concession explains a cause, not a symptom: each says what must have happened for it to apply, and the oracle checks
//! that before it uses it.

/// Who has said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The manual: what it explains holds.
    Documented,
    /// A bug report, open or declined: what it explains is a violation, and known.
    Reported,
    /// Found by us and in no tracker that we know of: what it explains is a violation, and new; its name says which one.
    Found,
    /// Measured, uniform, promised nowhere: listed apart.
    Observed,
}

/// A concession.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Concession {
    /// An UPDATE judges a row that another has locked on its last committed version, and passes it by.
    SemiConsistentSkip,
    /// A statement that waited does not come back to a row that it passed by on its last committed version.
    SkippedBeforeWait,
    /// A statement that waited does not come back to a row that was changed behind it meanwhile.
    ChangedDuringWait,
    /// A row moved across the place at which a statement waited, and is missed or met twice.
    MovedAcrossScan,
    /// An UPDATE that sets what is there makes no version, so the row stays as old as the snapshot.
    NoopWithoutVersion,
    /// A row whose primary key another has changed stays in the snapshot beside its new self.
    KeyChangeKeepsOldRow,
    /// A row is met twice through a unique index after a rollback.
    DuplicateAfterRollback,
    /// An UPDATE at READ UNCOMMITTED judges what another has not committed, and passes the row by.
    JudgesUncommitted,
    /// Below REPEATABLE READ a statement with a query inside that waited is refused as if it had a snapshot, and its whole
    /// transaction is undone.
    ConflictByInnerRead,
    /// A foreign key is not enforced where an index that begins with its columns goes on with one that is NULL.
    ForeignKeyBesideNull,
    /// A read that goes by an index over a virtual column and sorts afterwards takes that column for NULL.
    VirtualReadAsNull,
    /// Going back to a savepoint that was set before the transaction touched any table ends it in the engine: its locks and its
    /// snapshot go too.
    EarlySavepointEndsAll,
}

impl Concession {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Concession::SemiConsistentSkip => "semi-consistent-skip",
            Concession::SkippedBeforeWait => "skipped-before-wait",
            Concession::ChangedDuringWait => "changed-during-wait",
            Concession::MovedAcrossScan => "moved-across-scan",
            Concession::NoopWithoutVersion => "noop-without-version",
            Concession::KeyChangeKeepsOldRow => "key-change-keeps-old-row",
            Concession::DuplicateAfterRollback => "duplicate-after-rollback",
            Concession::JudgesUncommitted => "judges-uncommitted",
            Concession::ConflictByInnerRead => "conflict-by-inner-read",
            Concession::ForeignKeyBesideNull => "foreign-key-beside-null",
            Concession::VirtualReadAsNull => "virtual-read-as-null",
            Concession::EarlySavepointEndsAll => "early-savepoint-ends-all",
        }
    }

    /// Who has said so.
    pub fn status(self) -> Status {
        match self {
            Concession::SemiConsistentSkip => Status::Documented,
            Concession::SkippedBeforeWait
            | Concession::ChangedDuringWait
            | Concession::MovedAcrossScan
            | Concession::NoopWithoutVersion
            | Concession::KeyChangeKeepsOldRow
            | Concession::DuplicateAfterRollback => Status::Reported,
            Concession::JudgesUncommitted
            | Concession::ConflictByInnerRead
            | Concession::ForeignKeyBesideNull
            | Concession::VirtualReadAsNull => Status::Found,
            Concession::EarlySavepointEndsAll => Status::Observed,
        }
    }

    /// The manual's section, or the numbers of the reports.
    pub fn source(self) -> &'static str {
        match self {
            Concession::SemiConsistentSkip => {
                "MySQL Reference Manual, 17.7.2.1 Transaction Isolation Levels, READ COMMITTED: semi-consistent read"
            }
            Concession::SkippedBeforeWait => "MySQL#104833, MDEV-26643",
            Concession::ChangedDuringWait => "MDEV-34108",
            Concession::MovedAcrossScan => "MDEV-27992",
            Concession::NoopWithoutVersion => "MDEV-26642",
            Concession::KeyChangeKeepsOldRow => "MDEV-32898, MySQL#113228",
            Concession::DuplicateAfterRollback => "MDEV-33802",
            Concession::JudgesUncommitted => {
                "not reported; MariaDB with snapshot isolation, corpus/phenomena/aborted-read-by-update.iso"
            }
            Concession::ConflictByInnerRead => {
                "not reported; MariaDB with snapshot isolation, whose manual describes error 1020 for REPEATABLE READ only"
            }
            Concession::ForeignKeyBesideNull => {
                "not reported; MySQL 9.7, corpus/found/foreign-key-beside-null.iso"
            }
            Concession::VirtualReadAsNull => {
                "not reported; MariaDB from 10.5 on, docs/found/sorted-read-sees-an-open-delete.iso"
            }
            Concession::EarlySavepointEndsAll => {
                "measured on MySQL 5.6 to 9.7 and MariaDB; MySQL Reference Manual, 15.3.4 SAVEPOINT: row locks stay"
            }
        }
    }
    /// All of them.
    pub const ALL: [Concession; 12] = [
        Concession::SemiConsistentSkip,
        Concession::SkippedBeforeWait,
        Concession::ChangedDuringWait,
        Concession::MovedAcrossScan,
        Concession::NoopWithoutVersion,
        Concession::KeyChangeKeepsOldRow,
        Concession::DuplicateAfterRollback,
        Concession::JudgesUncommitted,
        Concession::ConflictByInnerRead,
        Concession::ForeignKeyBesideNull,
        Concession::VirtualReadAsNull,
        Concession::EarlySavepointEndsAll,
    ];
}
