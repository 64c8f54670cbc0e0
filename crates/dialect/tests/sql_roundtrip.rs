//! Texts that have a tree, each for the dialects that have it. [`parse`] itself checks that the tree prints
//! to the same tokens, so having a tree is the round trip; a few are also compared with what is printed.

use dialect::sql::{Parsed, parse, print};
use model::Product;

const MY: &[Product] = &[Product::Mysql, Product::Mariadb];
const ALL: &[Product] = &[Product::Mysql, Product::Mariadb, Product::Postgres, Product::Sqlite];
const MARIADB: &[Product] = &[Product::Mariadb];
const SQLITE: &[Product] = &[Product::Sqlite];
const POSTGRES: &[Product] = &[Product::Postgres];
const MY_AND_SQLITE: &[Product] = &[Product::Mysql, Product::Mariadb, Product::Sqlite];

/// A tree for these dialects, and for no other if `only`.
fn check(products: &[Product], only: bool, texts: &[&str]) {
    for text in texts {
        // The reference engine reads what MySQL reads.
        for &product in ALL {
            let expected = products.contains(&product);
            match parse(product, text) {
                Parsed::Tree(tree) => {
                    assert!(expected || !only, "{product} should not read: {text}");
                    let again = parse(product, &print(product, &tree));
                    assert_eq!(Parsed::Tree(tree), again, "{product}: {text}");
                }
                Parsed::Opaque(why) => assert!(!expected, "{product}: {text}: {why}"),
            }
        }
    }
}

#[test]
fn values_in_second_parentheses_after_in() {
    check(ALL, false, &["SELECT a FROM t WHERE a IN (('5'))", "SELECT a NOT IN (((1)), (2)) FROM t"]);
    check(ALL, false, &["SELECT a IN ((1 + b)) FROM t", "DELETE FROM t WHERE a IN ((1), (SELECT 2))"]);
}

#[test]
fn reads_beside_the_query_cache() {
    check(
        MY,
        true,
        &["SELECT SQL_NO_CACHE * FROM t", "SELECT DISTINCT sql_no_cache a.*, b FROM t LIMIT 1, 2"],
    );
    // A column of that name.
    check(&[Product::Postgres, Product::Sqlite], true, &["SELECT sql_no_cache FROM t"]);
}

#[test]
fn keys_and_constraints_of_alter_table() {
    check(
        MY,
        true,
        &["ALTER TABLE t ADD INDEX i (a)", "alter table t add unique key (a, b(3)), add key j (b)"],
    );
    check(
        &[Product::Mysql, Product::Mariadb, Product::Postgres],
        true,
        &[
            "ALTER TABLE t ADD PRIMARY KEY (a)",
            "ALTER TABLE t ADD CONSTRAINT u UNIQUE (a), ADD CHECK (a > 0)",
            "ALTER TABLE s.t ADD FOREIGN KEY (a) REFERENCES u (b) ON DELETE CASCADE",
        ],
    );
}

