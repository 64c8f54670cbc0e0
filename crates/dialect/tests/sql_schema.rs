//! What CREATE TABLE, CREATE INDEX and INSERT make of a schema.

use dialect::{ParsedCase, ParsedSetup, sql::schema::*};
use model::{
    Case, Product, Setup,
    schema::KeyKind,
    sql::{Action, Expr},
};

fn parsed(product: Product, texts: &[&str]) -> std::sync::Arc<ParsedSetup> {
    let setup = Setup { statements: texts.iter().map(|text| text.to_string()).collect() };
    ParsedCase::new(product, Case { setup, ..Case::default() }).parsed_setup.clone()
}

fn schema(product: Product, texts: &[&str]) -> Schema {
    parsed(product, texts).schema.clone().unwrap()
}

#[test]
fn columns_keep_their_defaults_and_what_computes_them_as_trees() {
    let schema = schema(
        Product::Mysql,
        &[
            "CREATE TABLE t(a INT DEFAULT 7, b INT AS (a + 1), c INT AS (a) STORED, d TIMESTAMP ON UPDATE NOW(), \
             e VARCHAR(5) COLLATE utf8mb4_bin CHECK (e <> ''), CHECK (a > 0), f INT AUTO_INCREMENT KEY)",
        ],
    );
    let [table] = &schema.tables[..] else { panic!("{schema:?}") };
    let [a, b, c, d, e, f] = &table.columns[..] else { panic!("{table:?}") };
    assert!(matches!(a.default, Some(Expr::Literal(_))) && !a.own_values && a.nullable);
    assert_eq!([b, c].map(|column| column.generated.as_ref().unwrap().is_virtual), [true, false]);
    assert!(b.own_values && d.on_update && d.own_values && f.counts && f.own_values && !f.nullable);
    assert_eq!(e.collation.as_deref(), Some("utf8mb4_bin"));
    assert_eq!(table.checks.len(), 2);
    assert!(!table.other_engine && !table.joined);
}

#[test]
fn keys_stand_in_written_order_with_what_limits_them() {
    let schema = schema(
        Product::Mysql,
        &[
            "CREATE TABLE t(a INT UNIQUE, b VARCHAR(9), KEY k (b(3)), CONSTRAINT u UNIQUE (b, a DESC), PRIMARY KEY (a))",
            "CREATE INDEX i ON t (b)",
        ],
    );
    let keys: Vec<_> = schema.tables[0]
        .keys
        .iter()
        .map(|key| (key.name.as_deref(), key.kind, key.columns.clone(), key.prefix, key.descending.clone()))
        .collect();
    assert_eq!(
        keys,
        [
            (None, KeyKind::Unique, vec![0], false, vec![false]),
            (Some("k"), KeyKind::Plain, vec![1], true, vec![false]),
            (Some("u"), KeyKind::Unique, vec![1, 0], false, vec![false, true]),
            (None, KeyKind::Primary, vec![0], false, vec![false]),
            (Some("i"), KeyKind::Plain, vec![1], false, vec![false]),
        ]
    );
    assert_eq!(schema.tables[0].uniques().count(), 3);
}

#[test]
fn what_holds_for_some_rows_is_not_unique_for_all() {
    let texts = ["CREATE TABLE t(a int, b int)", "CREATE UNIQUE INDEX i ON t (a) WHERE b > 0"];
    let schema = schema(Product::Postgres, &texts);
    assert!(schema.tables[0].keys[0].partial);
    assert_eq!(schema.tables[0].uniques().count(), 0);
}

