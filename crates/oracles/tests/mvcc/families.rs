//! The known families of bugs, and those that we found: each by its name, and what its known deviation does NOT excuse.

use super::*;

#[test]
fn mdev_26642_an_equal_write_without_a_version() {
    let text = |value: u32, count: &str, rows: &str| {
        format!(
            "T1: BEGIN => ok
             T1: SELECT b FROM t WHERE a = 1 => (10)
             T2: UPDATE t SET b = 99 WHERE a = 1 => 1 of 1
             T1: UPDATE t SET b = {value} WHERE a = 1 => {count}
             T1: SELECT b FROM t WHERE a = 1 => {rows}
             T1: COMMIT => ok"
        )
    };
    assert_eq!(said(&mysql(RR), &text(99, "0 of 1", "(99)")), "holds");
    assert_eq!(said(&mysql(RR), &text(99, "0 of 1", "(10)")), "wrong-rows: noop-without-version at step 5");
    // A write that changes something is seen.
    assert_eq!(said(&mysql(RR), &text(98, "1 of 1", "(10)")), "wrong-rows: new at step 5");
    assert_eq!(said(&mysql(RR), &text(99, "0 of 1", "(20)")), "wrong-rows: new at step 5");
}

#[test]
fn mdev_32898_a_row_under_its_old_key() {
    let text = |set: &str, rows: &str| {
        format!(
            "T1: BEGIN => ok
             T1: SELECT a, b FROM t => (1, 10) (2, 20) (3, 30)
             T2: UPDATE t SET {set} WHERE a = 1 => 1 of 1
             T1: UPDATE t SET c = 7 WHERE b <= 20 => 2 of 2
             T1: SELECT a, b FROM t => {rows}
             T1: COMMIT => ok"
        )
    };
    assert_eq!(said(&mysql(RR), &text("a = 5", "(2, 20) (3, 30) (5, 10)")), "holds");
    assert_eq!(
        said(&mysql(RR), &text("a = 5", "(1, 10) (2, 20) (3, 30) (5, 10)")),
        "wrong-rows: key-change-keeps-old-row at step 5"
    );
    // Without a change of the key no row is there twice.
    assert_eq!(
        said(&mysql(RR), &text("b = 11", "(1, 10) (1, 11) (2, 20) (3, 30)")),
        "wrong-rows: new at step 5"
    );
}

#[test]
fn a_row_that_was_replaced_may_be_another_one() {
    let text = |first: &str| {
        format!(
            "T2: BEGIN => ok
             T2: SELECT b FROM t => (10) (20) (30)
             T1: BEGIN => ok
             T1: {first}
             T1: UPDATE t SET a = 6 WHERE a = 1 => 1 of 1
             T1: COMMIT => ok
             T2: UPDATE t SET c = 6 => 3 of 3
             T2: SELECT * FROM t => (6, 11, 6) (2, 20, 6) (3, 30, 6) (1, 10, 0)"
        )
    };
    assert_eq!(said(&mysql(RR), &text("REPLACE INTO t VALUES (1, 11, 0) => 2 rows")), "holds");
    let known = "wrong-rows: key-change-keeps-old-row at step 8";
    assert_eq!(said(&mysql(RR), &text("UPDATE t SET b = 11 WHERE a = 1 => 1 of 1")), known);
}

#[test]
fn mdev_32898_by_a_unique_key_only_the_old_row() {
    let said = |index: &str, rows: &str| {
        let table = format!("CREATE TABLE t (a INT PRIMARY KEY, b INT NOT NULL, c INT, {index} (b))");
        let setup = [table.as_str(), "INSERT INTO t VALUES (1, 2, NULL)"];
        let text = format!(
            "T1: BEGIN => ok
             T1: SELECT a, b FROM t => (1, 2)
             T2: UPDATE t SET a = 8 WHERE a = 1 => 1 of 1
             T1: UPDATE t SET c = 7 WHERE c IS NULL => 1 of 1
             T1: SELECT a, b FROM t WHERE b = 2 => {rows}
             T1: COMMIT => ok"
        );
        judged(&mysql(RR), &setup, &text, None)
    };
    assert_eq!(said("UNIQUE KEY", "(8, 2)"), "holds");
    assert_eq!(said("UNIQUE KEY", "(1, 2)"), "wrong-rows: key-change-keeps-old-row at step 5");
    // By another index both are met.
    assert_eq!(said("KEY", "(1, 2)"), "wrong-rows: new at step 5");
    assert_eq!(said("KEY", "(1, 2) (8, 2)"), "wrong-rows: key-change-keeps-old-row at step 5");
}