#[test]
fn transactions() {
    check(ALL, false, &["BEGIN", "begin", "COMMIT", "ROLLBACK", "SAVEPOINT s1", "RELEASE SAVEPOINT s1"]);
    check(ALL, false, &["ROLLBACK TO s1", "rollback to savepoint s1"]);
    check(MY_AND_SQLITE, true, &["Rollback To Savepoint `s 1`"]);
    check(
        &[Product::Mysql, Product::Mariadb, Product::Postgres],
        true,
        &[
            "START TRANSACTION",
            "START TRANSACTION READ ONLY",
            "START TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY",
            "BEGIN WORK",
            "COMMIT WORK",
            "ROLLBACK WORK TO SAVEPOINT s",
            "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            "SET autocommit = 0",
            "SET sql_mode = DEFAULT",
            "SET SESSION x = ON",
            "SET LOCAL x = 'y'",
        ],
    );
    check(
        MY,
        true,
        &[
            "start transaction with consistent snapshot",
            "START TRANSACTION READ WRITE, WITH CONSISTENT SNAPSHOT",
            "set global transaction isolation level repeatable read, read only",
            "SET SESSION innodb_snapshot_isolation = ON, @x = 1 + 2",
            "SET @@session.tx_isolation = 'READ-COMMITTED'",
            "SET GLOBAL innodb_lock_wait_timeout = 5",
        ],
    );
    check(
        POSTGRES,
        true,
        &[
            "BEGIN ISOLATION LEVEL SERIALIZABLE",
            "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY DEFERRABLE",
            "begin read write, not deferrable",
            "START TRANSACTION ISOLATION LEVEL READ COMMITTED READ WRITE",
            "END WORK",
            "ABORT",
            "ABORT TRANSACTION",
            "COMMIT WORK /* nested /* comments */ here */ -- and more",
            "SET lock_timeout TO 100",
            "SET LOCAL enable_seqscan TO off",
            "SET TRANSACTION READ ONLY DEFERRABLE",
            "LOCK t",
            "LOCK TABLE t, s.u IN SHARE ROW EXCLUSIVE MODE NOWAIT",
            "lock table t in access exclusive mode",
        ],
    );
    check(&[Product::Postgres, Product::Sqlite], true, &["END", "COMMIT TRANSACTION", "RELEASE s1"]);
    check(&[Product::Postgres, Product::Sqlite], true, &["ROLLBACK TRANSACTION TO s"]);
    check(
        SQLITE,
        true,
        &[
            "BEGIN IMMEDIATE",
            "BEGIN EXCLUSIVE TRANSACTION",
            "BEGIN DEFERRED",
            "PRAGMA read_uncommitted = 1",
            "PRAGMA main.journal_mode=DELETE",
            "PRAGMA cache_size = -2000",
            "PRAGMA table_info(t)",
        ],
    );
}

#[test]
fn known_bug_cases() {
    check(
        ALL,
        false,
        &[
            "CREATE TABLE t(c1 INT, c2 INT)",
            "INSERT INTO t VALUES (0, 0), (1, 1)",
            "UPDATE t SET c1 = 10 WHERE c2 = 1",
            "UPDATE t SET c1 = 10 WHERE TRUE",
            "SELECT * FROM t",
            "CREATE TABLE t(c1 INT PRIMARY KEY)",
            "INSERT INTO t(c1) VALUES (8)",
            "DELETE FROM t",
            "CREATE TABLE t(c1 BLOB NOT NULL, c2 TEXT)",
            "UPDATE t SET c2 = 'xyz' WHERE c1",
            "CREATE TABLE t(a INT PRIMARY KEY, b INT\n    UNIQUE)",
            "SELECT a, b FROM t /* init */ -- actual: [(1, null)]",
            "INSERT INTO t VALUES (null, 1), (1, 1)",
            "UPDATE t SET b=2 WHERE a is not null",
            "insert into t values(null, 1), (2, 2), (null, null), (null, 3), (4, null)",
            "update t set b = 20 where a",
            "update t_rpjlsd set wkey = 63 where t_rpjlsd.c_pfd8ab <= (select min(wkey) from t_g6ckkb)",
            "SELECT pkId, b, c FROM t where b = 854 or c = 333 order by b",
            "update test.ttt set a=2 where id=1",
            "select subq0.c0 as c0 from (select a as c0 from t) as subq0 where subq0.c0 < (select 3) order by c0 asc",
            "update t0 set vkey = 116 where t0.c5 not in (select subq0.c0 as c0 from (select c0 from t1) as subq0)",
            "select count(c_2) from t_0",
        ],
    );
    check(MY_AND_SQLITE, true, &["INSERT INTO t VALUES(0x32, 'aaa')"]);
    check(&[Product::Mysql, Product::Mariadb, Product::Postgres], true, &["SELECT * FROM t FOR UPDATE"]);
    check(
        MY,
        true,
        &[
            "INSERT IGNORE INTO t VALUES(NULL,\n   NULL)",
            "create table t(id int primary key, a int)engine=innodb",
            "insert into t values(5,5) ON DUPLICATE\n      KEY UPDATE a=a+1",
            "SELECT a, b FROM t FORCE INDEX(b) FOR UPDATE",
        ],
    );
}

