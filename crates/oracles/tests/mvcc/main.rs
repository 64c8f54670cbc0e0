//! The MVCC model against traces made by hand: what it accepts, what it calls wrong, by which name it knows it, and what each
//! known deviation does NOT excuse.

mod families;
mod half_done;
mod waits;

use dialect::Execution;
use model::{Level, Open, RuleId, Verdict};
use oracles::{Ask, Oracle, mvcc::Mvcc};

const T: [&str; 2] = [
    "CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT)",
    "INSERT INTO t (a, b, c) VALUES (1, 10, 0), (2, 20, 0), (3, 30, 0)",
];

/// A server and the level of its sessions.
struct On {
    server: &'static str,
    level: Level,
}

fn mysql(level: Level) -> On {
    On { server: "mysql@9.7.4", level }
}

fn snapshot_isolation(level: Level) -> On {
    On { server: "mariadb@11.8.6?innodb_snapshot_isolation=ON", level }
}

/// A trace in the notation of tests, and the rows of `t` in the end.
fn play(on: &On, setup: &[&str], text: &str, end: Option<&str>) -> Execution {
    let end = end.map(|rows| format!("\nfinal t: {rows}")).unwrap_or_default();
    let (case, trace) =
        notation::trace(notation::server(on.server), on.level, setup, &format!("{text}{end}"));
    Execution::new(case, trace)
}

/// `holds`, `holds by NAME`, `KIND: RULE at step N` or `undecided REASON`.
fn said(on: &On, text: &str) -> String {
    judged(on, &T, text, None)
}

fn judged(on: &On, setup: &[&str], text: &str, end: Option<&str>) -> String {
    match Mvcc::default().verdict(&play(on, setup, text, end)) {
        Verdict::Holds { by } if by.is_empty() => "holds".into(),
        Verdict::Holds { by } => {
            let names: Vec<String> = by.iter().map(ToString::to_string).collect();
            format!("holds by {}", names.join(", "))
        }
        Verdict::Violated(violation) => {
            let print = &violation.fingerprint;
            let rule = match oracles::mvcc::known(print) {
                Some(_) => print.cause.to_string(),
                None => "new".into(),
            };
            let step = violation.step.map_or("the end".into(), |step| format!("step {}", step + 1));
            format!("{}: {rule} at {step}", print.symptom)
        }
        Verdict::Undecided { reason } => format!("undecided {reason}"),
    }
}

/// The rule or the name of what is violated.
fn rule(on: &On, setup: &[&str], text: &str) -> String {
    match Mvcc::default().verdict(&play(on, setup, text, None)) {
        Verdict::Violated(violation) => violation.fingerprint.cause.to_string(),
        other => format!("{other:?}"),
    }
}

use Level::{ReadCommitted as RC, ReadUncommitted as RU, RepeatableRead as RR, Serializable as SER};

#[test]
fn a_second_read_sees_what_its_level_allows() {
    let again = |rows: &str| {
        format!(
            "T1: BEGIN => ok
             T1: SELECT b FROM t WHERE a = 1 => (10)
             T2: UPDATE t SET b = 99 WHERE a = 1 => 1 of 1
             T1: SELECT b FROM t WHERE a = 1 => {rows}
             T1: COMMIT => ok"
        )
    };
    assert_eq!(said(&mysql(RR), &again("(10)")), "holds");
    assert_eq!(said(&mysql(RR), &again("(99)")), "wrong-rows: new at step 4");
    assert_eq!(said(&mysql(RC), &again("(99)")), "holds");
    assert_eq!(said(&mysql(RC), &again("(10)")), "wrong-rows: new at step 4");
}

