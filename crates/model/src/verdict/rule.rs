//! The rules that a violation can break, by name. What an engine's manual says of each stands in `dialect::contract::manual`.

use crate::outcome::ErrorClass;

crate::named! {
    /// A rule of a contract. The names are kept in files: a rule may get other words, never another name.
    pub enum RuleId {
        /// All plain reads of a transaction show the snapshot of the first.
        OneSnapshot = "one-snapshot",
        /// Each plain read has a snapshot of its own.
        FreshSnapshot = "fresh-snapshot",
        /// A plain read shows what was committed before it, and nothing else.
        OnlyCommitted = "only-committed",
        /// A transaction sees what it has changed itself, whatever its snapshot shows.
        OwnChanges = "own-changes",
        /// A plain read at READ UNCOMMITTED shows the newest rows. No manual says so: they say that such reads are not consistent.
        NewestRows = "newest-rows",
        /// A plain read in a transaction at SERIALIZABLE locks.
        LockingRead = "locking-read",
        /// A plain read by itself is a transaction.
        OwnTransaction = "own-transaction",
        /// What a plain read sees at its level, whichever that is: the rules above, where the level does not count.
        PlainRead = "plain-read",
        /// Changes and locking reads work on the newest committed rows.
        NewestForChanges = "newest-for-changes",
        /// The query of an INSERT locks nothing.
        UnlockedSource = "unlocked-source",
        /// What is met is locked, so that others wait.
        LockedRows = "locked-rows",
        /// Nobody brings rows into a range that was scanned.
        LockedRanges = "locked-ranges",
        /// Only for keys are gaps locked.
        FreeGaps = "free-gaps",
        /// An UPDATE may judge a locked row on its last committed version.
        SemiConsistent = "semi-consistent",
        /// Only READ COMMITTED and below have semi-consistent reads.
        NoSemiConsistent = "no-semi-consistent",
        /// Changes may reach what the snapshot does not show.
        ChangesBesideSnapshot = "changes-beside-snapshot",
        /// A lock on a row that is newer than the read view is refused.
        RefusedByView = "refused-by-view",
        /// At SERIALIZABLE, too, a transaction has a read view.
        ViewWhenSerializable = "view-when-serializable",
        /// What is committed stays, and nothing else.
        CommitLasts = "commit-lasts",
        /// A savepoint lasts until it is gone back to or released.
        SavepointLasts = "savepoint-lasts",
        /// No two rows have the same unique value.
        DistinctKeys = "distinct-keys",
        /// No row refers to a parent that is not there.
        ForeignKeys = "foreign-keys",
        /// What breaks a constraint is refused.
        Constraints = "constraints",
        /// One writer at a time.
        OneWriter = "one-writer",
        /// Nobody else brings rows into what a transaction has locked.
        LockedRange = "locked-range",
        /// A row that another has locked is not changed.
        LockedNotChanged = "locked-not-changed",
        /// A row that another has locked is not locked.
        LockedNotLocked = "locked-not-locked",
        /// What another is changing is waited for.
        ChangedIsWaitedFor = "changed-is-waited-for",
        /// An error of concurrency needs another transaction.
        ConflictNeedsAnother = "conflict-needs-another",
        /// Nothing waits here: a conflict is an error at once.
        NothingWaits = "nothing-waits",
        /// A plain read takes no locks.
        PlainReadTakesNoLocks = "plain-read-takes-no-locks",
        /// It was asked not to wait.
        AskedNotToWait = "asked-not-to-wait",
        /// The end of a transaction waits for nobody.
        EndWaitsForNobody = "end-waits-for-nobody",
        /// Of transactions that wait for each other the server ends one.
        DeadlockIsEnded = "deadlock-is-ended",
        /// A wait is for another transaction that is open and in the way.
        WaitNeedsBlocker = "wait-needs-blocker",
    }
}

impl RuleId {
    /// The rule that an error of a constraint keeps, whatever the statement sees at its level.
    pub fn kept_by(class: ErrorClass) -> Option<RuleId> {
        match class {
            ErrorClass::DuplicateKey => Some(RuleId::DistinctKeys),
            ErrorClass::Constraint => Some(RuleId::Constraints),
            _ => None,
        }
    }

    /// The rule without regard to the level: what a plain read sees is one rule, which every level words anew.
    pub fn at_any_level(self) -> RuleId {
        match self {
            RuleId::OneSnapshot
            | RuleId::FreshSnapshot
            | RuleId::OnlyCommitted
            | RuleId::NewestRows
            | RuleId::LockingRead
            | RuleId::OwnTransaction => RuleId::PlainRead,
            other => other,
        }
    }

    /// The rule that a manual has a sentence for: what is locked is one promise, whoever comes upon it.
    pub fn promised_as(self) -> RuleId {
        match self {
            RuleId::LockedRange => RuleId::LockedRanges,
            RuleId::LockedNotChanged
            | RuleId::LockedNotLocked
            | RuleId::ChangedIsWaitedFor
            | RuleId::NoSemiConsistent => RuleId::LockedRows,
            RuleId::ViewWhenSerializable => RuleId::RefusedByView,
            other => other,
        }
    }
}