#[test]
fn mysql_104833_a_scan_that_does_not_come_back() {
    let setup =
        ["CREATE TABLE t (a INT, b INT, c INT)", "INSERT INTO t VALUES (NULL, 0, 0), (1, 1, 0), (2, 2, 0)"];
    let text = |count: &str| {
        format!(
            "T1: BEGIN => ok
             T1: UPDATE t SET a = 10 => 3 of 3
             T2: BEGIN => ok
             T2: UPDATE t SET b = 20 WHERE a IS NOT NULL => waits
             T1: COMMIT => ok | {count}
             T2: COMMIT => ok"
        )
    };
    let said = |level, count: &str| judged(&mysql(level), &setup, &text(count), None);
    assert_eq!(said(RC, "3 of 3"), "holds");
    assert_eq!(said(RC, "2 of 2"), "wrong-count: skipped-before-wait at step 4");
    // Two rows that it had to wait for cannot be missing.
    assert_eq!(said(RC, "0 of 0"), "wrong-count: new at step 4");
}

#[test]
fn mdev_27992_a_row_that_moves_across_the_scan() {
    let setup = ["CREATE TABLE t (a INT PRIMARY KEY)", "INSERT INTO t VALUES (8)"];
    let text = |to: u32, count: &str| {
        format!(
            "T1: BEGIN => ok
             T2: BEGIN => ok
             T1: UPDATE t SET a = 5 => 1 of 1
             T2: DELETE FROM t => waits
             T1: UPDATE t SET a = {to} => 1 of 1
             T1: COMMIT => ok | {count}
             T2: COMMIT => ok"
        )
    };
    let said = |to, count: &str| judged(&mysql(RC), &setup, &text(to, count), None);
    assert_eq!(said(3, "1 rows"), "holds");
    assert_eq!(said(3, "0 rows"), "wrong-count: moved-across-scan at step 4");
    // A statement that did not wait has met everything.
    let unhindered = "T1: UPDATE t SET a = 3 => 1 of 1\nT2: DELETE FROM t => 0 rows";
    assert_eq!(judged(&mysql(RC), &setup, unhindered, None), "wrong-count: new at step 2");
}

#[test]
fn mysql_113751_a_unique_search_misses_a_row_that_moved() {
    let setup = |key: &str| {
        let table = format!("CREATE TABLE t (a INT PRIMARY KEY, e INT NOT NULL, b INT, {key} i (e))");
        [table, "INSERT INTO t VALUES (2, 1, 0), (11, 7, 0), (14, 4, 0)".to_string()]
    };
    let text = |condition: &str, count: &str| {
        format!(
            "T2: BEGIN => ok
             T2: UPDATE t SET a = 5 WHERE a = 11 => 1 of 1
             T1: BEGIN => ok
             T1: UPDATE t SET b = 1 WHERE {condition} => waits
             T2: UPDATE t SET a = -6 WHERE a = 5 => 1 of 1
             T2: COMMIT => ok | {count}
             T1: COMMIT => ok"
        )
    };
    let said = |on: &On, key: &str, text: &str| {
        let setup = setup(key);
        judged(on, &[&setup[0], &setup[1]], text, None)
    };
    let (unique, new) = ("UNIQUE KEY", "wrong-count: new at step 4");
    for level in [RR, SER] {
        assert_eq!(said(&mysql(level), unique, &text("e = 7", "1 of 1")), "holds");
        let missed = text("e = 7", "0 of 0");
        assert_eq!(said(&mysql(level), unique, &missed), "wrong-count: unique-search-misses at step 4");
        // A search by another index, or by more than one value, locks the gaps; other servers do not do it.
        assert_eq!(said(&mysql(level), "KEY", &missed), new);
        assert_eq!(said(&mysql(level), unique, &text("e > 2", "1 of 1")), new);
        assert_eq!(said(&On { server: "mariadb@10.11.19", level }, unique, &missed), new);
    }
}

