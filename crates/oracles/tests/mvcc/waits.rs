//! Locks, waits and deadlocks: which are due, which nobody may demand, and what a missing one damages.

use super::*;

#[test]
fn what_another_is_changing_is_waited_for() {
    let write = "T1: BEGIN => ok
                 T1: UPDATE t SET b = 99 WHERE a = 1 => 1 of 1
                 T2: UPDATE t SET c = 7 WHERE a = 1 => 1 of 1
                 T1: COMMIT => ok";
    let read = "T1: BEGIN => ok
                T1: UPDATE t SET b = 99 WHERE a = 1 => 1 of 1
                T2: SELECT b FROM t WHERE a = 1 FOR UPDATE => (10)
                T1: COMMIT => ok";
    for level in [RU, RC, RR, SER] {
        // What it did is what it would have done after a wait: nobody can tell.
        assert_eq!(said(&mysql(level), write), "undecided lock-suspect");
        assert_eq!(said(&mysql(level), read), "missing-wait: new at step 3");
    }
    // What waiting would have given is another matter.
    let lost = "T1: BEGIN => ok
                T1: UPDATE t SET b = b + 1 WHERE a = 1 => 1 of 1
                T2: UPDATE t SET b = b + 1 WHERE a = 1 => 1 of 1
                T1: COMMIT => ok";
    let end = |b: u32| format!("(1, {b}, 0) (2, 20, 0) (3, 30, 0)");
    assert_eq!(judged(&mysql(RC), &T, lost, Some(&end(11))), "missing-wait: new at step 3");
    assert_eq!(judged(&mysql(RC), &T, lost, Some(&end(12))), "undecided lock-suspect");
}

#[test]
fn where_a_missing_wait_shows_nothing_the_case_is_run_on() {
    let begun = "T1: BEGIN => ok
                 T1: UPDATE t SET b = 99 WHERE a = 1 => 1 of 1
                 T2: UPDATE t SET c = 7 WHERE a = 1 => 1 of 1";
    let seen = play(&mysql(RC), &T, &format!("{begun}\nT1: COMMIT => ok"), None);
    let model = Mvcc::default();
    let asked = |end: &str, at: usize, last: &str| {
        let mut talk = model.open(&seen);
        let Ask::Run(requests) = talk.next(&[]) else { panic!("it asks for nothing") };
        let texts: Vec<&str> = requests[at].case.steps[3..].iter().map(|step| step.sql.as_str()).collect();
        let wanted = [
            "UPDATE t SET b = b + 1 WHERE a = 1",
            "SELECT * FROM t",
            "SELECT * FROM t",
            end,
            "SELECT * FROM t",
            "COMMIT",
        ];
        assert_eq!(texts, wanted);
        let text = format!(
            "{begun}
             T2: UPDATE t SET b = b + 1 WHERE a = 1 => 1 of 1
             T1: SELECT * FROM t => (1, 99, 0) (2, 20, 0) (3, 30, 0)
             T2: SELECT * FROM t => (1, 11, 7) (2, 20, 0) (3, 30, 0)
             T1: {end} => ok
             T2: SELECT * FROM t => {last}
             T2: COMMIT => ok"
        );
        match talk.next(&[play(&mysql(RC), &T, &text, Some(last))]) {
            Ask::Done(Verdict::Violated(violation)) => violation.fingerprint.symptom.to_string(),
            Ask::Done(Verdict::Undecided { reason }) => reason.to_string(),
            other => panic!("{other:?}"),
        }
    };
    // T2's value was made of the one before T1's, and T1's is lost.
    assert_eq!(asked("COMMIT", 0, "(1, 11, 7) (2, 20, 0) (3, 30, 0)"), "missing-wait");
    assert_eq!(asked("ROLLBACK", 1, "(1, 10, 0) (2, 20, 0) (3, 30, 0)"), "missing-wait");
    let Ask::Done(said) = ({
        let mut talk = model.open(&seen);
        talk.next(&[]);
        talk.next(&[])
    }) else {
        panic!("it asks again")
    };
    assert!(oracles::mvcc::suspects(&said), "{said:?}");
}

#[test]
fn shared_locks_do_not_exclude_each_other() {
    let text = |first: &str, second: &str| {
        format!(
            "T1: BEGIN => ok
             T1: SELECT b FROM t {first} => (10) (20) (30)
             T2: SELECT b FROM t {second} => waits
             T1: COMMIT => ok | (10) (20) (30)"
        )
    };
    for level in [RU, RC, RR, SER] {
        assert_eq!(said(&mysql(level), &text("FOR SHARE", "FOR SHARE")), "needless-wait: new at step 3");
        assert_eq!(said(&mysql(level), &text("FOR UPDATE", "FOR SHARE")), "holds");
        assert_eq!(said(&mysql(level), &text("FOR SHARE", "FOR UPDATE")), "holds");
    }
}

