//! What the manuals say, word for word: for each [`Promise`] the sentence that makes it, by product and version, with its place.
//!
//! A report that goes to a vendor quotes it. Only sentences that were read in the manual itself stand here; where none is known for a
//! product there is no row, and nothing is made up. Marks of the manual's typesetting are left out.

use model::{Product, ServerInfo, Violation};

use super::{LevelRules, contract};

/// Something that a manual may promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Promise {
    /// All plain reads of a transaction show the snapshot of the first.
    OneSnapshot,
    /// Each plain read has a snapshot of its own.
    FreshSnapshot,
    /// A plain read shows what was committed before it, and nothing else.
    OnlyCommitted,
    /// A plain read at READ UNCOMMITTED shows the newest rows. No manual says so: they say that such reads are not consistent.
    NewestRows,
    /// A plain read in a transaction at SERIALIZABLE locks.
    LockingRead,
    /// A plain read by itself is a transaction.
    OwnTransaction,
    /// Changes and locking reads work on the newest committed rows.
    NewestForChanges,
    /// The query of an INSERT locks nothing.
    UnlockedSource,
    /// What is met is locked, so that others wait.
    LockedRows,
    /// Nobody brings rows into a range that was scanned.
    LockedRanges,
    /// Only for keys are gaps locked.
    FreeGaps,
    /// An UPDATE may judge a locked row on its last committed version.
    SemiConsistent,
    /// Changes may reach what the snapshot does not show.
    ChangesBesideSnapshot,
    /// A lock on a row that is newer than the read view is refused.
    RefusedByView,
    /// What is committed stays.
    CommitLasts,
    /// A savepoint lasts until it is gone back to or released.
    SavepointLasts,
    /// No two rows have the same unique value.
    DistinctKeys,
    /// One writer at a time.
    OneWriter,
}

/// What a manual says, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Word for word.
    pub text: &'static str,
    /// The manual and its section.
    pub place: &'static str,
}

/// A sentence and the versions whose manual has it.
struct Row {
    of: Product,
    /// The first version; empty: all.
    from: &'static [u32],
    /// The first version that no longer has it, or has it elsewhere; empty: none.
    before: &'static [u32],
    promise: Promise,
    sentence: Sentence,
}

/// A row of MySQL 8.0 and later: the sections have kept their numbers since.
const fn mysql(promise: Promise, place: &'static str, text: &'static str) -> Row {
    Row { of: Product::Mysql, from: &[8], before: &[], promise, sentence: Sentence { text, place } }
}

/// A row of MySQL 5.6 and 5.7.
const fn old_mysql(promise: Promise, place: &'static str, text: &'static str) -> Row {
    Row { of: Product::Mysql, from: &[], before: &[8], promise, sentence: Sentence { text, place } }
}

/// A row of a manual without versions.
const fn of(of: Product, promise: Promise, place: &'static str, text: &'static str) -> Row {
    Row { of, from: &[], before: &[], promise, sentence: Sentence { text, place } }
}

const LEVELS: &str = "MySQL Reference Manual, 17.7.2.1 Transaction Isolation Levels";
const OLD_LEVELS: &str = "MySQL Reference Manual, 14.7.2.1 Transaction Isolation Levels";
const COMMIT: &str = "MySQL Reference Manual, 17.7.2.2 autocommit, Commit, and Rollback";
const READS: &str = "MySQL Reference Manual, 17.7.2.3 Consistent Nonlocking Reads";
const OLD_READS: &str = "MySQL Reference Manual, 14.7.2.3 Consistent Nonlocking Reads";
const LOCKS: &str = "MySQL Reference Manual, 17.7.3 Locks Set by Different SQL Statements in InnoDB";
const OLD_LOCKS: &str = "MySQL Reference Manual, 14.7.3 Locks Set by Different SQL Statements in InnoDB";
const MARIADB: &str = "MariaDB documentation, SET TRANSACTION";
const POSTGRES: &str = "PostgreSQL documentation, 13.2 Transaction Isolation";

const ONE_SNAPSHOT: &str =
    "Consistent reads within the same transaction read the snapshot established by the first read.";
const FRESH: &str =
    "Each consistent read, even within the same transaction, sets and reads its own fresh snapshot.";
const POINT: &str = "The query sees the changes made by transactions that committed before that point in time, and no changes made by \
                     later or uncommitted transactions.";
