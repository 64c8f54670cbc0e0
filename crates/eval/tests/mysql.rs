//! What MySQL and MariaDB answered, version by version, and the evaluator must answer too. Every line was tried on the
//! servers; `isopod selftest expressions` compares a million others.

use eval::{Column, Datum, Decimal, Evaluator, Fault, same};
use model::{
    ErrorClass, Kind, Product, SqlType, Value, Version,
    sql::{Expr, QueryPart, SelectItem, Statement},
};

fn expr(sql: &str) -> Expr {
    let tree = dialect::sql::parse(Product::Mysql, &format!("SELECT {sql}")).tree();
    let Some(Statement::Query(query)) = tree else { panic!("no query: {sql}") };
    let QueryPart::Select(mut select) = query.first else { panic!("no select: {sql}") };
    match select.items.pop() {
        Some(SelectItem::Expr { expr, .. }) => expr,
        _ => panic!("no expression: {sql}"),
    }
}

fn columns() -> (Vec<Column>, Vec<Datum>) {
    let int = |bits, unsigned| SqlType::Int { bits, unsigned };
    let cells = [
        ("a", int(32, true), Datum::UInt(2)),
        ("c", int(32, false), Datum::Int(2)),
        ("n", int(32, false), Datum::Null),
        ("low", int(64, false), Datum::Int(i64::MIN)),
        ("g", int(64, true), Datum::UInt(u64::MAX)),
        (
            "e",
            SqlType::Decimal { precision: 10, scale: 2 },
            Datum::Decimal(Decimal { unscaled: 200, scale: 2 }),
        ),
        ("s", SqlType::Varchar(9), Datum::Text("aB".into())),
        ("dt", SqlType::Date, Datum::Date(2020, 2, 29)),
        ("b", SqlType::Blob, Datum::Bytes(b"12".to_vec())),
        ("f", SqlType::Float, Datum::Double(3.25)),
        ("d", SqlType::Double, Datum::Double(1.5)),
        ("m", int(24, false), Datum::Int(-8388608)),
    ];
    cells
        .into_iter()
        .map(|(name, ty, datum)| (Column { table: None, name: name.into(), ty, collation: None }, datum))
        .unzip()
}

const SERVERS: [(Product, [u32; 3]); 5] = [
    (Product::Mysql, [5, 6, 51]),
    (Product::Mysql, [8, 0, 33]),
    (Product::Mysql, [9, 7, 0]),
    (Product::Mariadb, [10, 5, 0]),
    (Product::Mariadb, [11, 8, 0]),
];

/// The answer of each server as text; an error is `!`, unsure `?`.
fn answers(sql: &str, ask: impl Fn(&Evaluator, &Expr, &[Datum]) -> Result<Datum, Fault>) -> [String; 5] {
    let (columns, row) = columns();
    SERVERS.map(|(product, version)| {
        let version = Version(version.to_vec());
        let of = Evaluator { product, version: &version, columns: &columns };
        match ask(&of, &expr(sql), &row) {
            Ok(Datum::Null) => "NULL".to_string(),
            Ok(Datum::Text(text)) => text,
            Ok(Datum::Int(n)) => n.to_string(),
            Ok(Datum::UInt(n)) => n.to_string(),
            Ok(Datum::Decimal(d)) => d.to_string(),
            Ok(Datum::Double(d)) => d.to_string(),
            Ok(other) => format!("{other:?}"),
            Err(Fault::Error(ErrorClass::Range)) => "!".to_string(),
            Err(Fault::Error(class)) => class.name().to_string(),
            Err(Fault::Unsure(_)) => "?".to_string(),
        }
    })
}

#[track_caller]
fn all(sql: &str, expected: &str) {
    each(sql, [expected; 5]);
}

#[track_caller]
fn each(sql: &str, expected: [&str; 5]) {
    assert_eq!(answers(sql, |of, expr, row| of.value(expr, row)), expected, "{sql}");
}

