//! What each product's manual exempts from the invariants, as data with the manual's sentence.
//!
//! An invariant that is broken where an exemption fits is by design: the verdict holds, and names the exemption, so that it
//! is counted and can be looked at.

use dialect::SqlFamily;
use model::{Level, Product, sql::StatementKind, verdict::ExemptionId};

/// Something that a manual allows.
#[derive(Debug, PartialEq, Eq)]
pub struct Exemption {
    pub id: ExemptionId,
    /// In a few words.
    pub name: &'static str,
    /// For whom. MySQL's family is InnoDB, and the reference engine, which was made after it.
    pub family: SqlFamily,
    /// Where the manual says it.
    pub section: &'static str,
    pub sentence: &'static str,
    /// Reports of the same shape, where somebody found it surprising all the same.
    pub reports: &'static [&'static str],
}

impl Exemption {
    /// For people: name, place and sentence.
    pub fn text(&self) -> String {
        let reports = match self.reports {
            [] => String::new(),
            reports => format!("; reported as {}", reports.join(", ")),
        };
        format!("{} ({}: \"{}\"{reports})", self.name, self.section, self.sentence)
    }
}

/// Does an invariant bind here?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obligation {
    Yes,
    /// No, the manual says so.
    Not(&'static Exemption),
    /// It cannot be told.
    Unclear,
}

/// InnoDB at READ UNCOMMITTED.
pub static DIRTY_READ: Exemption = Exemption {
    id: ExemptionId::DirtyRead,
    name: "dirty read",
    family: SqlFamily::Mysql,
    section: "Transaction Isolation Levels, READ UNCOMMITTED",
    sentence: "such reads are not consistent. This is also called a dirty read",
    reports: &[],
};

/// InnoDB at REPEATABLE READ, after a change of its own.
pub static MIXED_SNAPSHOT: Exemption = Exemption {
    id: ExemptionId::MixedSnapshot,
    name: "own changes beside an old snapshot",
    family: SqlFamily::Mysql,
    section: "Consistent Nonlocking Reads",
    sentence: "a SELECT sees the latest version of the updated rows, but it might also see older versions of any rows",
    reports: &["MDEV-32898", "MySQL#113228"],
};

/// PostgreSQL at REPEATABLE READ, after a change of its own: a key that another transaction freed since the snapshot can be
/// given again, and the row that had it is still seen.
pub static OWN_UPDATES: Exemption = Exemption {
    id: ExemptionId::OwnUpdates,
    name: "own changes beside the snapshot",
    family: SqlFamily::Postgres,
    section: "Transaction Isolation, Repeatable Read Isolation Level",
    sentence: "each query does see the effects of previous updates executed within its own transaction",
    reports: &[],
};

/// PostgreSQL at SERIALIZABLE beside transactions of other levels. They are not part of what is emulated, so the same may be
/// seen as at REPEATABLE READ; among serializable ones the reader is refused (40001, seen on 13 and 18).
pub static MIXED_LEVELS: Exemption = Exemption {
    id: ExemptionId::MixedLevels,
    name: "serializable beside other levels",
    family: SqlFamily::Postgres,
    section: "Data Consistency Checks at the Application Level",
    sentence: "If the Serializable transaction isolation level is used for all writes and for all reads which need a consistent view of the data",
    reports: &[],
};

/// PostgreSQL at SERIALIZABLE, in a transaction that did not commit.
pub static NOT_COMMITTED: Exemption = Exemption {
    id: ExemptionId::NotCommitted,
    name: "read by a serializable transaction that did not commit",
    family: SqlFamily::Postgres,
    section: "Transaction Isolation, Serializable Isolation Level",
    sentence: "any data read from a permanent user table not be considered valid until the transaction which read it has successfully committed",
    reports: &[],
};

/// InnoDB: NOWAIT and SKIP LOCKED beside locks of whole tables.
pub static ROW_LOCKS_ONLY: Exemption = Exemption {
    id: ExemptionId::RowLocksOnly,
    name: "a wait for a lock of the whole table",
    family: SqlFamily::Mysql,
    section: "Locking Reads",
    sentence: "NOWAIT and SKIP LOCKED only apply to row-level locks.",
    reports: &[],
};

/// The same in PostgreSQL.
pub static ROW_LEVEL_LOCKS: Exemption = Exemption {
    id: ExemptionId::RowLevelLocks,
    family: SqlFamily::Postgres,
    section: "SELECT, The Locking Clause",
    sentence: "Note that NOWAIT and SKIP LOCKED apply only to the row-level lock(s) — the required ROW SHARE table-level lock is still taken in the ordinary way",
    ..ROW_LOCKS_ONLY
};