const DML: &str = "The snapshot of the database state applies to SELECT statements within a transaction, not necessarily to DML \
                   statements.";
const SCANNED: &str = "A locking read, an UPDATE, or a DELETE generally set record locks on every index record that is scanned in the \
                       processing of an SQL statement.";
const UNIQUE: &str =
    "A UNIQUE index creates a constraint such that all values in the index must be distinct.";

const ROWS: &[Row] = &[
    mysql(Promise::OneSnapshot, LEVELS, ONE_SNAPSHOT),
    mysql(Promise::FreshSnapshot, LEVELS, FRESH),
    mysql(Promise::OnlyCommitted, READS, POINT),
    mysql(
        Promise::LockingRead,
        LEVELS,
        "This level is like REPEATABLE READ, but InnoDB implicitly converts all plain SELECT statements to SELECT ... FOR SHARE if \
         autocommit is disabled.",
    ),
    mysql(
        Promise::OwnTransaction,
        LEVELS,
        "If autocommit is enabled, the SELECT is its own transaction. It therefore is known to be read only and can be serialized if \
         performed as a consistent (nonlocking) read and need not block for other transactions.",
    ),
    mysql(
        Promise::NewestForChanges,
        LEVELS,
        "... while the locking statements use the most recent state of the database to use locking.",
    ),
    mysql(
        Promise::UnlockedSource,
        LOCKS,
        "If the transaction isolation level is READ COMMITTED, InnoDB does the search on S as a consistent read (no locks).",
    ),
    mysql(Promise::LockedRows, LOCKS, SCANNED),
    mysql(
        Promise::LockedRanges,
        LEVELS,
        "For other search conditions, InnoDB locks the index range scanned, using gap locks or next-key locks to block insertions by \
         other sessions into the gaps covered by the range.",
    ),
    mysql(
        Promise::FreeGaps,
        LEVELS,
        "Gap locking is only used for foreign-key constraint checking and duplicate-key checking.",
    ),
    mysql(
        Promise::SemiConsistent,
        LEVELS,
        "If the row matches (must be updated), MySQL reads the row again and this time InnoDB either locks it or waits for a lock on \
         it.",
    ),
    mysql(Promise::ChangesBesideSnapshot, READS, DML),
    mysql(
        Promise::CommitLasts,
        COMMIT,
        "A COMMIT means that the changes made in the current transaction are made permanent and become visible to other sessions.",
    ),
    mysql(
        Promise::SavepointLasts,
        "MySQL Reference Manual, 15.3.4 SAVEPOINT, ROLLBACK TO SAVEPOINT, and RELEASE SAVEPOINT Statements",
        "The ROLLBACK TO SAVEPOINT statement rolls back a transaction to the named savepoint without terminating the transaction.",
    ),
    mysql(Promise::DistinctKeys, "MySQL Reference Manual, CREATE INDEX Statement, Unique Indexes", UNIQUE),
    old_mysql(Promise::OneSnapshot, OLD_LEVELS, ONE_SNAPSHOT),
    old_mysql(Promise::FreshSnapshot, OLD_LEVELS, FRESH),
    old_mysql(Promise::OnlyCommitted, OLD_READS, POINT),
    old_mysql(Promise::LockedRows, OLD_LOCKS, SCANNED),
    old_mysql(Promise::ChangesBesideSnapshot, OLD_READS, DML),
    old_mysql(
        Promise::DistinctKeys,
        "MySQL Reference Manual, CREATE INDEX Statement, Unique Indexes",
        UNIQUE,
    ),
    of(
        Product::Mariadb,
        Promise::OneSnapshot,
        MARIADB,
        "All consistent reads within the same transaction read the snapshot established by the first read.",
    ),
    of(Product::Mariadb, Promise::FreshSnapshot, MARIADB, FRESH),
    of(
        Product::Mariadb,
        Promise::LockingRead,
        MARIADB,
        "This level is like REPEATABLE READ, but InnoDB implicitly converts all plain SELECT statements to SELECT ... LOCK IN SHARE \
         MODE if autocommit is disabled.",
    ),
    of(
        Product::Mariadb,
        Promise::OwnTransaction,
        MARIADB,
        "If autocommit is enabled, the SELECT is its own transaction. It therefore is known to be read only and can be serialized if \
         performed as a consistent (non-locking) read and need not block for other transactions.",
    ),
    of(
        Product::Mariadb,
        Promise::LockedRows,
        "MariaDB documentation, InnoDB Lock Modes",
        "An exclusive lock is obtained to write to a row, and stops other transactions from locking the same row.",
    ),
    of(
        Product::Mariadb,
        Promise::LockedRanges,
        MARIADB,
        "For other search conditions, InnoDB locks the index range scanned, using gap locks or next-key (gap plus index-record) locks \
         to block insertions by other sessions into the gaps covered by the range.",
    ),
    of(
        Product::Mariadb,
        Promise::RefusedByView,
        MARIADB,
        "Setting to ON will result in attempts to acquire a lock on a record that does not exist in the current read view raising an \
         error, and the transaction being rolled back.",
    ),
    of(
        Product::Mariadb,
        Promise::CommitLasts,
        "MariaDB documentation, COMMIT",
        "Ends a transaction, saving all associated changes so that they become visible to subsequent transactions.",
    ),
    of(
        Product::Postgres,
        Promise::OnlyCommitted,
        POSTGRES,
        "When a transaction uses this isolation level, a SELECT query (without a FOR UPDATE/SHARE clause) sees only data committed \
         before the query began; ...",
    ),
    of(
        Product::Postgres,
        Promise::OneSnapshot,
        POSTGRES,
        "Thus, successive SELECT commands within a single transaction see the same data, i.e., they do not see changes made by other \
         transactions ...",
    ),
    of(
        Product::Sqlite,
        Promise::OneSnapshot,
        "SQLite documentation, Isolation In SQLite",
        "When a read transaction starts, that reader continues to see an unchanging \"snapshot\" of the database file as it existed at \
         the moment in time when the read transaction started.",
    ),
];