#[test]
fn reads() {
    check(
        ALL,
        false,
        &[
            "SELECT 1",
            "SELECT DISTINCT a, t.b, t.*, COUNT(*) AS n, MAX(DISTINCT c) m FROM t GROUP BY a, t.b HAVING n > 1",
            "SELECT * FROM t AS x INNER JOIN u ON x.a = u.a LEFT JOIN v USING (a, b), w CROSS JOIN y",
            "SELECT * FROM t LEFT OUTER JOIN u ON t.a = u.a NATURAL JOIN v",
            "SELECT * FROM (t JOIN u ON t.a = u.a)",
            "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a) AND NOT EXISTS (SELECT 1)",
            "SELECT * FROM t WHERE (a, b) IN ((1, 2), (3, 4)) OR a IN (SELECT b FROM u)",
            "SELECT a FROM t UNION ALL SELECT b FROM u UNION SELECT c FROM v ORDER BY 1 DESC LIMIT 3",
            "SELECT * FROM t ORDER BY a ASC, b DESC, c LIMIT 10 OFFSET 2",
            "SELECT CASE WHEN a > 1 THEN 'x' ELSE 'y' END, CASE a WHEN 1 THEN 2 END FROM t",
            "SELECT CAST(a AS CHAR(10)), CAST(a + 1 AS DECIMAL(10, 2)) FROM t",
            "SELECT a FROM t WHERE a LIKE 'x%' AND b NOT LIKE '%y' ESCAPE '!' AND c BETWEEN 1 AND 2 + 3",
            "SELECT a <> b, a != b, a <= b, a >= b, a << 1 | 2 & 3 >> b, -a, - - 1, ~a, +a, a % 2 FROM t",
            "SELECT COALESCE(a, NULLIF(b, 0), ABS(-1)), CURRENT_TIMESTAMP, SUM(a) / COUNT(b) FROM t",
            "SELECT a IS NULL, b IS NOT NULL, a IS TRUE, NOT b, x'ff', 1.5e-3, .5, 'it''s' FROM t",
            "SELECT db.t.a FROM db.t",
            "SELECT DATE FROM t value",
        ],
    );
    check(
        MY_AND_SQLITE,
        true,
        &["SELECT * FROM t LIMIT 2, 10", "SELECT `select`, `we``ird` FROM `my table`", "SELECT 0x1F"],
    );
    check(
        &[Product::Mysql, Product::Mariadb, Product::Postgres],
        true,
        &[
            "SELECT * FROM t WHERE a = 1 FOR UPDATE NOWAIT",
            "SELECT * FROM t LIMIT 1 FOR UPDATE SKIP LOCKED",
            "(SELECT a FROM t LIMIT 1) UNION (SELECT b FROM u) ORDER BY 1",
            "SELECT a IS UNKNOWN, b'01' FROM t",
        ],
    );
    check(
        POSTGRES,
        true,
        &[
            "SELECT * FROM t FOR NO KEY UPDATE",
            "SELECT * FROM t, u FOR KEY SHARE OF t SKIP LOCKED FOR SHARE OF u NOWAIT",
            "SELECT a::int, (a + 1)::numeric(10, 2)::text, -a::bigint, a::timestamp(3) with time zone FROM t",
            "SELECT CAST(a AS double precision), a::character varying(10), a::bit varying FROM t",
            "SELECT a IS DISTINCT FROM b, a IS NOT DISTINCT FROM NULL FROM t",
            "SELECT a ILIKE 'x%' ESCAPE '!', a NOT ILIKE b, a ~ 'x', a !~ 'y', a ~* 'z', a !~* 'w' FROM t",
            "SELECT a::int # b FROM t",
            "SELECT 1::int, a ^ 2, 1 - 2, a=-1, a<>-1, a*-b FROM t",
            "SELECT E'it\\'s', e'\\n', 'back\\', x'1f' FROM t",
            "SELECT 1 /* a /* nested */ comment */ + 2",
        ],
    );
    check(
        MY,
        true,
        &[
            "SELECT * FROM t LOCK IN SHARE MODE",
            "SELECT a = !b, ! !a, a<=>b, a XOR b, a DIV b, a MOD b, a ^ b, !a, a && b, a || b FROM t",
            "SELECT * FROM t USE INDEX (i, PRIMARY) IGNORE KEY FOR ORDER BY (j)",
            "SELECT * FROM t AS x FORCE INDEX (i) STRAIGHT_JOIN u",
            "SELECT \"text\", 'back\\'slash', b'01', @x, @@tx_isolation, IF(a, 1, 2), MOD(a, 2) FROM t # comment",
            "SELECT a REGEXP 'x', a RLIKE 'y', 1 --1 FROM t",
        ],
    );
    check(
        &[Product::Mysql, Product::Postgres],
        true,
        &["SELECT * FROM t FOR SHARE", "SELECT * FROM t, u FOR UPDATE OF t NOWAIT FOR SHARE OF u"],
    );
    check(MARIADB, true, &["SELECT * FROM t FOR UPDATE WAIT 5", "SELECT * FROM t LOCK IN SHARE MODE NOWAIT"]);
    check(
        SQLITE,
        true,
        &[
            "SELECT a == b, a IS b, a IS NOT b, a NOT NULL FROM t",
            "SELECT * FROM t INDEXED BY i WHERE a GLOB 'x*'",
            "SELECT * FROM t NOT INDEXED ORDER BY a DESC NULLS LAST",
            "SELECT [odd name], x FROM t FULL OUTER JOIN u ON 1",
        ],
    );
    check(
        &[Product::Postgres, Product::Sqlite],
        true,
        &[
            "SELECT COUNT (*) FROM t",
            "SELECT 1 /*! only a comment here */",
            "SELECT a ISNULL, a NOTNULL FROM t ORDER BY a NULLS FIRST",
            "SELECT a FROM t FULL OUTER JOIN u ON t.a = u.a",
        ],
    );
    check(ALL, false, &["SELECT CAST(a AS UNSIGNED), a COLLATE utf8mb4_bin FROM t"]);
    check(
        POSTGRES,
        false,
        &[
            "SELECT LEFT(a, 1), coalesce(a, b), substring(a, 1, 2) FROM t",
            "SELECT a$1, ü FROM t",
            "SELECT 1 FROM a NATURAL JOIN b FULL JOIN c USING (x)",
        ],
    );
    check(MY_AND_SQLITE, true, &["SELECT CAST(a AS SIGNED INTEGER) FROM t"]);
    check(
        &[Product::Postgres, Product::Sqlite],
        false,
        &["SELECT 1 --no blank", "SELECT a || 'x', \"a\" FROM \"t\""],
    );
}

