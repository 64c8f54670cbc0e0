//! What each pass can leave out, on small cases written by hand.

use model::{Case, Product, casefile};
use reduce::{Budget, reduce};

fn case(text: &str) -> Case {
    casefile::parse(text).unwrap().into_case()
}

fn reduced(text: &str, product: Product, needs: &[&str]) -> String {
    let keeps = |case: &Case| {
        let all = casefile::print(case).unwrap();
        needs.iter().all(|word| all.contains(word))
    };
    let result = reduce(&case(text), product, &mut |case| keeps(case), Budget { candidates: 10_000 });
    assert!(result.finished && keeps(&result.case));
    casefile::print(&result.case).unwrap()
}

const ACCOUNTS: &str = "\
title   Accounts

setup
  CREATE TABLE t(a INT NOT NULL, b INT, c INT, PRIMARY KEY (a), KEY i (b));
  CREATE TABLE u(x INT UNIQUE);
  CREATE INDEX j ON t(c);
  INSERT INTO t VALUES (1, 2, 3), (4, 5, 6), (7, 8, 9);
  INSERT INTO u VALUES (1);

steps
  T1: BEGIN;
  T2: BEGIN;
  T3: SELECT * FROM u;
  T1: UPDATE t SET a = 9 WHERE a = 4;
      => 1 row
  T2: SELECT a FROM t;
  T1: INSERT INTO t VALUES (20, 21, 22);
  T2: COMMIT;
  T1: COMMIT;

final
  t => (1, 2, 3)
";

#[test]
fn everything_that_is_not_needed_goes() {
    let text =
        reduced(ACCOUNTS, Product::Mysql, &["UPDATE t", "(4", "INSERT INTO t VALUES (20", "T2: SELECT a"]);
    assert_eq!(
        text,
        "\
title   Accounts

setup
  CREATE TABLE t (a INT);
  INSERT INTO t VALUES (4);

steps
  T1: UPDATE t SET a = 9 WHERE a = 4;
  T2: SELECT a FROM t;
  T1: INSERT INTO t VALUES (20);
"
    );
}

#[test]
fn a_transaction_stays_whole_or_goes_whole() {
    let text = reduced(ACCOUNTS, Product::Mysql, &["T1: COMMIT", "T2: SELECT a"]);
    assert!(text.contains("T1: BEGIN") && !text.contains("T2: BEGIN"), "{text}");
    assert!(!text.contains("CREATE TABLE u") && !text.contains("INSERT"), "{text}");
}

#[test]
fn an_index_that_a_statement_asks_for_stays() {
    let hint = ACCOUNTS.replace("SELECT a FROM t", "SELECT a FROM t FORCE INDEX (i)");
    let text = reduced(&hint, Product::Mysql, &["FORCE INDEX"]);
    assert!(text.contains("KEY i (b)") && !text.contains("PRIMARY"), "{text}");
    assert!(text.contains("a INT, b INT,"), "a column that a key names stays: {text}");
}

#[test]
fn what_nobody_can_read_goes_whole_or_stays() {
    let opaque = ACCOUNTS
        .replace("CREATE INDEX j ON t(c)", "ALTER TABLE t ADD INDEX j (c)")
        .replace("SELECT a FROM t", "SELECT /*+ NO_ICP(t) */ a FROM t");
    let text = reduced(&opaque, Product::Mysql, &["NO_ICP", "ALTER"]);
    assert!(text.contains("T2: SELECT /*+ NO_ICP(t) */ a FROM t;"), "{text}");
    assert!(text.contains("ALTER TABLE t ADD INDEX j (c);") && text.contains("c INT"), "{text}");
    let text = reduced(&opaque, Product::Mysql, &["UPDATE t"]);
    assert!(!text.contains("NO_ICP") && !text.contains("ALTER"), "{text}");
}

#[test]
fn columns_in_lists_and_in_words_of_their_own_dialect() {
    let text = reduced(
        "\
title   Lists

setup
  CREATE TABLE \"t\"(\"a\" INTEGER PRIMARY KEY, b TEXT, c TEXT DEFAULT 'x');
  INSERT INTO \"t\" (c, a) VALUES ('p', 1), ('q', 2);

steps
  T1: INSERT INTO t (a, b) VALUES (3, 'r');
  T2: DELETE FROM t WHERE b = 'r';
",
        Product::Sqlite,
        &["'r')", "DELETE"],
    );
    assert!(text.contains("T1: INSERT INTO t (b) VALUES ('r');"), "{text}");
    assert!(!text.contains('c') || !text.contains("TEXT DEFAULT"), "{text}");
}
