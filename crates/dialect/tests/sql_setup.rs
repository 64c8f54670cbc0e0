//! Setups as data, facts about statements, and string constants.

use dialect::sql::{Reach, facts, parse, reach, setup, text_literal, text_value};
use model::{
    Product,
    schema::{Key, KeyKind},
    sql::StatementKind,
};

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| s.to_string()).collect()
}

#[test]
fn tables_columns_and_keys() {
    let data = setup(
        Product::Mariadb,
        &texts(&[
            "CREATE TABLE t(a INT, b VARCHAR(10) NOT NULL, c INT UNSIGNED UNIQUE, KEY k (b, c), PRIMARY KEY (a))",
            "CREATE TABLE u(x INT AUTO_INCREMENT PRIMARY KEY, y INT, FOREIGN KEY (y) REFERENCES t (a))",
            "CREATE UNIQUE INDEX i ON u (y)",
            "INSERT INTO t VALUES (1, 'x', 2), (-1, 'y', 2 + 1)",
            "INSERT IGNORE INTO u(y) VALUES (NULL)",
        ]),
    )
    .expect("data");
    assert_eq!(data.ddl.len(), 3);
    assert_eq!(data.inserts.len(), 2);
    let [t, u] = &data.tables[..] else { panic!("two tables") };
    let key = |name: Option<&str>, kind, columns: &[&str]| Key {
        name: name.map(str::to_string),
        kind,
        columns: texts(columns),
    };
    assert_eq!(
        t.keys,
        [
            key(None, KeyKind::Primary, &["a"]),
            key(None, KeyKind::Unique, &["c"]),
            key(Some("k"), KeyKind::Plain, &["b", "c"])
        ]
    );
    assert_eq!(u.keys, [key(None, KeyKind::Primary, &["x"]), key(Some("i"), KeyKind::Unique, &["y"])]);
    let columns: Vec<_> = t
        .columns
        .iter()
        .chain(&u.columns)
        .map(|c| (&*c.name, &*c.type_text, c.nullable, c.auto_increment))
        .collect();
    assert_eq!(
        columns,
        [
            ("a", "INT", false, false),
            ("b", "VARCHAR(10)", false, false),
            ("c", "INT UNSIGNED", true, false),
            ("x", "INT", false, true),
            ("y", "INT", true, false)
        ]
    );
    assert!(t.foreign_keys && u.foreign_keys);
}

#[test]
fn sqlite_primary_keys_may_be_null() {
    let nullable = |ddl: &str| {
        let data = setup(Product::Sqlite, &texts(&[ddl])).expect("data");
        (data.tables[0].columns[0].nullable, data.tables[0].columns[0].auto_increment)
    };
    assert_eq!(nullable("CREATE TABLE t(a INT PRIMARY KEY)"), (true, false));
    assert_eq!(nullable("CREATE TABLE t(a INTEGER PRIMARY KEY)"), (false, true));
    assert_eq!(nullable("CREATE TABLE t(a INT PRIMARY KEY) WITHOUT ROWID"), (false, false));
}

#[test]
fn postgres_folds_names_and_counts_up() {
    let data = setup(
        Product::Postgres,
        &texts(&[
            "CREATE TABLE T(Id SERIAL PRIMARY KEY, \"V\" int UNIQUE, w bigint GENERATED ALWAYS AS IDENTITY)",
            "CREATE TABLE \"T\"(a int)",
            "CREATE INDEX Kv ON t USING btree (\"V\")",
            "CREATE UNIQUE INDEX part ON t (w) WHERE w > 3",
            "INSERT INTO \"t\"(\"V\") VALUES (1)",
        ]),
    )
    .expect("data");
    let names: Vec<&str> = data.tables.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["t", "T"]);
    let columns: Vec<_> =
        data.tables[0].columns.iter().map(|c| (&*c.name, c.nullable, c.auto_increment)).collect();
    assert_eq!(columns, [("id", false, true), ("V", true, false), ("w", false, true)]);
    let keys: Vec<_> = data.tables[0].keys.iter().map(|k| (k.name.as_deref(), &*k.columns[0])).collect();
    assert_eq!(keys, [(None, "id"), (None, "V"), (Some("kv"), "V")]);
    let keyed =
        setup(Product::Postgres, &texts(&["CREATE TABLE t(a int, \"A\" int PRIMARY KEY)"])).expect("data");
    let nullable: Vec<bool> = keyed.tables[0].columns.iter().map(|c| c.nullable).collect();
    assert_eq!(nullable, [true, false], "two columns, of which one is the key");
    let unknown =
        setup(Product::Postgres, &texts(&["CREATE TABLE \"T\"(a int)", "INSERT INTO T VALUES (1)"]));
    assert_eq!(unknown.expect_err("no such table").reason, "statement 2: table t is not created before it");
}

