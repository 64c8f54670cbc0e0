//! What is read, and judged, beside a statement that waits half-way.

use super::*;

#[test]
fn a_dirty_read_beside_half_done_work_shows_old_or_new_rows() {
    let text = |statement: &str, rows: &str| {
        format!(
            "T1: BEGIN => ok
             T1: UPDATE t SET c = 1 WHERE a = 3 => 1 of 1
             T2: {statement} => waits
             T3: SELECT a, b FROM t => {rows}
             T1: COMMIT => ok | {}",
            if statement.starts_with("DELETE") { "2 rows" } else { "2 of 2" }
        )
    };
    let update = "UPDATE t SET b = 5 WHERE a >= 2";
    for rows in ["(1, 10) (2, 20) (3, 30)", "(1, 10) (2, 5) (3, 30)"] {
        assert_eq!(said(&mysql(RU), &text(update, rows)), "holds");
    }
    // Rows that it does not select, values that it does not set, rows that it does not delete.
    for rows in [
        "(1, 5) (2, 20) (3, 30)",
        "(1, 10) (2, 6) (3, 30)",
        "(1, 10) (3, 30)",
        "(1, 10) (2, 20) (2, 5) (3, 30)",
        // The row for which it waits is not its own yet.
        "(1, 10) (2, 20) (3, 5)",
    ] {
        assert_eq!(said(&mysql(RU), &text(update, rows)), "wrong-rows: new at step 4", "{rows}");
    }
    let delete = "DELETE FROM t WHERE a >= 2";
    assert_eq!(said(&mysql(RU), &text(delete, "(1, 10) (3, 30)")), "holds");
    assert_eq!(said(&mysql(RU), &text(delete, "(2, 20) (3, 30)")), "wrong-rows: new at step 4");
    // A waiting read has done nothing.
    let read = "T1: BEGIN => ok
                T1: UPDATE t SET b = 1 WHERE a = 3 => 1 of 1
                T2: SELECT b FROM t FOR UPDATE => waits
                T3: SELECT a, b FROM t => (1, 10) (2, 20)
                T1: COMMIT => ok | (10) (20) (1)";
    assert_eq!(said(&mysql(RU), read), "wrong-rows: new at step 4");
}

#[test]
fn a_dirty_read_of_which_nothing_can_be_said_is_counted() {
    let text = |count: &str| {
        format!(
            "T1: BEGIN => ok
             T1: UPDATE t SET c = 1 WHERE a = 3 => 1 of 1
             T2: UPDATE t SET b = (SELECT MIN(a) FROM t) WHERE a >= 2 => waits
             T3: SELECT a, b FROM t => (7, 7)
             T1: COMMIT => ok | 2 of 2
             T3: DELETE FROM t WHERE a = 1 => {count}"
        )
    };
    assert_eq!(said(&mysql(RU), &text("1 rows")), "undecided dirty-read-of-half-done-work");
    // What comes later is judged all the same.
    assert_eq!(said(&mysql(RU), &text("2 rows")), "wrong-count: new at step 6");
}

#[test]
fn several_aggregates_beside_half_done_work_are_not_checked() {
    let text = |items: &str, row: &str| {
        format!(
            "T1: BEGIN => ok
             T1: UPDATE t SET c = 1 WHERE a = 3 => 1 of 1
             T2: DELETE FROM t WHERE a >= 2 => waits
             T3: SELECT {items} FROM t => ({row})
             T1: COMMIT => ok | 2 rows"
        )
    };
    // One row is gone already, or none is.
    assert_eq!(said(&mysql(RU), &text("COUNT(*)", "2")), "holds");
    assert_eq!(said(&mysql(RU), &text("COUNT(*)", "1")), "wrong-rows: new at step 4");
    // Each of two may be answered by an index of its own.
    assert_eq!(
        said(&mysql(RU), &text("COUNT(*), MAX(b)", "2, 20")),
        "undecided dirty-read-of-half-done-work"
    );
}

