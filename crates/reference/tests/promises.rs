//! What the clean engine promises, where the corpus does not say it: small cases, with what must come of them.

mod common;

use common::{runner, show};
use model::Level;
use oracles::expectations::{CheckStatus, check};

/// Holds at each of these levels.
fn holds(levels: &[Level], text: &str) {
    let case = model::casefile::parse(text).unwrap_or_else(|error| panic!("{error:?}\n{text}")).into_case();
    for &level in levels {
        let run = runner("reference").run(&case, level).unwrap();
        assert_eq!(check(&case, &run.trace).status, CheckStatus::Pass, "{level}\n{}", show(&case, &run));
    }
}

#[test]
fn a_unique_value_that_a_savepoint_may_bring_back_is_waited_for() {
    let text = "
setup
  CREATE TABLE t(a INT PRIMARY KEY, b INT);
  INSERT INTO t VALUES (9, 0);
steps
  T1: BEGIN;
  T1: INSERT INTO t VALUES (1, 10);
  T1: SAVEPOINT s;
  T1: UPDATE t SET a = 2 WHERE a = 1;
      => 1 row
  T2: INSERT INTO t VALUES (1, 20);
      => waits, then error duplicate-key
  T1: ROLLBACK TO SAVEPOINT s;
      => ok
  T1: COMMIT;
      => ok
final
  t => (9, 0) (1, 10)
";
    holds(&Level::ALL, text);
}

#[test]
fn a_range_that_a_savepoint_may_bring_a_row_back_into_is_waited_for() {
    let text = "
setup
  CREATE TABLE t(a INT PRIMARY KEY, b INT, INDEX kb (b));
  INSERT INTO t VALUES (1, 10), (2, 20);
steps
  T1: BEGIN;
  T1: UPDATE t SET b = 11 WHERE a = 1;
  T1: SAVEPOINT s;
  T1: UPDATE t SET b = 12 WHERE a = 1;
  T2: SELECT * FROM t WHERE b = 11 FOR UPDATE;
      => waits, then (1, 11)
  T1: ROLLBACK TO SAVEPOINT s;
      => ok
  T1: COMMIT;
      => ok
";
    holds(&Level::ALL, text);
}

#[test]
fn without_a_primary_key_a_unique_key_tells_which_row_was_made_anew() {
    let text = "
setup
  CREATE TABLE t(a INT NOT NULL UNIQUE, b INT);
  INSERT INTO t VALUES (1, 10), (2, 20);
steps
  T1: BEGIN;
  T1: SELECT * FROM t;
      => (1, 10) (2, 20)
  T2: REPLACE INTO t VALUES (1, 11);
      => 2 rows
  T1: SELECT * FROM t;
      => (1, 10) (2, 20)
  T1: UPDATE t SET b = b + 1 WHERE a = 1;
      => 1 row
  T1: SELECT * FROM t;
      => (1, 12) (2, 20)
  T1: COMMIT;
      => ok
";
    holds(&[Level::RepeatableRead], text);
}

#[test]
fn a_snapshot_is_of_the_first_plain_read() {
    let text = "
setup
  CREATE TABLE t(a INT PRIMARY KEY, b INT);
  CREATE TABLE u(a INT PRIMARY KEY);
  INSERT INTO t VALUES (1, 10);
  INSERT INTO u VALUES (1);
steps
  T1: BEGIN;
  T1: UPDATE u SET a = 2 WHERE a = 1;
      => 1 row
  T1: SELECT * FROM u FOR UPDATE;
      => (2)
  T2: UPDATE t SET b = 11;
      => 1 row
  T1: SELECT b FROM t;
      => (11)
  T2: UPDATE t SET b = 12;
      => 1 row
  T1: SELECT b FROM t;
      => (11)
  T1: SELECT b FROM t LOCK IN SHARE MODE;
      => (12)
  T1: SELECT b FROM t;
      => (11)
  T1: UPDATE t SET b = b + 1;
      => 1 row
  T1: SELECT b FROM t;
      => (13)
  T1: COMMIT;
";
    holds(&[Level::RepeatableRead], text);
}

