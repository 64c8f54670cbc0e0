//! What the manuals say, word for word: for each [`RuleId`] the sentence that makes it, by product and version, with its place.
//!
//! A report that goes to a vendor quotes it. Only sentences that were read in the manual itself stand here, or, where a comment says so, in
//! what several others quote from that page; where none is known for a
//! product there is no row, and nothing is made up. Marks of the manual's typesetting are left out.

use model::{Product, RuleId, ServerInfo, Version};

/// What a manual says, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Word for word.
    pub text: &'static str,
    /// The manual and its section.
    pub place: &'static str,
}

/// A sentence that a report may quote for a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    pub sentence: Sentence,
    /// Whose manual it is, where that of the server's own product does not say it.
    pub borrowed: Option<Product>,
}

/// A sentence and the versions whose manual has it.
struct Quotation {
    of: Product,
    /// The first version; empty: all.
    from: &'static [u32],
    /// The first version that no longer has it, or has it elsewhere; empty: none.
    before: &'static [u32],
    rule: RuleId,
    sentence: Sentence,
}

/// A row of MySQL 8.0 and later: the sections have kept their numbers since.
const fn mysql(rule: RuleId, place: &'static str, text: &'static str) -> Quotation {
    Quotation { of: Product::Mysql, from: &[8], before: &[], rule, sentence: Sentence { text, place } }
}

/// A row of MySQL 5.6 and 5.7.
const fn old_mysql(rule: RuleId, place: &'static str, text: &'static str) -> Quotation {
    Quotation { of: Product::Mysql, from: &[], before: &[8], rule, sentence: Sentence { text, place } }
}

/// A row of a manual without versions.
const fn of(of: Product, rule: RuleId, place: &'static str, text: &'static str) -> Quotation {
    Quotation { of, from: &[], before: &[], rule, sentence: Sentence { text, place } }
}

const LEVELS: &str = "MySQL Reference Manual, 17.7.2.1 Transaction Isolation Levels";
const OLD_LEVELS: &str = "MySQL Reference Manual, 14.7.2.1 Transaction Isolation Levels";
const COMMIT: &str = "MySQL Reference Manual, 17.7.2.2 autocommit, Commit, and Rollback";
const READS: &str = "MySQL Reference Manual, 17.7.2.3 Consistent Nonlocking Reads";
const OLD_READS: &str = "MySQL Reference Manual, 14.7.2.3 Consistent Nonlocking Reads";
const LOCKS: &str = "MySQL Reference Manual, 17.7.3 Locks Set by Different SQL Statements in InnoDB";
const OLD_LOCKS: &str = "MySQL Reference Manual, 14.7.3 Locks Set by Different SQL Statements in InnoDB";
const LOCKING: &str = "MySQL Reference Manual, 17.7.2.4 Locking Reads";
const DEADLOCKS: &str = "MySQL Reference Manual, 17.7.5.2 Deadlock Detection";
const OLD_DEADLOCKS: &str = "MySQL Reference Manual, 14.7.5.2 Deadlock Detection";
const MARIADB: &str = "MariaDB documentation, SET TRANSACTION";
const POSTGRES: &str = "PostgreSQL documentation, 13.2 Transaction Isolation";

const ONE_SNAPSHOT: &str =
    "Consistent reads within the same transaction read the snapshot established by the first read.";
const FRESH: &str =
    "Each consistent read, even within the same transaction, sets and reads its own fresh snapshot.";
const POINT: &str = "The query sees the changes made by transactions that committed before that point in time, and no changes made by \
                     later or uncommitted transactions.";
const OWN: &str = "The query sees the changes made by transactions that committed before that point in time, and no changes made by later \
                   or uncommitted transactions. The exception to this rule is that the query sees the changes made by earlier statements within the same \
                   transaction.";
const DML: &str = "The snapshot of the database state applies to SELECT statements within a transaction, not necessarily to DML \
                   statements.";
const SCANNED: &str = "A locking read, an UPDATE, or a DELETE generally set record locks on every index record that is scanned in the \
                       processing of an SQL statement.";
const UNIQUE: &str =
    "A UNIQUE index creates a constraint such that all values in the index must be distinct.";

