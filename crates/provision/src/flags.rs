//! The flags of a throw-away server, as data: one row per flag, with the products and the versions that take it.
//!
//! Whatever changes what a server does to transactions keeps the vendor's default of that version: the binary log,
//! sql_mode, collation, snapshot isolation, lock timeouts. Only four things are changed: durability (the data is thrown
//! away), memory (several instances at once), statistics (they must not drift while a case is replayed), and helpers
//! that work while a session sleeps (it would look as if it waited for a lock).
//!
//! A server that is to show what its vendor's own settings do gets none of that ([`ConfigMode::Vendor`]): only what it cannot run
//! without in a folder of ours.

use model::{Product, Version};

/// With which settings an instance is started, beside those of its target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConfigMode {
    /// As a throw-away server: fast, small and steady.
    #[default]
    ThrowAway,
    /// With the vendor's own settings.
    Vendor,
}

/// A flag and who takes it.
struct FlagRow {
    flag: &'static str,
    of: &'static [Product],
    /// The first version that has it; empty: all.
    from: &'static [u32],
    /// The first version that no longer has it, or for which another row stands; empty: none.
    before: &'static [u32],
}

impl FlagRow {
    fn fits(&self, product: Product, version: &Version) -> bool {
        let at_least = |bound: &[u32]| version.cmp_prefix(&Version(bound.to_vec())).is_ge();
        self.of.contains(&product)
            && (self.from.is_empty() || at_least(self.from))
            && (self.before.is_empty() || !at_least(self.before))
    }
}

const INNODB: &[Product] = &[Product::Mysql, Product::Mariadb];
const MARIADB: &[Product] = &[Product::Mariadb];
const MYSQL: &[Product] = &[Product::Mysql];
const POSTGRES: &[Product] = &[Product::Postgres];

/// A flag of all versions.
const fn all(of: &'static [Product], flag: &'static str) -> FlagRow {
    FlagRow { flag, of, from: &[], before: &[] }
}

/// A flag that came with a version.
const fn from(of: &'static [Product], from: &'static [u32], flag: &'static str) -> FlagRow {
    FlagRow { flag, of, from, before: &[] }
}

/// A flag that another one, or nothing, took the place of.
const fn before(of: &'static [Product], before: &'static [u32], flag: &'static str) -> FlagRow {
    FlagRow { flag, of, from: &[], before }
}

/// What a server cannot run without, several at a time and in folders of ours. None of it changes what a statement does.
const NEEDED: &[FlagRow] = &[
    // It would listen on a port that is the same for all.
    from(MYSQL, &[5, 7, 12], "--mysqlx=OFF"),
    // The folder that some builds name does not exist here, and then they do not start.
    from(MYSQL, &[5, 7], "--secure-file-priv=NULL"),
    // Everything of it goes with its folder, also when it is killed.
    all(POSTGRES, "--shared_memory_type=mmap"),
    all(POSTGRES, "--dynamic_shared_memory_type=mmap"),
    // Its error log is what it prints.
    all(POSTGRES, "--logging_collector=off"),
    all(POSTGRES, "--log_destination=stderr"),
];

