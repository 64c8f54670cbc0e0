//! What each layer can leave out or say more simply, on small cases written by hand.

use model::{Case, Product, casefile};
use reduce::{Budget, Scope, reduce, strategy::InOrder};

fn case(text: &str) -> Case {
    casefile::parse(text).unwrap().into_case()
}

/// Made smaller while the file still has all of these, and looks like something a server would take.
fn reduced(text: &str, product: Product, needs: &[&str]) -> String {
    let keeps = |case: &Case| {
        let all = casefile::print(case).unwrap();
        needs.iter().all(|word| all.contains(word))
    };
    let budget = Budget { candidates: 10_000 };
    let result =
        reduce(&case(text), product, Scope::Whole, &mut |case: &Case| keeps(case), &mut InOrder, budget);
    assert!(result.finished && keeps(&result.case));
    casefile::print(&result.case).unwrap()
}

/// The same for the body of a case on MySQL; title and blanks are left out of the answer.
fn lines(setup: &str, steps: &str, needs: &[&str]) -> Vec<String> {
    let text = format!("title Small\n\nsetup\n{setup}\n\nsteps\n{steps}\n");
    let text = reduced(&text, Product::Mysql, needs);
    let lines = text.lines().map(str::trim).filter(|line| line.ends_with(';'));
    lines.map(str::to_string).collect()
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
    let needs = ["T1: UPDATE t SET a = 9 WHERE a = 4", "T2: SELECT a", "T1: INSERT INTO t VALUES (20", "(4"];
    assert_eq!(
        reduced(ACCOUNTS, Product::Mysql, &needs),
        "\
title   Accounts
session T1
session T2

setup
  CREATE TABLE t (a INT);
  INSERT INTO t VALUES (4);

steps
  T2: SELECT a FROM t;
  T1: UPDATE t SET a = 9 WHERE a = 4;
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
fn savepoints_go_with_what_goes_back_to_them() {
    let steps =
        "  T1: BEGIN;\n  T1: SAVEPOINT s;\n  T1: SELECT 1;\n  T1: ROLLBACK TO SAVEPOINT s;\n  T1: COMMIT;";
    let whole = |text: &str| text.contains("SAVEPOINT s;") == text.contains("ROLLBACK TO");
    let text = format!("title Savepoints\n\nsteps\n{steps}\n");
    let mut predicate = |case: &Case| {
        let text = casefile::print(case).unwrap();
        whole(&text) && text.contains("SELECT 1")
    };
    let result = reduce(
        &case(&text),
        Product::Mysql,
        Scope::Whole,
        &mut predicate,
        &mut InOrder,
        Budget { candidates: 500 },
    );
    assert_eq!(result.case.steps.len(), 1, "{:?}", result.case.steps);
}

#[test]
fn the_order_gets_easier_to_follow() {
    let steps = "  T1: BEGIN;\n  T2: BEGIN;\n  T1: SELECT 1;\n  T2: SELECT 2;\n  T1: COMMIT;\n  T2: COMMIT;";
    let all = ["T1: BEGIN", "T2: BEGIN", "T1: SELECT 1", "T2: SELECT 2", "T1: COMMIT", "T2: COMMIT"];
    let found = lines("", steps, &all);
    assert_eq!(found.join(" "), "T1: BEGIN; T1: SELECT 1; T1: COMMIT; T2: BEGIN; T2: SELECT 2; T2: COMMIT;");
}

#[test]
fn sessions_become_alike_and_one_does_the_work_of_two() {
    let text = "title Levels\nsession T1 level RC\nsession T2 level RR, autocommit off\nsession T3 level SER\n\nsteps\n  T1: SELECT 1;\n  T2: SELECT 2;\n  T3: SELECT 3;\n";
    let found = reduced(text, Product::Mysql, &["T1: SELECT 1", "T2: SELECT 2", "SELECT 3"]);
    assert!(!found.contains("T3") && !found.contains("autocommit"), "{found}");
    assert_eq!(found.matches("level").count(), 2, "{found}");
    let levels: Vec<&str> = found.lines().filter_map(|line| line.split(" level ").nth(1)).collect();
    assert_eq!(levels[0], levels[1], "{found}");
}

#[test]
fn tables_go_with_the_foreign_keys_that_refer_to_them() {
    let setup = "  CREATE TABLE p(a INT PRIMARY KEY);\n  CREATE TABLE t(a INT, FOREIGN KEY (a) REFERENCES p (a));\n  INSERT INTO p VALUES (1);";
    let found = lines(setup, "  T1: SELECT a FROM t WHERE a = 1;", &["a = 1"]);
    assert_eq!(found, ["CREATE TABLE t (a INT);", "T1: SELECT * FROM t WHERE a = 1;"]);
}

#[test]
fn a_column_goes_with_everything_that_is_said_about_it() {
    let setup = "  CREATE TABLE t(a INT, b INT, c INT CHECK (c > b), KEY i (b, a), UNIQUE KEY (b));\n  INSERT INTO t (b, a) VALUES (1, 2), (3, 4);";
    let steps = "  T1: UPDATE t SET a = 5, b = 6 WHERE a = 2 AND (b = 1 OR b = 3) ORDER BY b;\n  T1: INSERT INTO t (a, b) SELECT a, b FROM t WHERE b IN (SELECT b FROM t);\n  T1: SELECT b FROM t WHERE b = 1;";
    let keeps = ["SET a = 5", "WHERE a = 2", "SELECT a", "KEY i", "INTO t (", "VALUES (", "T1: SELECT"];
    let found = lines(setup, steps, &keeps);
    assert_eq!(
        found,
        [
            "CREATE TABLE t (a INT, KEY i (a));",
            "INSERT INTO t (a) VALUES (0);",
            "T1: UPDATE t SET a = 5 WHERE a = 2;",
            "T1: INSERT INTO t SELECT a FROM t;",
            "T1: SELECT * FROM t;",
        ]
    );
}

#[test]
fn keys_are_said_shortly() {
    let setup = "  CREATE TABLE t(a INT NOT NULL, b INT, PRIMARY KEY (a, b), UNIQUE KEY t_i (b DESC, a)) ENGINE = InnoDB;";
    let found = lines(setup, "  T1: SELECT a, b FROM t;", &["PRIMARY", "UNIQUE", "a, b FROM"]);
    assert_eq!(found[0], "CREATE TABLE t (a INT, b INT UNIQUE PRIMARY KEY);");
}

#[test]
fn statements_are_said_more_simply() {
    let setup = "  CREATE TABLE t(a INT, b INT);\n  CREATE TABLE u(a INT);";
    for (from, keeps, to) in [
        (
            "SELECT DISTINCT a, b AS x FROM t WHERE a = 1 ORDER BY a LIMIT 3 FOR UPDATE NOWAIT",
            "FOR UPDATE",
            "SELECT * FROM t FOR UPDATE",
        ),
        (
            "SELECT t.a FROM t FORCE INDEX (i) JOIN u ON t.a = u.a GROUP BY t.a HAVING t.a > 1",
            "t.a FROM t",
            "SELECT t.a FROM t",
        ),
        ("SELECT a FROM t UNION SELECT b FROM t", "SELECT b", "SELECT b FROM t"),
        ("SELECT a FROM (SELECT a FROM t WHERE a = 1) AS x", "FROM t", "SELECT * FROM t"),
        (
            "INSERT IGNORE INTO t (a, b) VALUES (1, 2), (3, 4), (5, 6) ON DUPLICATE KEY UPDATE a = 1, b = 2",
            "(3, 4)",
            "INSERT INTO t VALUES (3, 4)",
        ),
        ("REPLACE INTO t VALUES (1, 2)", "(1, 2)", "INSERT INTO t VALUES (1, 2)"),
        ("UPDATE IGNORE t SET a = 1, b = 2 WHERE a = 3 ORDER BY a LIMIT 2", "b = 2", "UPDATE t SET b = 2"),
        ("UPDATE t JOIN u ON t.a = u.a SET t.b = 2", "b = 2", "UPDATE t SET t.b = 2"),
        ("DELETE IGNORE FROM t WHERE a = 1 ORDER BY a LIMIT 2", "DELETE", "DELETE FROM t"),
        ("START TRANSACTION READ ONLY, WITH CONSISTENT SNAPSHOT", "T", "BEGIN"),
    ] {
        let found = lines(setup, &format!("  T1: {from};"), &[keeps, "T1: ", &to[..3]]);
        let names = to.replace("x.", "");
        assert_eq!(found.last().unwrap(), &format!("T1: {names};"), "{from}");
    }
}

#[test]
fn expressions_become_a_part_of_themselves_or_a_constant() {
    let setup = "  CREATE TABLE t(a INT, b INT);";
    for (from, keeps, to) in [
        ("a = 1 AND (b = 2 OR NOT (a = 3))", "a = 3", "a = 3"),
        ("a IN (1, 2, 3)", "2)", "a IN (2)"),
        ("a BETWEEN 1 AND 2", "<= 2", "a <= 2"),
        ("CASE a WHEN 1 THEN b WHEN 2 THEN a ELSE 7 END", "7", "7"),
        ("ABS(a + 7) > 1", "7", "7"),
        ("a = (SELECT MAX(b) FROM t) OR a = 1", "MAX", "MAX(a)"),
    ] {
        let found = lines(setup, &format!("  T1: SELECT a FROM t WHERE {from};"), &[keeps, "WHERE"]);
        assert_eq!(found.last().unwrap(), &format!("T1: SELECT * FROM t WHERE {to};"), "{from}");
    }
}

#[test]
fn constants_get_small_and_agree_where_they_did() {
    let setup = "  CREATE TABLE t(a BIGINT UNSIGNED, b VARCHAR(10));\n  INSERT INTO t VALUES (2147483647, 'xyz'), (17, 'abc');";
    let steps = "  T1: UPDATE t SET a = -5 WHERE b = 'xyz';";
    let text = format!("title Constants\n\nsetup\n{setup}\n\nsteps\n{steps}\n");
    // Two rows that differ, and one of their values is looked for.
    let mut predicate = |case: &Case| {
        let all = casefile::print(case).unwrap();
        let Some(insert) = case.setup.statements.iter().find(|text| text.starts_with("INSERT")) else {
            return false;
        };
        let values: Vec<&str> = insert.split(['(', ')', ',']).map(str::trim).collect();
        let wanted = all.split("WHERE b = ").nth(1).and_then(|rest| rest.split(';').next());
        let [_, a, b, _, _, c, d, _] = values[..] else { return false };
        a != c && b != d && wanted == Some(b)
    };
    let budget = Budget { candidates: 2000 };
    let result = reduce(&case(&text), Product::Mysql, Scope::Whole, &mut predicate, &mut InOrder, budget);
    let text = casefile::print(&result.case).unwrap();
    assert!(text.contains("CREATE TABLE t (a INT, b INT);"), "{text}");
    assert!(result.case.steps[0].sql.len() <= "UPDATE t SET a = 0 WHERE b = 2".len(), "{text}");
    assert!(!text.contains('\''), "{text}");
}

#[test]
fn everything_gets_its_usual_name() {
    let text = "title Names\n\nsetup\n  CREATE TABLE accounts(id INT, owner INT, KEY by_owner (owner));\n  CREATE TABLE `log`(id INT);\n\nsteps\n  Bob: SELECT owner FROM accounts FORCE INDEX (by_owner) JOIN `log` USING (id) WHERE accounts.id = 1;\n  Ann: SELECT 'owner';\n";
    let found = reduced(text, Product::Mysql, &["USING", "FORCE INDEX", "= 1", "'owner'", "KEY"]);
    // Nothing is called as it was, but what stands in a string.
    let steps: Vec<&str> = found.lines().filter(|line| line.starts_with("  T")).collect();
    assert!(steps[0].contains("FROM t FORCE INDEX (i) JOIN `u` USING (a)"), "{found}");
    assert!(found.contains("SELECT 'owner'") && !found.contains("accounts"), "{found}");
}

#[test]
fn an_index_that_a_statement_asks_for_stays() {
    let hint = ACCOUNTS.replace("SELECT a FROM t", "SELECT a FROM t FORCE INDEX (i)");
    let text = reduced(&hint, Product::Mysql, &["FORCE INDEX", "KEY i"]);
    assert!(text.contains("KEY i (") && !text.contains("PRIMARY"), "{text}");
}

#[test]
fn what_nobody_can_read_goes_whole_or_by_tokens() {
    let opaque = ACCOUNTS
        .replace("CREATE INDEX j ON t(c)", "ALTER TABLE t ADD INDEX j (c)")
        .replace("SELECT a FROM t", "CALL p(a, (b), c)");
    let text = reduced(&opaque, Product::Mysql, &["CALL", "ALTER"]);
    assert!(text.contains("ALTER TABLE t ADD INDEX j (") && text.contains("T1: CALL;"), "{text}");
    let text = reduced(&opaque, Product::Mysql, &["UPDATE t"]);
    assert!(!text.contains("CALL") && !text.contains("ALTER"), "{text}");
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
    assert!(
        text.contains("INSERT INTO t VALUES ('r');") && text.contains("CREATE TABLE \"t\" (a INT);"),
        "{text}"
    );
}

#[test]
fn of_a_mere_expectation_only_what_it_does_not_name_goes() {
    let text = "\
title   Expected

setup
  CREATE TABLE t(a INT, b INT);
  INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);

steps
  T1: BEGIN;
  T1: SELECT a FROM t WHERE a <= 2;
      => (1) (2)
  T2: SELECT 7;
  T1: COMMIT;
";
    let mut predicate = |case: &Case| case.steps.iter().any(|step| !step.expect.is_empty());
    let budget = Budget { candidates: 1000 };
    let result =
        reduce(&case(text), Product::Mysql, Scope::KeepExpectations, &mut predicate, &mut InOrder, budget);
    let found = casefile::print(&result.case).unwrap();
    assert!(found.contains("INSERT INTO t VALUES (1, 10), (2, 20);"), "{found}");
    assert!(found.contains("SELECT a FROM t WHERE a <= 2;") && found.contains("=> (1) (2)"), "{found}");
    assert!(!found.contains("SELECT 7") && !found.contains("COMMIT"), "{found}");
}

/// Made smaller while this holds of the lines of setup and steps.
fn kept(setup: &str, steps: &str, holds: impl Fn(&[String]) -> bool) -> Vec<String> {
    let told = |case: &Case| {
        let text = casefile::print(case).unwrap();
        let lines = text.lines().map(str::trim).filter(|line| line.ends_with(';'));
        lines.map(str::to_string).collect::<Vec<_>>()
    };
    let text = format!("title Small\n\nsetup\n{setup}\n\nsteps\n{steps}\n");
    let mut predicate = |case: &Case| holds(&told(case));
    let budget = Budget { candidates: 10_000 };
    let result = reduce(&case(&text), Product::Mysql, Scope::Whole, &mut predicate, &mut InOrder, budget);
    assert!(result.finished);
    told(&result.case)
}

#[test]
fn one_column_does_the_work_of_two() {
    let setup = "  CREATE TABLE t(a INT PRIMARY KEY, b INT);\n  INSERT INTO t VALUES (1, 7);";
    let steps = "  T1: UPDATE t SET a = 3;\n  T2: UPDATE t SET b = 3;\n  T2: SELECT a, b FROM t;";
    // The two must set different values, so that only another value lets the columns become one.
    let found = kept(setup, steps, |lines| {
        let set: Vec<&str> = lines.iter().filter_map(|line| line.split(" SET ").nth(1)).collect();
        set.len() == 2 && set[0] != set[1] && lines.iter().any(|line| line.contains("INSERT"))
    });
    assert_eq!(found[0], "CREATE TABLE t (a INT);", "{found:?}");
    assert_eq!(found[1], "INSERT INTO t VALUES (0);", "{found:?}");
}

#[test]
fn one_row_does_the_work_of_two() {
    let setup = "  CREATE TABLE t(a INT PRIMARY KEY, b INT);\n  INSERT INTO t VALUES (4, 0), (8, 1), (9, 1);";
    let steps = "  T1: UPDATE t SET b = 1 WHERE a = 8;\n  T2: DELETE FROM t WHERE a = 4;";
    // Both find a row, and no key is there twice.
    let found = kept(setup, steps, |lines| {
        let Some(insert) = lines.iter().find(|line| line.contains("INSERT")) else { return false };
        let keys: Vec<&str> =
            insert.split('(').skip(1).filter_map(|row| row.split([',', ')']).next()).collect();
        let mut different = keys.clone();
        different.sort_unstable();
        different.dedup();
        let sought = lines.iter().filter_map(|line| line.split("WHERE a = ").nth(1)?.strip_suffix(';'));
        let sought: Vec<&str> = sought.collect();
        different.len() == keys.len() && sought.len() == 2 && sought.iter().all(|key| keys.contains(key))
    });
    assert_eq!(found[1].matches('(').count(), 1, "{found:?}");
}

#[test]
fn a_wait_goes_with_what_it_puts_off() {
    let steps = "  T1: BEGIN;\n  T1: SELECT 1;\n  T2: BEGIN;\n  T2: SELECT 2;\n  T2: SELECT 1;\n  T2: COMMIT;\n  T3: SELECT 3;";
    // T2's COMMIT comes after T3 has read: it is sent later, or it stands behind a statement that waits for T1.
    let found = kept("", steps, |lines| {
        let at = |text: &str| lines.iter().position(|line| line.ends_with(text));
        let (Some(read), Some(commit)) = (at(" SELECT 3;"), at(" COMMIT;")) else { return false };
        let of = |at: usize| &lines[at][..3];
        let ones: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].ends_with(" SELECT 1;")).collect();
        let waits = ones.len() == 2 && of(ones[0]) != of(ones[1]);
        of(read) != of(commit) && at(" SELECT 2;").is_some_and(|own| own < read) && (commit > read || waits)
    });
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn two_statements_and_a_transaction_are_tried_alone() {
    let steps = "  T1: BEGIN;\n  T1: SELECT 1;\n  T2: SELECT 2;\n  T3: SELECT 3;";
    // T3's statement is in the way of T2: it waits for T1 meanwhile, or it has come first and its transaction is open.
    let found = kept("", steps, |lines| {
        let at = |text: &str| lines.iter().position(|line| line.ends_with(text));
        let (Some(two), Some(three)) = (at(" SELECT 2;"), at(" SELECT 3;")) else { return false };
        let of = |at: usize| &lines[at][..3];
        let waits = at(" SELECT 1;").is_some_and(|one| one > 0 && of(one) != of(three));
        let holds = three > 0 && lines[three - 1] == format!("{} BEGIN;", of(three)) && three < two;
        of(two) != of(three) && (waits || holds)
    });
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn a_row_that_is_only_there_to_be_changed_is_inserted_as_it_becomes() {
    let setup = "  CREATE TABLE t(a INT PRIMARY KEY, b INT);\n  INSERT INTO t VALUES (4, 0), (8, 1);";
    let steps = "  T1: UPDATE t SET b = 7 WHERE a = 8;\n  T2: SELECT b FROM t;";
    // Another row than the one that is there from the beginning gets the 7.
    let found = kept(setup, steps, |lines| {
        let rows =
            lines.iter().filter(|line| line.starts_with("INSERT")).map(|line| line.matches('(').count());
        let changed = lines.iter().any(|line| line.contains("SET b = 7 WHERE a = 8"));
        let made = lines.iter().any(|line| line.starts_with("T1: INSERT") && line.contains('7'));
        lines.iter().any(|line| line.contains("SELECT"))
            && rows.sum::<usize>() + usize::from(made) >= 2
            && (changed || made)
    });
    assert_eq!(found.len(), 4, "{found:?}");
    assert_eq!(found[1].matches('(').count(), 1, "{found:?}");
}