/// Another unique key begins with the same columns as the entries of the one by which it searched.
#[test]
fn mysql_113751_beside_a_longer_unique_key() {
    let setup = ["CREATE TABLE t (a INT, b INT, PRIMARY KEY (b, a), UNIQUE (a, b), UNIQUE (a))"];
    let text = "T1: BEGIN => ok
                T1: INSERT INTO t VALUES (0, 1) => 1 rows
                T2: SELECT * FROM t WHERE a = 0 FOR UPDATE => waits
                T1: UPDATE t SET b = 0 => 1 of 1
                T1: COMMIT => ok | none";
    assert_eq!(judged(&mysql(RR), &setup, text, None), "wrong-rows: unique-search-misses at step 3");
}

#[test]
fn a_query_of_two_columns_is_refused_where_one_is_asked_for() {
    let setup = ["CREATE TABLE t (a INT, b INT)", "CREATE TABLE u (c INT)"];
    for condition in ["c IN (SELECT * FROM t)", "c = (SELECT a, b FROM t)"] {
        let text = format!("T1: UPDATE u SET c = 0 WHERE {condition} => runtime");
        assert_eq!(
            judged(&mysql(RC), &setup, &text, None),
            "undecided inner-query-expression",
            "{condition}"
        );
    }
}

/// The row that it misses is being changed by a third.
#[test]
fn mysql_113751_without_a_wait_for_who_changes_the_row_now() {
    let setup = ["CREATE TABLE t (a INT PRIMARY KEY, b INT UNIQUE, c INT)"];
    let text = "T1: BEGIN => ok
                T1: INSERT INTO t VALUES (2, 2, 1) => 1 rows
                T1: INSERT INTO t VALUES (0, 0, 0) => 1 rows
                T2: SELECT * FROM t WHERE b = 2 FOR SHARE => waits
                T3: BEGIN => ok
                T3: UPDATE t SET c = 5 => waits
                T1: UPDATE t SET a = 1 WHERE a => 1 of 1
                T1: COMMIT => ok | none | 2 of 2";
    assert_eq!(judged(&mysql(RR), &setup, text, None), "missing-wait: unique-search-misses at step 4");
}

#[test]
fn mdev_33802_a_row_twice_after_a_rollback() {
    let unique = ["CREATE TABLE t (a INT PRIMARY KEY, b INT UNIQUE)", "INSERT INTO t (a) VALUES (1)"];
    let text = |end: &str, rows: &str| {
        format!(
            "T1: BEGIN => ok
             T1: INSERT INTO t (a) VALUES (2) => 1 rows
             T2: BEGIN => ok
             T2: SELECT a, b FROM t FORCE INDEX (b) FOR UPDATE => waits
             T1: {end} => ok | {rows}
             T2: COMMIT => ok"
        )
    };
    let said =
        |server, end: &str, rows: &str| judged(&On { server, level: SER }, &unique, &text(end, rows), None);
    let twice = "(1, NULL) (1, NULL)";
    assert_eq!(said("mariadb@10.11.5", "ROLLBACK", "(1, NULL)"), "holds");
    assert_eq!(said("mariadb@10.11.5", "ROLLBACK", twice), "wrong-rows: duplicate-after-rollback at step 4");
    // Where it was repaired, or never was, it explains nothing; nor what comes without a rollback, nor other rows.
    for server in ["mariadb@10.11.19", "mariadb@10.2.11", "mysql@9.7.4"] {
        assert_eq!(said(server, "ROLLBACK", twice), "wrong-rows: new at step 4", "{server}");
    }
    assert_eq!(
        said("mariadb@10.11.5", "COMMIT", "(1, NULL) (2, NULL) (2, NULL)"),
        "wrong-rows: new at step 4"
    );
    assert_eq!(said("mariadb@10.11.5", "ROLLBACK", "none"), "wrong-rows: new at step 4");
}

#[test]
fn mdev_39874_an_update_that_judges_what_is_not_committed() {
    let text = "T1: BEGIN => ok
                T1: UPDATE t SET b = 99 WHERE a = 1 => 1 of 1
                T2: UPDATE t SET c = 7 WHERE b = 10 => 0 of 0
                T1: ROLLBACK => ok";
    let seen = play(&snapshot_isolation(RU), &T, text, None);
    let Verdict::Violated(violation) = Mvcc::default().verdict(&seen) else { panic!("it holds") };
    assert_eq!(violation.fingerprint.cause.to_string(), "judges-uncommitted");
    assert_eq!(oracles::mvcc::known(&violation.fingerprint).as_deref(), Some("MDEV-39874"));
    // At READ COMMITTED, and without snapshot isolation, it has no name.
    for on in [snapshot_isolation(RC), mysql(RU)] {
        assert_eq!(said(&on, text), "missing-wait: new at step 3");
    }
}

