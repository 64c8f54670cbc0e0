//! MariaDB with InnoDB.

use model::{Level, Product, Version};

use crate::{Dialect, SetLevel, Since, mysql};

/// MariaDB: MySQL's ways, but for the name of the level's variable.
pub static DIALECT: Dialect = Dialect {
    product: Product::Mariadb,
    levels: &Level::ALL,
    default_level: Level::RepeatableRead,
    set_level: Some(SetLevel {
        set: mysql::set_level,
        // `transaction_isolation` came with 11.1; the old name works in all versions.
        read: |_| "SELECT @@tx_isolation",
        answer: mysql::level_answer,
    }),
    autocommit_off: Some("SET autocommit = 0"),
    begin: mysql::BEGIN,
    classify: mysql::errors::classify,
    // Measured: after a deadlock or error 1020 the session is in autocommit.
    reopens,
    tables: mysql::TABLES,
    show_warnings: Some("SHOW WARNINGS"),
    hold_view: Some("START TRANSACTION WITH CONSISTENT SNAPSHOT"),
    purge_left: Some(crate::mysql::PURGE_LEFT),
    quote: '`',
    variants: &[
        &[("innodb_snapshot_isolation", "OFF"), ("log_bin", "OFF")],
        // The format is the default from 10.2.4 on; the one before refuses changes at READ COMMITTED and below.
        &[("innodb_snapshot_isolation", "OFF"), ("log_bin", "ON"), ("binlog_format", "MIXED")],
        &[("innodb_snapshot_isolation", "ON"), ("log_bin", "OFF")],
    ],
    // MDEV-35124 names 10.6.18, 10.11.8 and 11.4.2; those between were released together with them.
    since: &[Since {
        setting: "innodb_snapshot_isolation",
        releases: &[[10, 6, 18], [10, 11, 8], [11, 0, 6], [11, 1, 5], [11, 2, 4], [11, 4, 2]],
        without: "OFF",
    }],
    checks: mysql::checks::CHECKS,
    explain: Some("EXPLAIN"),
};

/// Measured: 10.1.23, 10.2.11, 10.5.29, 10.11.5 and 11.4.5 are in a new transaction after a deadlock in BEGIN; 10.11.19 and
/// 11.8.6 are in none. Releases between these were not tried.
fn reopens(version: &Version) -> bool {
    let v = version.0.as_slice();
    v < [10, 11, 19].as_slice() || (v >= [11].as_slice() && v < [11, 8].as_slice())
}
