//! What can be asked of a tree: its kind, what stands inside it, and a walk through it.

use dialect::sql::{parse, print};
use model::{
    Product,
    sql::{Expr, Literal, ObjectName, Query, Statement, StatementClass, StatementKind, Visit, VisitMut},
};
use proptest::prelude::*;

mod trees;

fn tree(product: Product, text: &str) -> Statement {
    parse(product, text).tree().unwrap_or_else(|| panic!("{text} has no tree"))
}

#[test]
fn each_statement_has_its_kind_and_class() {
    use StatementClass as Class;
    use StatementKind as Kind;
    let told = [
        ("BEGIN", Kind::Begin, Class::Control),
        ("COMMIT", Kind::Commit, Class::Control),
        ("ROLLBACK", Kind::Rollback, Class::Control),
        ("ROLLBACK TO s", Kind::Savepoint, Class::Control),
        ("SAVEPOINT s", Kind::Savepoint, Class::Control),
        ("RELEASE SAVEPOINT s", Kind::Savepoint, Class::Control),
        ("SELECT a FROM t WHERE a IN (SELECT b FROM u FOR UPDATE)", Kind::Select, Class::Data),
        ("SELECT a FROM t FOR SHARE", Kind::LockingSelect, Class::Data),
        ("REPLACE INTO t VALUES (1)", Kind::Insert, Class::Data),
        ("UPDATE t SET a = 1", Kind::Update, Class::Data),
        ("DELETE FROM t", Kind::Delete, Class::Data),
        ("TRUNCATE TABLE t", Kind::Ddl, Class::Ddl),
        ("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", Kind::Set, Class::Session),
        ("SET autocommit = 0", Kind::Set, Class::Session),
    ];
    for (text, kind, class) in told {
        let tree = tree(Product::Mysql, text);
        assert_eq!((tree.kind(), tree.class()), (kind, class), "{text}");
    }
    let lock = tree(Product::Postgres, "LOCK TABLE t IN SHARE MODE");
    assert_eq!((lock.kind(), lock.class()), (Kind::LockTable, Class::Session));
    assert_eq!(tree(Product::Sqlite, "PRAGMA foreign_keys = 1").kind(), Kind::Set);
}

#[test]
fn a_walk_comes_to_inner_queries_before_outer_ones() {
    let text = "UPDATE t SET a = (SELECT MAX(b) FROM u WHERE b IN (SELECT c FROM v)) WHERE d > 0 LIMIT 2";
    let tree = tree(Product::Mysql, text);
    let mut queries = Vec::new();
    tree.for_each_query(|query| queries.push(print(Product::Mysql, &Statement::Query(query.clone()))));
    assert_eq!(queries, ["SELECT c FROM v", "SELECT MAX(b) FROM u WHERE b IN (SELECT c FROM v)"]);
    let mut columns = Vec::new();
    tree.for_each_expr(|expr| {
        if let Expr::Column(column) = expr {
            columns.push(column.name.name.as_str());
        }
    });
    assert_eq!(columns, ["b", "b", "c", "d"]);
}

#[test]
fn children_are_the_parts_of_an_expression_and_not_those_of_its_query() {
    let of = |text: &str| {
        let Statement::Update(update) = tree(Product::Sqlite, &format!("UPDATE t SET x = {text}")) else {
            panic!("{text}");
        };
        let value = update.assignments[0].value.clone();
        let names = |expr: &Expr| match expr {
            Expr::Column(column) => column.name.name.clone(),
            other => panic!("{other:?}"),
        };
        let inside: Vec<String> = value.children().into_iter().map(names).collect();
        (inside.join(" "), value.has_query())
    };
    assert_eq!(of("CASE a WHEN b THEN c ELSE d END"), ("a b c d".into(), false));
    assert_eq!(of("a LIKE b ESCAPE c"), ("a b c".into(), false));
    assert_eq!(of("a BETWEEN b AND c"), ("a b c".into(), false));
    assert_eq!(of("a IN (b, c, d, e)"), ("a b c d e".into(), false));
    assert_eq!(of("a IN (SELECT b FROM u)"), ("a".into(), true));
    assert_eq!(of("EXISTS (SELECT b FROM u)"), (String::new(), true));
}

