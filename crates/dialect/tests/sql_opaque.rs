//! Texts without a tree, and why.

use dialect::sql::{Parsed, parse};
use expect_test::expect;
use model::Product;

fn reason(product: Product, text: &str) -> String {
    match parse(product, text) {
        Parsed::Tree(tree) => panic!("{product} reads {text} as {tree:?}"),
        Parsed::Opaque(why) => why.to_string(),
    }
}

#[test]
fn what_no_dialect_reads() {
    for text in [
        "",
        "-- nothing",
        "ALTER TABLE t DROP INDEX iv",
        "SELECT 1; SELECT 2",
        "SELECT 1;",
        "SELECT 'open",
        "SELECT /* open",
        "SELECT 1 FROM",
        "SELECT FROM t",
        "SELECT a FROM t WHERE",
        "SELECT 1a",
        "SELECT ?",
        "SELECT N'x'",
        "SELECT 'a' 'b'",
        "SELECT a = NOT b",
        "SELECT SUM(a) OVER (ORDER BY b) FROM t",
        "SELECT a -> '$.x' FROM t",
        "WITH x AS (SELECT 1) SELECT * FROM x",
        "SELECT DATE '2020-01-01'",
        "CREATE TABLE t AS SELECT 1",
        "UPDATE t SET a := 1",
        "BEGIN PESSIMISTIC",
        "COMMIT AND CHAIN",
        "EXPLAIN SELECT 1",
        "SHOW TABLES",
        "USE test",
    ] {
        for product in Product::ALL {
            reason(product, text);
        }
    }
}

#[test]
fn what_the_mysql_family_does_not_read() {
    for text in [
        "SELECT /*!80000 a */ FROM t",
        "SELECT /*!40101 1 */",
        "SELECT COUNT (*) FROM t",
        "SELECT a IN (1) IN (2)",
        "SELECT a IN ((SELECT 1))",
        "SELECT a IN (((SELECT 1)))",
        "SELECT SQL_NO_CACHE FROM t",
        "SELECT !!a",
        "SELECT a=!b",
        "SELECT a<=!b",
        "SELECT a LIKE b + c",
        "SELECT a IS TRUE = b",
        "SELECT _utf8'x'",
        "SELECT @`x`",
        "SELECT EXTRACT(YEAR FROM d) FROM t",
        "SELECT TIMESTAMPDIFF(DAY, a, b) FROM t",
        "SELECT d + INTERVAL 1 DAY FROM t",
        "SELECT a AS 'x' FROM t",
        "SELECT [a] FROM t",
        "SET NAMES utf8mb4",
        "SET PASSWORD = 'x'",
        "CREATE TABLE t (a INT) PARTITION BY RANGE (a)",
        "SELECT key FROM t",
    ] {
        reason(Product::Mysql, text);
        reason(Product::Mariadb, text);
    }
    reason(Product::Mariadb, "SELECT /*M! 1 */");
    reason(Product::Mariadb, "SELECT * FROM t FOR SHARE");
}

#[test]
fn what_sqlite_does_not_read() {
    for text in [
        "SELECT * FROM t FOR UPDATE",
        "SELECT * FROM t LOCK IN SHARE MODE",
        "SELECT a <=> b FROM t",
        "SELECT a ^ b FROM t",
        "SELECT @x",
        "SELECT 1 # comment",
        "START TRANSACTION",
        "SET autocommit = 0",
        "(SELECT 1) UNION (SELECT 2)",
        "SELECT a IS DISTINCT FROM b FROM t",
        "CREATE TABLE t (a INT, KEY k (a))",
        "INSERT IGNORE INTO t VALUES (1)",
    ] {
        reason(Product::Sqlite, text);
    }
}