/// InnoDB: circles of waits through locks of whole tables.
pub static TABLE_LOCKS: Exemption = Exemption {
    id: ExemptionId::TableLocks,
    name: "a circle through a lock of a whole table",
    family: SqlFamily::Mysql,
    section: "Deadlock Detection",
    sentence: "InnoDB cannot detect deadlocks where a table lock set by a MySQL LOCK TABLES statement or a lock set by a storage engine other than InnoDB is involved.",
    reports: &[],
};

/// PostgreSQL at READ COMMITTED: rows are sorted, and then locked in their newest version.
pub static SORTED_BEFORE_LOCKED: Exemption = Exemption {
    id: ExemptionId::SortedBeforeLocked,
    name: "sorted before it was locked",
    family: SqlFamily::Postgres,
    section: "SELECT, The Locking Clause",
    sentence: "It is possible for a SELECT command running at the READ COMMITTED transaction isolation level and using ORDER BY and a locking clause to return rows out of order.",
    reports: &[],
};

pub static ALL: &[&Exemption] = &[
    &DIRTY_READ,
    &MIXED_SNAPSHOT,
    &OWN_UPDATES,
    &MIXED_LEVELS,
    &NOT_COMMITTED,
    &ROW_LOCKS_ONLY,
    &ROW_LEVEL_LOCKS,
    &SORTED_BEFORE_LOCKED,
    &TABLE_LOCKS,
];

/// The exemption of this id.
pub fn of(id: ExemptionId) -> &'static Exemption {
    match id {
        ExemptionId::DirtyRead => &DIRTY_READ,
        ExemptionId::MixedSnapshot => &MIXED_SNAPSHOT,
        ExemptionId::OwnUpdates => &OWN_UPDATES,
        ExemptionId::MixedLevels => &MIXED_LEVELS,
        ExemptionId::NotCommitted => &NOT_COMMITTED,
        ExemptionId::RowLocksOnly => &ROW_LOCKS_ONLY,
        ExemptionId::RowLevelLocks => &ROW_LEVEL_LOCKS,
        ExemptionId::SortedBeforeLocked => &SORTED_BEFORE_LOCKED,
        ExemptionId::TableLocks => &TABLE_LOCKS,
    }
}

/// What is known of the transaction that reads.
#[derive(Clone, Copy, Debug)]
pub struct ReaderState {
    /// Did it change rows before?
    pub wrote: bool,
    /// Did it commit?
    pub committed: bool,
    /// Are all transactions of the case at SERIALIZABLE?
    pub all_serializable: bool,
}

/// What lets a statement wait for a lock of the whole table although it was asked not to wait.
pub fn row_locks_only(product: Product) -> Option<&'static Exemption> {
    let family = dialect::of(product).family;
    [&ROW_LOCKS_ONLY, &ROW_LEVEL_LOCKS].into_iter().find(|one| one.family == family)
}

/// What lets transactions wait for each other in a circle through locks of whole tables.
pub fn table_locks(product: Product) -> Option<&'static Exemption> {
    Some(&TABLE_LOCKS).filter(|one| one.family == dialect::of(product).family)
}

/// What lets a locking read below REPEATABLE READ give its rows in another order.
pub fn sorted_before_locked(product: Product) -> Option<&'static Exemption> {
    Some(&SORTED_BEFORE_LOCKED).filter(|one| one.family == dialect::of(product).family)
}

/// Does a read owe committed values only?
pub fn committed_values(product: Product, level: Option<Level>, kind: Option<StatementKind>) -> Obligation {
    let family = dialect::of(product).family;
    match level {
        None => Obligation::Unclear,
        // A locking read waits for what is not committed, at this level too (Locking Reads).
        Some(Level::ReadUncommitted)
            if kind == Some(StatementKind::Select) && DIRTY_READ.family == family =>
        {
            Obligation::Not(&DIRTY_READ)
        }
        Some(_) => Obligation::Yes,
    }
}

/// Does a read owe rows whose unique values differ?
pub fn distinct_keys(
    product: Product,
    level: Option<Level>,
    kind: Option<StatementKind>,
    reader: ReaderState,
) -> Obligation {
    match committed_values(product, level, kind) {
        Obligation::Yes => {}
        other => return other,
    }
    if kind != Some(StatementKind::Select) || !reader.wrote {
        return Obligation::Yes;
    }
    let allowed: &[&'static Exemption] = match level {
        Some(Level::RepeatableRead) => &[&MIXED_SNAPSHOT, &OWN_UPDATES],
        Some(Level::Serializable) if !reader.all_serializable => &[&MIXED_LEVELS],
        Some(Level::Serializable) if !reader.committed => &[&NOT_COMMITTED],
        Some(Level::Serializable | Level::ReadCommitted | Level::ReadUncommitted) | None => &[],
    };
    let family = dialect::of(product).family;
    let fits = allowed.iter().find(|one| one.family == family);
    fits.map_or(Obligation::Yes, |one| Obligation::Not(one))
}
