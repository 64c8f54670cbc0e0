//! How each dialect groups operators: every text is compared with the same text in parentheses.

use dialect::sql::{parse, print_expr};
use model::{Product, sql::Statement};

fn tree(product: Product, expr: &str) -> Statement {
    parse(product, &format!("SELECT {expr}")).tree().unwrap_or_else(|| panic!("{product}: {expr}"))
}

fn same(product: Product, pairs: &[(&str, &str)]) {
    for (bare, grouped) in pairs {
        assert_eq!(
            tree(product, bare).without_parens(),
            tree(product, grouped).without_parens(),
            "{product}: {bare} is not {grouped}"
        );
    }
}

#[test]
fn everywhere() {
    for product in Product::ALL {
        same(
            product,
            &[
                ("a OR b AND c", "a OR (b AND c)"),
                ("NOT a = b", "NOT (a = b)"),
                ("NOT a AND b", "(NOT a) AND b"),
                ("NOT a IS NULL", "NOT (a IS NULL)"),
                ("a - b - c", "(a - b) - c"),
                ("a + b * c", "a + (b * c)"),
                ("a << b + c", "a << (b + c)"),
                ("-a * b", "(-a) * b"),
                ("a = b IS NULL", "(a = b) IS NULL"),
                ("a BETWEEN b AND c AND d", "(a BETWEEN b AND c) AND d"),
                ("a BETWEEN b AND c = d", "(a BETWEEN b AND c) = d"),
                ("a LIKE b = c", "(a LIKE b) = c"),
                ("a LIKE b AND c", "(a LIKE b) AND c"),
                ("a + b IN (1)", "(a + b) IN (1)"),
            ],
        );
    }
}

#[test]
fn comparisons_group_to_the_left_but_not_in_postgres() {
    for product in [Product::Mysql, Product::Mariadb, Product::Sqlite] {
        same(product, &[("a = b = c", "(a = b) = c")]);
    }
    for text in [
        "a = b = c",
        "a < b < c",
        "a IS NULL = b",
        "a LIKE b LIKE c",
        "a IN (1) IN (2)",
        "a BETWEEN b AND c BETWEEN d AND e",
        "a IS DISTINCT FROM b IS NULL",
        "a + ~b",
        "a | ~b",
        "a BETWEEN b COLLATE x AND c",
    ] {
        let parsed = parse(Product::Postgres, &format!("SELECT {text}"));
        assert_eq!(parsed.tree(), None, "{text}");
    }
}

#[test]
fn postgres() {
    same(
        Product::Postgres,
        &[
            ("a IS NULL AND b", "(a IS NULL) AND b"),
            ("a = b IN (1)", "a = (b IN (1))"),
            ("a = b LIKE c", "a = (b LIKE c)"),
            ("a = b BETWEEN c AND d", "a = (b BETWEEN c AND d)"),
            ("a < b IS TRUE", "(a < b) IS TRUE"),
            ("a = b IS DISTINCT FROM c = d", "(a = b) IS DISTINCT FROM (c = d)"),
            ("a | b & c << d", "((a | b) & c) << d"),
            ("a || b + c", "a || (b + c)"),
            ("a || b = c || d", "(a || b) = (c || d)"),
            ("a LIKE b || c", "a LIKE (b || c)"),
            ("a ~ b || c", "(a ~ b) || c"),
            ("~a + b", "~(a + b)"),
            ("~a | b", "(~a) | b"),
            ("-a ^ b", "(-a) ^ b"),
            ("a ^ b ^ c", "(a ^ b) ^ c"),
            ("a * b ^ c", "a * (b ^ c)"),
            ("-a COLLATE x", "(-a) COLLATE x"),
            ("a || b COLLATE x", "a || (b COLLATE x)"),
            ("a ^ b COLLATE x", "a ^ (b COLLATE x)"),
            ("-a::int", "-(a::int)"),
            ("a * b::int", "a * (b::int)"),
            ("a::int::text", "(a::int)::text"),
            ("a::text COLLATE x", "(a::text) COLLATE x"),
            ("NOT a IS DISTINCT FROM b", "NOT (a IS DISTINCT FROM b)"),
            ("a ISNULL OR b", "(a ISNULL) OR b"),
        ],
    );
}