#[test]
fn a_footprint_tells_what_is_written_from_what_is_read_and_what_is_read_inside() {
    let of = |product: Product, text: &str| {
        let tree = tree(product, text);
        let footprint = tree.footprint();
        let names = |list: &[&ObjectName]| {
            list.iter().map(|name| name.name.name.as_str()).collect::<Vec<_>>().join(" ")
        };
        [names(&footprint.writes), names(&footprint.reads), names(&footprint.inner)].join("|")
    };
    let mysql = |text: &str| of(Product::Mysql, text);
    assert_eq!(mysql("SELECT * FROM t JOIN u ON t.a = u.a WHERE b IN (SELECT b FROM v)"), "|t u|v");
    assert_eq!(mysql("SELECT a FROM t UNION SELECT a FROM u"), "|t u|");
    assert_eq!(mysql("SELECT a FROM (SELECT a FROM t) AS x"), "||t");
    assert_eq!(mysql("INSERT INTO t SELECT * FROM u WHERE a > (SELECT 1 FROM v)"), "t||v u");
    assert_eq!(mysql("UPDATE t SET a = (SELECT MAX(a) FROM u)"), "t|t|u");
    assert_eq!(mysql("UPDATE t JOIN u ON t.a = u.a SET t.b = 1"), "t|t u|");
    assert_eq!(mysql("UPDATE t JOIN u ON t.a = u.a SET b = 1"), "t u|t u|");
    assert_eq!(mysql("DELETE FROM t USING t JOIN u ON t.a = u.a"), "t|t t u|");
    assert_eq!(mysql("TRUNCATE TABLE t"), "t||");
    assert_eq!(mysql("COMMIT"), "||");
    assert_eq!(of(Product::Postgres, "UPDATE t SET a = 1 FROM u WHERE t.a = u.a"), "t|t u|");
    assert_eq!(of(Product::Postgres, "LOCK TABLE t IN SHARE MODE"), "|t|");
}

#[derive(Default)]
struct Seen(Vec<String>);

impl<'t> Visit<'t> for Seen {
    fn expr(&mut self, expr: &'t Expr) {
        self.0.push(format!("{expr:?}"));
    }
    fn object(&mut self, name: &'t ObjectName) {
        self.0.push(format!("{name:?}"));
    }
    fn query(&mut self, query: &'t Query) {
        self.0.push(format!("{query:?}"));
    }
}

impl VisitMut for Seen {
    fn expr(&mut self, expr: &mut Expr) {
        Visit::expr(self, expr);
    }
    fn object(&mut self, name: &mut ObjectName) {
        Visit::object(self, name);
    }
    fn query(&mut self, query: &mut Query) {
        Visit::query(self, query);
    }
}

#[test]
fn a_walk_that_changes_may_put_something_else_in_place_of_what_it_meets() {
    struct Nothing;
    impl VisitMut for Nothing {
        fn expr(&mut self, expr: &mut Expr) {
            if expr.subquery().is_some() {
                *expr = Expr::Literal(Literal::Null);
            }
        }
    }
    let mut tree =
        tree(Product::Mysql, "DELETE FROM t WHERE a = (SELECT b FROM u) OR EXISTS (SELECT 1 FROM v)");
    tree.visit_mut(&mut Nothing);
    assert_eq!(print(Product::Mysql, &tree), "DELETE FROM t WHERE a = NULL OR NULL");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_walks_come_to_the_same_places_in_the_same_order(
        statement in prop_oneof![trees::statement(Product::Mysql), trees::statement(Product::Postgres)],
    ) {
        let (mut read, mut changed) = (Seen::default(), Seen::default());
        statement.visit(&mut read);
        statement.clone().visit_mut(&mut changed);
        prop_assert_eq!(read.0, changed.0);
    }
}
