//! PostgreSQL. READ UNCOMMITTED is accepted there and is READ COMMITTED, so it has three levels.

pub mod errors;

use model::{Level, Product};

use crate::{Begin, Dialect, SetLevel, Tables};

/// PostgreSQL.
pub static DIALECT: Dialect = Dialect {
    product: Product::Postgres,
    levels: &[Level::ReadCommitted, Level::RepeatableRead, Level::Serializable],
    default_level: Level::ReadCommitted,
    set_level: Some(SetLevel {
        set: |level| format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {}", level.sql()),
        read: |_| "SHOW default_transaction_isolation",
        answer: |level| level.sql().to_ascii_lowercase(),
    }),
    autocommit_off: None, // A matter of the client there.
    begin: Begin { plain: "BEGIN", snapshot: None, read_only: Some("BEGIN READ ONLY") },
    classify: errors::classify,
    reopens: |_| false,
    tables: Tables {
        empty_clean: "TRUNCATE TABLE {} RESTART IDENTITY",
        counter: None, // RESTART IDENTITY sets it back.
        empty_fast: "DELETE FROM {}",
        list: "SELECT relname, CASE WHEN relkind IN ('v', 'm') THEN 'VIEW' ELSE 'TABLE' END FROM pg_class \
               WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v')",
        list_more: None,
        before_drop: None,
        after_drop: None,
    },
    show_warnings: None,
    hold_view: None, // Old versions stay until VACUUM, which nobody runs.
    quote: '"',
    variants: &[&[]],
    since: &[],
};