/// As the condition of a WHERE.
#[track_caller]
fn each_where(sql: &str, expected: [&str; 5]) {
    let ask = |of: &Evaluator, expr: &Expr, row: &[Datum]| {
        Ok(of.truth(expr, row)?.map_or(Datum::Null, |truth| Datum::Int(i64::from(truth))))
    };
    assert_eq!(answers(sql, ask), expected, "WHERE {sql}");
}

/// Which of two marks is the first differs by collation; that they are not the same does not.
#[test]
fn texts_are_equal_or_not_without_an_order() {
    all("'F}' = ''", "0");
    all("s = '{' OR s <> '}'", "1");
    all("'{x' = '{X'", "1");
    all("'}' IN ('', '{')", "0");
    all("CASE '}' WHEN '' THEN 1 ELSE 2 END", "2");
    all("'a}' <=> 'a}'", "1");
    all("NULL = '}'", "NULL");
    // Blanks at the end of what the connection compares do not count.
    all("'} ' = '}'", "1");
    all("'é1' = ''", "0");
    all("'é' = ''", "?");
    all("'é' = 'e'", "?");
    all("'{' < '}'", "?");
    all("'F}' > ''", "?");
}

#[test]
fn whole_numbers_overflow() {
    all("low - 1", "!");
    all("a - 3", "!");
    all("c - 3", "-1");
    all("-g", "!");
    all("g + c", "!");
    all("c * 9223372036854775807", "!");
    each("low DIV 1", ["!", "!", "!", "-9223372036854775808", "-9223372036854775808"]);
    all("~c", "18446744073709551613");
    all("c << 63", "0");
    all("5 DIV 0", "NULL");
    // The rest of an unsigned number has no sign, even if it is exact.
    all("-128 * (12 DIV (a MOD 10.25))", "?");
    all("-128 * (12 DIV (c MOD 10.25))", "-768");
    each("a - (g MOD 16.0)", ["?", "?", "?", "-13.0", "-13.0"]);
    all("c - (g MOD 16.0)", "-13.0");
    all("n + (low - 1)", "!");
    // One below the smallest is the largest to MySQL 5.6.
    each("-3 * 3074457345618258603", ["9223372036854775807", "?", "?", "?", "?"]);
    each("(c - 5) * 3074457345618258603", ["9223372036854775807", "!", "!", "!", "!"]);
    all("(c - 5) * 3074457345618258604", "!");
    let smallest = "-9223372036854775808";
    each("(low DIV 2) * c", [smallest, "!", "!", smallest, smallest]);
    all("low * 1", smallest);
}

#[test]
fn exact_numbers_keep_their_digits() {
    all("c / 3", "0.6667");
    all("e * 1.5", "3.000");
    all("e % 1.5", "0.50");
    each("dt + 1.5", ["20200230.5", "20200230.5", "20200230.5", "?", "?"]);
    each("1 / 3 * 3", ["1.0000", "1.0000", "0.9999", "1.0000", "1.0000"]);
    each("ROUND(1.5, 3)", ["1.500", "1.5", "1.5", "1.500", "1.500"]);
    each("IF(1, 1, 2.50)", ["1", "1", "1", "1.00", "1.00"]);
    all("COALESCE(1, 2.50)", "1.00");
    // MariaDB takes zeros off a product: a quotient of it has fewer digits.
    each("(e * 12.5) / 5.25 * 5.00", {
        let long = "23.809523810";
        [long, long, "23.809524000", "23.809523805", "23.809523805"]
    });
    each("(e * 12.6) / 5.25 * 5.00", ["24.000000000"; 5]);
    // What became zero has no digits.
    let twice = |first| format!("({first} + 4) / 7.0 * 1000000000000000000");
    let (short, long) = ("571428571000000000.000000", "571428571428571428.000000");
    for zero in ["(1.50 - 1.50)", "(e - 2.00)", "(0.00 % 1.5)"] {
        each(&twice(zero), [short, short, "571429000000000000.000000", short, short]);
    }
    each(&twice("(3.00 % 1.50)"), [long, short, "571429000000000000.000000", long, long]);
    each(&twice("(0.00 + 0.00)"), [long, long, "571429000000000000.000000", long, long]);
    let (short, long) = ("571428571000000000.0000000", "571428571428571428.0000000");
    each(&twice("(1.5 * 0.00)"), [long, short, "571428600000000000.0000000", short, short]);
    each(&twice("(-1.5 * 0.00)"), [short, short, "571428600000000000.0000000", short, short]);
    all("((0.00 / 4.5) + 4.00) / 7 * 1000000000000000000", "571428571000000000.0000000000");
    // And it shows no more digits than a text has that was a number.
    each("d / CAST(c AS CHAR)", ["0.75", "0.75", "0.75", "?", "?"]);
    all("COALESCE(c + NULL, 1.50)", "?");
    all("CAST(99999999999 AS DECIMAL(4, 2))", "99.99");
    each("CAST('-0' AS DECIMAL(12, 2))", ["?", "0.00", "0.00", "?", "?"]);
}

