//! Isopod's own engine: MySQL's SQL, levels and error numbers, and none of MySQL's irregularities.

use model::{Level, Product};

use crate::{Checks, Dialect, SetLevel, Tables, mysql};

/// The reference engine.
pub static DIALECT: Dialect = Dialect {
    product: Product::Reference,
    levels: &Level::ALL,
    default_level: Level::RepeatableRead,
    set_level: Some(SetLevel {
        set: mysql::set_level,
        read: |_| "SELECT @@transaction_isolation",
        answer: mysql::level_answer,
    }),
    autocommit_off: Some("SET autocommit = 0"),
    begin: mysql::BEGIN,
    classify: mysql::errors::classify,
    reopens: |_| false,
    tables: TABLES,
    show_warnings: Some("SHOW WARNINGS"),
    // Nothing that is purged there can be noticed.
    hold_view: None,
    purge_left: None,
    quote: '`',
    variants: &[],
    since: &[],
    checks: CHECKS,
    explain: None,
};

/// It has neither an error log nor files.
const CHECKS: Checks = Checks {
    alarms: &[],
    prepare: None,
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
    ..mysql::TABLES
};