/// Every flag of a throw-away server beside these. What memory the performance schema takes is asked for by what it may count: 5.7 knows the same words
/// as 8.0, but for errors.
const ROWS: &[FlagRow] = &[
    // Durability.
    all(INNODB, "--innodb-flush-log-at-trx-commit=0"),
    all(INNODB, "--innodb-doublewrite=0"),
    all(INNODB, "--sync-binlog=0"),
    all(INNODB, "--innodb-buffer-pool-dump-at-shutdown=OFF"),
    all(INNODB, "--innodb-buffer-pool-load-at-startup=OFF"),
    all(MARIADB, "--innodb-flush-method=nosync"),
    all(POSTGRES, "--fsync=off"),
    all(POSTGRES, "--synchronous_commit=off"),
    all(POSTGRES, "--full_page_writes=off"),
    // Memory and time.
    all(INNODB, "--innodb-buffer-pool-size=32M"),
    // Old page cleaners do not rest while fewer pages than this are free, and a small pool never has so many. Under
    // real-time priority such a thread leaves no time for the others.
    before(MARIADB, &[10, 2], "--innodb-lru-scan-depth=100"),
    before(MYSQL, &[5, 7], "--innodb-lru-scan-depth=100"),
    all(INNODB, "--innodb-log-buffer-size=4M"),
    all(INNODB, "--key-buffer-size=1M"),
    all(INNODB, "--skip-name-resolve"),
    all(MARIADB, "--thread-cache-size=256"),
    from(MYSQL, &[5, 7], "--thread-cache-size=256"),
    // It does not tell which thread serves which connection; a thread that comes with the connection is known by that.
    before(MYSQL, &[5, 7], "--thread-cache-size=0"),
    all(MARIADB, "--innodb-log-file-size=16M"),
    before(MYSQL, &[8, 0, 30], "--innodb-log-file-size=16M"),
    from(MYSQL, &[8, 0, 30], "--innodb-redo-log-capacity=32M"),
    // Otherwise it makes a key at every start, which takes its own library up to a minute.
    from(MARIADB, &[11, 4], "--ssl=OFF"),
    all(MARIADB, "--aria-pagecache-buffer-size=8M"),
    all(POSTGRES, "--shared_buffers=16MB"),
    all(POSTGRES, "--min_wal_size=32MB"),
    all(POSTGRES, "--max_wal_size=96MB"),
    all(POSTGRES, "--checkpoint_timeout=3600"),
    // A crash is an outcome, and must not be mended behind our back.
    all(POSTGRES, "--restart_after_crash=off"),
    // Statistics.
    all(INNODB, "--innodb-stats-auto-recalc=OFF"),
    all(POSTGRES, "--autovacuum=off"),
    // Helpers. With its own threads for writing the log, MySQL also spins under real-time priority.
    from(MYSQL, &[8, 0, 22], "--innodb-log-writer-threads=OFF"),
    from(MYSQL, &[8, 0, 14], "--innodb-parallel-read-threads=1"),
    all(POSTGRES, "--max_parallel_workers_per_gather=0"),
    all(POSTGRES, "--max_parallel_maintenance_workers=0"),
    from(POSTGRES, &[18], "--io_method=sync"),
    // MySQL's performance schema says who waits for whom and which thread serves which connection. Neither needs an
    // instrument, and without its histories and digests the server starts faster and takes half the memory.
    all(MARIADB, "--performance-schema=OFF"),
    before(MYSQL, &[5, 7], "--performance-schema=OFF"),
    from(MYSQL, &[5, 7], "--performance-schema=ON"),
    from(MYSQL, &[5, 7], "--performance-schema-instrument=%=OFF"),
    from(MYSQL, &[5, 7], "--performance-schema-accounts-size=0"),
    from(MYSQL, &[5, 7], "--performance-schema-digests-size=0"),
    from(MYSQL, &[8], "--performance-schema-error-size=0"),
    from(MYSQL, &[5, 7], "--performance-schema-events-stages-history-long-size=0"),
    from(MYSQL, &[5, 7], "--performance-schema-events-stages-history-size=0"),
    from(MYSQL, &[5, 7], "--performance-schema-events-statements-history-long-size=0"),
    from(MYSQL, &[5, 7], "--performance-schema-events-statements-history-size=0"),
    from(MYSQL, &[5, 7], "--performance-schema-events-transactions-history-long-size=0"),
    from(MYSQL, &[5, 7], "--performance-schema-events-transactions-history-size=0"),
    from(MYSQL, &[5, 7], "--performance-schema-events-waits-history-long-size=0"),
    from(MYSQL, &[5, 7], "--performance-schema-events-waits-history-size=0"),
    from(MYSQL, &[5, 7], "--performance-schema-hosts-size=0"),
    from(MYSQL, &[5, 7], "--performance-schema-max-cond-instances=0"),
    from(MYSQL, &[5, 7], "--performance-schema-max-digest-length=0"),
    from(MYSQL, &[5, 7], "--performance-schema-max-file-instances=0"),
    from(MYSQL, &[5, 7], "--performance-schema-max-memory-classes=0"),
    from(MYSQL, &[5, 7], "--performance-schema-max-mutex-instances=0"),
    from(MYSQL, &[5, 7], "--performance-schema-max-rwlock-instances=0"),
    from(MYSQL, &[5, 7], "--performance-schema-max-sql-text-length=0"),
    from(MYSQL, &[5, 7], "--performance-schema-max-statement-stack=1"),
    from(MYSQL, &[5, 7], "--performance-schema-max-table-handles=0"),
    from(MYSQL, &[5, 7], "--performance-schema-max-table-instances=0"),
    from(MYSQL, &[5, 7], "--performance-schema-session-connect-attrs-size=0"),
    from(MYSQL, &[5, 7], "--performance-schema-users-size=0"),
];