#[test]
fn strings_are_numbers_as_far_as_they_go() {
    all("c = '2a'", "1");
    all("'1a' + 1", "2");
    all("CAST('1.9' AS SIGNED)", "1");
    each("'1.5' | 0", ["1", "1", "1", "2", "2"]);
    each("2.5e0 | 0", ["2", "2", "2", "3", "3"]);
    all("CONCAT(c, '-', e)", "2-2.00");
    all("SUBSTR('abc', 2, 1)", "b");
}

#[test]
fn collations_decide_about_case_and_blanks() {
    all("s = 'AB'", "1");
    each("s = 'ab '", ["1", "0", "0", "1", "1"]);
    all("'ab' = 'AB '", "1");
    all("s LIKE 'A_'", "1");
    all("s LIKE 'a'", "0");
    each("GREATEST('b', 'B')", ["b", "B", "B", "b", "b"]);
    // What is computed with NULL has a character set of its own, where there are two.
    each("(c IS NULL) AND (RTRIM(-32768) != NULLIF(NULL, 0.0))", ["?"; 5]);
    each("(c = 2) OR (CAST(-2 AS CHAR) <=> LEAST(NULL, s, s))", ["?"; 5]);
    each("IF(n, s, CONCAT('Zz', dt, NULL))", ["?", "NULL", "NULL", "?", "NULL"]);
    each("s = CAST(c AS CHAR)", ["0", "?", "?", "0", "?"]);
}

#[test]
fn unknown_is_neither_true_nor_false() {
    all("n AND 0", "0");
    all("n OR 1", "1");
    all("NOT n", "NULL");
    all("n <=> NULL", "1");
    all("c IN (1, n)", "NULL");
    all("c NOT BETWEEN 5 AND n", "1");
    each("0.4 XOR 0", ["0", "1", "1", "0", "0"]);
}

#[test]
fn signs_are_not_always_looked_at() {
    each("(-1) IN (g, 5)", ["1", "1", "1", "0", "0"]);
    all("(-1) IN (18446744073709551615, 5)", "0");
    each("(-1) IN (18446744073709551615, 12.5)", ["1", "1", "1", "0", "0"]);
    all("(-1) IN (18446744073709551615, NULL)", "NULL");
    // The type of what is computed with a date is not always known, even if it is not needed.
    each("n MOD (CASE WHEN n THEN a ELSE low END * dt)", ["NULL", "!", "!", "?", "?"]);
    each(
        "COALESCE(g, -1)",
        ["?", "18446744073709551615", "18446744073709551615", "18446744073709551615", "18446744073709551615"],
    );
}

