//! PostgreSQL. READ UNCOMMITTED is accepted there and is READ COMMITTED, so it has three levels.

mod capabilities;
mod checks;
mod client;
pub mod errors;

use model::{Level, Product};

use crate::{
    AffectedRows, Arithmetic, Assignments, Begin, Dialect, Hosting, ReplaceMethod, Semantics, SetLevel,
    SettingChoices, SqlFamily, Tables, TestTool, contract::SnapshotPoint, sql::rules_postgres,
};

/// PostgreSQL.
pub const DIALECT: Dialect = Dialect {
    product: Product::Postgres,
    title: "PostgreSQL",
    family: SqlFamily::Postgres,
    arithmetic: Arithmetic::Postgres,
    runs: Hosting::Server,
    grammar: &rules_postgres::POSTGRES,
    capabilities: capabilities::capabilities,
    newest: &[18],
    series_parts: 1,
    contract: None,
    semantics: Semantics {
        counts: AffectedRows::Matched,
        assignments: Assignments::AtOnce,
        replaces: ReplaceMethod::InPlace,
        begin_commits_open: false,
        snapshot_at: SnapshotPoint::FirstStatement,
        snapshot_levels: &[Level::RepeatableRead, Level::Serializable],
        waits_for_inserts: false,
        nulls_first: false,
        columns_have_types: true,
        early_savepoint_ends_all: false,
        foreign_keys_in_sql: None,
        checks_by_index: false,
    },
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
        lists: true,
        joins: true,
        counter: None, // RESTART IDENTITY sets it back.
        empty_fast: "DELETE FROM {}",
        list: "SELECT relname, CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END FROM pg_catalog.pg_class \
               WHERE relnamespace = pg_catalog.to_regnamespace(pg_catalog.quote_ident(current_schema())) \
               AND relkind IN ('r', 'p', 'v') ORDER BY relname",
        list_more: Some(LIST_MORE),
        // CASCADE, because views, foreign keys and partitions hold on to tables, and no order suits all of them.
        drop: "DROP {kind} IF EXISTS {name} CASCADE",
        before_drop: None,
        after_drop: None,
        alter: true,
        invisible_columns: None,
        constant_of: None,
    },
    show_warnings: None,
    resets_sessions: |_| true,
    deadlock_search: None,
    deadlock_error: Some("40P01"),
    hold_view: None, // Old versions stay until VACUUM, which nobody runs.
    purge_left: None,
    quote: '"',
    variants: &[&[]],
    since: &[],
    swarm: SWARM,
    switches: &[],
    checks: checks::CHECKS,
    explain: None,
    catalogues: &["information_schema", "pg_catalog"],
    client: Some(client::CLIENT),
    terminal: Some(client::TERMINAL),
    test_tool: Some(TestTool::Isolationtester),
};

/// Ways of reading that the planner can be kept from.
const SWARM: &[SettingChoices] = &[
    ("enable_seqscan", &["off"]),
    ("enable_indexscan", &["off"]),
    ("enable_indexonlyscan", &["off"]),
    ("enable_bitmapscan", &["off"]),
    ("enable_hashjoin", &["off"]),
    ("enable_nestloop", &["off"]),
    ("enable_sort", &["off"]),
];

/// Routines with their arguments, sequences that belong to no column, materialized views, and types that are not the
/// row type of a table or the array of another type.
const LIST_MORE: &str = "\
    WITH own AS (SELECT pg_catalog.to_regnamespace(pg_catalog.quote_ident(current_schema()))::oid AS schema) \
    SELECT proname::text, 'ROUTINE', '(' || pg_catalog.pg_get_function_identity_arguments(p.oid) || ')' \
    FROM pg_catalog.pg_proc p, own WHERE pronamespace = own.schema \
    UNION ALL \
    SELECT relname::text, CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'MATERIALIZED VIEW' END, '' \
    FROM pg_catalog.pg_class c, own WHERE relnamespace = own.schema AND (relkind = 'm' OR relkind = 'S' AND NOT EXISTS \
    (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid \
    AND d.deptype IN ('a', 'i'))) \
    UNION ALL \
    SELECT typname::text, 'TYPE', '' FROM pg_catalog.pg_type t, own WHERE typnamespace = own.schema \
    AND (typtype IN ('e', 'd', 'r') OR typtype = 'c' AND EXISTS \
    (SELECT 1 FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid AND c.relkind = 'c'))";
