//! MySQL with InnoDB.

pub(crate) mod capabilities;
pub(crate) mod checks;
pub(crate) mod client;
pub mod errors;

use model::{Level, Product, Version};

use crate::{
    AffectedRows, Arithmetic, Assignments, Begin, Dialect, Hosting, ReplaceMethod, Semantics, SetLevel,
    SettingChoices, SettingSwitch, SqlFamily, Tables, TestTool,
    contract::{SnapshotPoint, innodb},
    sql::rules_mysql,
};

/// MySQL.
pub const DIALECT: Dialect = Dialect {
    product: Product::Mysql,
    title: "MySQL",
    family: SqlFamily::Mysql,
    arithmetic: Arithmetic::Mysql,
    runs: Hosting::Server,
    grammar: &rules_mysql::MYSQL,
    capabilities: capabilities::capabilities,
    newest: &[9, 7],
    series_parts: 2,
    contract: Some(innodb::contract),
    semantics: Semantics { foreign_keys_in_sql: Some(&[9, 6]), ..INNODB },
    levels: &Level::ALL,
    default_level: Level::RepeatableRead,
    set_level: Some(SetLevel { set: set_level, read: read_level, answer: level_answer }),
    autocommit_off: Some("SET autocommit = 0"),
    begin: BEGIN,
    classify: errors::classify,
    // Measured: 5.6 is in a new transaction after a deadlock, 9.7 in autocommit. The manual of 5.6 says so
    // for 5.6 ("InnoDB Error Handling"); later manuals are silent.
    reopens: |version| version.cmp_prefix(&Version(vec![5, 6])).is_le(),
    tables: Tables { invisible_columns: Some(&[8, 0, 23]), ..TABLES },
    show_warnings: Some("SHOW WARNINGS"),
    // Measured on 9.7.4: after COM_RESET_CONNECTION the session has InnoDB's own foreign keys instead of the SQL layer's.
    resets_sessions: |version| version.cmp_prefix(&Version(vec![9, 6])).is_lt(),
    deadlock_search: Some("innodb_deadlock_detect"),
    deadlock_error: Some("1213"),
    hold_view: Some("START TRANSACTION WITH CONSISTENT SNAPSHOT"),
    purge_left: Some(PURGE_LEFT),
    quote: '`',
    // A log of statements, the default before 5.7.7, refuses every change at READ UNCOMMITTED and READ COMMITTED.
    variants: &[&[("log_bin", "ON"), ("binlog_format", "ROW")], &[("log_bin", "OFF")]],
    since: &[],
    swarm: SWARM,
    switches: &[SettingSwitch { setting: "log_bin", since: &[8], on: true }],
    checks: checks::CHECKS,
    explain: Some("EXPLAIN FORMAT=TRADITIONAL"),
    catalogues: &["information_schema", "performance_schema", "sys"],
    client: Some(client::client("mysql", "mysql-client-core")),
    terminal: Some(client::terminal("mysql")),
    test_tool: Some(TestTool::Mysqltest { includes: &[] }),
};

/// What InnoDB makes of statements, under MySQL and MariaDB.
pub(crate) const INNODB: Semantics = Semantics {
    counts: AffectedRows::Changed,
    assignments: Assignments::MostlyInOrder,
    replaces: ReplaceMethod::InPlaceByKey,
    begin_commits_open: true,
    snapshot_at: SnapshotPoint::FirstRead,
    // At SERIALIZABLE plain reads lock.
    snapshot_levels: &[Level::RepeatableRead],
    waits_for_inserts: true,
    nulls_first: true,
    columns_have_types: true,
    early_savepoint_ends_all: true,
    foreign_keys_in_sql: None,
    checks_by_index: true,
};

pub(crate) const LOG_BIN: SettingChoices = ("log_bin", &["ON", "OFF"]);
pub(crate) const BINLOG_ROW_IMAGE: SettingChoices = ("binlog_row_image", &["FULL", "MINIMAL", "NOBLOB"]);
pub(crate) const ROLLBACK_ON_TIMEOUT: SettingChoices = ("innodb_rollback_on_timeout", &["ON", "OFF"]);
pub(crate) const SQL_MODE: SettingChoices =
    ("sql_mode", &["STRICT_ALL_TABLES", "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO"]);

const SWARM: &[SettingChoices] = &[
    LOG_BIN,
    BINLOG_ROW_IMAGE,
    ROLLBACK_ON_TIMEOUT,
    SQL_MODE,
    (
        "optimizer_switch",
        &[
            "index_merge=off",
            "index_condition_pushdown=off",
            "mrr=on,mrr_cost_based=off",
            "use_index_extensions=off",
            "materialization=off,semijoin=off",
        ],
    ),
];

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
    alter: true,
    invisible_columns: None,
    constant_of: None,
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