#[test]
fn what_is_doubtful_is_left_open() {
    // MySQL 9 rounds the constants, MariaDB forgets the digits of the CAST.
    each("(c + 0) IN (0e0, 1.5e0)", ["0", "0", "?", "0", "0"]);
    each("2 = CAST(e AS CHAR)", ["1", "1", "1", "?", "?"]);
}

#[test]
fn an_error_may_not_be_reached() {
    // MySQL does not compute what cannot be NULL by its type where only that is asked.
    let hidden = "9223372036854775807 + IF(c, 1, 2)";
    each(&format!("n <=> ({hidden})"), ["?", "?", "?", "!", "!"]);
    each(&format!("({hidden}) IS NULL"), ["?"; 5]);
    all(&format!("5 <=> ({hidden})"), "!");
    // Who is NULL on the left ends it, mostly.
    all("n LIKE (low - 1)", "NULL");
    all("'a' LIKE (low - 1)", "!");
    each("n << (low - 1)", ["!", "NULL", "NULL", "!", "!"]);
    each("LEFT(n, (low - 1))", ["!", "NULL", "NULL", "!", "!"]);
    all("CASE (low - 1) WHEN NULL THEN 1 END", "NULL");
    each("(low - 1) IN (NULL, CAST(NULL AS SIGNED))", ["!", "NULL", "NULL", "!", "!"]);
    all("(low - 1) IN (NULL, n)", "!");
    all("REPLACE('x', 'a', (low - 1))", "!");
    // A constant is computed ahead, or never.
    all("('0' NOT LIKE 'a') OR ((65534 * 18446744073709551614) IS NOT NULL)", "?");
    all("(c = 2) OR ((c * 9223372036854775807) IS NOT NULL)", "1");
    all("(c = 1) AND ((9223372036854775806 - (-9223372036854775808)) < g)", "?");
}

#[test]
fn constants_in_where_are_not_always_kept() {
    // MySQL 8.0 cuts the constant to the column's digits, and forgets the sign of what becomes 0.
    for small in ["(-0.001) > e", "e <= -0.001", "NOT (e >= '-0.009')"] {
        each_where(small, ["0", "?", "0", "0", "0"]);
    }
    each_where("(-0.01) > e", ["0"; 5]);
    each("(-0.001) > e", ["0"; 5]);
    // It also loses rows where bytes are pinned to a constant and named again; MySQL 5.6 mixes collations.
    each_where("(b <=> x'3132') AND (b <=> b)", ["1", "?", "1", "1", "1"]);
    each_where("((f <=> s) OR (s <=> x'6142')) AND (x'6142' <=> s)", ["1", "?", "1", "1", "1"]);
    each_where("b <=> x'3132'", ["1"; 5]);
    each_where("(dt <=> '2020-02-29') AND ('2000-01-01' < dt)", ["?", "?", "?", "1", "1"]);
    each_where("(dt = '2020-02-29') AND ('2000-01-01' < dt)", ["1"; 5]);
    // What 5.6 computed once is no longer NULL; and a NULL counts as what it was computed from.
    each_where("CONCAT(e, CAST(NULL AS DATE)) IS NULL", ["?", "1", "1", "1", "1"]);
    each_where("SIGN(GREATEST(1, n))", ["?", "NULL", "NULL", "NULL", "NULL"]);
    each_where("SIGN(GREATEST(1, n)) = 1", ["NULL"; 5]);
    each_where("CONCAT(CONCAT(UPPER('x'), s), c) = 'Xab2'", ["?", "1", "1", "1", "1"]);
    each_where("CONCAT(UPPER('x'), s, c) = 'Xab2'", ["1"; 5]);
    // NOT of NOT is left out, and c is not 1.
    each_where("(NOT (NOT c)) = 1", ["?", "1", "1", "?", "?"]);
    each_where("(NOT (NOT (c = 2))) = 1", ["1"; 5]);
    each("(NOT (NOT c)) = 1", ["1"; 5]);
}