/// The flags for this product and version.
pub fn of(config: ConfigMode, product: Product, version: &Version) -> Vec<String> {
    let ours = match config {
        ConfigMode::ThrowAway => ROWS,
        ConfigMode::Vendor => &[],
    };
    let rows = NEEDED.iter().chain(ours);
    rows.filter(|row| row.fits(product, version)).map(|row| row.flag.to_string()).collect()
}

/// Those of a throw-away server.
pub fn throw_away(product: Product, version: &Version) -> Vec<String> {
    of(ConfigMode::ThrowAway, product, version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(product: Product, version: &str, flag: &str) -> bool {
        throw_away(product, &version.parse().unwrap()).iter().any(|one| one == flag)
    }

    #[test]
    fn a_version_gets_the_flags_that_it_has() {
        use Product::{Mariadb, Mysql, Postgres};
        for (product, version, flag, expected) in [
            (Mysql, "5.6.24", "--mysqlx=OFF", false),
            (Mysql, "5.6.24", "--thread-cache-size=0", true),
            (Mysql, "5.6.24", "--innodb-log-file-size=16M", true),
            (Mysql, "8.0.33", "--innodb-log-file-size=16M", false),
            (Mysql, "8.0.33", "--innodb-redo-log-capacity=32M", true),
            (Mysql, "9.7.4", "--thread-cache-size=256", true),
            (Mysql, "9.7.4", "--thread-cache-size=0", false),
            (Mariadb, "10.1.23", "--thread-cache-size=256", true),
            (Mariadb, "11.8.2", "--mysqlx=OFF", false),
            (Postgres, "17.2", "--io_method=sync", false),
            (Postgres, "18", "--io_method=sync", true),
            (Postgres, "13.20", "--innodb-doublewrite=0", false),
        ] {
            assert_eq!(has(product, version, flag), expected, "{product} {version} {flag}");
        }
        assert!(throw_away(Product::Sqlite, &Version(vec![3])).is_empty());
    }

    #[test]
    fn with_the_vendors_settings_a_server_gets_only_what_it_needs() {
        for (product, version, flags) in [
            (Product::Mariadb, "10.11.19", &[][..]),
            (Product::Mysql, "5.6.24", &[]),
            (Product::Mysql, "9.7.4", &["--mysqlx=OFF", "--secure-file-priv=NULL"]),
        ] {
            assert_eq!(
                of(ConfigMode::Vendor, product, &version.parse().unwrap()),
                flags,
                "{product} {version}"
            );
        }
        let all = throw_away(Product::Postgres, &Version(vec![18]));
        let needed = of(ConfigMode::Vendor, Product::Postgres, &Version(vec![18]));
        assert!(needed.len() == 4 && needed.iter().all(|flag| all.contains(flag)), "{needed:?}");
    }

    #[test]
    fn no_version_is_told_the_same_thing_twice() {
        for (product, version) in [
            (Product::Mysql, "5.6.24"),
            (Product::Mysql, "5.7.44"),
            (Product::Mysql, "8.0.33"),
            (Product::Mariadb, "10.1.23"),
            (Product::Mariadb, "11.8.2"),
            (Product::Postgres, "18.1"),
        ] {
            let flags = throw_away(product, &version.parse().unwrap());
            let mut names: Vec<&str> = flags.iter().map(|flag| flag.split('=').next().unwrap()).collect();
            names.sort_unstable();
            let all = names.len();
            names.dedup();
            assert_eq!(names.len(), all, "{product} {version}");
        }
    }
}
