//! What each rule says, and what each known deviation does, in our words. People read it; nobody else does.
//!
//! What the manuals say stands in [`super::manual`], word for word.

use model::{DeviationId, Product, RuleId};

/// The words of a rule, as the engine of this product has it.
pub fn words(product: Product, rule: RuleId) -> &'static str {
    if let (Product::Sqlite, Some(words)) = (product, of_sqlite(rule)) {
        return words;
    }
    match rule {
        RuleId::NewestRows => "at READ UNCOMMITTED a plain read shows the newest rows, committed or not",
        RuleId::FreshSnapshot => {
            "at READ COMMITTED each plain read shows what was committed when it began, and the transaction's own changes"
        }
        RuleId::OneSnapshot => {
            "at REPEATABLE READ all plain reads of a transaction show what was committed when the first of them began, and the \
             transaction's own changes"
        }
        RuleId::OnlyCommitted => {
            "a plain read shows what was committed when it began, and nothing that others have not committed"
        }
        RuleId::OwnChanges => {
            "a transaction sees its own changes: a row that it has updated is shown once, and as it left it"
        }
        RuleId::LockingRead => {
            "at SERIALIZABLE a plain SELECT inside a transaction locks what it reads, and shows the newest committed rows"
        }
        RuleId::OwnTransaction => {
            "at SERIALIZABLE a plain SELECT outside a transaction shows what was committed when it began, and takes no locks"
        }
        RuleId::PlainRead => "a plain read shows what its level promises",
        RuleId::NewestForChanges => {
            "a statement that changes or locks rows works on the newest committed rows, and comes to each of them once"
        }
        RuleId::UnlockedSource => "below REPEATABLE READ the SELECT of an INSERT takes no locks",
        RuleId::LockedRows => "a statement that changes rows locks what it reads for that",
        RuleId::LockedRanges => {
            "at REPEATABLE READ and above, gap and next-key locks keep others from inserting into the range that was scanned"
        }
        RuleId::FreeGaps => {
            "at READ COMMITTED and below, gaps are locked only for foreign keys and duplicate keys"
        }
        RuleId::SemiConsistent => {
            "at READ COMMITTED and below, an UPDATE may pass by a locked row whose last committed version does not match"
        }
        RuleId::NoSemiConsistent => "only at READ COMMITTED and below may an UPDATE pass by a locked row",
        RuleId::ChangesBesideSnapshot => "changes may affect rows that the snapshot does not show",
        RuleId::RefusedByView => {
            "with innodb_snapshot_isolation, a lock on a row that has changed since the transaction's snapshot is refused with error \
             1020, and nothing else is"
        }
        RuleId::ViewWhenSerializable => {
            "with innodb_snapshot_isolation, a transaction at SERIALIZABLE has a snapshot, too"
        }
        RuleId::CommitLasts => "what is committed stays, and nothing else",
        RuleId::SavepointLasts => {
            "ROLLBACK TO a savepoint undoes what came after it, and leaves the transaction, its snapshot and its locks"
        }
        RuleId::DistinctKeys => "no two rows have the same value in a unique key",
        RuleId::ForeignKeys => "no row refers to a parent that is not there",
        RuleId::Constraints => {
            "a statement that would leave a row against a constraint of its table (a foreign key, CHECK or NOT NULL) is refused"
        }
        RuleId::OneWriter => "one transaction writes at a time",
        RuleId::LockedRange => "nobody else brings rows into the range that a transaction has locked",
        RuleId::LockedNotChanged => {
            "a row that another transaction has locked is not changed before that transaction ends"
        }
        RuleId::LockedNotLocked => {
            "a row that another transaction has locked is not locked before that transaction ends"
        }
        RuleId::ChangedIsWaitedFor => {
            "a statement that changes or locks rows waits for what another transaction is changing"
        }
        RuleId::ConflictNeedsAnother => {
            "an error that says that transactions are in conflict needs another transaction that is in the way"
        }
        RuleId::NothingWaits => "nothing waits here: a conflict is an error at once",
        RuleId::PlainReadTakesNoLocks => "a plain read takes no locks, so it does not wait",
        RuleId::AskedNotToWait => "a statement with NOWAIT or SKIP LOCKED does not wait for rows",
        RuleId::EndWaitsForNobody => "COMMIT and ROLLBACK wait for nobody",
        RuleId::DeadlockIsEnded => {
            "where transactions wait for each other's row locks none of them can ever go on by itself: that is a deadlock, and the server ends \
             one of them with an error at once; whoever still waits for each other after that is in a deadlock, too"
        }
        RuleId::WaitNeedsBlocker => {
            "a statement waits only for another transaction that is open and in its way"
        }
    }
}

