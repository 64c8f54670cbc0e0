//! MySQL with InnoDB.

pub(crate) mod checks;
pub mod errors;

use model::{Level, Product, Version};

use crate::{Begin, Dialect, SetLevel, Tables};

/// MySQL.
pub static DIALECT: Dialect = Dialect {
    product: Product::Mysql,
    levels: &Level::ALL,
    default_level: Level::RepeatableRead,
    set_level: Some(SetLevel { set: set_level, read: read_level, answer: level_answer }),
    autocommit_off: Some("SET autocommit = 0"),
    begin: BEGIN,
    classify: errors::classify,
    // Measured: 5.6 is in a new transaction after a deadlock, 9.7 in autocommit. The manual of 5.6 says so
    // for 5.6 ("InnoDB Error Handling"); later manuals are silent.
    reopens: |version| version.cmp_prefix(&Version(vec![5, 6])).is_le(),
    tables: TABLES,
    show_warnings: Some("SHOW WARNINGS"),
    hold_view: Some("START TRANSACTION WITH CONSISTENT SNAPSHOT"),
    purge_left: Some(PURGE_LEFT),
    quote: '`',
    // A log of statements, the default before 5.7.7, refuses every change at READ UNCOMMITTED and READ COMMITTED.
    variants: &[&[("log_bin", "ON"), ("binlog_format", "ROW")], &[("log_bin", "OFF")]],
    since: &[],
    checks: checks::CHECKS,
    explain: Some("EXPLAIN FORMAT=TRADITIONAL"),
};

/// The length of InnoDB's history list.
pub(crate) const PURGE_LEFT: &str =
    "SELECT `count` FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'";

pub(crate) const BEGIN: Begin = Begin {
    plain: "BEGIN",
    snapshot: Some("START TRANSACTION WITH CONSISTENT SNAPSHOT"),
    read_only: Some("START TRANSACTION READ ONLY"),
};

pub(crate) const TABLES: Tables = Tables {
    empty_clean: "TRUNCATE TABLE {}",
    lists: false,
    joins: false,
    counter: None, // TRUNCATE sets it back.
    empty_fast: "DELETE FROM {}",
    list: "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = DATABASE()",
    list_more: Some(
        "SELECT routine_name, routine_type, '' FROM information_schema.routines WHERE routine_schema = DATABASE() \
         UNION ALL SELECT event_name, 'EVENT', '' FROM information_schema.events WHERE event_schema = DATABASE()",
    ),
    drop: "DROP {kind} {name}",
    before_drop: Some("SET foreign_key_checks = 0"),
    after_drop: Some("SET foreign_key_checks = 1"),
};

/// SESSION, not GLOBAL: the latter does not change the session that says it.
pub(crate) fn set_level(level: Level) -> String {
    format!("SET SESSION TRANSACTION ISOLATION LEVEL {}", level.sql())
}

fn read_level(version: &Version) -> &'static str {
    if version.cmp_prefix(&Version(vec![5, 7])).is_lt() {
        "SELECT @@tx_isolation"
    } else {
        "SELECT @@transaction_isolation"
    }
}

pub(crate) fn level_answer(level: Level) -> String {
    level.sql().replace(' ', "-")
}