#[test]
fn a_deadlock_is_a_circle() {
    // T2 waits for nobody.
    let none = "T1: BEGIN => ok
                T1: UPDATE t SET b = 11 WHERE a = 1 => 1 of 1
                T2: BEGIN => ok
                T2: UPDATE t SET b = 12 WHERE a = 2 => 1 of 1
                T1: UPDATE t SET b = 14 WHERE a = 2 => deadlock
                T2: COMMIT => ok";
    assert_eq!(said(&mysql(RC), none), "needless-error: new at step 5");
    let circle = "T1: BEGIN => ok
                  T1: UPDATE t SET b = 11 WHERE a = 1 => 1 of 1
                  T2: BEGIN => ok
                  T2: UPDATE t SET b = 12 WHERE a = 2 => 1 of 1
                  T1: UPDATE t SET b = 11 WHERE a = 2 => waits
                  T2: UPDATE t SET b = 12 WHERE a = 1 => deadlock | 1 of 1";
    assert_eq!(said(&mysql(RC), circle), "holds");
}

#[test]
fn one_end_of_an_index_is_not_what_another_is_changing() {
    let setup = [
        "CREATE TABLE t (a INT, b INT UNIQUE, c INT UNIQUE, KEY (a))",
        "INSERT INTO t VALUES (0, 0, 0), (1, 1, 1)",
    ];
    let text = |rows: &str| {
        format!(
            "T1: BEGIN => ok
             T1: UPDATE t SET a = 1 WHERE b = 0 => 1 of 1
             T2: BEGIN => ok
             T2: SELECT MAX(a), MIN(c) FROM t => {rows}"
        )
    };
    assert_eq!(judged(&mysql(SER), &setup, &text("(1, 0)"), None), "holds");
    assert_eq!(judged(&mysql(SER), &setup, &text("(2, 0)"), None), "wrong-rows: new at step 4");
}

#[test]
fn after_a_deadlock_the_first_answer_from_a_table_tells_whether_there_is_a_transaction() {
    let text = "T1: BEGIN => ok
                T1: UPDATE t SET b = 11 WHERE a = 1 => 1 of 1
                T2: BEGIN => ok
                T2: UPDATE t SET b = 12 WHERE a = 2 => 1 of 1
                T1: UPDATE t SET b = 11 WHERE a = 2 => waits
                T2: UPDATE t SET b = 12 WHERE a = 1 => deadlock | 1 of 1
                T1: COMMIT => ok
                T2: SAVEPOINT s => ok
                T2: UPDATE t SET b = 13 WHERE a = 3 => 1 of 1
                T2: ROLLBACK => ok
                T1: SELECT b FROM t WHERE a = 3 => (30)";
    let mut seen = play(&mysql(RC), &T, text, None);
    assert!(matches!(Mvcc::default().verdict(&seen), Verdict::Violated(_)), "it was committed at once");
    seen.trace.outcomes[8].transaction = Open::Yes;
    let said = Mvcc::default().verdict(&seen);
    assert!(matches!(said, Verdict::Holds { .. }), "{said:?}");
}

#[test]
fn what_another_has_locked_is_not_locked_either() {
    let text = |first: &str, second: &str| {
        format!(
            "T1: BEGIN => ok
             T1: SELECT * FROM t WHERE a = 1 {first} => (1, 10, 0)
             T2: SELECT * FROM t WHERE a = 1 {second} => (1, 10, 0)
             T1: COMMIT => ok"
        )
    };
    assert_eq!(said(&mysql(RC), &text("FOR UPDATE", "FOR UPDATE")), "undecided lock-suspect");
    assert_eq!(said(&mysql(RC), &text("FOR SHARE", "FOR UPDATE")), "undecided lock-suspect");
    assert_eq!(said(&mysql(RC), &text("FOR SHARE", "FOR SHARE")), "holds");
    // Through an index that holds all that is read, the row itself is not locked.
    let indexed = [
        "CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT, KEY i (b, c))",
        "INSERT INTO t (a, b, c) VALUES (1, 10, 0)",
    ];
    assert_eq!(judged(&mysql(RC), &indexed, &text("FOR SHARE", "FOR UPDATE"), None), "holds");
}