#[test]
fn changes() {
    check(
        ALL,
        false,
        &[
            "INSERT INTO t (a, b) VALUES (1, DEFAULT), (-1, 'x')",
            "INSERT INTO t SELECT * FROM u WHERE a > 1",
            "INSERT INTO t(a) SELECT a FROM u",
            "UPDATE t SET a = a + 1, b = (SELECT MAX(c) FROM u) WHERE a IN (1, 2)",
            "UPDATE t AS x SET a = 1 WHERE x.b = 2",
            "DELETE FROM t WHERE a = 1",
        ],
    );
    check(
        MY_AND_SQLITE,
        true,
        &[
            "REPLACE INTO t VALUES (1, 2)",
            "UPDATE t SET a = a + 1 ORDER BY a LIMIT 1",
            "UPDATE t AS x SET x.a = 1 WHERE x.b = 2",
            "DELETE FROM t WHERE a = 1 ORDER BY b DESC LIMIT 2",
        ],
    );
    // MariaDB has all of it, though not an alias here.
    check(POSTGRES, false, &["DELETE FROM t x USING u, v WHERE x.a = u.a RETURNING *"]);
    // Only MySQL wants the table named again, which is a matter of its names and not of its grammar.
    check(MY, false, &["DELETE FROM t USING t JOIN u ON t.a = u.a WHERE u.b = 2"]);
    // To PostgreSQL a table `ignore` with an alias.
    check(MY, false, &["UPDATE IGNORE t SET a = 1"]);
    check(
        POSTGRES,
        true,
        &[
            "UPDATE t x SET a = 1 FROM u AS y",
            "TRUNCATE t, u",
            "TRUNCATE TABLE t RESTART IDENTITY CASCADE",
            "truncate t continue identity restrict",
        ],
    );
    check(&[Product::Mysql, Product::Mariadb, Product::Postgres], true, &["TRUNCATE t", "TRUNCATE TABLE t"]);
    check(
        &[Product::Postgres, Product::Sqlite],
        true,
        &[
            "INSERT INTO t DEFAULT VALUES",
            "INSERT INTO t(a) VALUES (1) ON CONFLICT (a) DO UPDATE SET b = excluded.b WHERE t.b < 3 RETURNING *",
            "INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING",
            "UPDATE t SET a = 1 RETURNING *",
            "UPDATE t SET a = u.a FROM u JOIN v ON u.b = v.b, w WHERE t.b = u.b RETURNING t.*, a AS x",
        ],
    );
    check(
        MY,
        true,
        &[
            "INSERT t VALUE (1)",
            "INSERT INTO t SET a = 1, b = 2",
            "INSERT INTO t () VALUES ()",
            "REPLACE t SET a = 1",
            "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = VALUES(a), b = b + 1",
            "UPDATE t JOIN u ON t.a = u.a SET t.b = u.b",
            "UPDATE t, u SET t.b = u.b",
            "DELETE IGNORE FROM t",
        ],
    );
    check(SQLITE, true, &["INSERT OR IGNORE INTO t VALUES (1)", "UPDATE OR REPLACE t SET a = 1 RETURNING *"]);
    check(
        &[Product::Mariadb, Product::Postgres, Product::Sqlite],
        true,
        &["INSERT INTO t VALUES (1) RETURNING a, b + 1 AS c"],
    );
}

