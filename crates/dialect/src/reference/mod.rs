//! Isopod's own engine: MySQL's SQL, levels and error numbers, and none of MySQL's irregularities.

mod capabilities;

use model::Product;

use crate::{
    Assignments, Checks, Dialect, Hosting, ReplaceMethod, Semantics, SetLevel, Tables, contract, mysql,
};

/// The reference engine.
pub const DIALECT: Dialect = Dialect {
    product: Product::Reference,
    title: "Reference engine",
    runs: Hosting::Thread,
    capabilities: capabilities::capabilities,
    newest: &[1],
    contract: Some(|_| contract::reference::contract()),
    semantics: Semantics {
        assignments: Assignments::InOrder,
        replaces: ReplaceMethod::Anew,
        early_savepoint_ends_all: false,
        ..mysql::INNODB
    },
    set_level: Some(SetLevel {
        set: mysql::set_level,
        read: |_| "SELECT @@transaction_isolation",
        answer: mysql::level_answer,
    }),
    reopens: |_| false,
    tables: TABLES,
    // Nothing that is purged there can be noticed.
    resets_sessions: |_| true,
    deadlock_search: None,
    deadlock_error: None,
    hold_view: None,
    purge_left: None,
    variants: &[],
    swarm: &[],
    switches: &[],
    checks: CHECKS,
    explain: None,
    catalogues: &[],
    client: None,
    terminal: None,
    test_tool: None,
    ..mysql::DIALECT
};

/// It has neither an error log nor files.
const CHECKS: Checks = Checks {
    alarms: &[],
    prepare: None,
    integrity_schema: None,
    integrity: None,
    indexes: None,
    before: &[],
    through: "",
    after: &[],
};

const TABLES: Tables = Tables {
    list: "SHOW FULL TABLES",
    list_more: None,
    before_drop: None,
    after_drop: None,
    alter: false,
    ..mysql::TABLES
};