#[test]
fn what_another_has_locked_is_not_changed() {
    let text = "T1: BEGIN => ok
                T1: SELECT b FROM t WHERE a = 1 FOR UPDATE => (10)
                T2: UPDATE t SET c = 7 WHERE a = 1 => 1 of 1
                T1: COMMIT => ok";
    assert_eq!(said(&mysql(RC), text), "undecided lock-suspect");
    let beside = text.replace("T2: UPDATE t SET c = 7 WHERE a = 1", "T2: UPDATE t SET c = 7 WHERE a = 2");
    assert_eq!(said(&mysql(RC), &beside), "holds");
    // At SERIALIZABLE a plain SELECT locks, too: without that, write skew goes through.
    let plain = text.replace(" FOR UPDATE", "");
    assert_eq!(said(&mysql(SER), &plain.replace("SET c = 7", "SET b = 7")), "undecided lock-suspect");
    assert_eq!(said(&mysql(RR), &plain.replace("SET c = 7", "SET b = 7")), "holds");
    let skew = "T1: BEGIN => ok
                T1: SELECT b FROM t WHERE a = 1 => (10)
                T2: BEGIN => ok
                T2: SELECT b FROM t WHERE a = 2 => (20)
                T1: UPDATE t SET b = 7 WHERE a = 2 => 1 of 1
                T2: UPDATE t SET b = 7 WHERE a = 1 => 1 of 1
                T1: COMMIT => ok
                T2: COMMIT => ok";
    assert_eq!(said(&mysql(SER), skew), "missing-wait: new at step 5");
    assert_eq!(said(&mysql(RR), skew), "holds");
}

#[test]
fn nobody_brings_rows_into_a_locked_range() {
    let text = "T1: BEGIN => ok
                T1: SELECT a FROM t WHERE b >= 20 FOR UPDATE => (2) (3)
                T2: INSERT INTO t (a, b, c) VALUES (4, 40, 0) => 1 rows
                T1: SELECT a FROM t WHERE b >= 20 FOR UPDATE => (2) (3) (4)
                T1: COMMIT => ok";
    assert_eq!(said(&mysql(RR), text), "phantom: new at step 4");
    assert_eq!(said(&mysql(RC), text), "holds");
    let beside = text.replace("(4, 40, 0)", "(4, 4, 0)").replace(" (4)\n", "\n");
    assert_eq!(said(&mysql(RR), &beside), "holds");
    // A search by a unique key locks the row that it finds, and nothing beside it.
    let undone = |condition: &str| {
        format!(
            "T1: BEGIN => ok
             T1: SELECT b FROM t WHERE a = 1 FOR UPDATE => (10)
             T1: SAVEPOINT s => ok
             T1: INSERT INTO t (a, b, c) VALUES (4, 40, 0) => 1 rows
             T1: SELECT a FROM t WHERE {condition} FOR UPDATE => (4)
             T1: ROLLBACK TO SAVEPOINT s => ok
             T2: INSERT INTO t (a, b, c) VALUES (4, 41, 0) => 1 rows
             T1: SELECT a FROM t WHERE a = 4 FOR UPDATE => (4)
             T1: COMMIT => ok"
        )
    };
    assert_eq!(said(&mysql(RR), &undone("a = 4")), "holds");
    assert_eq!(said(&mysql(RR), &undone("a > 3")), "phantom: new at step 8");
}

#[test]
fn who_may_not_wait_and_who_waits_too_long() {
    let plain = "T1: BEGIN => ok
                 T1: UPDATE t SET b = 99 => 3 of 3
                 T2: SELECT b FROM t WHERE a = 1 => waits
                 T1: COMMIT => ok | (99)";
    assert_eq!(said(&mysql(RR), plain), "needless-wait: new at step 3");
    let late = "T1: BEGIN => ok
                T1: UPDATE t SET b = 99 => 3 of 3
                T2: UPDATE t SET b = 98 WHERE a = 1 => waits
                T1: COMMIT => ok
                T3: SELECT b FROM t WHERE a = 1 => (99) | 1 of 1";
    assert_eq!(said(&mysql(RR), late), "needless-wait: new at step 3");
    let due = late.replace("T1: COMMIT => ok", "T1: COMMIT => ok | 1 of 1").replace(" | 1 of 1\"", "\"");
    assert_eq!(said(&mysql(RR), due.rsplit_once('\n').unwrap().0), "holds");
    let alone = "T1: SELECT b FROM t WHERE a = 1 FOR UPDATE => deadlock";
    assert_eq!(said(&mysql(RR), alone), "needless-error: new at step 1");
}