const ROWS: &[Quotation] = &[
    mysql(
        RuleId::DeadlockIsEnded,
        DEADLOCKS,
        "When deadlock detection is enabled (the default), InnoDB automatically detects transaction deadlocks and rolls back a transaction or \
         transactions to break the deadlock.",
    ),
    // 5.7 begins it as the manuals after it do.
    old_mysql(
        RuleId::DeadlockIsEnded,
        OLD_DEADLOCKS,
        "InnoDB automatically detects transaction deadlocks and rolls back a transaction or transactions to break the deadlock.",
    ),
    of(
        Product::Mariadb,
        RuleId::DeadlockIsEnded,
        "MariaDB documentation, InnoDB System Variables, innodb_deadlock_detect",
        "By default, the InnoDB deadlock detector is enabled. If set to off, deadlock detection is disabled and MariaDB will rely on \
         innodb_lock_wait_timeout instead.",
    ),
    mysql(RuleId::OneSnapshot, LEVELS, ONE_SNAPSHOT),
    mysql(RuleId::FreshSnapshot, LEVELS, FRESH),
    mysql(RuleId::OnlyCommitted, READS, POINT),
    mysql(RuleId::OwnChanges, READS, OWN),
    mysql(
        RuleId::LockingRead,
        LEVELS,
        "This level is like REPEATABLE READ, but InnoDB implicitly converts all plain SELECT statements to SELECT ... FOR SHARE if \
         autocommit is disabled.",
    ),
    mysql(
        RuleId::OwnTransaction,
        LEVELS,
        "If autocommit is enabled, the SELECT is its own transaction. It therefore is known to be read only and can be serialized if \
         performed as a consistent (nonlocking) read and need not block for other transactions.",
    ),
    mysql(
        RuleId::NewestForChanges,
        LEVELS,
        "... while the locking statements use the most recent state of the database to use locking.",
    ),
    mysql(
        RuleId::UnlockedSource,
        LOCKS,
        "If the transaction isolation level is READ COMMITTED, InnoDB does the search on S as a consistent read (no locks).",
    ),
    mysql(RuleId::LockedRows, LOCKS, SCANNED),
    mysql(
        RuleId::ChangedIsWaitedFor,
        LOCKING,
        "If any of these rows were changed by another transaction that has not yet committed, your query waits until that \
         transaction ends and then uses the latest values.",
    ),
    // Quoted by others.
    mysql(
        RuleId::AskedNotToWait,
        LOCKING,
        "A locking read that uses NOWAIT never waits to acquire a row lock.",
    ),
    mysql(
        RuleId::PlainReadTakesNoLocks,
        READS,
        "A consistent read does not set any locks on the tables it accesses, and therefore other sessions are free to modify those \
         tables at the same time ...",
    ),
    mysql(
        RuleId::ForeignKeys,
        "MySQL Reference Manual, 5.6.6 Using Foreign Keys",
        "Insertion of a row into the child table with a parent_id value that is not present in the parent table is rejected with an \
         error ...",
    ),
    mysql(
        RuleId::LockedRanges,
        LEVELS,
        "For other search conditions, InnoDB locks the index range scanned, using gap locks or next-key locks to block insertions by \
         other sessions into the gaps covered by the range.",
    ),
    mysql(
        RuleId::FreeGaps,
        LEVELS,
        "Gap locking is only used for foreign-key constraint checking and duplicate-key checking.",
    ),
    mysql(
        RuleId::SemiConsistent,
        LEVELS,
        "If the row matches (must be updated), MySQL reads the row again and this time InnoDB either locks it or waits for a lock on \
         it.",
    ),
    mysql(RuleId::ChangesBesideSnapshot, READS, DML),
    mysql(
        RuleId::CommitLasts,
        COMMIT,
        "A COMMIT means that the changes made in the current transaction are made permanent and become visible to other sessions.",
    ),
    mysql(
        RuleId::SavepointLasts,
        "MySQL Reference Manual, 15.3.4 SAVEPOINT, ROLLBACK TO SAVEPOINT, and RELEASE SAVEPOINT Statements",
        "The ROLLBACK TO SAVEPOINT statement rolls back a transaction to the named savepoint without terminating the transaction. \
         Modifications that the current transaction made to rows after the savepoint was set are undone in the rollback, but InnoDB does \
         not release the row locks that were stored in memory after the savepoint.",
    ),
    mysql(RuleId::DistinctKeys, "MySQL Reference Manual, CREATE INDEX Statement, Unique Indexes", UNIQUE),
    old_mysql(RuleId::OneSnapshot, OLD_LEVELS, ONE_SNAPSHOT),
    old_mysql(RuleId::FreshSnapshot, OLD_LEVELS, FRESH),
    old_mysql(RuleId::OnlyCommitted, OLD_READS, POINT),
    old_mysql(RuleId::OwnChanges, OLD_READS, OWN),
    old_mysql(RuleId::LockedRows, OLD_LOCKS, SCANNED),
    old_mysql(RuleId::ChangesBesideSnapshot, OLD_READS, DML),
    old_mysql(RuleId::DistinctKeys, "MySQL Reference Manual, CREATE INDEX Statement, Unique Indexes", UNIQUE),
    of(
        Product::Mariadb,
        RuleId::OneSnapshot,
        MARIADB,
        "All consistent reads within the same transaction read the snapshot established by the first read.",
    ),
    of(Product::Mariadb, RuleId::FreshSnapshot, MARIADB, FRESH),
    of(
        Product::Mariadb,
        RuleId::LockingRead,
        MARIADB,
        "This level is like REPEATABLE READ, but InnoDB implicitly converts all plain SELECT statements to SELECT ... LOCK IN SHARE \
         MODE if autocommit is disabled.",
    ),
    of(
        Product::Mariadb,
        RuleId::OwnTransaction,
        MARIADB,
        "If autocommit is enabled, the SELECT is its own transaction. It therefore is known to be read only and can be serialized if \
         performed as a consistent (non-locking) read and need not block for other transactions.",
    ),
    of(
        Product::Mariadb,
        RuleId::LockedRows,
        "MariaDB documentation, InnoDB Lock Modes",
        "An exclusive lock is obtained to write to a row, and stops other transactions from locking the same row.",
    ),
    of(
        Product::Mariadb,
        RuleId::ChangedIsWaitedFor,
        "MariaDB documentation, LOCK IN SHARE MODE",
        "When LOCK IN SHARE MODE is specified in a SELECT statement, MariaDB will wait until all transactions that have modified the \
         rows are committed.",
    ),
    of(
        Product::Mariadb,
        RuleId::OnlyCommitted,
        "MariaDB documentation, START TRANSACTION ... WITH CONSISTENT SNAPSHOT, The InnoDB Read View",
        "When a transaction uses a read view, it sees only the data that was committed at the moment the \"snapshot\" was taken.",
    ),
    // Quoted by others, and in copies of the server's own help.
    of(
        Product::Mariadb,
        RuleId::FreeGaps,
        MARIADB,
        "... there is no InnoDB gap locking except for foreign-key constraint checking and duplicate-key checking.",
    ),
    of(
        Product::Mariadb,
        RuleId::SavepointLasts,
        "MariaDB documentation, SAVEPOINT",
        "When used with the TO clause, it undoes the changes performed after the specified savepoint, and erases all subsequent \
         savepoints. However, all locks that have been acquired after the save point will survive.",
    ),
    of(
        Product::Mariadb,
        RuleId::DistinctKeys,
        "MariaDB documentation, UNIQUE Constraints",
        "MariaDB Server supports UNIQUE constraints to ensure that a column's value is unique within a table ...",
    ),
    of(
        Product::Mariadb,
        RuleId::ForeignKeys,
        "MariaDB documentation, FOREIGN KEY Constraints",
        "Referential constraints allow the database to automatically ensure that each row in the child table is associated with a \
         valid row in the parent table ...",
    ),
    of(
        Product::Mariadb,
        RuleId::LockedRanges,
        MARIADB,
        "For other search conditions, InnoDB locks the index range scanned, using gap locks or next-key (gap plus index-record) locks \
         to block insertions by other sessions into the gaps covered by the range.",
    ),
    of(
        Product::Mariadb,
        RuleId::RefusedByView,
        MARIADB,
        "Setting to ON will result in attempts to acquire a lock on a record that does not exist in the current read view raising an \
         error, and the transaction being rolled back.",
    ),
    of(
        Product::Mariadb,
        RuleId::CommitLasts,
        "MariaDB documentation, COMMIT",
        "Ends a transaction, saving all associated changes so that they become visible to subsequent transactions.",
    ),
    of(
        Product::Postgres,
        RuleId::OnlyCommitted,
        POSTGRES,
        "When a transaction uses this isolation level, a SELECT query (without a FOR UPDATE/SHARE clause) sees only data committed \
         before the query began; ...",
    ),
    of(
        Product::Postgres,
        RuleId::OneSnapshot,
        POSTGRES,
        "Thus, successive SELECT commands within a single transaction see the same data, i.e., they do not see changes made by other \
         transactions ...",
    ),
    of(
        Product::Sqlite,
        RuleId::OneSnapshot,
        "SQLite documentation, Isolation In SQLite",
        "When a read transaction starts, that reader continues to see an unchanging \"snapshot\" of the database file as it existed at \
         the moment in time when the read transaction started.",
    ),
    // Quoted by others.
    of(
        Product::Sqlite,
        RuleId::DistinctKeys,
        "SQLite documentation, CREATE TABLE, UNIQUE constraints",
        "For each UNIQUE constraint on the table, each row must contain a unique combination of values in the columns identified by the \
         UNIQUE constraint.",
    ),
];

