//! What a case may not do on a server that belongs to somebody else.
//!
//! A case works in a schema of its own. Names without a schema go there (but for those of PostgreSQL's own catalogue,
//! which is taken for a schema that they name), so a statement that we can read, that names no
//! other schema and that changes neither the server nor an account cannot reach anything else. Everything else is
//! objected to before it is sent, unless the user says that the case is trusted: other schemas, USE, SET GLOBAL, accounts,
//! functions that act, settings that are not known to matter to the session alone, engines that reach into files or other
//! servers, and all text that we cannot read (LOAD DATA, SELECT ... INTO OUTFILE, COPY, DO, KILL and the like are not in
//! our grammar). Only READING the server's own catalogues is let through: it changes nothing.

use std::fmt;

use model::{
    Case, Product,
    sql::{
        Expr, Literal, ObjectName, OptionValue, SetItem, SetTarget, SetValue, Statement, StatementKind, Visit,
    },
};

use crate::sql::{self, Parsed, Reach};

/// Which statement of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementPlace {
    /// One of the setup, counted from 0.
    Setup(usize),
    /// A step, counted from 0.
    Step(usize),
}

impl fmt::Display for StatementPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatementPlace::Setup(at) => write!(f, "setup statement {}", at + 1),
            StatementPlace::Step(at) => write!(f, "step {}", at + 1),
        }
    }
}

/// What speaks against running a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    pub place: StatementPlace,
    /// The statement.
    pub sql: String,
    pub why: String,
}

/// All that speaks against running a case on somebody else's server; nothing if it stays in its schema.
pub fn objections(product: Product, case: &Case) -> Vec<Objection> {
    let setup = case.setup.statements.iter().enumerate().map(|(at, sql)| (StatementPlace::Setup(at), sql));
    let steps = case.steps.iter().enumerate().map(|(at, step)| (StatementPlace::Step(at), &step.sql));
    setup
        .chain(steps)
        .filter_map(|(place, sql)| Some(Objection { place, sql: sql.clone(), why: objection(product, sql)? }))
        .collect()
}

/// What speaks against one statement. To ask for its plan is not to run it.
pub fn objection(product: Product, text: &str) -> Option<String> {
    let planned =
        crate::of(product).explain.and_then(|explain| text.strip_prefix(explain)?.strip_prefix(' '));
    let text = planned.unwrap_or(text);
    // A server may hide that it is MariaDB, which runs what stands in such a comment.
    if text.contains("/*M!") {
        return Some("it has a comment that MariaDB would run".to_string());
    }
    let tree = match sql::parse(product, text) {
        Parsed::Tree(tree) => Some(tree),
        Parsed::Opaque(_) => None,
    };
    if let Some(secret) = tree.as_ref().and_then(secret) {
        return Some(format!("`{secret}` holds what opens accounts"));
    }
    let facts = tree.as_ref().map(sql::facts);
    let only_reads = facts.is_some_and(|facts| facts.kind == StatementKind::Select && !facts.locks_rows);
    let harmless = |reach: &Reach| match reach {
        Reach::Schema(name) => only_reads && catalogue(product, name),
        Reach::OtherSchema | Reach::Server | Reach::Accounts | Reach::Function(_) | Reach::Unread(_) => false,
    };
    if let Some(reach) = sql::reach(product, text).iter().find(|reach| !harmless(reach)) {
        return Some(reach.to_string());
    }
    let tree = tree?;
    if sql::facts(&tree).functions.iter().any(|name| name.eq_ignore_ascii_case("get_lock")) {
        return Some("it takes a lock that the whole server shares".to_string());
    }
    match &tree {
        Statement::Set(items) => items.iter().find_map(|item| setting(product, item)),
        Statement::CreateTable(create) => create.options.iter().find_map(|option| {
            let engine = option.words.iter().any(|word| word.eq_ignore_ascii_case("ENGINE"));
            let name = match &option.value {
                Some(OptionValue::Word(name)) => name.name.clone(),
                Some(OptionValue::Literal(_)) | None => String::new(),
            };
            let known = ENGINES.iter().any(|engine| engine.eq_ignore_ascii_case(&name));
            (engine && !known).then(|| format!("the engine `{name}` is not known to stay in its schema"))
        }),
        _ => None,
    }
}

/// A table of hashes of passwords, and of passwords for other servers, that a statement names.
fn secret(tree: &Statement) -> Option<&'static str> {
    struct Secrets(Option<&'static str>);
    impl Visit<'_> for Secrets {
        fn object(&mut self, object: &ObjectName) {
            let named = |secret: &&&'static str| secret.eq_ignore_ascii_case(&object.name.name);
            self.0 = self.0.or(SECRETS.iter().find(named).copied());
        }
    }
    let mut found = Secrets(None);
    tree.visit(&mut found);
    found.0
}

const SECRETS: [&str; 7] = [
    "pg_authid",
    "pg_shadow",
    "pg_subscription",
    "pg_user_mapping",
    "pg_user_mappings",
    "pg_foreign_server",
    "pg_largeobject",
];

