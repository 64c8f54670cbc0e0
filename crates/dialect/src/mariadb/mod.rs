//! MariaDB with InnoDB.

mod capabilities;

use model::{Product, Version};

use crate::{
    Arithmetic, Dialect, SetLevel, SettingChoices, SettingSince, SettingSwitch, Tables, TestTool, mysql,
    sql::rules_mysql,
};

/// MariaDB: MySQL's ways, but for the name of the level's variable.
pub const DIALECT: Dialect = Dialect {
    product: Product::Mariadb,
    title: "MariaDB",
    arithmetic: Arithmetic::Mariadb,
    grammar: &rules_mysql::MARIADB,
    capabilities: capabilities::capabilities,
    newest: &[11, 8],
    semantics: mysql::INNODB,
    set_level: Some(SetLevel {
        set: mysql::set_level,
        // `transaction_isolation` came with 11.1; the old name works in all versions.
        read: |_| "SELECT @@tx_isolation",
        answer: mysql::level_answer,
    }),
    resets_sessions: |_| true,
    // Measured: after a deadlock or error 1020 the session is in autocommit.
    reopens,
    tables: Tables { invisible_columns: Some(&[10, 3]), ..mysql::TABLES },
    variants: &[
        &[("innodb_snapshot_isolation", "OFF"), ("log_bin", "OFF")],
        // The format is the default from 10.2.4 on; the one before refuses changes at READ COMMITTED and below.
        &[("innodb_snapshot_isolation", "OFF"), ("log_bin", "ON"), ("binlog_format", "MIXED")],
        &[("innodb_snapshot_isolation", "ON"), ("log_bin", "OFF")],
    ],
    // MDEV-35124 names 10.6.18, 10.11.8 and 11.4.2; those between were released together with them.
    since: &[SettingSince {
        setting: "innodb_snapshot_isolation",
        releases: &[[10, 6, 18], [10, 11, 8], [11, 0, 6], [11, 1, 5], [11, 2, 4], [11, 4, 2]],
        without: "OFF",
    }],
    swarm: SWARM,
    // From 11.6 on it is ON by default; 10.11 was given it late.
    switches: &[
        SettingSwitch { setting: "innodb_snapshot_isolation", since: &[11, 6], on: true },
        SettingSwitch { setting: "innodb_snapshot_isolation", since: &[10, 11, 8], on: false },
    ],
    explain: Some("EXPLAIN"),
    client: Some(mysql::client::client("mariadb", "mariadb-client-core")),
    terminal: Some(mysql::client::terminal("mariadb")),
    // Its mysql-test-run starts servers without InnoDB unless a test asks for it.
    test_tool: Some(TestTool::Mysqltest { includes: &["include/have_innodb.inc"] }),
    ..mysql::DIALECT
};

const SWARM: &[SettingChoices] = &[
    mysql::LOG_BIN,
    mysql::BINLOG_ROW_IMAGE,
    mysql::ROLLBACK_ON_TIMEOUT,
    mysql::SQL_MODE,
    (
        "optimizer_switch",
        &[
            "index_merge=off",
            "index_condition_pushdown=off",
            "mrr=on,mrr_cost_based=off",
            "extended_keys=off",
            "materialization=off,semijoin=off",
        ],
    ),
];

/// Measured: 10.1.23, 10.2.11, 10.5.29, 10.11.5 and 11.4.5 are in a new transaction after a deadlock in BEGIN; 10.11.19 and
/// 11.8.6 are in none. Releases between these were not tried.
fn reopens(version: &Version) -> bool {
    let v = version.0.as_slice();
    v < [10, 11, 19].as_slice() || (v >= [11].as_slice() && v < [11, 8].as_slice())
}