#[test]
fn mysql_family() {
    for product in [Product::Mysql, Product::Mariadb] {
        same(
            product,
            &[
                ("a OR b XOR c", "a OR (b XOR c)"),
                ("a XOR b AND c", "a XOR (b AND c)"),
                ("a || b && c", "a || (b && c)"),
                ("a = b < c", "(a = b) < c"),
                ("a | b & c << d", "a | (b & (c << d))"),
                ("a * b ^ c", "a * (b ^ c)"),
                ("-a ^ b", "(-a) ^ b"),
                ("!a = b", "(!a) = b"),
                ("a = b IN (1)", "a = (b IN (1))"),
                ("a = b LIKE c", "a = (b LIKE c)"),
                ("a = b BETWEEN c AND d", "a = (b BETWEEN c AND d)"),
                ("a = b IS TRUE", "(a = b) IS TRUE"),
                ("-a COLLATE x", "-(a COLLATE x)"),
                ("a <=> b IS NULL", "(a <=> b) IS NULL"),
                ("a DIV b MOD c", "(a DIV b) MOD c"),
            ],
        );
    }
}

#[test]
fn sqlite() {
    same(
        Product::Sqlite,
        &[
            ("a = b < c", "a = (b < c)"),
            ("a | b & c << d", "((a | b) & c) << d"),
            ("a = b IN (1)", "(a = b) IN (1)"),
            ("a = b LIKE c", "(a = b) LIKE c"),
            ("a = b BETWEEN c AND d", "(a = b) BETWEEN c AND d"),
            ("a LIKE b < c", "a LIKE (b < c)"),
            ("a * b || c", "a * (b || c)"),
            ("-a || b", "(-a) || b"),
            ("-a COLLATE x", "(-a) COLLATE x"),
            ("a || b COLLATE x", "a || (b COLLATE x)"),
            ("a IS NULL < b", "a IS (NULL < b)"),
            ("a ISNULL = b", "(a ISNULL) = b"),
        ],
    );
}

#[test]
fn the_printer_adds_what_is_needed_and_no_more() {
    use model::sql::{BinaryOp, Expr, UnaryOp};
    let [a, b, c] = ["a", "b", "c"].map(Expr::column);
    let eq = Expr::binary(b.clone(), BinaryOp::Eq, c.clone());
    let sum = Expr::binary(a.clone(), BinaryOp::Add, b.clone());
    let not = |e: Expr| Expr::Unary { op: UnaryOp::Not, expr: Box::new(e) };
    let minus = |e: Expr| Expr::Unary { op: UnaryOp::Neg, expr: Box::new(e) };
    let collated = Expr::Collate { expr: Box::new(a.clone()), collation: "x".into() };
    let between = Expr::Between {
        expr: Box::new(c.clone()),
        negated: false,
        low: Box::new(Expr::binary(b.clone(), BinaryOp::Concat, collated.clone())),
        high: Box::new(collated),
    };
    // Its grammar has no COLLATE in the lower bound.
    assert_eq!(print_expr(Product::Postgres, &between), "c BETWEEN (b || a COLLATE x) AND a COLLATE x");
    let bit_not = |e: Expr| Expr::Unary { op: UnaryOp::BitNot, expr: Box::new(e) };
    assert_eq!(print_expr(Product::Postgres, &bit_not(bit_not(a.clone()))), "~ (~a)");
    assert_eq!(
        print_expr(Product::Postgres, &Expr::binary(bit_not(a.clone()), BinaryOp::Add, b.clone())),
        "(~a) + b"
    );
    // `~-` would be one operator.
    let product = Expr::binary(minus(a.clone()), BinaryOp::Mul, b.clone());
    assert_eq!(print_expr(Product::Postgres, &bit_not(product)), "~ -a * b");
    for (expr, my, sqlite) in [
        (Expr::binary(sum.clone(), BinaryOp::Mul, c.clone()), "(a + b) * c", "(a + b) * c"),
        (Expr::binary(c.clone(), BinaryOp::Sub, sum), "c - (a + b)", "c - (a + b)"),
        (Expr::binary(not(eq.clone()), BinaryOp::And, a.clone()), "NOT b = c AND a", "NOT b = c AND a"),
        (Expr::binary(not(a.clone()), BinaryOp::Eq, b.clone()), "(NOT a) = b", "(NOT a) = b"),
        (Expr::binary(eq, BinaryOp::Lt, a), "b = c < a", "(b = c) < a"),
        (Expr::int(-3), "-3", "-3"),
    ] {
        assert_eq!(print_expr(Product::Mysql, &expr), my);
        assert_eq!(print_expr(Product::Mariadb, &expr), my);
        assert_eq!(print_expr(Product::Sqlite, &expr), sqlite);
        assert_eq!(print_expr(Product::Postgres, &expr), sqlite);
    }
}
