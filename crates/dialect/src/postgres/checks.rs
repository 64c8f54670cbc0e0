//! How PostgreSQL is looked at after a case.

use crate::checks::Checks;

pub(crate) const CHECKS: Checks = Checks {
    alarms: &[
        "PANIC:",
        "TRAP:",
        "was terminated by signal",
        "invalid page",
        "could not read block",
        "corrupt",
    ],
    // Not in our own schema, where it would be dropped between cases.
    prepare: Some("CREATE EXTENSION IF NOT EXISTS amcheck SCHEMA public"),
    // Wherever it is: a function of that name is the extension's own only if it depends on it.
    integrity_schema: Some(
        "SELECT n.nspname FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_depend d ON d.refobjid = e.oid AND d.deptype = 'e' \
         AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass \
         JOIN pg_catalog.pg_proc p ON p.oid = d.objid JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace \
         WHERE e.extname = 'amcheck' AND p.proname = 'bt_index_check' AND 'heapallindexed' = ANY (p.proargnames) \
         AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')",
    ),
    // A check returns nothing, and fails where something is wrong.
    integrity: Some(
        "SELECT 'ok' || {schema}.bt_index_check(index => i.indexrelid, heapallindexed => true)::text \
         FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid \
         JOIN pg_catalog.pg_am a ON a.oid = c.relam WHERE a.amname = 'btree' AND c.relkind = 'i' \
         AND i.indisready AND i.indisvalid \
         AND c.relnamespace = pg_catalog.to_regnamespace(pg_catalog.quote_ident(current_schema()))",
    ),
    indexes: Some(
        "SELECT t.relname, c.relname, a.attname FROM pg_catalog.pg_index i \
              JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid JOIN pg_catalog.pg_class t ON t.oid = i.indrelid \
              JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid \
              WHERE t.relkind IN ('r', 'p') AND i.indpred IS NULL AND i.indexprs IS NULL \
              AND t.relnamespace = pg_catalog.to_regnamespace(pg_catalog.quote_ident(current_schema())) \
              ORDER BY 1, 2, a.attnum",
    ),
    before: &["SET enable_seqscan = off", "SET enable_bitmapscan = off", "SET enable_sort = off"],
    through: "SELECT * FROM {table} ORDER BY {columns}",
    after: &["RESET enable_seqscan", "RESET enable_bitmapscan", "RESET enable_sort"],
};
