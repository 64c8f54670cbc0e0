//! What of a case reaches outside of the database, to files, programs and other servers: COPY ... PROGRAM, INTO OUTFILE, ATTACH,
//! extensions and the like. Cases come from others, so on servers of our own, too, it is run only if the user trusts the case.
//!
//! A statement that we can read is harmless but for the functions that it calls, the settings that it sets and where it puts its
//! tables: our grammar has none of the others. Of one that we cannot read every word counts, whether it stands in quotes
//! or not, because it may be run as SQL later; and so does what puts SQL together from text.

use model::{
    Case, Product,
    sql::{OptionValue, SetTarget, Statement},
};

use crate::{
    SqlFamily,
    guard::{Objection, StatementPlace},
    sql::{self, Parsed},
};

/// The words of a family, in capitals.
struct Words {
    /// In a statement that we cannot read. Several stand in this order, with whatever between them: a comment may hold anything.
    statements: &'static [&'static [&'static str]],
    /// How statements begin that do nothing of the kind, whatever they hold.
    harmless: &'static [&'static str],
    /// Functions; one that ends with an underscore is the beginning of several.
    functions: &'static [&'static str],
}

const MYSQL: Words = Words {
    statements: &[
        &["OUTFILE"],
        &["DUMPFILE"],
        &["INFILE"],
        &["LOAD", "XML"],
        &["SONAME"],
        &["INSTALL"],
        &["DATA", "DIRECTORY"],
        &["INDEX", "DIRECTORY"],
        &["ENGINE", "FEDERATED"],
        &["ENGINE", "CONNECT"],
        &["ENGINE", "SPIDER"],
        &["ENGINE", "S3"],
        &["CREATE", "SERVER"],
        &["ALTER", "SERVER"],
        &["CLONE", "INSTANCE"],
        &["CHANGE", "MASTER"],
        &["CHANGE", "REPLICATION"],
        &["TABLESPACE"],
        &["PREPARE"],
        &["EXECUTE", "IMMEDIATE"],
    ],
    // XA PREPARE is the end of a transaction's first half.
    harmless: &["XA "],
    functions: &["LOAD_FILE", "SYS_EXEC", "SYS_EVAL", "SPIDER_"],
};

const POSTGRES: Words = Words {
    statements: &[
        &["COPY"],
        &["EXTENSION"],
        &["LANGUAGE", "C"],
        &["LANGUAGE", "INTERNAL"],
        &["PLPERLU"],
        &["PLPYTHONU"],
        &["PLPYTHON3U"],
        &["PLTCLU"],
        &["LOAD"],
        &["FOREIGN", "DATA"],
        &["CREATE", "SERVER"],
        &["ALTER", "SERVER"],
        &["SUBSCRIPTION"],
        &["ALTER", "SYSTEM"],
        &["TABLESPACE"],
        &["EXECUTE"],
    ],
    // What runs a prepared statement, which was looked at, or a function.
    harmless: &["EXECUTE ", "CREATE TRIGGER ", "CREATE CONSTRAINT TRIGGER ", "CREATE OR REPLACE TRIGGER "],
    functions: &[
        "DBLINK",
        "DBLINK_",
        "LO_IMPORT",
        "LO_EXPORT",
        "PG_READ_",
        "PG_WRITE_",
        "PG_FILE_",
        "PG_LS_",
        "PG_STAT_FILE",
        "QUERY_TO_XML",
        "QUERY_TO_XML_",
        "CURSOR_TO_XML",
    ],
};

const SQLITE: Words = Words {
    statements: &[
        &["ATTACH"],
        &["VACUUM", "INTO"],
        &["TEMP_STORE_DIRECTORY"],
        &["DATA_STORE_DIRECTORY"],
        &["CREATE", "VIRTUAL", "TABLE"],
    ],
    harmless: &[],
    functions: &["LOAD_EXTENSION", "READFILE", "WRITEFILE", "EDIT", "FTS3_TOKENIZER"],
};

fn words(product: Product) -> &'static Words {
    match crate::of(product).family {
        SqlFamily::Mysql => &MYSQL,
        SqlFamily::Postgres => &POSTGRES,
        SqlFamily::Sqlite => &SQLITE,
    }
}