#[test]
fn mdev_34106_a_row_that_is_changed_behind_the_scan() {
    let text = |set: &str, count: &str| {
        format!(
            "T1: BEGIN => ok
             T1: UPDATE t SET b = 99 WHERE a = 3 => 1 of 1
             T2: UPDATE t SET c = 7 WHERE b >= 20 => waits
             T1: UPDATE t SET b = {set} WHERE a = 1 => 1 of 1
             T1: COMMIT => ok | {count}"
        )
    };
    assert_eq!(said(&mysql(RC), &text("50", "3 of 3")), "holds");
    assert_eq!(said(&mysql(RC), &text("50", "2 of 2")), "wrong-count: changed-during-wait at step 3");
    // What has matched all the time is found, and what does not match is not.
    assert_eq!(said(&mysql(RC), &text("50", "1 of 1")), "wrong-count: new at step 3");
    assert_eq!(said(&mysql(RC), &text("11", "3 of 3")), "wrong-count: new at step 3");
}

#[test]
fn mdev_34108_a_row_that_was_passed_by_and_is_changed_later() {
    let setup = ["CREATE TABLE t (a INT, b INT)", "INSERT INTO t VALUES (NULL, 1), (1, 1)"];
    let text = |count: &str| {
        format!(
            "T1: BEGIN => ok
             T1: UPDATE t SET b = 3 => 2 of 2
             T2: UPDATE t SET b = 2 WHERE a IS NOT NULL => waits
             T1: UPDATE t SET a = 1 => 1 of 2
             T1: COMMIT => ok | {count}"
        )
    };
    let said = |count: &str| judged(&mysql(RC), &setup, &text(count), None);
    assert_eq!(said("2 of 2"), "holds");
    assert_eq!(said("1 of 1"), "wrong-count: skipped-before-wait at step 3");
}

#[test]
fn mdev_34106_a_locking_read_misses_a_row_that_was_inserted_behind_it() {
    let setup = ["CREATE TABLE t (a INT PRIMARY KEY)"];
    let text = |end: &str, rows: &str| {
        format!(
            "T1: BEGIN => ok
             T1: INSERT INTO t VALUES (2) => 1 rows
             T2: SELECT a FROM t FOR UPDATE => waits
             T1: INSERT INTO t VALUES (1) => 1 rows
             T1: {end} => ok | {rows}"
        )
    };
    let seen = play(&mysql(RC), &setup, &text("COMMIT", "(2)"), None);
    let Verdict::Violated(violation) = Mvcc::default().verdict(&seen) else { panic!("it holds") };
    let known = oracles::mvcc::known(&violation.fingerprint);
    assert_eq!(known.as_deref(), Some("MDEV-34106, MySQL#114952 (rejected by the vendor)"));
    assert_eq!(judged(&mysql(RC), &setup, &text("COMMIT", "(1) (2)"), None), "holds");
}

#[test]
fn no_wait_is_owed_for_a_row_that_comes_behind_the_scan() {
    let text = |level, count: &str| {
        let text = format!(
            "T1: BEGIN => ok
             T1: UPDATE t SET b = 21 WHERE a = 2 => 1 of 1
             T2: DELETE FROM t WHERE b < 30 => waits
             T3: BEGIN => ok
             T3: INSERT INTO t VALUES (0, 5, 0) => 1 rows
             T1: COMMIT => ok | {count} rows
             T3: ROLLBACK => ok"
        );
        judged(&mysql(level), &T, &text, None)
    };
    assert_eq!(text(RC, "2"), "holds");
    assert_eq!(text(RC, "3"), "wrong-count: new at step 3");
    // Where gaps are locked, somebody has not waited.
    assert_eq!(text(RR, "2"), "undecided lock-suspect");
}

#[test]
fn of_two_that_are_woken_the_order_counts_in_which_less_is_wrong() {
    // The DELETE went first, and no wait was owed for what came behind it. Had the UPDATE gone first, it would have failed.
    let setup = ["CREATE TABLE t (a INT PRIMARY KEY)", "INSERT INTO t VALUES (1)"];
    let text = |deleted: u32| {
        format!(
            "T1: BEGIN => ok
             T1: DELETE FROM t => 1
             T2: DELETE FROM t => waits
             T3: BEGIN => ok
             T3: INSERT INTO t VALUES (0) => 1
             T3: UPDATE t SET a = 0 => waits
             T1: ROLLBACK => ok | {deleted} | 0 of 1
             T3: COMMIT => ok"
        )
    };
    assert_eq!(judged(&mysql(RC), &setup, &text(1), None), "holds");
    // Nothing was in the way of the UPDATE only if the DELETE took it away: no scan explains this one.
    assert_eq!(judged(&mysql(RC), &setup, &text(0), None), "wrong-count: new at step 3");
}