#[test]
fn schema() {
    check(
        ALL,
        false,
        &[
            "CREATE TABLE IF NOT EXISTS t (a INT NOT NULL DEFAULT -1, b VARCHAR(10) DEFAULT 'x' UNIQUE, c BIGINT)",
            "CREATE TABLE t (a INT, b INT, PRIMARY KEY (a, b), UNIQUE (b), CHECK (a > b))",
            "CREATE TABLE t (a INTEGER PRIMARY KEY, b DECIMAL(10, 2) NULL, d DATETIME DEFAULT CURRENT_TIMESTAMP)",
            "CREATE TABLE t (a INT, CONSTRAINT f FOREIGN KEY (a) REFERENCES u (b) ON DELETE CASCADE ON UPDATE SET NULL)",
            "CREATE TABLE t (a INT CONSTRAINT c CHECK (a > 0) REFERENCES u(a), b DOUBLE PRECISION, c FLOAT, d DATE)",
            "CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (a + 1) STORED, c INT AS (a * 2))",
            "CREATE UNIQUE INDEX i ON t (a, b DESC)",
            "CREATE TEMPORARY TABLE t (a INT)",
            "DROP TABLE IF EXISTS t, u",
            "DROP INDEX i",
        ],
    );
    check(
        MY,
        true,
        &[
            "CREATE TABLE t (a INT UNSIGNED AUTO_INCREMENT KEY, b CHAR(3) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)",
            "CREATE TABLE t (a INT(10) UNSIGNED ZEROFILL, KEY (a), INDEX i (a), UNIQUE KEY u (a))",
            "CREATE TABLE t (a ENUM('x', 'y') COMMENT 'z', b TEXT, KEY k (b(10) DESC))",
            "CREATE TABLE t (a INT) ENGINE=InnoDB DEFAULT CHARSET = utf8mb4 AUTO_INCREMENT=5 COMMENT 'x'",
            "CREATE TABLE t (a TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP)",
        ],
    );
    check(
        SQLITE,
        true,
        &[
            "CREATE TABLE t (a, b PRIMARY KEY)",
            "CREATE TABLE t (a INTEGER PRIMARY KEY ASC AUTOINCREMENT)",
            "CREATE TABLE t (a INT PRIMARY KEY) WITHOUT ROWID, STRICT",
        ],
    );
    check(
        POSTGRES,
        true,
        &[
            "CREATE TABLE t (a serial PRIMARY KEY, b int GENERATED BY DEFAULT AS IDENTITY, c bigint NOT NULL)",
            "CREATE TABLE t (a INT GENERATED ALWAYS AS IDENTITY, b timestamp(6) without time zone DEFAULT now())",
            "CREATE TABLE t_1 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
            "CREATE UNIQUE INDEX i ON t USING btree (a DESC, b) WHERE a IS NOT NULL AND b > 0",
            "DROP TABLE IF EXISTS t, u CASCADE",
            "DROP INDEX IF EXISTS i RESTRICT",
        ],
    );
    check(MY, false, &["DROP INDEX i ON t"]);
    check(
        &[Product::Mysql, Product::Mariadb, Product::Postgres],
        true,
        &["CREATE TABLE t (a INT, b INT) PARTITION BY HASH (a)"],
    );
    check(
        MY,
        true,
        &[
            "CREATE TABLE t (a INT) ENGINE = InnoDB PARTITION BY HASH (a + 1) PARTITIONS 3",
            "CREATE TABLE t (a INT, b INT) PARTITION BY KEY (a, b) PARTITIONS 2",
        ],
    );
    check(
        &[Product::Mariadb, Product::Postgres, Product::Sqlite],
        true,
        &["CREATE INDEX IF NOT EXISTS i ON t (a)"],
    );
}