fn of_sqlite(rule: RuleId) -> Option<&'static str> {
    Some(match rule {
        RuleId::OneSnapshot => {
            "a transaction sees the database as it was at its first read, and its own changes"
        }
        _ => return None,
    })
}

/// What a known deviation does, and the rule that it breaks where that is not the one by which it was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviationWords {
    /// What happens; a sentence without its full stop.
    pub happens: &'static str,
    pub breaks: Option<RuleId>,
}

/// The words for a known deviation; none for one that nobody has found words for.
pub fn deviation(id: &DeviationId) -> Option<DeviationWords> {
    let (happens, breaks) = match id.0.as_str() {
        "noop-without-version" => (
            "an UPDATE that sets a row to what another transaction has just set it to writes no version of its own, so the \
             transaction goes on seeing the row as it was before both of them",
            RuleId::OwnChanges,
        ),
        "key-change-keeps-old-row" => (
            "another transaction has changed the primary key of a row since the snapshot; after an UPDATE of that row the \
             transaction still sees it under its old key, beside its own version or instead of it",
            RuleId::OwnChanges,
        ),
        "skipped-before-wait" => (
            "the statement passes by a row whose last committed version does not match, waits for a later row, and does not go back \
             when the transaction that it waited for commits a version of the first row that matches",
            RuleId::NewestForChanges,
        ),
        "changed-during-wait" => (
            "while the statement waits for a row, the other transaction changes or inserts a row that the scan has already passed; \
             after its commit the statement does not go back to it",
            RuleId::NewestForChanges,
        ),
        "moved-across-scan" => (
            "while the statement waits, the other transaction changes the key of a row, which moves it across the place at which the \
             scan goes on: it is missed, or met twice",
            RuleId::NewestForChanges,
        ),
        "unique-search-misses" => (
            "the statement searches for one value of a unique key and waits; the other transaction moves that row to a smaller \
             primary key, whose entry in the unique index stands before the place at which the search goes on, and the row is missed",
            RuleId::NewestForChanges,
        ),
        "semi-consistent-skip" => (
            "the UPDATE passes by a row that another transaction has locked, by its last committed version",
            RuleId::NewestForChanges,
        ),
        "duplicate-after-rollback" => (
            "a locking read that waited for an INSERT which was rolled back goes on from the wrong place of a UNIQUE index with NULLs",
            RuleId::NewestForChanges,
        ),
        "judges-uncommitted" => (
            "the statement decides by what another transaction has not committed whether a row matches, instead of waiting for it",
            RuleId::ChangedIsWaitedFor,
        ),
        "conflict-in-statement-view" => (
            "a statement with a query inside has a read view of its own, and is refused with error 1020 for what was committed while it \
             waited",
            RuleId::FreshSnapshot,
        ),
        "conflict-by-inner-read" => (
            "a statement that waited is refused with error 1020 because of what was committed while it waited, although no snapshot \
             lasts at this level",
            RuleId::FreshSnapshot,
        ),
        "conflict-with-uncommitted" => (
            "a change that another transaction has not committed is taken for a newer row: the statement is refused with error 1020 \
             where it should wait, although the other one may still roll back",
            RuleId::ChangedIsWaitedFor,
        ),
        "covered-read-without-conflict" => (
            "a shared locking read through an index that holds all that it reads is not refused for rows that have changed since the \
             snapshot",
            RuleId::RefusedByView,
        ),
        "gone-row-by-index" => (
            "a statement by a secondary index is not refused for a row that was deleted, or left the searched range, since the snapshot",
            RuleId::RefusedByView,
        ),
        "serializable-without-view" => (
            "at SERIALIZABLE the transaction has no snapshot, so no conflict is noticed",
            RuleId::ViewWhenSerializable,
        ),
        "foreign-key-beside-null" => (
            "a row is accepted whose foreign key refers to no parent, where the index has further columns and a NULL in them",
            RuleId::ForeignKeys,
        ),
        "early-savepoint-ends-all" => (
            "ROLLBACK TO a savepoint that was set before the first statement on a table ends the transaction's snapshot and its locks",
            RuleId::SavepointLasts,
        ),
        "impossible-condition-takes-no-snapshot" => (
            "a read whose condition can hold for no row is answered without the storage engine, and takes no snapshot",
            RuleId::OneSnapshot,
        ),
        "virtual-read-as-null" => {
            let happens = "a read that goes by an index over a virtual column and sorts afterwards takes that column for NULL in rows that \
                           somebody is changing, be it the transaction itself; at READ UNCOMMITTED also in rows that nobody is changing";
            return Some(DeviationWords { happens, breaks: None });
        }
        _ => return None,
    };
    Some(DeviationWords { happens, breaks: Some(breaks) })
}
