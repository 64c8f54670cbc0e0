//! SQLite: one writer at a time, nothing ever waits, and every transaction is serializable.

mod checks;
pub mod errors;

use model::{Level, Product};

use crate::{Begin, Dialect, Tables};

/// SQLite.
pub static DIALECT: Dialect = Dialect {
    product: Product::Sqlite,
    levels: &[Level::Serializable],
    default_level: Level::Serializable,
    set_level: None,
    autocommit_off: None,
    begin: Begin { plain: "BEGIN", snapshot: None, read_only: None },
    classify: errors::classify,
    reopens: |_| false,
    tables: Tables {
        empty_clean: "DELETE FROM {}",
        lists: false,
        joins: false,
        counter: Some("AUTOINCREMENT"),
        empty_fast: "DELETE FROM {}",
        list: "SELECT name, upper(type) FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'",
        list_more: None,
        drop: "DROP {kind} {name}",
        before_drop: Some("PRAGMA foreign_keys = OFF"),
        after_drop: None,
    },
    show_warnings: None,
    hold_view: None,
    purge_left: None,
    quote: '"',
    variants: &[&[("journal_mode", "delete")], &[("journal_mode", "wal")]],
    since: &[],
    checks: checks::CHECKS,
    explain: None,
};