#[test]
fn queries_inside_changes_lock_from_repeatable_read_on() {
    let text = "
setup
  CREATE TABLE t(a INT PRIMARY KEY, b INT);
  CREATE TABLE u(a INT PRIMARY KEY, b INT);
  INSERT INTO t VALUES (1, 10);
  INSERT INTO u VALUES (1, 0);
steps
  T2: BEGIN;
  T2: UPDATE t SET b = 99;
      => 1 row
  T1: UPDATE u SET b = (SELECT b FROM t WHERE a = 1);
      => 1 row
      => [RR, SER] waits, then 1 row
  T2: COMMIT;
      => ok
final
  u => (1, 99)
    => [RC] (1, 10)
";
    holds(&Level::ALL, text);
}

#[test]
fn queries_inside_a_delete_always_lock() {
    let text = "
setup
  CREATE TABLE t(a INT PRIMARY KEY, b INT);
  CREATE TABLE u(a INT PRIMARY KEY, b INT);
  INSERT INTO t VALUES (1, 10);
  INSERT INTO u VALUES (1, 99), (2, 10);
steps
  T2: BEGIN;
  T2: UPDATE t SET b = 99;
      => 1 row
  T1: DELETE FROM u WHERE b = (SELECT b FROM t WHERE a = 1);
      => waits, then 1 row
  T2: COMMIT;
      => ok
final
  u => (2, 10)
";
    holds(&Level::ALL, text);
}

#[test]
fn without_autocommit_a_serializable_read_locks() {
    let text = "
session T1 autocommit off
setup
  CREATE TABLE t(a INT PRIMARY KEY, b INT);
  INSERT INTO t VALUES (1, 10);
steps
  T1: SELECT b FROM t;
      => (10)
  T2: UPDATE t SET b = 11;
      => 1 row
      => [SER] waits, then 1 row
  T1: SELECT b FROM t;
      => (11)
      => [RR, SER] (10)
  T1: COMMIT;
      => ok
  T2: SELECT b FROM t;
      => (11)
";
    holds(&Level::ALL, text);
}

#[test]
fn a_statement_that_fails_undoes_itself_and_nothing_else() {
    let text = "
setup
  CREATE TABLE t(a INT PRIMARY KEY, b INT, UNIQUE INDEX ub (b));
  INSERT INTO t VALUES (1, 10), (2, 20);
steps
  T1: BEGIN;
  T1: UPDATE t SET b = 11 WHERE a = 1;
      => 1 row
  T1: INSERT INTO t VALUES (3, 30), (4, 20);
      => error duplicate-key, transaction open
  T2: INSERT INTO t VALUES (3, 31);
      => 1 row
  T2: UPDATE t SET b = 12 WHERE a = 1;
      => waits, then 1 row
  T1: COMMIT;
      => ok
final
  t => (1, 12) (2, 20) (3, 31)
";
    holds(&Level::ALL, text);
}

#[test]
fn without_autocommit_a_savepoint_begins_a_transaction() {
    let text = "
session T1 autocommit off
setup
  CREATE TABLE t(a INT PRIMARY KEY, b INT);
  INSERT INTO t VALUES (1, 10);
steps
  T1: SAVEPOINT s;
      => ok
  T1: UPDATE t SET b = 11;
      => 1 row
  T1: ROLLBACK TO SAVEPOINT s;
      => ok
  T1: SELECT * FROM t;
      => (1, 10)
  T1: COMMIT;
      => ok
";
    holds(&Level::ALL, text);
}

#[test]
fn a_snapshot_inside_a_statement_that_waits_is_of_its_end() {
    let text = "
setup
  CREATE TABLE t(a INT PRIMARY KEY, b INT);
  CREATE TABLE u(a INT PRIMARY KEY, b INT);
  INSERT INTO t VALUES (1, 10);
  INSERT INTO u VALUES (1, 10);
steps
  T1: BEGIN;
  T1: UPDATE t SET b = 11;
      => 1 row
  T1: UPDATE u SET b = 11;
      => 1 row
  T2: BEGIN;
  T2: SELECT * FROM t WHERE b IN (SELECT b FROM u) FOR UPDATE;
      => waits, then (1, 11)
  T1: COMMIT;
      => ok
  T2: SELECT * FROM u;
      => (1, 11)
  T2: COMMIT;
      => ok
";
    holds(&[Level::RepeatableRead], text);
}