#[test]
fn foreign_keys_know_their_parents() {
    let schema = schema(
        Product::Mysql,
        &[
            "CREATE TABLE p(a INT, b INT, PRIMARY KEY (b))",
            "CREATE TABLE c(x INT, y INT REFERENCES p (b), FOREIGN KEY (x) REFERENCES p(b) ON DELETE CASCADE)",
            "CREATE TABLE s(i INT PRIMARY KEY, j INT, FOREIGN KEY (j) REFERENCES s (i) ON UPDATE SET NULL)",
            "CREATE TABLE alone(a INT) ENGINE = MyISAM",
        ],
    );
    let [p, c, s, alone] = &schema.tables[..] else { panic!("{schema:?}") };
    let [inline, cascade] = &c.foreign_keys[..] else { panic!("{c:?}") };
    assert!(inline.inline && inline.columns == [1]);
    assert_eq!((cascade.parent, &cascade.keys[..], cascade.on_delete), (Some(0), &[1][..], Action::Cascade));
    assert_eq!(cascade.on_update, Action::NoAction);
    let own = &s.foreign_keys[0];
    assert_eq!((own.parent, &own.keys[..], own.on_update), (Some(2), &[0][..], Action::SetNull));
    assert_eq!([p, c, s, alone].map(|table| table.joined), [true, true, true, false]);
    assert!(alone.other_engine);
}

/// What is added after the rows is there when the case begins; only a reset must run all of it again.
#[test]
fn alter_table_adds_to_a_table_that_is_there() {
    let texts = [
        "CREATE TABLE p(a INT PRIMARY KEY)",
        "CREATE TABLE c(a INT, b INT)",
        "INSERT INTO c VALUES (1, 1)",
        "ALTER TABLE c ADD UNIQUE KEY i (a), ADD CONSTRAINT f FOREIGN KEY (b) REFERENCES p (a) ON DELETE CASCADE",
        "ALTER TABLE c ADD CHECK (a > 0), ADD FOREIGN KEY (b) REFERENCES c (a)",
    ];
    let setup = parsed(Product::Mysql, &texts);
    assert!(setup.data.as_ref().unwrap().late_index);
    let [p, c] = &setup.schema.as_ref().unwrap().tables[..] else { panic!("two tables") };
    let foreign: Vec<_> = c.foreign_keys.iter().map(|key| (key.parent, key.on_delete)).collect();
    assert_eq!(foreign, [(Some(0), Action::Cascade), (Some(1), Action::NoAction)]);
    assert_eq!((c.keys.len(), c.checks.len(), p.joined, c.joined), (1, 1, true, true));
    let wrong = parsed(Product::Mysql, &["CREATE TABLE t(a INT)", "ALTER TABLE t ADD KEY (b)"]);
    assert_eq!(wrong.schema.as_ref().unwrap_err().reason, "statement 2: column b is not in table t");
}

#[test]
fn a_setup_that_is_no_data_may_have_a_schema_all_the_same() {
    let texts = ["CREATE TABLE t(a INT)", "INSERT INTO t VALUES (1)", "INSERT INTO t SELECT a + 1 FROM t"];
    let setup = parsed(Product::Mysql, &texts);
    assert!(
        setup.data.as_ref().unwrap_err().reason.starts_with("statement 3: it inserts what a query gives")
    );
    let schema = setup.schema.as_ref().unwrap();
    let insertions: Vec<_> = schema.insertions.iter().map(|one| (one.table, one.statement)).collect();
    assert_eq!(insertions, [(0, 1), (0, 2)]);
    for (texts, why) in [
        (&["CREATE VIEW v AS SELECT 1"][..], "statement 1: "),
        (&["CREATE TABLE t(a INT, KEY (b))"], "statement 1: column b is not in table t"),
        (&["CREATE TABLE t(a INT)", "DELETE FROM t"], "statement 2: neither"),
    ] {
        let setup = parsed(Product::Mysql, texts);
        let reason = setup.schema.as_ref().unwrap_err().reason.clone();
        assert!(reason.starts_with(why), "{texts:?}: {reason}");
        assert!(setup.data.is_err());
    }
}

#[test]
fn a_solid_key_names_every_row() {
    let solid = |keys: &str| {
        let table = format!("CREATE TABLE t(a INT, b INT NOT NULL, c VARCHAR(9) NOT NULL{keys})");
        schema(Product::Mysql, &[&table]).tables[0].has_solid_key()
    };
    assert!(solid(", PRIMARY KEY (a)") && solid(", UNIQUE KEY (b)"));
    assert!(
        !solid("") && !solid(", KEY (b)") && !solid(", UNIQUE KEY (a, b)") && !solid(", UNIQUE KEY (c(3))")
    );
}
