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
    /// Measured, uniform, promised nowhere: listed apart.
    Observed,
}

/// A concession.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Concession {
    /// An UPDATE judges a row that another has locked on its last committed version, and passes it by.
    SemiConsistentSkip,
    /// A statement that waited judged the rows behind the cut before the wait and those ahead of it after.
    ResumedScan,
    /// An UPDATE that sets what is there makes no version, so the row stays as old as the snapshot.
    NoopWithoutVersion,
    /// A row whose primary key another has changed stays in the snapshot beside its new self.
    KeyChangeKeepsOldRow,
    /// A row is met twice through a unique index after a rollback.
    DuplicateAfterRollback,
}

impl Concession {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Concession::SemiConsistentSkip => "semi-consistent-skip",
            Concession::ResumedScan => "resumed-scan",
            Concession::NoopWithoutVersion => "noop-without-version",
            Concession::KeyChangeKeepsOldRow => "key-change-keeps-old-row",
            Concession::DuplicateAfterRollback => "duplicate-after-rollback",
        }
    }

    /// Who has said so.
    pub fn status(self) -> Status {
        match self {
            Concession::SemiConsistentSkip => Status::Documented,
            Concession::ResumedScan
            | Concession::NoopWithoutVersion
            | Concession::KeyChangeKeepsOldRow
            | Concession::DuplicateAfterRollback => Status::Reported,
        }
    }

    /// The manual's section, or the numbers of the reports.
    pub fn source(self) -> &'static str {
        match self {
            Concession::SemiConsistentSkip => {
                "manual, Transaction Isolation Levels: READ COMMITTED, semi-consistent read"
            }
            Concession::ResumedScan => "MySQL#104833, MDEV-26643, MDEV-27992, MDEV-34108",
            Concession::NoopWithoutVersion => "MDEV-26642",
            Concession::KeyChangeKeepsOldRow => "MDEV-32898, MySQL#113228",
            Concession::DuplicateAfterRollback => "MDEV-33802",
        }
    }
}