#[test]
fn by_the_index_of_a_foreign_key_a_row_on_its_way_is_at_neither_place() {
    let said = |set: &str| {
        let setup = [
            "CREATE TABLE p (a INT PRIMARY KEY)",
            "CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT, FOREIGN KEY (b) REFERENCES p (a))",
            "INSERT INTO p (a) VALUES (10), (20)",
            "INSERT INTO t (a, b, c) VALUES (1, 10, 0), (2, 10, 0)",
        ];
        let text = format!(
            "T1: BEGIN => ok
             T1: UPDATE t SET c = 9 WHERE a = 2 => 1 of 1
             T2: UPDATE t SET {set} => waits
             T3: SELECT a FROM t => (2)
             T1: COMMIT => ok | 2 of 2"
        );
        judged(&mysql(RU), &setup, &text, None)
    };
    assert_eq!(said("b = 20"), "holds");
    assert_eq!(said("c = 7"), "wrong-rows: new at step 4");
}

#[test]
fn what_judges_half_done_work_is_undecided() {
    // T2 has taken row 3 out already and waits to put it in elsewhere.
    let text = "T1: BEGIN => ok
                T1: UPDATE t SET a = 0 WHERE a = 1 => 1 of 1
                T2: UPDATE t SET a = 0 WHERE a = 3 => waits
                T1: UPDATE t SET c = 5 => 2 of 2
                T1: COMMIT => ok | duplicate";
    assert_eq!(said(&snapshot_isolation(RU), text), "undecided judges-half-done-work");
    assert_eq!(said(&mysql(RU), text), "wrong-count: new at step 4");
}

/// T2 has deleted row 1 and waits for row 3; T1 passes row 1 by, and T2 becomes the victim: nobody knows how far it had come.
#[test]
fn what_a_victim_had_half_done_may_have_been_judged() {
    let text = |count: &str| {
        format!(
            "T1: BEGIN => ok
             T1: UPDATE t SET c = 1 WHERE a = 3 => 1 of 1
             T2: BEGIN => ok
             T2: DELETE FROM t => waits
             T1: UPDATE t SET b = 5 => {count} | deadlock
             T1: COMMIT => ok"
        )
    };
    assert_eq!(said(&snapshot_isolation(RU), &text("3 of 3")), "holds");
    assert_eq!(said(&snapshot_isolation(RU), &text("2 of 2")), "undecided judges-half-done-work");
    // Elsewhere nobody judges what is not committed.
    assert_eq!(said(&mysql(RU), &text("2 of 2")), "wrong-count: new at step 5");
    assert_eq!(said(&snapshot_isolation(RC), &text("2 of 2")), "wrong-count: new at step 5");
}

#[test]
fn a_dirty_read_before_another_became_a_victim_is_undecided() {
    let setup = ["CREATE TABLE t (a INT)", "CREATE TABLE u (a INT)", "INSERT INTO u VALUES (NULL)"];
    let text = |answer: &str| {
        format!(
            "T1: BEGIN => ok
             T1: SELECT * FROM u LOCK IN SHARE MODE => (NULL)
             T2: BEGIN => ok
             T2: INSERT INTO t VALUES (0) => 1 rows
             T2: DELETE FROM u => waits
             T1: UPDATE u SET a = (SELECT * FROM t) => {answer} | deadlock"
        )
    };
    for answer in ["1 of 1", "0 of 1"] {
        let said = judged(&mysql(RU), &setup, &text(answer), None);
        assert_eq!(said, "undecided dirty-read-before-wait", "{answer}");
    }
    // Only dirty reads see what is not committed.
    assert_eq!(judged(&mysql(RC), &setup, &text("0 of 1"), None), "holds");
    assert_eq!(judged(&mysql(RC), &setup, &text("1 of 1"), None), "wrong-count: new at step 6");
}