#[test]
fn a_column_is_replaced_by_what_it_equals() {
    // No row has 7, but 7 is tried.
    each_where("(c = 7) AND ((9223372036854775806 * c) = 2)", ["?"; 5]);
    each_where("(c = a) AND (a <=> 7) AND ((9223372036854775806 * c) = 2)", ["?"; 5]);
    each_where("(c < 1) AND ((9223372036854775806 * c) = 2)", ["0"; 5]);
    each_where("(c = 7) AND ((4 * c) = 2)", ["0"; 5]);
    each_where("(NOT n) AND ((n - 18446744073709551615) IS NULL)", ["?"; 5]);
    each_where("(n <> c) AND ((low - 1) IS NULL) AND (low = '-9223372036854775808')", ["?"; 5]);
    // A number without a sign that is -1.
    each_where("(g % 2) AND (g = -1)", ["?"; 5]);
}

#[test]
fn long_numbers_are_written_with_a_power() {
    all("CONCAT(d / -9999.9)", "?");
    all("CONCAT(d / 9999.9)", "0.00015000150001500016");
    all("CONCAT(d * 75750858750003.75e0)", "?");
    all("CONCAT(d * 75750858750003.5e0)", "113626288125005.25");
    // A FLOAT shows six digits, MySQL's CASE the branch as it is.
    each("CONCAT(IF(c, m, f))", ["-8388608", "-8388608", "-8388608", "?", "?"]);
    each("IF(c, c, f) LIKE '2'", ["1"; 5]);
    each("IF(c, IF(c, e, f), s)", ["2.00", "2.00", "2.00", "2", "2"]);
    each("COALESCE(IF(c, e, f), s)", ["2.00", "2.00", "2.00", "2", "2"]);
}

#[test]
fn the_last_digits_of_large_numbers() {
    all("g = '18446744073709551605'", "?");
    all("g BETWEEN d AND (~1e1)", "?");
    each("a BETWEEN d AND (~1e1)", ["?", "?", "?", "1", "1"]);
    each("(a + 0) BETWEEN d AND (~1e1)", ["?", "1", "1", "1", "1"]);
    each("g BETWEEN d AND '1'", ["?", "0", "0", "0", "0"]);
    each("(c = 2) IN ('1.25', 'a')", ["0", "0", "?", "0", "0"]);
    all("(c = 2) IN ('1', 'a')", "1");
}

#[test]
fn a_part_that_is_bytes() {
    // LEAST of numbers has the collation of bytes in MySQL 5.6, and so has the text with it.
    each("UPPER(CONCAT('a', LEAST(d, d)))", ["?", "A1.5", "A1.5", "A1.5", "A1.5"]);
    all("UPPER(CONCAT('a', dt))", "A2020-02-29");
}

#[test]
fn a_column_takes_what_fits() {
    let version = Version(vec![9, 7, 0]);
    let of = Evaluator { product: Product::Mysql, version: &version, columns: &[] };
    let byte = SqlType::Int { bits: 8, unsigned: false };
    assert_eq!(of.store(&Datum::Int(127), &byte), Ok(Datum::Int(127)));
    assert_eq!(of.store(&Datum::Int(128), &byte), Err(Fault::Error(ErrorClass::Range)));
    assert_eq!(of.store(&Datum::Text("1a".into()), &byte), Err(Fault::Error(ErrorClass::Range)));
    assert_eq!(of.store(&Datum::Text("abc  ".into()), &SqlType::Varchar(4)), Ok(Datum::Text("abc ".into())));
    assert_eq!(
        of.store(&Datum::Text("abcde".into()), &SqlType::Char(4)),
        Err(Fault::Error(ErrorClass::Range))
    );
    let money = SqlType::Decimal { precision: 4, scale: 1 };
    let stored = of.store(&Datum::Decimal(Decimal { unscaled: 1250, scale: 2 }), &money).unwrap();
    assert!(same(&Value { kind: Kind::Decimal, bytes: Some(b"12.5") }, &stored));
}