#[test]
fn what_is_wrong_in_every_order_is_told_in_the_order_that_explains_most() {
    // The refusal is wrong whenever it came; the count of the last UPDATE only if it did not come after the one before.
    let setup =
        ["CREATE TABLE t (d INT PRIMARY KEY, c INT, f INT)", "INSERT INTO t VALUES (13, 5, 0), (14, 1, 0)"];
    let text = "T1: BEGIN => ok
                T1: UPDATE t SET f = 1 => 2 of 2
                T2: INSERT INTO t SELECT 15, c, f FROM t WHERE d = 14 => waits
                T3: UPDATE t SET c = 1 => waits
                T4: UPDATE t SET c = 5 WHERE d = 13 => waits
                T1: COMMIT => ok | conflict | 1 of 2 | 1 of 1";
    assert_eq!(judged(&snapshot_isolation(RU), &setup, text, None), "needless-error: new at step 3");
}

#[test]
fn a_parent_may_be_looked_for_that_is_not_needed() {
    let setup = [
        "CREATE TABLE t (a INT PRIMARY KEY)",
        "CREATE TABLE u (c INT PRIMARY KEY, a INT, g INT, FOREIGN KEY (g) REFERENCES t (a))",
        "INSERT INTO t VALUES (0)",
        "INSERT INTO u VALUES (6, 7, 0)",
    ];
    let upsert = "T1: INSERT INTO u VALUES (6, 15, 8) ON DUPLICATE KEY UPDATE a = -5 => 2 rows";
    assert_eq!(judged(&mysql(RC), &setup, upsert, None), "undecided upsert-without-a-parent");
    assert_eq!(judged(&On { server: "mysql@8.0.33", level: RC }, &setup, upsert, None), "holds");
    // By another key than that which rows are stored by, it depends on which index was made first.
    let later = [setup[0], setup[1], setup[2], setup[3], "ALTER TABLE u ADD UNIQUE KEY i (a)"];
    let by_another = "T1: INSERT INTO u VALUES (9, 7, 8) ON DUPLICATE KEY UPDATE a = 7 => constraint";
    for answer in ["constraint", "0 rows"] {
        let text = by_another.replace("constraint", answer);
        let said = judged(&On { server: "mariadb@10.11.19", level: RC }, &later, &text, None);
        assert_eq!(said, "undecided upsert-without-a-parent", "{answer}");
    }
    let found = upsert.replace("15, 8", "15, 0");
    assert_eq!(judged(&mysql(RC), &setup, &found, None), "holds");
    assert_eq!(
        judged(&mysql(RC), &setup, &found.replace("2 rows", "0 rows"), None),
        "wrong-count: new at step 1"
    );
}

#[test]
fn a_query_inside_is_refused_after_a_wait_and_only_then() {
    let setup = [T[0], T[1], "CREATE TABLE u (a INT PRIMARY KEY)", "INSERT INTO u VALUES (1)"];
    let text = |filter: &str| {
        format!(
            "T1: BEGIN => ok
             T1: UPDATE t SET b = 99 WHERE a = 1 => 1 of 1
             T2: BEGIN => ok
             T2: SELECT b FROM t WHERE {filter} FOR UPDATE => waits
             T1: COMMIT => ok | conflict"
        )
    };
    let inner = text("a IN (SELECT a FROM u)");
    assert_eq!(rule(&snapshot_isolation(RU), &setup, &inner), "conflict-by-inner-read");
    // Which the manual says for READ COMMITTED.
    let by_design = judged(&snapshot_isolation(RC), &setup, &inner, None);
    assert_eq!(by_design, "holds by conflict-in-statement-view");
    assert_ne!(rule(&mysql(RC), &setup, &inner), "conflict-by-inner-read");
    assert_ne!(rule(&snapshot_isolation(RU), &setup, &text("a = 1")), "conflict-by-inner-read");
    assert!(!judged(&snapshot_isolation(RC), &setup, &text("a = 1"), None).starts_with("holds"));
    let unhindered =
        "T2: BEGIN => ok\nT2: SELECT b FROM t WHERE a IN (SELECT a FROM u) FOR UPDATE => conflict";
    assert_ne!(rule(&snapshot_isolation(RU), &setup, unhindered), "conflict-by-inner-read");
    assert!(!judged(&snapshot_isolation(RC), &setup, unhindered, None).starts_with("holds"));
}