#[test]
fn the_snapshot_is_taken_by_the_first_read_and_by_nothing_else() {
    let first = |statement: &str| {
        format!(
            "T1: BEGIN => ok
             T1: {statement}
             T2: UPDATE t SET b = 99 WHERE a = 1 => 1 of 1
             T1: SELECT b FROM t WHERE a = 1 => (99)
             T1: COMMIT => ok"
        )
    };
    assert_eq!(said(&mysql(RR), &first("SAVEPOINT s => ok")), "holds");
    assert_eq!(said(&mysql(RR), &first("SELECT b FROM t WHERE a = 2 FOR UPDATE => (20)")), "holds");
    assert_eq!(said(&mysql(RR), &first("SELECT b FROM t WHERE a = 2 => (20)")), "wrong-rows: new at step 4");
}

#[test]
fn nobody_sees_what_is_not_committed_above_read_uncommitted() {
    let dirty = "T1: BEGIN => ok
                 T1: UPDATE t SET b = 99 WHERE a = 1 => 1 of 1
                 T2: SELECT b FROM t WHERE a = 1 => (99)
                 T1: ROLLBACK => ok";
    assert_eq!(said(&mysql(RU), dirty), "holds");
    assert_eq!(said(&mysql(RC), dirty), "wrong-rows: new at step 3");
    assert_eq!(said(&mysql(RR), dirty), "wrong-rows: new at step 3");
}

#[test]
fn a_stale_write_wins_or_is_refused() {
    let text = |answer: &str| {
        format!(
            "T1: BEGIN => ok
             T1: SELECT b FROM t WHERE a = 1 => (10)
             T2: UPDATE t SET b = 99 WHERE a = 1 => 1 of 1
             T1: UPDATE t SET c = 7 WHERE a = 1 => {answer}
             T1: COMMIT => ok"
        )
    };
    assert_eq!(said(&mysql(RR), &text("1 of 1")), "holds");
    assert_eq!(said(&snapshot_isolation(RR), &text("conflict")), "holds");
    assert_eq!(said(&snapshot_isolation(RR), &text("1 of 1")), "missing-error: new at step 4");
    assert_eq!(said(&mysql(RR), &text("conflict")), "needless-error: new at step 4");
    assert_eq!(said(&snapshot_isolation(RC), &text("1 of 1")), "holds");
}

#[test]
fn a_count_is_wrong_in_what_was_changed_or_only_in_what_was_found() {
    let text = |count: &str| format!("T1: UPDATE t SET c = 0 WHERE a <= 2 => {count}");
    assert_eq!(said(&mysql(RR), &text("0 of 2")), "holds");
    assert_eq!(said(&mysql(RR), &text("0 of 1")), "wrong-match: new at step 1");
    assert_eq!(said(&mysql(RR), &text("1 of 2")), "wrong-count: new at step 1");
}

#[test]
fn an_upsert_whose_keys_are_those_of_two_rows_changes_one_of_them() {
    let setup = [
        "CREATE TABLE t (a INT NOT NULL, b INT, c INT, d INT NOT NULL, UNIQUE KEY (d, c), UNIQUE KEY (a))",
        "INSERT INTO t (a, b, c, d) VALUES (15, -9, 11, 1), (20, NULL, NULL, 4)",
    ];
    let said = |server: &'static str, count: u64, end: &str| {
        let upsert = "INSERT INTO t VALUES (20, 13, 11, 1) ON DUPLICATE KEY UPDATE b = -9";
        judged(&On { server, level: RC }, &setup, &format!("T1: {upsert} => {count} rows"), Some(end))
    };
    for server in ["mysql@9.7.4", "mariadb@10.11.19", "reference@1"] {
        assert_eq!(said(server, 2, "(15, -9, 11, 1) (20, -9, NULL, 4)"), "holds");
        // The manual does not say which: "only one row is updated".
        assert_eq!(said(server, 0, "(15, -9, 11, 1) (20, NULL, NULL, 4)"), "holds");
        let neither = said(server, 1, "(15, -9, 11, 1) (20, NULL, NULL, 4)");
        assert_eq!(neither, "wrong-count: new at step 1");
        let other = said(server, 0, "(15, -9, 11, 1) (20, -9, NULL, 4)");
        assert_eq!(other, "wrong-final-state: new at the end");
    }
}