/// What the manual of this server says; none where no sentence is known.
pub fn says(server: &ServerInfo, promise: Promise) -> Option<Sentence> {
    let version = server.version.0.as_slice();
    let at_least = |bound: &[u32]| version >= bound;
    ROWS.iter()
        .find(|row| {
            row.of == server.product
                && row.promise == promise
                && at_least(row.from)
                && (row.before.is_empty() || !at_least(row.before))
        })
        .map(|row| row.sentence)
}

/// Rules that hold at every level, in the words of the oracles.
pub mod always {
    /// Of the final state.
    pub const COMMITTED_STAYS: &str = "what is committed stays, and nothing else";
    /// Of ranges.
    pub const LOCKED_RANGE: &str = "nobody else brings rows into what a transaction has locked";
    /// Of a change beside a lock.
    pub const LOCKED_IS_NOT_CHANGED: &str =
        "a row that another transaction has locked is not changed before that ends";
    /// Of a lock beside a lock.
    pub const LOCKED_IS_NOT_LOCKED: &str =
        "a row that another transaction has locked is not locked before that ends";
    /// Of what is being changed.
    pub const CHANGED_IS_WAITED_FOR: &str = "what another transaction is changing is waited for";
    /// Of savepoints.
    pub const SAVEPOINT_LASTS: &str = "a savepoint lasts until it is released or its transaction ends";
}

/// Which promise a violation breaks, by the rule that its evidence names.
pub fn broken(server: &ServerInfo, violation: &Violation) -> Option<Promise> {
    let rule = violation.evidence.iter().find_map(|line| line.strip_prefix("rule: "));
    let rules = violation.fingerprint.level.and_then(|level| contract(server)?.at(level).copied());
    let of_level = || -> Option<Promise> {
        let rule = rule?;
        promises(&rules?).into_iter().find(|(source, _)| rule.ends_with(source)).map(|(_, promise)| promise)
    };
    let of_always = || match rule? {
        always::COMMITTED_STAYS => Some(Promise::CommitLasts),
        always::LOCKED_RANGE => Some(Promise::LockedRanges),
        always::LOCKED_IS_NOT_CHANGED | always::LOCKED_IS_NOT_LOCKED | always::CHANGED_IS_WAITED_FOR => {
            Some(Promise::LockedRows)
        }
        always::SAVEPOINT_LASTS => Some(Promise::SavepointLasts),
        _ => None,
    };
    // The invariants and the decoupled run's final state have names and no words.
    let by_name = || match violation.fingerprint.rule.as_str() {
        "final-state" => Some(Promise::CommitLasts),
        "aborted-read" => Some(Promise::OnlyCommitted),
        "read-not-repeatable" => Some(Promise::OneSnapshot),
        "unique-value-twice" => Some(Promise::DistinctKeys),
        _ => None,
    };
    of_level().or_else(of_always).or_else(by_name)
}