/// Engines that keep their rows in the server itself.
const ENGINES: [&str; 6] = ["InnoDB", "MyISAM", "MEMORY", "HEAP", "Aria", "RocksDB"];

/// Settings that change the session that says them and nothing else.
const SETTINGS: [&str; 24] = [
    "autocommit",
    "big_tables",
    "default_transaction_deferrable",
    "default_transaction_isolation",
    "default_transaction_read_only",
    "deadlock_timeout",
    "foreign_key_checks",
    "innodb_lock_wait_timeout",
    "innodb_snapshot_isolation",
    "lock_timeout",
    "lock_wait_timeout",
    "max_execution_time",
    "max_statement_time",
    "optimizer_switch",
    "sql_mode",
    "sql_safe_updates",
    "statement_timeout",
    "transaction_isolation",
    "transaction_read_only",
    "tx_isolation",
    "tx_read_only",
    "unique_checks",
    "updatable_views_with_limit",
    "work_mem",
];

/// The modes of MySQL and MariaDB under which a server reads quotes and backslashes differently from us, so that a
/// statement may say something else there than here: by themselves, and those that bring them along.
pub const LEXICAL_MODES: [&str; 8] =
    ["ANSI", "ANSI_QUOTES", "DB2", "MAXDB", "MSSQL", "NO_BACKSLASH_ESCAPES", "ORACLE", "POSTGRESQL"];

/// Does a list of modes hold one of those?
pub fn changes_reading(modes: &str) -> bool {
    let lexical = |mode: &str| LEXICAL_MODES.iter().any(|known| known.eq_ignore_ascii_case(mode.trim()));
    modes.split(',').any(lexical)
}

fn setting(product: Product, item: &SetItem) -> Option<String> {
    let name = match &item.target {
        SetTarget::Name(name) => name.name.to_ascii_lowercase(),
        SetTarget::Variable(name) => match name.to_ascii_lowercase().strip_prefix("@@") {
            Some(name) => name.trim_start_matches("session.").trim_start_matches("local.").to_string(),
            None => return None, // A variable of the user's own.
        },
    };
    if name == "sql_mode" {
        let modes = match &item.value {
            SetValue::Expr(Expr::Literal(Literal::Text(text))) => sql::text_value(product, text),
            SetValue::Expr(_) | SetValue::On => None,
        };
        let fine = modes.is_some_and(|modes| modes.parse::<f64>().is_err() && !changes_reading(&modes));
        return (!fine).then(|| "it may change how the server reads quotes (sql_mode)".to_string());
    }
    let fine = SETTINGS.contains(&name.as_str()) || name.starts_with("enable_");
    (!fine).then(|| format!("it sets `{name}`, which is not known to matter to this session alone"))
}