/// All of a case that reaches outside.
pub fn objections(product: Product, case: &Case) -> Vec<Objection> {
    let setup = case.setup.statements.iter().enumerate().map(|(at, sql)| (StatementPlace::Setup(at), sql));
    let steps = case.steps.iter().enumerate().map(|(at, step)| (StatementPlace::Step(at), &step.sql));
    let objection = |(place, sql): (StatementPlace, &String)| {
        Some(Objection { place, sql: sql.clone(), why: objection(product, sql)? })
    };
    setup.chain(steps).filter_map(objection).collect()
}

/// What of one statement does.
pub fn objection(product: Product, text: &str) -> Option<String> {
    let planned =
        crate::of(product).explain.and_then(|explain| text.strip_prefix(explain)?.strip_prefix(' '));
    match sql::parse(product, planned.unwrap_or(text)) {
        Parsed::Tree(tree) => of_tree(product, &tree),
        Parsed::Opaque(_) => of_text(product, text),
    }
}

/// What of a statement that was read does.
pub fn of_tree(product: Product, tree: &Statement) -> Option<String> {
    let functions = sql::facts(tree).functions;
    if let Some(name) = functions.iter().find(|name| is_function(product, &name.to_ascii_uppercase())) {
        return Some(format!("the function `{name}` reaches outside of the database"));
    }
    match tree {
        Statement::Set(items) => items.iter().find_map(|item| match &item.target {
            SetTarget::Name(name) => setting(&name.name),
            SetTarget::Variable(name) => name.strip_prefix("@@").and_then(setting),
        }),
        Statement::Pragma(pragma) => setting(&pragma.name.name),
        Statement::CreateTable(create) => create.options.iter().find_map(|option| {
            let engine = match &option.value {
                Some(OptionValue::Word(name)) => Some(&name.name),
                Some(OptionValue::Literal(_)) | None => None,
            };
            let mut words = option.words.iter().chain(engine);
            let word = words.find(|word| OPTIONS.iter().any(|option| option.eq_ignore_ascii_case(word)))?;
            Some(format!("`{word}` reaches outside of the database"))
        }),
        _ => None,
    }
}

/// Options of tables, and engines, that do.
const OPTIONS: &[&str] = &["DIRECTORY", "CONNECTION", "FEDERATED", "CONNECT", "SPIDER", "S3"];

/// Settings that name files, programs and libraries.
fn setting(name: &str) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    let parts = ["FILE", "DIR", "PATH", "LIBRAR", "COMMAND", "INIT_CONNECT", "PROGRAM", "LOG_ERROR"];
    // The search path of PostgreSQL is one of schemas.
    let outside = parts.iter().any(|part| upper.contains(part)) && upper != "SEARCH_PATH";
    outside.then(|| format!("`{name}` names files, programs or libraries"))
}

/// What of a statement that could not be read does.
pub fn of_text(product: Product, text: &str) -> Option<String> {
    let (upper, words) = (text.to_ascii_uppercase(), words(product));
    let begins = |with: &&str| upper.trim_start().starts_with(with);
    // Behind a `;` there may be another one.
    if words.harmless.iter().any(begins) && !upper.contains(';') {
        return None;
    }
    let all: Vec<&str> = split(&upper).collect();
    let row = |row: &&&[&str]| {
        let mut rest = all.iter();
        row.iter().all(|word| rest.any(|there| there == word))
    };
    let found = words.statements.iter().find(row).map(|row| row.join(" ... "));
    let called = || all.iter().find(|name| is_function(product, name)).map(ToString::to_string);
    let set =
        || all.first().filter(|word| **word == "SET").and_then(|_| all.iter().find_map(|word| setting(word)));
    found
        .or_else(called)
        .map(|word| format!("it holds `{word}`, which may reach outside of the database"))
        .or_else(set)
}

fn is_function(product: Product, upper: &str) -> bool {
    let is = |name: &&str| if name.ends_with('_') { upper.starts_with(name) } else { upper == *name };
    words(product).functions.iter().any(is)
}