#[test]
fn a_foreign_key_is_overlooked_beside_null_only() {
    let setup = [
        "CREATE TABLE t (a INT PRIMARY KEY)",
        "CREATE TABLE u (a INT PRIMARY KEY, b INT, g INT NOT NULL, KEY k (g, b), FOREIGN KEY (g) REFERENCES t (a))",
        "INSERT INTO t (a) VALUES (1)",
    ];
    let text = |row: &str| format!("T1: INSERT INTO u (a, b, g) VALUES {row} => 1 rows");
    assert_eq!(judged(&mysql(RC), &setup, &text("(1, NULL, 1)"), None), "holds");
    assert_eq!(rule(&mysql(RC), &setup, &text("(1, NULL, 2)")), "foreign-key-beside-null");
    assert_ne!(rule(&mysql(RC), &setup, &text("(1, 0, 2)")), "foreign-key-beside-null");
    let older = On { server: "mysql@8.0.33", level: RC };
    assert_ne!(rule(&older, &setup, &text("(1, NULL, 2)")), "foreign-key-beside-null");
}

#[test]
fn scans_go_on_below_repeatable_read_only() {
    let setup = ["CREATE TABLE t (a INT PRIMARY KEY)", "INSERT INTO t VALUES (8)"];
    let text = "T1: BEGIN => ok
                T1: UPDATE t SET a = 5 => 1 of 1
                T2: DELETE FROM t => waits
                T1: UPDATE t SET a = 3 => 1 of 1
                T1: COMMIT => ok | 0 rows";
    assert_eq!(judged(&mysql(RU), &setup, text, None), "wrong-count: moved-across-scan at step 3");
    for level in [RR, SER] {
        assert_eq!(judged(&mysql(level), &setup, text, None), "wrong-count: new at step 3");
    }
}

/// Below b = 17 there was only what T1 had not committed, where T2 waited. All rows are behind that in the end.
#[test]
fn a_scan_that_went_on_is_named_by_what_its_server_does() {
    let setup = ["CREATE TABLE t (a INT, b INT NOT NULL, KEY i (b, a))", "INSERT INTO t VALUES (19, 17)"];
    let text = "T1: BEGIN => ok
                T1: UPDATE t SET b = 13 => 1 of 1
                T1: UPDATE t SET a = 8 => 1 of 1
                T2: BEGIN => ok
                T2: UPDATE t SET a = 9 WHERE b <> 17 => waits
                T1: UPDATE t SET b = 1 => 1 of 1
                T1: COMMIT => ok | 0 of 0";
    assert_eq!(rule(&snapshot_isolation(RU), &setup, text), "moved-across-scan");
}

#[test]
fn a_sorted_read_takes_a_virtual_column_for_null() {
    let maria = |server| On { server, level: RR };
    let said = |on: &On, index: &str, query: &str, rows: &str| {
        let table = format!("CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (a + 1) VIRTUAL{index})");
        let setup = [table.as_str(), "INSERT INTO t (a) VALUES (0), (1)"];
        rule(on, &setup, &format!("T1: SELECT a, b FROM t WHERE {query} => {rows}"))
    };
    let (new, old, index, sorted) =
        (maria("mariadb@10.11.19"), maria("mariadb@10.2.11"), ", KEY (b)", "b >= 1 ORDER BY a");
    let known = "virtual-read-as-null";
    assert_eq!(said(&new, index, sorted, "(1, 2)"), known);
    assert_eq!(said(&new, index, "a >= 0 ORDER BY a", "(0, 1) (1, NULL)"), known);
    // The last row comes into the place of the one that is lost.
    assert_eq!(said(&new, index, "b >= 1 ORDER BY a LIMIT 1", "(1, 2)"), known);
    assert_ne!(said(&new, index, "b >= 1 ORDER BY a LIMIT 1", "(1, 3)"), known);
    // Another value than NULL, a row twice, without ORDER BY, without the index, on a version that does not have it.
    assert_ne!(said(&new, index, sorted, "(0, 1) (1, 3)"), known);
    assert_ne!(said(&new, index, sorted, "(0, 1) (1, 2) (1, 2)"), known);
    assert_ne!(said(&new, index, "b >= 1", "(1, 2)"), known);
    assert_ne!(said(&new, "", sorted, "(1, 2)"), known);
    assert_ne!(said(&old, index, sorted, "(1, 2)"), known);
}