#[test]
fn printing_keeps_what_was_written() {
    for (product, text, printed) in [
        (Product::Mysql, "select a from t where a!=1 and(b<>2)", "SELECT a FROM t WHERE a != 1 AND (b <> 2)"),
        (Product::Mysql, "Select Count(*)From t x", "SELECT Count(*) FROM t x"),
        (Product::Mysql, "select - -1,-a,!b,1--1", "SELECT - -1, -a, !b, 1 - -1"),
        (Product::Mariadb, "create table t(a int)engine=innodb", "CREATE TABLE t (a int) engine=innodb"),
        (Product::Sqlite, "insert into\tt(a)values(1),(2)", "INSERT INTO t (a) VALUES (1), (2)"),
        (Product::Sqlite, "pragma cache_size=-10", "PRAGMA cache_size = -10"),
        (Product::Postgres, "select a :: int,~ b,a=-1,- - 1", "SELECT a::int, ~b, a = -1, - -1"),
        (Product::Postgres, "set x to on", "SET x TO ON"),
    ] {
        let tree = parse(product, text).tree().expect(text);
        assert_eq!(print(product, &tree), printed);
    }
}

#[test]
fn a_hint_is_kept_whole_where_the_server_reads_it() {
    let sql = "SELECT /*+ NO_INDEX_MERGE(t) */ * FROM t";
    for product in [Product::Mysql, Product::Mariadb] {
        let Parsed::Tree(tree) = parse(product, sql) else { panic!("{product} does not read {sql}") };
        assert_eq!(print(product, &tree), sql);
    }
    // To SQLite it is a comment like any other.
    let Parsed::Tree(tree) = parse(Product::Sqlite, sql) else { panic!("sqlite does not read {sql}") };
    assert_eq!(print(Product::Sqlite, &tree), "SELECT * FROM t");
}