/// The words of a text, wherever they stand.
fn split(upper: &str) -> impl Iterator<Item = &str> {
    upper.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_files_programs_and_others_is_told() {
        for (product, texts) in [
            (
                Product::Mysql,
                &[
                    "SELECT * FROM t INTO OUTFILE '/tmp/x'",
                    "SELECT a INTO DUMPFILE '/tmp/x' FROM t",
                    "LOAD DATA INFILE '/etc/passwd' INTO TABLE t",
                    "SELECT LOAD_FILE('/etc/passwd')",
                    "PREPARE s FROM 'SELECT 1 INTO OUTFILE ''/tmp/x'''",
                    "PREPARE s FROM @x",
                    "SET GLOBAL general_log_file = '/root/.bashrc'",
                    "SET @@global.slow_query_log_file = '/root/.bashrc'",
                    "CREATE TABLE t (a INT) DATA DIRECTORY = '/tmp'",
                    "CREATE TABLE t (a INT) /*!50000 DATA DIRECTORY='/tmp' */",
                    "CREATE TABLE t (a INT) ENGINE=CONNECT",
                    "INSTALL SONAME 'ha_connect'",
                    "CREATE FUNCTION f RETURNS INT SONAME 'x.so'",
                    "INSTALL /* a */ PLUGIN x SONAME 'x.so'",
                    "CREATE TABLE t (a INT) DATA /* a b */ DIRECTORY = '/tmp', x",
                    "/* XA */ PREPARE s FROM @x",
                ][..],
            ),
            (
                Product::Postgres,
                &[
                    "COPY t TO PROGRAM 'id'",
                    "COPY t TO '/tmp/x'",
                    "DO $$ BEGIN EXECUTE 'CO' || 'PY t TO PROGRAM ''id'''; END $$",
                    "CREATE EXTENSION dblink",
                    "SELECT pg_read_file('/etc/passwd')",
                    "SELECT lo_export(1, '/tmp/x')",
                    "SELECT * FROM dblink('host=x', 'SELECT 1') AS d (a INT)",
                    "ALTER SYSTEM SET archive_command = 'id'",
                    "LOAD 'x'",
                    "SET session_preload_libraries = 'x'",
                    "EXECUTE st; COPY t TO PROGRAM 'id'",
                    "ALTER /* a */ SYSTEM SET archive_command = 'id'",
                ],
            ),
            (
                Product::Sqlite,
                &[
                    "ATTACH '/tmp/x' AS x",
                    "VACUUM INTO '/tmp/x'",
                    "VACUUM main INTO '/tmp/x'",
                    "SELECT load_extension('x')",
                    "PRAGMA temp_store_directory = '/tmp'",
                ],
            ),
        ] {
            for text in texts {
                assert!(objection(product, text).is_some(), "{product}: {text}");
            }
        }
    }

    #[test]
    fn what_stays_in_the_database_is_not() {
        for (product, texts) in [
            (
                Product::Mysql,
                &[
                    "INSERT INTO t VALUES ('copy of a program into outfile')",
                    "SET GLOBAL innodb_lock_wait_timeout = 1",
                    "SET sql_log_bin = 0",
                    "SELECT * FROM other.t",
                    "CREATE TABLE t (a INT) ENGINE=InnoDB",
                    "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET NEW.b = 0",
                    "XA START 'x'",
                    "XA PREPARE 'x'",
                    "LOCK TABLES t WRITE",
                ][..],
            ),
            (
                Product::Postgres,
                &[
                    "SET search_path = public",
                    "LOCK TABLE t",
                    "SELECT * FROM pg_locks",
                    "DO $$ BEGIN NULL; END $$",
                ],
            ),
            (
                Product::Sqlite,
                &[
                    "CREATE TABLE t (a, b GENERATED ALWAYS AS (a) VIRTUAL) oddly",
                    "SELECT edited FROM t oddly x y",
                ],
            ),
            (
                Product::Postgres,
                &["EXECUTE st", "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()"],
            ),
            (Product::Sqlite, &["VACUUM", "PRAGMA journal_mode = wal", "SELECT * FROM t"]),
        ] {
            for text in texts {
                assert_eq!(objection(product, text), None, "{product}: {text}");
            }
        }
    }
}