#[test]
fn a_scan_of_a_range_does_not_wait_for_what_is_outside() {
    // By the index on b the scan waits at (0, third row); then the others become 0, too, behind it.
    let setup = ["CREATE TABLE t (a INT, b INT, KEY (b))", "INSERT INTO t VALUES (0, NULL), (0, 1)"];
    let text = |found: &str| {
        format!(
            "T1: INSERT INTO t VALUES (0, 0) => 1
             T1: BEGIN => ok
             T1: UPDATE t SET a = 0 => 0 of 3
             T2: UPDATE t SET a = 0 WHERE b <> 1 => waits
             T1: UPDATE t SET b = 0 => 2 of 3
             T1: COMMIT => ok | {found}"
        )
    };
    let changed = "wrong-match: changed-during-wait at step 4";
    assert_eq!(judged(&snapshot_isolation(RC), &setup, &text("0 of 1"), None), changed);
    assert_eq!(judged(&snapshot_isolation(RC), &setup, &text("0 of 0"), None), "wrong-match: new at step 4");
    assert_eq!(judged(&snapshot_isolation(RC), &setup, &text("0 of 3"), None), "holds");
}

/// T1 has a snapshot of (1, 10, 0), (2, 20, 0), (3, 30, 0); T2 commits a change; then T1 answers.
fn beside_a_snapshot(server: &'static str, level: Level, index: &str, change: &str, then: &str) -> String {
    let table = format!("CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT{index})");
    let setup = [table.as_str(), T[1]];
    let text = format!(
        "T1: BEGIN => ok
         T1: SELECT b FROM t WHERE a = 1 => (10)
         T2: {change}
         T1: {then}
         T1: COMMIT => ok"
    );
    let on = On { server, level };
    match judged(&on, &setup, &text, None).split_once(": ") {
        Some((symptom, _)) => format!("{symptom}: {}", rule(&on, &setup, &text)),
        None => judged(&on, &setup, &text, None),
    }
}

const SNAPSHOT_ISOLATION: &str = "mariadb@11.8.6?innodb_snapshot_isolation=ON";
const OLDER: &str = "mariadb@11.4.5?innodb_snapshot_isolation=ON";
const INDEX: &str = ", KEY (b)";

#[test]
fn what_the_snapshot_shows_and_a_commit_has_changed_is_refused() {
    let said = |change: &str, then: &str| beside_a_snapshot(SNAPSHOT_ISOLATION, RR, "", change, then);
    let owed = "missing-error: refused-by-view";
    for (change, count) in [
        ("UPDATE t SET c = 9 WHERE a = 2 => 1 of 1", 1),
        ("DELETE FROM t WHERE a = 2 => 1 rows", 0),
        ("UPDATE t SET a = 7 WHERE a = 2 => 1 of 1", 0),
        ("UPDATE t SET b = 99 WHERE a = 2 => 1 of 1", 0),
    ] {
        for statement in ["DELETE FROM t WHERE a = 2 AND b < 50", "UPDATE t SET c = 5 WHERE a = 2 AND b < 50"]
        {
            assert_eq!(said(change, &format!("{statement} => conflict")), "holds", "{change}");
            let count = if statement.starts_with("UPDATE") {
                format!("{count} of {count}")
            } else {
                count.to_string()
            };
            assert_eq!(said(change, &format!("{statement} => {count}")), owed, "{change}");
        }
    }
    let gone = "DELETE FROM t WHERE a = 2 => 1 rows";
    for strength in ["FOR UPDATE", "LOCK IN SHARE MODE"] {
        let read = |answer: &str| format!("SELECT b FROM t WHERE a = 2 {strength} => {answer}");
        assert_eq!(said(gone, &read("conflict")), "holds");
        assert_eq!(said(gone, &read("none")), owed);
        // A row that nobody has changed.
        let other = format!("SELECT b FROM t WHERE a = 3 {strength} => (30)");
        assert_eq!(said(gone, &other), "holds");
    }
}