/// The schemas in which a server describes itself.
fn catalogue(product: Product, name: &str) -> bool {
    let names = crate::of(product).catalogues;
    names.iter().any(|there| there.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_in_its_schema_may_run() {
        for text in [
            "BEGIN",
            "COMMIT",
            "CREATE TABLE t(a INT PRIMARY KEY, b INT) ENGINE=InnoDB",
            "INSERT INTO t VALUES (1, 1)",
            "SELECT * FROM t WHERE a = 1 FOR UPDATE",
            "UPDATE t SET b = t.b + 1",
            "SET SESSION innodb_lock_wait_timeout = 1",
            "SET @x = 1",
            "SET sql_mode = ''",
            "SET @@session.sql_mode = 'STRICT_TRANS_TABLES,PIPES_AS_CONCAT'",
            "SELECT COUNT(*) FROM information_schema.tables",
            "EXPLAIN FORMAT=TRADITIONAL UPDATE t SET b = 1",
        ] {
            assert_eq!(objection(Product::Mysql, text), None, "{text}");
        }
        for text in
            ["SELECT * FROM pg_locks", "SELECT relname FROM pg_catalog.pg_class", "UPDATE t SET pg = 1"]
        {
            assert_eq!(objection(Product::Postgres, text), None, "{text}");
        }
    }

    #[test]
    fn the_catalogue_of_postgres_may_be_read() {
        for text in [
            "SELECT datname FROM pg_database",
            "SELECT 1 -- a\r\n FROM t",
            "SELECT name FROM pg_catalog.pg_settings WHERE name = 'search_path'",
            "UPDATE t SET a = 1 WHERE page_ = 2",
        ] {
            assert_eq!(objection(Product::Postgres, text), None, "{text}");
        }
    }

    #[test]
    fn what_reaches_further_may_not() {
        for text in [
            "UPDATE other.t SET b = 1",
            "EXPLAIN FORMAT=TRADITIONAL UPDATE other.t SET b = 1",
            "EXPLAIN FORMAT=TRADITIONAL ANALYZE UPDATE t SET b = 1",
            "SELECT * FROM other.t",
            "SELECT * FROM performance_schema.threads FOR UPDATE",
            "DELETE FROM t WHERE a IN (SELECT a FROM other.t)",
            "CREATE TABLE other.t(a INT)",
            "CREATE TABLE t(a INT, FOREIGN KEY (a) REFERENCES other.t(a))",
            "DROP TABLE t, other.t",
            "TRUNCATE TABLE other.t",
            "CREATE INDEX i ON other.t (a)",
            "CREATE TABLE t(a INT) ENGINE=FEDERATED",
            "USE other",
            "SET GLOBAL innodb_lock_wait_timeout = 1",
            "SET @@global.innodb_lock_wait_timeout = 1",
            "SET SESSION innodb_lock_wait_timeout = 1, GLOBAL autocommit = 1",
            "SET sql_log_bin = 0",
            "SET PASSWORD = 'x'",
            "SET TRANSACTION ISOLATION LEVEL READ COMMITTED, x",
            "SET GLOBAL TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "CREATE USER a",
            "GRANT ALL ON *.* TO a",
            "KILL 1",
            "LOAD DATA INFILE '/etc/passwd' INTO TABLE t",
            "SELECT * FROM t INTO OUTFILE '/tmp/x'",
            "SELECT LOAD_FILE('/etc/passwd')",
            "SELECT GET_LOCK('x', 1)",
            "DROP DATABASE other",
            "CREATE DATABASE other",
            "CALL p()",
            "CREATE TABLE t(a INT) /*!50000 DATA DIRECTORY='/tmp' */",
            "ALTER TABLE t RENAME other.t",
            "SELECT 1; DROP DATABASE other",
            "PREPARE s FROM 'DROP DATABASE other'",
            "SET sql_mode = 'ANSI_QUOTES'",
            "SET sql_mode = ansi",
            "SET @@sql_mode = 'STRICT_TRANS_TABLES, no_backslash_escapes'",
            "SET sql_mode = DEFAULT",
            "SET sql_mode = 4",
            "SET sql_mode = '4'",
            "SET sql_mode = CONCAT('ANSI_', 'QUOTES')",
            "SET autocommit = 1, sql_mode = 'ORACLE'",
            "SELECT 1 /*M! FROM other.t */",
            "SELECT NEXTVAL(other.s)",
            "SELECT SETVAL(other.s, 1)",
            "CREATE TABLE t(a INT DEFAULT NEXTVAL(other.s))",
            "SELECT group_replication_switch_to_single_primary_mode()",
            "SELECT * FROM (SELECT * FROM sys.sys_config FOR UPDATE) d",
            "SELECT 1 WHERE EXISTS (SELECT 1 FROM sys.sys_config LOCK IN SHARE MODE)",
        ] {
            assert!(objection(Product::Mysql, text).is_some(), "{text}");
        }
        for text in [
            "SELECT * FROM public.t",
            "SELECT rolpassword FROM pg_authid",
            "SELECT passwd FROM pg_catalog.pg_shadow",
            "SELECT 1 WHERE EXISTS (SELECT umoptions FROM pg_user_mappings)",
            "UPDATE pg_settings SET setting = 'public' WHERE name = 'search_path'",
            "DELETE FROM PG_Authid",
            "SELECT * FROM pg_database FOR UPDATE",
            "SET search_path = public",
            "SET ROLE other",
            "ALTER SYSTEM SET work_mem = 1",
            "COPY t TO PROGRAM 'cat'",
            "DO $$ BEGIN DROP SCHEMA public; END $$",
            "CREATE EXTENSION dblink",
            "SELECT pg_read_file('/etc/passwd')",
            "SELECT set_config('search_path', 'public', false)",
            "SELECT 1; DROP SCHEMA public CASCADE",
            "SELECT 1 -- a\r; DROP SCHEMA public CASCADE",
            "SELECT 1 -- a\r FROM public.t",
            "UPDATE pg_settings SET setting = 'public' WHERE name = 'search_path'",
            "UPDATE Pg_Settings SET setting = 'public' WHERE name = 'search_path'",
            "UPDATE \"pg_authid\" SET rolsuper = TRUE",
            "DELETE FROM pg_largeobject",
            "INSERT INTO pg_db_role_setting VALUES (0, 0, NULL)",
            "LOCK TABLE pg_class",
            "TRUNCATE pg_largeobject",
            "CREATE INDEX i ON pg_class (relname)",
            "SELECT * FROM pg_database FOR UPDATE",
            "SELECT * FROM (SELECT * FROM pg_database FOR SHARE) d",
            "SELECT 1 WHERE EXISTS (SELECT 1 FROM pg_catalog.pg_database FOR KEY SHARE)",
            "CREATE TABLE t(a INT CHECK (set_config('search_path', 'public', false) = ''))",
            "CREATE TABLE t(a INT DEFAULT nextval('public.s'))",
            "CREATE INDEX i ON t (a) WHERE pg_notify('a', 'b') IS NULL",
        ] {
            assert!(objection(Product::Postgres, text).is_some(), "{text}");
        }
    }
}