#[test]
fn partitions_hold_the_rows_of_their_table() {
    let list = [
        "CREATE TABLE t(a INT) PARTITION BY HASH (a)",
        "CREATE TABLE t_0 PARTITION OF t FOR VALUES WITH (MODULUS 1, REMAINDER 0)",
        "INSERT INTO t VALUES (1)",
    ];
    let data = setup(Product::Postgres, &texts(&list)).expect("data");
    assert_eq!((data.tables.len(), data.ddl.len(), data.inserts.len()), (1, 2, 1));
}

#[test]
fn indexes_of_alter_table_are_data() {
    let list = [
        "CREATE TABLE t(a INT, b INT, c INT)",
        "ALTER TABLE t ADD PRIMARY KEY (a), ADD UNIQUE INDEX i (b)",
        "ALTER TABLE t ADD KEY j (c, b)",
        "INSERT INTO t VALUES (1, 2, 3)",
    ];
    let data = setup(Product::Mysql, &texts(&list)).expect("data");
    assert_eq!(data.ddl, texts(&list[..3]), "built as written");
    let keys: Vec<_> = data.tables[0].keys.iter().map(|k| (k.name.as_deref(), k.kind)).collect();
    assert_eq!(keys, [(None, KeyKind::Primary), (Some("i"), KeyKind::Unique), (Some("j"), KeyKind::Plain)]);
    let nullable: Vec<bool> = data.tables[0].columns.iter().map(|column| column.nullable).collect();
    assert_eq!(nullable, [false, true, true]);
    let late = [list[0], list[3], list[2]];
    let late = setup(Product::Mysql, &texts(&late)).expect("data");
    assert!(late.late_index && !data.late_index);
    assert_eq!((late.ddl, late.inserts), (texts(&[list[0], list[2]]), texts(&[list[3]])));
}

#[test]
fn what_is_no_data() {
    for (list, why) in [
        (&["CREATE TABLE t(a INT)", "ALTER TABLE t ADD b INT"][..], "statement 2: expected a constraint"),
        (&["INSERT INTO t VALUES (1)"], "statement 1: table t is not created"),
        (&["CREATE TABLE t(a INT)", "INSERT INTO t SELECT 1"], "statement 2: it inserts what a query gives"),
        (&["CREATE TABLE t(a INT)", "INSERT INTO t VALUES (RAND())"], "statement 2: it inserts more than"),
        (
            &["CREATE TABLE t(a INT)", "INSERT INTO t VALUES ((SELECT 1))"],
            "statement 2: it inserts more than",
        ),
        (&["CREATE TABLE db.t(a INT)"], "statement 1: it names a database"),
        (&["CREATE TABLE t(a INT)", "UPDATE t SET a = 1"], "statement 2: neither"),
        (&["CREATE TEMPORARY TABLE t(a INT)"], "statement 1: a temporary"),
    ] {
        let reason = setup(Product::Mysql, &texts(list)).expect_err("no data").reason;
        assert!(reason.starts_with(why), "{list:?}: {reason}");
    }
}

#[test]
fn facts_of_statements() {
    let of = |text: &str| facts(&parse(Product::Mysql, text).tree().expect(text));
    assert_eq!(of("BEGIN").kind, StatementKind::Begin);
    assert!(of("ROLLBACK TO s").transaction_control);
    assert_eq!(of("ROLLBACK TO s").kind, StatementKind::Savepoint);
    assert_eq!(of("SELECT 1").kind, StatementKind::Select);
    assert_eq!(of("SELECT 1 FROM t FOR UPDATE").kind, StatementKind::LockingSelect);
    assert!(of("REPLACE INTO t VALUES (1)").writes);
    assert!(!of("UPDATE t SET a = t.b").names_schema());
    for text in [
        "SELECT * FROM db.t",
        "SELECT db.t.* FROM t",
        "SELECT 1 FROM t WHERE a IN (SELECT db.u.a FROM u)",
        "UPDATE t SET db.t.a = 1",
        "INSERT INTO t SELECT * FROM (SELECT * FROM db.u) AS x",
        "CREATE TABLE t (a INT REFERENCES db.u (a))",
    ] {
        assert_eq!(of(text).schemas, ["db"], "{text}");
    }
    assert!(of("SET autocommit = 0").changes_session);
    assert!(!of("SET autocommit = 0").changes_server);
    for text in ["SET GLOBAL x = 1", "SET @@GLOBAL.x = 1", "SET GLOBAL TRANSACTION READ ONLY"] {
        assert!(of(text).changes_server, "{text}");
    }
}