#[test]
fn mdev_40092_a_row_that_is_gone_is_not_met_by_an_index() {
    let said = |index: &str, change: &str, then: &str| {
        beside_a_snapshot(SNAPSHOT_ISOLATION, RR, index, change, then)
    };
    let known = "missing-error: gone-row-by-index";
    let (gone, moved) = ("DELETE FROM t WHERE a = 2 => 1 rows", "UPDATE t SET b = 99 WHERE a = 2 => 1 of 1");
    for change in [gone, moved] {
        assert_eq!(said(INDEX, change, "SELECT * FROM t WHERE b = 20 FOR UPDATE => none"), known);
        assert_eq!(said(INDEX, change, "DELETE FROM t WHERE b = 20 => 0 rows"), known);
        assert_eq!(
            said("", change, "DELETE FROM t WHERE b = 20 => 0 rows"),
            "missing-error: refused-by-view"
        );
    }
    // What still matches is met.
    let changed = "UPDATE t SET c = 9 WHERE a = 2 => 1 of 1";
    assert_eq!(
        said(INDEX, changed, "DELETE FROM t WHERE b = 20 => 1 rows"),
        "missing-error: refused-by-view"
    );
}

#[test]
fn a_shared_read_of_an_index_alone_sees_no_conflict() {
    let said = |columns: &str, row: &str| {
        let read = format!("SELECT {columns} FROM t WHERE b = 20 LOCK IN SHARE MODE => {row}");
        let change = "UPDATE t SET c = 9 WHERE a = 2 => 1 of 1";
        beside_a_snapshot(SNAPSHOT_ISOLATION, RR, INDEX, change, &read)
    };
    assert_eq!(said("a, b", "(2, 20)"), "missing-error: covered-read-without-conflict");
    assert_eq!(said("a, b", "conflict"), "holds");
    // The row itself is read.
    assert_eq!(said("a, b, c", "(2, 20, 9)"), "missing-error: refused-by-view");
    assert_eq!(said("a, b, c", "conflict"), "holds");
}

#[test]
fn mdev_36330_serializable_is_refused_since_it_was_repaired() {
    let change = "UPDATE t SET c = 9 WHERE a = 2 => 1 of 1";
    let said = |server, answer: &str| {
        let text = format!("UPDATE t SET c = c + 1 WHERE a = 2 => {answer}");
        beside_a_snapshot(server, SER, "", change, &text)
    };
    assert_eq!(said(SNAPSHOT_ISOLATION, "conflict"), "holds");
    assert_eq!(said(SNAPSHOT_ISOLATION, "1 of 1"), "missing-error: refused-by-view");
    assert_eq!(said(OLDER, "1 of 1"), "missing-error: serializable-without-view");
    let read = "SELECT c FROM t WHERE a = 2 => (9)";
    assert_eq!(beside_a_snapshot(OLDER, SER, "", change, read), "missing-error: serializable-without-view");
}

#[test]
fn mdev_36639_a_conflict_with_what_is_not_committed() {
    let text = "T1: BEGIN => ok
                T1: SELECT b FROM t WHERE a = 3 => (30)
                T2: BEGIN => ok
                T2: UPDATE t SET b = 21 WHERE a = 2 => 1 of 1
                T1: UPDATE t SET c = 5 WHERE a = 2 => conflict
                T2: ROLLBACK => ok";
    let said = |server, text: &str| {
        let on = On { server, level: RR };
        (said(&on, text), rule(&on, &T, text))
    };
    let known = "needless-error: conflict-with-uncommitted at step 5".to_string();
    assert_eq!(said(OLDER, text), (known, "conflict-with-uncommitted".into()));
    assert_eq!(said(SNAPSHOT_ISOLATION, text).0, "needless-error: new at step 5");
    // T3 waits for T1, and is free when T1 is refused: the refusal is what is wrong, not that T3 goes on.
    let freed = "T1: BEGIN => ok
                 T1: SELECT b FROM t WHERE a = 3 FOR UPDATE => (30)
                 T1: SELECT b FROM t WHERE a = 1 => (10)
                 T2: BEGIN => ok
                 T2: UPDATE t SET b = 21 WHERE a = 2 => 1 of 1
                 T3: DELETE FROM t WHERE a = 3 => waits
                 T1: UPDATE t SET c = 5 WHERE a = 2 => conflict | 1
                 T2: ROLLBACK => ok";
    let known = "needless-error: conflict-with-uncommitted at step 7".to_string();
    assert_eq!(said(OLDER, freed), (known, "conflict-with-uncommitted".into()));
    assert_eq!(said(SNAPSHOT_ISOLATION, freed).0, "needless-error: new at step 7");
}
