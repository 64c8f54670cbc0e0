//! SQLite: one writer at a time, nothing ever waits, and every transaction is serializable.

mod capabilities;
mod checks;
pub mod errors;

use model::{Level, Product};

use crate::{
    AffectedRows, Arithmetic, Assignments, Begin, Dialect, Hosting, ReplaceMethod, Semantics, SqlFamily,
    Tables, Terminal,
    contract::{self, SnapshotPoint},
    sql::rules_sqlite,
};

/// SQLite.
pub const DIALECT: Dialect = Dialect {
    product: Product::Sqlite,
    title: "SQLite",
    family: SqlFamily::Sqlite,
    arithmetic: Arithmetic::Sqlite,
    runs: Hosting::Child,
    grammar: &rules_sqlite::SQLITE,
    capabilities: capabilities::capabilities,
    newest: &[3, 50],
    series_parts: 2,
    contract: Some(|_| contract::sqlite::contract()),
    semantics: Semantics {
        counts: AffectedRows::Matched,
        assignments: Assignments::AtOnce,
        replaces: ReplaceMethod::InPlace,
        begin_commits_open: false,
        snapshot_at: SnapshotPoint::FirstStatement,
        snapshot_levels: &[Level::Serializable],
        waits_for_inserts: false,
        nulls_first: true,
        columns_have_types: false,
        early_savepoint_ends_all: false,
        foreign_keys_in_sql: None,
        checks_by_index: false,
    },
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
        alter: true,
        invisible_columns: None,
        constant_of: Some("quote({})"),
    },
    show_warnings: None,
    resets_sessions: |_| true,
    deadlock_search: None,
    deadlock_error: None,
    hold_view: None,
    purge_left: None,
    quote: '"',
    variants: &[&[("journal_mode", "delete")], &[("journal_mode", "wal")]],
    since: &[],
    swarm: &[
        ("journal_mode", &["DELETE", "TRUNCATE", "PERSIST", "WAL"]),
        ("automatic_index", &["ON", "OFF"]),
        ("reverse_unordered_selects", &["ON", "OFF"]),
    ],
    switches: &[],
    checks: checks::CHECKS,
    explain: None,
    catalogues: &["main", "temp"],
    client: None,
    terminal: Some(Terminal {
        name: "sqlite3 on one database file in WAL mode",
        commands: crate::own_commands::SQLITE3,
        create_schema: None,
        enter_schema: None,
    }),
    test_tool: None,
};