/// What the manual of this server says; none where no sentence is known.
pub fn says(server: &ServerInfo, rule: RuleId) -> Option<Sentence> {
    let version = server.version.0.as_slice();
    let at_least = |bound: &[u32]| version >= bound;
    let of = |rule: RuleId| {
        ROWS.iter().find(|row| {
            row.of == server.product
                && row.rule == rule
                && at_least(row.from)
                && (row.before.is_empty() || !at_least(row.before))
        })
    };
    of(rule).or_else(|| of(rule.promised_as())).map(|row| row.sentence)
}

/// The same, or else what MySQL's newest manual says of the storage engine that the server shares with it.
pub fn quoted(server: &ServerInfo, rule: RuleId) -> Option<Quote> {
    if let Some(sentence) = says(server, rule) {
        return Some(Quote { sentence, borrowed: None });
    }
    let lender = Product::Mysql;
    let shares = [Product::Mysql, Product::Mariadb].contains(&server.product);
    let newest = ServerInfo::bare(lender, Version(vec![u32::MAX]));
    let sentence = says(&newest, rule).filter(|_| shares)?;
    Some(Quote { sentence, borrowed: (server.product != lender).then_some(lender) })
}

impl Quote {
    /// The sentence with its place, and whose it is where it is not the product's own.
    pub fn text(&self, product: Product) -> String {
        let Sentence { text, place } = self.sentence;
        match self.borrowed {
            None => format!("\"{text}\" ({place})"),
            Some(lender) => {
                let (own, lender) = (crate::of(product).title, crate::of(lender).title);
                format!(
                    "No sentence of {own}'s manual is known that says so; {lender}'s says: \"{text}\" ({place})"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(product: Product, version: &str) -> ServerInfo {
        ServerInfo::bare(product, version.parse().unwrap())
    }

    #[test]
    fn a_sentence_is_that_of_the_product_and_the_version() {
        let place = |product, version, rule| says(&server(product, version), rule).map(|one| one.place);
        assert_eq!(place(Product::Mysql, "9.7.4", RuleId::OneSnapshot), Some(LEVELS));
        assert_eq!(place(Product::Mysql, "8.0.33", RuleId::OneSnapshot), Some(LEVELS));
        assert_eq!(place(Product::Mysql, "5.6.24", RuleId::OneSnapshot), Some(OLD_LEVELS));
        assert_eq!(place(Product::Mariadb, "10.11.19", RuleId::OneSnapshot), Some(MARIADB));
        assert_eq!(place(Product::Mariadb, "10.11.19", RuleId::NewestForChanges), None);
        for product in [Product::Mysql, Product::Mariadb, Product::Postgres, Product::Sqlite] {
            assert_eq!(place(product, "9", RuleId::NewestRows), None, "{product} promises dirty reads");
        }
    }

    #[test]
    fn another_products_manual_is_never_quoted_as_its_own() {
        for (product, version) in [
            (Product::Mysql, "5.6.24"),
            (Product::Mysql, "9.7.4"),
            (Product::Mariadb, "10.11.19"),
            (Product::Postgres, "18"),
            (Product::Sqlite, "3"),
            (Product::Reference, "1.0"),
        ] {
            for &rule in RuleId::ALL {
                let Some(quote) = quoted(&server(product, version), rule) else { continue };
                let text = quote.text(product);
                let whose = crate::of(product).title;
                let own = quote.sentence.place.starts_with(whose);
                assert_eq!(own, quote.borrowed.is_none(), "{product} {rule}: {text}");
                assert_eq!(text.contains("manual is known that says so"), !own, "{product} {rule}: {text}");
            }
        }
        assert_eq!(quoted(&server(Product::Reference, "1.0"), RuleId::OneSnapshot), None);
        let own = quoted(&server(Product::Mariadb, "10.11.19"), RuleId::OwnChanges).unwrap();
        assert_eq!(own.borrowed, Some(Product::Mysql));
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
            let fits = |row: &&Quotation| {
                row.of == product
                    && version.as_slice() >= row.from
                    && (row.before.is_empty() || version.as_slice() < row.before)
            };
            let mut promises: Vec<RuleId> = ROWS.iter().filter(fits).map(|row| row.rule).collect();
            promises.sort();
            let all = promises.len();
            promises.dedup();
            assert_eq!(promises.len(), all, "{product}");
        }
    }
}