#[test]
fn what_a_text_reaches() {
    let of = |product, text: &str| match &reach(product, text)[..] {
        [] => "nothing".to_string(),
        [Reach::Unread(_)] => "unread".to_string(),
        found => found.iter().map(Reach::to_string).collect::<Vec<_>>().join("; "),
    };
    for (text, found) in [
        ("SELECT a FROM t WHERE COUNT(*) > t.a", "nothing"),
        ("INSERT INTO x.t SELECT y.u.a FROM x.u", "it names the schema `x`; it names the schema `y`"),
        ("SET SESSION sort_buffer_size = 1", "nothing"),
        ("SET @@GLOBAL.x = 1", "it changes the server for everybody"),
        ("SET PERSIST x = 1", "it changes the server for everybody"),
        ("USE mysql", "it goes to another schema"),
        ("SET PASSWORD = 'x'", "it is about accounts"),
        ("grant all on *.* to a", "it is about accounts"),
        ("DROP USER a", "it is about accounts"),
        ("SELECT LOAD_FILE('/etc/passwd')", "it calls `load_file`, which does more than compute"),
        ("DROP DATABASE d", "it changes the server for everybody"),
        ("RESET MASTER", "it changes the server for everybody"),
        ("ALTER TABLE t ADD b INT", "unread"),
        ("SELECT db.f(1)", "unread"),
    ] {
        assert_eq!(of(Product::Mysql, text), found, "{text}");
        assert_eq!(of(Product::Mariadb, text), found, "{text}");
    }
    for (text, found) in [
        ("SELECT lower(a) FROM t", "nothing"),
        ("SELECT * FROM public.t", "it names the schema `public`"),
        ("DELETE FROM t USING s.u", "it names the schema `s`"),
        ("UPDATE t SET a = 1 FROM s.u", "it names the schema `s`"),
        ("TRUNCATE t, s.u", "it names the schema `s`"),
        ("LOCK s.t", "it names the schema `s`"),
        ("CREATE INDEX i ON t (a) WHERE s.t.a > 1", "it names the schema `s`"),
        ("SET LOCAL lock_timeout TO 5", "nothing"),
        ("SET search_path = x, y", "it goes to another schema"),
        ("SET LOCAL search_path TO x", "it goes to another schema"),
        ("SET SESSION AUTHORIZATION x", "it is about accounts"),
        ("set role = x", "it is about accounts"),
        ("ALTER SYSTEM SET x = 1", "it changes the server for everybody"),
        ("RESET lock_timeout", "unread"),
        ("SELECT setval('s.q', 1)", "it calls `setval`, which does more than compute"),
        (
            "SELECT pg_terminate_backend(1)",
            "it changes the server for everybody; it calls `pg_terminate_backend`, which does more than compute",
        ),
        ("SELECT s.f(1)", "unread"),
        ("WITH x AS (DELETE FROM s.t) SELECT 1", "unread"),
    ] {
        assert_eq!(of(Product::Postgres, text), found, "{text}");
    }
    assert_eq!(of(Product::Sqlite, "PRAGMA main.journal_mode"), "it names the schema `main`");
    assert_eq!(of(Product::Sqlite, "ATTACH 'x' AS y"), "it goes to another schema");
    assert_eq!(of(Product::Sqlite, "SELECT a FROM t"), "nothing");
}

#[test]
fn string_constants() {
    for value in ["", "it's", "back\\slash", "a\"b", "line\nbreak", "ü"] {
        for product in Product::ALL {
            let literal = text_literal(product, value);
            assert_eq!(text_value(product, &literal).as_deref(), Some(value), "{product}: {literal}");
        }
    }
    assert_eq!(text_value(Product::Mysql, r#""a\'\t""b""#).as_deref(), Some("a'\t\"b"));
    assert_eq!(text_value(Product::Mysql, r"'\%'").as_deref(), Some(r"\%"));
    assert_eq!(text_value(Product::Sqlite, "\"a\""), None);
    assert_eq!(text_value(Product::Postgres, r"E'a\'b\n''c\\'").as_deref(), Some("a'b\n'c\\"));
    assert_eq!(text_value(Product::Postgres, r"'a\'").as_deref(), Some(r"a\"));
    assert_eq!(text_value(Product::Postgres, r"E'\x41'"), None);
}