#[test]
fn a_wait_that_nothing_demands_is_counted_and_not_wrong() {
    // By the range of its own: the manual lets the server lock what it passes, but nothing that T1 does is in T2's way.
    let text = |what: &str| {
        format!(
            "T1: BEGIN => ok
             T2: BEGIN => ok
             T1: UPDATE t SET b = 11 WHERE a = 1 => 1 of 1
             T2: UPDATE t SET b = 21 WHERE {what} => waits
             T1: COMMIT => ok | 1 of 1
             T2: COMMIT => ok"
        )
    };
    let waits = |what: &str| {
        let seen = play(&mysql(RR), &T, &text(what), None);
        Mvcc::default().waits(&seen).map(|waits| (waits.told, waits.extra))
    };
    assert_eq!(said(&mysql(RR), &text("a = 2")), "holds");
    assert_eq!(waits("a = 2"), Some((1, 1)));
    assert_eq!(waits("a <= 1"), Some((1, 0)));
}

#[test]
fn a_query_inside_a_statement_that_waited_may_have_been_answered_before_or_after_the_wait() {
    let setup = [
        "CREATE TABLE t (a INT PRIMARY KEY, b INT)",
        "CREATE TABLE u (a INT PRIMARY KEY, b INT)",
        "INSERT INTO u VALUES (1, 100), (2, 200)",
    ];
    let text = |inner: &str, others: &str| {
        format!(
            "T1: BEGIN => ok
             T1: INSERT INTO t VALUES (7, 70) => 1 rows
             T2: INSERT INTO t VALUES (7, (SELECT {inner} FROM u)) => waits
             {others}
             T1: ROLLBACK => ok | 1 rows"
        )
    };
    let one = "T3: INSERT INTO u VALUES (5, 500) => 1 rows";
    let two = "T3: INSERT INTO u VALUES (5, 500) => 1 rows
               T3: INSERT INTO u VALUES (6, 600) => 1 rows";
    let wrong = "wrong-final-state: new at the end";
    for (level, inner, others, end, verdict) in [
        (RC, "MAX(b)", one, "(7, 200)", "holds"),
        (RC, "MAX(b)", one, "(7, 500)", "holds"),
        (RC, "MAX(b)", one, "(7, 100)", wrong),
        (RU, "MAX(b)", one, "(7, 200)", "holds"),
        // Between two commits.
        (RC, "COUNT(*)", two, "(7, 3)", "holds"),
        (RC, "COUNT(*)", two, "(7, 5)", wrong),
        // One end of an index is all that is locked.
        (RR, "MAX(b)", one, "(7, 200)", "holds"),
        (RR, "COUNT(*)", one, "(7, 3)", "holds"),
        (RR, "COUNT(*)", one, "(7, 2)", wrong),
        // What it has read it has locked: that stays as it is.
        (RC, "COUNT(b)", "T3: UPDATE u SET b = NULL WHERE a = 1 => 1 of 1", "(7, 2)", wrong),
        (RC, "COUNT(b)", "T3: UPDATE u SET b = NULL WHERE a = 1 => 1 of 1", "(7, 1)", "holds"),
    ] {
        let said = judged(&mysql(level), &setup, &text(inner, others), Some(end));
        assert_eq!(said, verdict, "{level} {inner}: {end}");
    }
}

#[test]
fn who_is_refused_by_one_key_need_not_wait_at_another() {
    let setup = [
        "CREATE TABLE t (a INT PRIMARY KEY, b INT UNIQUE, c INT NOT NULL)",
        "INSERT INTO t VALUES (0, 0, 0)",
        "ALTER TABLE t ADD UNIQUE KEY i (c)",
    ];
    let text = |row: &str, answer: &str| {
        format!(
            "T1: BEGIN => ok
             T1: INSERT INTO t VALUES (1, NULL, 2) => 1 rows
             T2: INSERT {row} => {answer}
             T1: ROLLBACK => ok"
        )
    };
    for server in [mysql(RR), On { server: "mariadb@10.11.19", level: RR }] {
        let said = |row: &str, answer: &str| judged(&server, &setup, &text(row, answer), None);
        assert_eq!(said("IGNORE INTO t VALUES (2, 0, 2)", "0 rows"), "holds");
        assert_eq!(said("INTO t VALUES (2, 0, 2)", "duplicate"), "holds");
        // Where nothing else refuses it, it waits.
        assert_eq!(said("IGNORE INTO t VALUES (2, 5, 2)", "0 rows"), "missing-wait: new at step 3");
    }
}