#[test]
fn what_postgres_does_not_read() {
    for text in [
        "SELECT * FROM t LOCK IN SHARE MODE",
        "SELECT * FROM t USE INDEX (i)",
        "SELECT * FROM t FORCE INDEX (i)",
        "SELECT * FROM t LIMIT 1, 2",
        "SELECT `a` FROM t",
        "SELECT a <=> b FROM t",
        "SELECT a == b FROM t",
        "SELECT a!=-1 FROM t",
        "SELECT a|-1 FROM t",
        "SELECT -~a FROM t",
        "SELECT @x",
        "SELECT @@x",
        "SELECT $1",
        "SELECT $$text$$",
        "SELECT $x$text$x$",
        "SELECT U&'d\\0061t'",
        "SELECT u&\"a\" FROM t",
        "SELECT 0x1F",
        "SELECT E'open\\'",
        "SELECT /* /* */ 1",
        "SELECT a[1] FROM t",
        "SELECT ARRAY[1]",
        "SELECT (a).b FROM t",
        "SELECT ROW(1, 2)",
        "SELECT POSITION('a' IN (b)) FROM t",
        "SELECT EXTRACT(YEAR FROM a) FROM t",
        "SELECT a = ANY (SELECT 1)",
        "SELECT a FROM t GROUP BY ROLLUP (a)",
        "SELECT f(a => 1)",
        "SELECT s.f(1)",
        "SELECT DISTINCT ON (a) a FROM t",
        "SELECT * FROM t TABLESAMPLE SYSTEM (1)",
        "SELECT * FROM t FETCH FIRST 1 ROW ONLY",
        "SELECT * FROM ONLY t",
        "SELECT * FROM f(1)",
        "SELECT a AT TIME ZONE 'UTC' FROM t",
        "SELECT COUNT(*) FILTER (WHERE a) FROM t",
        "SELECT a::interval day FROM t",
        "SELECT a::INTERVAL year to month FROM t",
        "SELECT a::national character FROM t",
        "INSERT IGNORE INTO t VALUES (1)",
        "INSERT OR IGNORE INTO t VALUES (1)",
        "REPLACE INTO t VALUES (1)",
        "INSERT INTO t SET a = 1",
        "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1",
        "INSERT INTO t VALUES (1) ON CONFLICT ON CONSTRAINT c DO NOTHING",
        "UPDATE t SET t.a = 1",
        "UPDATE t SET (a, b) = (1, 2)",
        "UPDATE t SET a = 1 ORDER BY a",
        "UPDATE t SET a = 1 LIMIT 1",
        "UPDATE t, u SET a = 1",
        "DELETE FROM t LIMIT 1",
        "CREATE TABLE t (a INT, KEY k (a))",
        "CREATE TABLE t (a INT UNSIGNED)",
        "CREATE TABLE t (a INT AUTO_INCREMENT)",
        "CREATE TABLE t (a INT) ENGINE=InnoDB",
        "CREATE TABLE t (LIKE u)",
        "CREATE TABLE t (a UNIQUE)",
        "CREATE TABLE t (a int[])",
        "CREATE TABLE t (a s.mytype)",
        "CREATE INDEX ON t (a)",
        "CREATE INDEX i ON t (lower(a))",
        "DROP INDEX i ON t",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT",
        "BEGIN IMMEDIATE",
        "BEGIN READ ONLY, DEFERRABLE READ WRITE",
        "ABORT TO s",
        "PREPARE TRANSACTION 'x'",
        "SET a = 1, b = 2",
        "SET GLOBAL a = 1",
        "SET search_path = x",
        "SET LOCAL search_path TO x",
        "SET ROLE x",
        "SET role = x",
        "SET SESSION AUTHORIZATION x",
        "SET CONSTRAINTS ALL DEFERRED",
        "SET TRANSACTION SNAPSHOT 'x'",
        "ALTER SYSTEM SET a = 1",
        "LOCK TABLE t IN NO MODE",
        "PRAGMA x",
    ] {
        reason(Product::Postgres, text);
    }
}

#[test]
fn nesting_has_a_limit() {
    for text in [
        format!("SELECT {}1{}", "(".repeat(5000), ")".repeat(5000)),
        format!("SELECT 1{}", " + 1".repeat(5000)),
        format!("SELECT {}1", "- ".repeat(5000)),
        format!("SELECT {}1{}", "(SELECT ".repeat(5000), ")".repeat(5000)),
        format!("SELECT * FROM {}t{}", "(".repeat(5000), ")".repeat(5000)),
        format!("{}SELECT 1{}", "(".repeat(5000), ")".repeat(5000)),
    ] {
        reason(Product::Mysql, &text);
    }
    // Long is not deep.
    let rows = vec!["(1, 2)"; 5000].join(", ");
    assert!(matches!(parse(Product::Sqlite, &format!("INSERT INTO t VALUES {rows}")), Parsed::Tree(_)));
}

#[test]
fn reasons_are_for_people() {
    let list = [
        (Product::Mysql, "SELECT /*! X() */ a FROM t"),
        (Product::Mysql, "ALTER TABLE t ADD b INT"),
        (Product::Mysql, "SELECT a FROM"),
        (Product::Mysql, "SELECT a = NOT b"),
        (Product::Sqlite, "TRUNCATE t"),
        (Product::Sqlite, "SELECT `x"),
    ];
    let reasons: Vec<String> = list.iter().map(|(p, text)| format!("{text}: {}", reason(*p, text))).collect();
    expect![[r#"
        SELECT /*! X() */ a FROM t: a comment that the server reads (at byte 7)
        ALTER TABLE t ADD b INT: expected a constraint, found `b` (at byte 18)
        SELECT a FROM: expected a name, found the end (at byte 13)
        SELECT a = NOT b: expected parentheses around what this operator begins, found `NOT` (at byte 11)
        TRUNCATE t: this dialect has no TRUNCATE (at byte 0)
        SELECT `x: a quoted name without an end (at byte 9)"#]]
    .assert_eq(&reasons.join("\n"));
}