/// The rules of a level by the words that evidence has of them.
fn promises(rules: &LevelRules) -> [(&'static str, Promise); 9] {
    [
        (rules.read.source, rules.read.promise),
        (rules.single_read.source, rules.single_read.promise),
        (rules.change.source, rules.change.promise),
        (rules.source_read.source, rules.source_read.promise),
        (rules.inner_read.source, rules.inner_read.promise),
        (rules.snapshot.source, rules.snapshot.promise),
        (rules.ranges.source, rules.ranges.promise),
        (rules.semi_consistent.source, rules.semi_consistent.promise),
        (rules.stale.source, rules.stale.promise),
    ]
}

#[cfg(test)]
mod tests {
    use model::{Fingerprint, Level};

    use super::*;

    fn server(product: Product, version: &str) -> ServerInfo {
        ServerInfo::bare(product, version.parse().unwrap())
    }

    fn violation(rule: &str, level: Level) -> Violation {
        Violation {
            fingerprint: Fingerprint {
                kind: "wrong-rows".into(),
                rule: "noop-without-version".into(),
                statement: "select".into(),
                level: Some(level),
            },
            step: Some(0),
            story: String::new(),
            evidence: vec!["statement: SELECT 1".into(), format!("rule: {rule}")],
        }
    }

    #[test]
    fn a_sentence_is_that_of_the_product_and_the_version() {
        let place = |product, version, promise| says(&server(product, version), promise).map(|one| one.place);
        assert_eq!(place(Product::Mysql, "9.7.4", Promise::OneSnapshot), Some(LEVELS));
        assert_eq!(place(Product::Mysql, "8.0.33", Promise::OneSnapshot), Some(LEVELS));
        assert_eq!(place(Product::Mysql, "5.6.24", Promise::OneSnapshot), Some(OLD_LEVELS));
        assert_eq!(place(Product::Mariadb, "10.11.19", Promise::OneSnapshot), Some(MARIADB));
        assert_eq!(place(Product::Mariadb, "10.11.19", Promise::NewestForChanges), None);
        for product in [Product::Mysql, Product::Mariadb, Product::Postgres, Product::Sqlite] {
            assert_eq!(place(product, "9", Promise::NewestRows), None, "{product} promises dirty reads");
        }
    }

    #[test]
    fn no_two_rows_say_the_same_promise_of_one_server() {
        for (product, version) in [
            (Product::Mysql, "5.7.44"),
            (Product::Mysql, "9.7.4"),
            (Product::Mariadb, "11.8.6"),
            (Product::Postgres, "18"),
        ] {
            let version: Vec<u32> = version.split('.').map(|part| part.parse().unwrap()).collect();
            let fits = |row: &&Row| {
                row.of == product
                    && version.as_slice() >= row.from
                    && (row.before.is_empty() || version.as_slice() < row.before)
            };
            let mut promises: Vec<Promise> = ROWS.iter().filter(fits).map(|row| row.promise).collect();
            promises.sort();
            let all = promises.len();
            promises.dedup();
            assert_eq!(promises.len(), all, "{product}");
        }
    }

    #[test]
    fn every_rule_of_a_contract_is_found_by_the_words_that_evidence_has() {
        for (product, version) in [(Product::Mysql, "9.7.4"), (Product::Mariadb, "11.8.6")] {
            let server = server(product, version);
            for (level, rules) in contract(&server).unwrap().levels {
                for (source, promise) in promises(&rules) {
                    let found = broken(&server, &violation(source, level)).unwrap();
                    // Two rules of a level may stand on the same words; they are one promise then.
                    assert_eq!(found, promise, "{product} {level}: {source}");
                    let told = format!("it sees the newest committed rows; {source}");
                    assert_eq!(broken(&server, &violation(&told, level)), Some(promise));
                }
            }
        }
        let mysql = server(Product::Mysql, "9.7.4");
        let last = violation(always::COMMITTED_STAYS, Level::RepeatableRead);
        assert_eq!(broken(&mysql, &last), Some(Promise::CommitLasts));
        assert_eq!(broken(&mysql, &violation("something else", Level::RepeatableRead)), None);
    }
}