#[test]
fn unique_values_are_checked_against_what_is_newest() {
    let text = |answer: &str| {
        format!(
            "T1: BEGIN => ok
             T1: SELECT a FROM t => (1) (2) (3)
             T2: INSERT INTO t (a, b, c) VALUES (4, 40, 0) => 1 rows
             T1: INSERT INTO t (a, b, c) VALUES (4, 44, 0) => {answer}
             T1: ROLLBACK => ok"
        )
    };
    assert_eq!(said(&mysql(RR), &text("duplicate")), "holds");
    assert_eq!(said(&mysql(RR), &text("1 rows")), "missing-error: new at step 4");
}

/// The rule that a report quotes a manual for.
fn quoted(on: &On, setup: &[&str], text: &str) -> Option<RuleId> {
    match Mvcc::default().verdict(&play(on, setup, text, None)) {
        Verdict::Violated(violation) => violation.evidence.rule,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_error_of_a_constraint_that_is_missing_is_no_matter_of_snapshots() {
    let sqlite = On { server: "sqlite@3.50", level: SER };
    let twice = "T1: INSERT INTO t (a, b, c) VALUES (1, 44, 0) => 1 rows";
    let parent = ["CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT NOT NULL)"];
    let null = "T1: INSERT INTO t (a, b, c) VALUES (1, 44, NULL) => 1 rows";
    for server in [sqlite, mysql(RR), snapshot_isolation(RC)] {
        assert_eq!(quoted(&server, &T, twice), Some(RuleId::DistinctKeys), "{}", server.server);
        assert_eq!(quoted(&server, &parent, null), Some(RuleId::Constraints), "{}", server.server);
    }
}

#[test]
fn savepoints_undo_what_came_after_them() {
    let text = |rows: &str| {
        format!(
            "T1: BEGIN => ok
             T1: UPDATE t SET b = 11 WHERE a = 1 => 1 of 1
             T1: SAVEPOINT s => ok
             T1: UPDATE t SET b = 12 WHERE a = 1 => 1 of 1
             T1: ROLLBACK TO SAVEPOINT s => ok
             T1: SELECT b FROM t WHERE a = 1 => {rows}
             T1: COMMIT => ok"
        )
    };
    assert_eq!(judged(&mysql(RR), &T, &text("(11)"), Some("(1, 11, 0) (2, 20, 0) (3, 30, 0)")), "holds");
    for wrong in ["(10)", "(12)"] {
        assert_eq!(said(&mysql(RR), &text(wrong)), "wrong-rows: new at step 6");
    }
}

#[test]
fn the_final_state_is_what_was_committed() {
    let text = "T1: BEGIN => ok
                T1: UPDATE t SET b = 11 WHERE a = 1 => 1 of 1
                T1: ROLLBACK => ok";
    let end = |b: u32| format!("(1, {b}, 0) (2, 20, 0) (3, 30, 0)");
    assert_eq!(judged(&mysql(RR), &T, text, Some(&end(10))), "holds");
    assert_eq!(judged(&mysql(RR), &T, text, Some(&end(11))), "wrong-final-state: new at the end");
}

#[test]
fn a_semi_consistent_update_passes_a_row_by() {
    let text = |statement: &str| {
        format!(
            "T1: BEGIN => ok
             T1: UPDATE t SET b = 99 WHERE a = 1 => 1 of 1
             T2: {statement}
             T1: COMMIT => ok"
        )
    };
    let skip = text("UPDATE t SET c = 7 WHERE b = 99 => 0 of 0");
    assert_eq!(said(&mysql(RC), &skip), "holds by semi-consistent-skip");
    // It excuses neither another level, nor another statement, nor a row whose committed version matches.
    assert_eq!(said(&mysql(RR), &skip), "missing-wait: new at step 3");
    assert_eq!(said(&snapshot_isolation(RC), &skip), "missing-wait: new at step 3");
    assert_eq!(
        said(&mysql(RC), &text("DELETE FROM t WHERE b = 99 => 0 rows")),
        "missing-wait: new at step 3"
    );
    assert_eq!(
        said(&mysql(RC), &text("UPDATE t SET c = 7 WHERE b = 10 => 0 of 0")),
        "undecided lock-suspect"
    );
}

#[test]
fn going_back_before_the_first_statement_ends_all() {
    let text = |savepoint_first: bool| {
        let (first, second) = match savepoint_first {
            true => ("SAVEPOINT s => ok", "SELECT b FROM t WHERE a = 1 FOR UPDATE => (10)"),
            false => ("SELECT b FROM t WHERE a = 1 FOR UPDATE => (10)", "SAVEPOINT s => ok"),
        };
        format!(
            "T1: BEGIN => ok
             T1: {first}
             T1: {second}
             T1: ROLLBACK TO SAVEPOINT s => ok
             T2: UPDATE t SET b = 7 WHERE a = 1 => 1 of 1
             T1: COMMIT => ok"
        )
    };
    for on in [mysql(RC), mysql(RR), snapshot_isolation(RR)] {
        // A lock is lost, though the manuals say that it stays.
        assert_eq!(rule(&on, &T, &text(true)), "early-savepoint-ends-all");
        assert_eq!(said(&on, &text(true)), "missing-wait: new at step 5");
        assert_eq!(said(&on, &text(false)), "undecided lock-suspect");
    }
    let read = |first: &str, rows: &str| {
        format!(
            "T1: BEGIN => ok
             {first}
             T1: SELECT b FROM t WHERE a = 1 => (10)
             T2: UPDATE t SET b = 99 WHERE a = 1 => 1 of 1
             T1: ROLLBACK TO SAVEPOINT s => ok
             T1: SELECT b FROM t WHERE a = 1 => {rows}
             T1: COMMIT => ok"
        )
    };
    let late = "T1: SELECT b FROM t WHERE a = 2 FOR UPDATE => (20)\nT1: SAVEPOINT s => ok";
    assert_eq!(rule(&mysql(RR), &T, &read("T1: SAVEPOINT s => ok", "(99)")), "early-savepoint-ends-all");
    assert_eq!(said(&mysql(RR), &read("T1: SAVEPOINT s => ok", "(10)")), "holds");
    assert_eq!(rule(&mysql(RR), &T, &read(late, "(99)")), "one-snapshot");
}

#[test]
fn only_a_read_that_can_find_nothing_takes_no_snapshot() {
    let text = |condition: &str| {
        format!(
            "T1: BEGIN => ok
             T1: SELECT b FROM t WHERE {condition} => none
             T2: UPDATE t SET b = 99 WHERE a = 1 => 1 of 1
             T1: SELECT b FROM t WHERE a = 1 => (99)
             T1: COMMIT => ok"
        )
    };
    let name = "holds by undocumented impossible-condition-takes-no-snapshot";
    for condition in ["a = NULL", "1 = 0", "a > 5 AND a < 3", "a IS NULL", "b IN (NULL)", "a = 1 AND a = 2"] {
        assert_eq!(said(&mysql(RR), &text(condition)), name, "{condition}");
    }
    for condition in ["a = 7", "b = 5", "a > 100", "c <> 0", "a BETWEEN 4 AND 6", "b IS NULL", "a = b"] {
        assert_eq!(said(&mysql(RR), &text(condition)), "wrong-rows: new at step 4", "{condition}");
    }
}

#[test]
fn in_wal_mode_a_reader_whose_snapshot_is_too_old_may_not_write() {
    let sqlite = On { server: "sqlite@3.50.0?journal_mode=wal", level: SER };
    let text = |other: &str, statement: &str| {
        format!(
            "T1: BEGIN => ok
             T1: SELECT b FROM t WHERE a = 1 => (10)
             T2: {other}
             T1: {statement}
             T1: COMMIT => ok"
        )
    };
    let written = "UPDATE t SET b = 99 WHERE a = 1 => 1 rows";
    let in_vain = "SAVEPOINT s => ok
                   T2: INSERT INTO t VALUES (4, 40, 0) => 1 rows
                   T2: ROLLBACK TO SAVEPOINT s => ok
                   T2: COMMIT => ok";
    for (other, statement, verdict) in [
        (written, "UPDATE t SET c = 7 WHERE a = 3 => stale", "holds"),
        (written, "INSERT INTO t VALUES (4, 40, 0) => stale", "holds"),
        (written, "UPDATE t SET c = 7 WHERE a = 3 => 1 rows", "missing-error: new at step 4"),
        // What was undone has been written, too.
        (in_vain, "DELETE FROM t WHERE a = 3 => stale", "holds"),
        (in_vain, "DELETE FROM t WHERE a = 3 => 1 rows", "holds"),
        // Nobody has written, and a read is never refused.
        (
            "SELECT b FROM t WHERE a = 2 => (20)",
            "DELETE FROM t WHERE a = 3 => stale",
            "needless-error: new at step 4",
        ),
        (written, "SELECT b FROM t WHERE a = 3 => stale", "needless-error: new at step 4"),
    ] {
        assert_eq!(said(&sqlite, &text(other, statement)), verdict, "{other}; {statement}");
    }
}

#[test]
fn a_savepoint_of_a_name_that_is_taken_stacks_or_takes_its_place() {
    let text = |last: &str, rows: &str| {
        format!(
            "T1: BEGIN => ok
             T1: INSERT INTO t VALUES (4, 40, 0) => 1 rows
             T1: SAVEPOINT s => ok
             T1: INSERT INTO t VALUES (5, 50, 0) => 1 rows
             T1: SAVEPOINT s => ok
             T1: INSERT INTO t VALUES (6, 60, 0) => 1 rows
             T1: RELEASE SAVEPOINT s => ok
             T1: ROLLBACK TO SAVEPOINT s => {last}
             T1: SELECT a FROM t WHERE a > 3 => {rows}
             T1: COMMIT => ok"
        )
    };
    let sqlite = On { server: "sqlite@3.50.0", level: SER };
    assert_eq!(said(&sqlite, &text("ok", "(4)")), "holds");
    assert_eq!(said(&sqlite, &text("ok", "(4) (5)")), "wrong-rows: new at step 9");
    assert_eq!(said(&mysql(RR), &text("no savepoint", "(4) (5) (6)")), "holds");
    assert_eq!(said(&mysql(RR), &text("ok", "(4)")), "savepoint: new at step 8");
}

#[test]
fn sqlite_has_one_writer_and_steady_readers() {
    let sqlite = On { server: "sqlite@3.50.0", level: SER };
    let read = |rows: &str| {
        format!(
            "T1: BEGIN => ok
             T1: SELECT b FROM t WHERE a = 1 => (10)
             T2: UPDATE t SET b = 99 WHERE a = 1 => 1 rows
             T1: SELECT b FROM t WHERE a = 1 => {rows}
             T1: COMMIT => ok"
        )
    };
    assert_eq!(said(&sqlite, &read("(10)")), "holds");
    assert_eq!(said(&sqlite, &read("(99)")), "wrong-rows: new at step 4");
    let write = "T1: BEGIN => ok
                 T1: SELECT b FROM t WHERE a = 1 => (10)
                 T2: UPDATE t SET b = 99 WHERE a = 1 => 1 rows
                 T1: UPDATE t SET b = 11 WHERE a = 1 => 1 rows
                 T1: COMMIT => ok";
    assert_eq!(said(&sqlite, write), "missing-error: new at step 4");
}

#[test]
fn what_cannot_be_told_is_undecided() {
    assert_eq!(said(&mysql(RR), "T1: FROBNICATE t => ok"), "undecided unparsed");
    assert_eq!(said(&mysql(RR), "T1: TRUNCATE TABLE t => ok"), "undecided schema-changed");
    let postgres = On { server: "postgres@18.0", level: RR };
    assert_eq!(said(&postgres, "T1: SELECT b FROM t WHERE a = 1 => (10)"), "undecided no-contract");
}

/// SQLite enforces foreign keys in the sessions that ask for it, and asking is ignored inside a transaction.
#[test]
fn foreign_keys_are_enforced_where_a_session_has_asked_for_it() {
    let sqlite = On { server: "sqlite@3.45.0?foreign_keys=OFF", level: SER };
    let setup = [
        "CREATE TABLE t (a INT PRIMARY KEY, b INT UNIQUE)",
        "CREATE TABLE u (d INT, FOREIGN KEY (d) REFERENCES t (a))",
        "INSERT INTO t VALUES (0, 1), (1, 2)",
    ];
    let said = |text: &str| judged(&sqlite, &setup, text, None);
    let orphan = "T1: INSERT INTO u VALUES (7)";
    assert_eq!(said(&format!("{orphan} => 1 rows")), "holds");
    assert_eq!(said(&format!("T1: PRAGMA foreign_keys = 1 => ok\n{orphan} => constraint")), "holds");
    assert_eq!(said(&format!("T1: PRAGMA foreign_keys = 0 => ok\n{orphan} => 1 rows")), "holds");
    let enforced = format!("T1: PRAGMA foreign_keys = ON => ok\n{orphan} => 1 rows");
    assert_eq!(said(&enforced), "missing-error: new at step 2");
    let late = "T1: BEGIN => ok\nT1: PRAGMA foreign_keys = 1 => ok";
    assert_eq!(said(&format!("{late}\n{orphan} => 1 rows")), "holds");
    // The new row is a parent when the statement ends, which is when SQLite looks.
    let child = "T1: PRAGMA foreign_keys = 1 => ok\nT1: INSERT INTO u VALUES (0) => 1 rows";
    assert_eq!(
        said(&format!("{child}\nT1: REPLACE INTO t VALUES (0, 2) => 1 rows")),
        "undecided replace-of-a-parent"
    );
}

/// In WAL mode a DELETE of all rows writes to the database, also where there is none, and who has read before is refused.
#[test]
fn a_change_of_no_row_may_make_a_snapshot_old() {
    let wal = On { server: "sqlite@3.45.0?journal_mode=wal", level: SER };
    let setup = ["CREATE TABLE t (a INT)"];
    let text = |between: &str| {
        format!(
            "T1: BEGIN => ok
             T1: SELECT * FROM t => none
             {between}
             T1: UPDATE t SET a = 0 => stale"
        )
    };
    assert_eq!(judged(&wal, &setup, &text("T2: DELETE FROM t => 0 rows"), None), "holds");
    let said = judged(&wal, &setup, &text("T2: SELECT * FROM t => none"), None);
    assert_eq!(said, "needless-error: new at step 4");
}

#[test]
fn whether_a_subquery_sees_the_cascade_of_its_own_statement_is_undecided() {
    let setup = [
        "CREATE TABLE t (a INT PRIMARY KEY, c INT)",
        "CREATE TABLE u (a INT PRIMARY KEY, d INT, FOREIGN KEY (d) REFERENCES t (a) ON DELETE CASCADE)",
        "CREATE TABLE v (a INT PRIMARY KEY)",
        "INSERT INTO t (a, c) VALUES (0, 3), (1, 5)",
        "INSERT INTO u (a, d) VALUES (3, 0), (5, 0)",
        "INSERT INTO v (a) VALUES (3), (5)",
    ];
    let delete =
        |from: &str, rows: u64| format!("T1: DELETE FROM t WHERE c IN (SELECT a FROM {from}) => {rows} rows");
    for rows in [1, 2] {
        let said = judged(&mysql(RC), &setup, &delete("u", rows), None);
        assert_eq!(said, "undecided cascade-into-its-subquery");
    }
    assert_eq!(judged(&mysql(RC), &setup, &delete("v", 2), None), "holds");
    assert_eq!(judged(&mysql(RC), &setup, &delete("v", 1), None), "wrong-count: new at step 1");
}
