//! The trickier rules, each as SQL over one row and what a server said to it.

use model::{
    ErrorClass, Product, SqlType, Version,
    sql::{Expr, QueryPart, SelectItem, Statement},
};

use crate::{Column, Datum, Evaluator, Fault};

fn read(text: &str) -> Expr {
    let parsed = dialect::sql::parse(Product::Postgres, &format!("SELECT {text}"));
    let Some(Statement::Query(query)) = parsed.tree() else { panic!("{text}") };
    let QueryPart::Select(mut select) = query.first else { panic!("{text}") };
    match select.items.pop() {
        Some(SelectItem::Expr { expr, .. }) => expr,
        _ => panic!("{text}"),
    }
}

/// A row with `a INT = 0`, `s SMALLINT = 32767`, `c CHAR(4) = 'ab'`, `v VARCHAR(8) = 'ab '`, `t TEXT = 'ab'`, `n INT = NULL`.
fn with<T>(version: u32, ask: impl FnOnce(&Evaluator, &[Datum]) -> T) -> T {
    let int = |bits| SqlType::Int { bits, unsigned: false };
    let types = [int(32), int(16), SqlType::Char(4), SqlType::Varchar(8), SqlType::Text, int(32)];
    let columns: Vec<Column> = ["a", "s", "c", "v", "t", "n"]
        .into_iter()
        .zip(types)
        .map(|(name, ty)| Column { table: None, name: name.into(), ty, collation: None })
        .collect();
    let text = |text: &str| Datum::Text(text.into());
    let row = [Datum::Int(0), Datum::Int(32767), text("ab"), text("ab "), text("ab"), Datum::Null];
    let version = Version(vec![version]);
    ask(&Evaluator { product: Product::Postgres, version: &version, columns: &columns }, &row)
}

fn value(text: &str) -> Result<Datum, Fault> {
    with(18, |of, row| of.value(&read(text), row))
}

const RANGE: Result<Datum, Fault> = Err(Fault::Error(ErrorClass::Range));
const ZERO: Result<Datum, Fault> = Err(Fault::Error(ErrorClass::Runtime));
const YES: Result<Datum, Fault> = Ok(Datum::Bool(true));
const NO: Result<Datum, Fault> = Ok(Datum::Bool(false));

#[test]
fn constants_are_computed_ahead() {
    assert_eq!(value("CASE WHEN a > 0 THEN 1 / 0 ELSE 2 END"), ZERO);
    assert_eq!(value("CASE WHEN FALSE THEN 1 / 0 ELSE 2 END"), Ok(Datum::Int(2)));
    assert_eq!(value("CASE WHEN a > 0 THEN 1 / a ELSE 2 END"), Ok(Datum::Int(2)));
    assert_eq!(value("(FALSE) AND (1 / 0 = 1)"), NO);
    assert_eq!(value("(a = 1) AND (1 / 0 = 1)"), ZERO);
    assert_eq!(value("(a = 1) AND (1 / a = 1)"), NO);
    assert_eq!(value("CAST(NULL AS INTEGER) + 1 / a"), Ok(Datum::Null));
    assert_eq!(value("n + 1 / a"), ZERO);
    assert_eq!(value("COALESCE(1, 1 / 0)"), Ok(Datum::Int(1)));
    let nullif = read("NULLIF(CAST(NULL AS INTEGER), a) = (1 / a)");
    assert_eq!(with(18, |of, row| of.value(&nullif, row)), Ok(Datum::Null));
    assert_eq!(with(13, |of, row| of.value(&nullif, row)), ZERO);
}

#[test]
fn the_parts_of_a_condition_have_no_order() {
    let unsure = with(18, |of, row| of.truth(&read("(a = 1) AND (1 / a = 1)"), row));
    assert!(matches!(unsure, Err(Fault::Unsure(_))));
    assert_eq!(with(18, |of, row| of.truth(&read("1 / a = 1"), row)), Err(Fault::Error(ErrorClass::Runtime)));
    let two = read("(1 / a = 1) AND (s + s = s)");
    assert!(matches!(with(18, |of, row| of.truth(&two, row)), Err(Fault::Unsure(_))));
    // NOT is taken inside: with a NULL among them the parts of NOT (... OR ...) cannot all hold.
    let inside = with(18, |of, row| of.truth(&read("NOT ((1 / a) IN (a, CAST(NULL AS INTEGER), s))"), row));
    assert!(matches!(inside, Err(Fault::Unsure(_))));
    assert_eq!(value("NOT ((1 / a) IN (a, CAST(NULL AS INTEGER), s))"), ZERO);
}

#[test]
fn the_narrowest_type_overflows() {
    assert_eq!(value("s + s"), RANGE);
    assert_eq!(value("s + 1"), Ok(Datum::Int(32768)));
    assert_eq!(value("-2147483648 - 1"), RANGE);
    assert_eq!(value("-(-2147483648)"), Ok(Datum::Int(2147483648)));
    assert_eq!(value("2147483648 + 1"), Ok(Datum::Int(2147483649)));
    assert_eq!(value("COALESCE(s, a) + 1"), Ok(Datum::Int(32768)));
}

#[test]
fn blanks_count_by_type() {
    assert_eq!(value("c = v"), YES);
    assert_eq!(value("c = t"), YES);
    assert_eq!(value("v = t"), NO);
    assert_eq!(value("c LIKE 'ab'"), NO);
    assert_eq!(value("LENGTH(c)"), Ok(Datum::Int(2)));
    assert_eq!(value("OCTET_LENGTH(c)"), Ok(Datum::Int(4)));
    assert_eq!(value("c || 'x'"), Ok(Datum::Text("abx".into())));
    assert_eq!(value("CONCAT(c, 'x')"), Ok(Datum::Text("ab  x".into())));
}

#[test]
fn types_that_do_not_fit_are_errors() {
    let refused = Err(Fault::Error(ErrorClass::Syntax));
    for text in ["a = t", "a AND TRUE", "t + 1", "CAST(a = 0 AS BIGINT)", "COALESCE(a, t)", "1.5 & 1"] {
        assert_eq!(value(text), refused, "{text}");
    }
    assert_eq!(value("a = 'x'"), RANGE);
    assert_eq!(value("a = '0'"), YES);
}

#[test]
fn columns_take_what_fits() {
    let store = |datum: Datum, ty: SqlType| with(18, |of, _| of.store(&datum, &ty));
    let text = |text: &str| Datum::Text(text.into());
    assert_eq!(store(text("ab "), SqlType::Char(4)), Ok(text("ab  ")));
    assert_eq!(store(text("abc "), SqlType::Varchar(3)), Ok(text("abc")));
    assert_eq!(store(text("abcd"), SqlType::Varchar(3)), RANGE);
    assert_eq!(store(Datum::Int(40000), SqlType::Int { bits: 16, unsigned: false }), RANGE);
    let exact = Datum::Decimal(crate::Decimal { unscaled: 1255, scale: 2 });
    let tenth = Datum::Decimal(crate::Decimal { unscaled: 126, scale: 1 });
    assert_eq!(store(exact, SqlType::Decimal { precision: 5, scale: 1 }), Ok(tenth));
    assert!(matches!(store(text("1"), SqlType::Double), Err(Fault::Unsure(_))));
}
