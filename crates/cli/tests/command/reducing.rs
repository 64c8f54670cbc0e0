//! `isopod reduce` and `isopod bench reduce`: on Isopod's own engine with a planted bug, and on a real server.

use std::fs;

use crate::tools::{Folder, isopod, servers};

/// A dirty read that is undone, among much else.
const BIG: &str = "\
title   Accounts
session T1 level RC
session T2 level RC
session T3 level RC

setup
  CREATE TABLE accounts(id INT PRIMARY KEY, owner VARCHAR(5), balance INT NOT NULL, KEY by_owner (owner));
  CREATE TABLE log(id INT);
  INSERT INTO accounts VALUES (11, 'ann', 100), (12, 'bob', 200), (13, 'cid', 300);
  INSERT INTO log VALUES (1);

steps
  T1: BEGIN;
  T2: BEGIN;
  T3: SELECT * FROM log;
  T1: SELECT id, owner FROM accounts WHERE id = 11;
  T1: UPDATE accounts SET balance = 217, owner = 'bea' WHERE id = 12 AND owner = 'bob';
  T3: INSERT INTO log VALUES (2), (3);
  T2: SELECT id, balance FROM accounts WHERE id IN (11, 12, 13) ORDER BY id;
  T1: SAVEPOINT s;
  T1: DELETE FROM accounts WHERE id = 13;
  T1: ROLLBACK TO SAVEPOINT s;
  T3: UPDATE log SET id = 5 WHERE id = 2;
  T1: ROLLBACK;
  T2: SELECT owner, balance FROM accounts WHERE balance > 10;
  T2: COMMIT;
";

const PLANTED: &str = "reference?plant=aborted-read";

fn reduced(case: &str, target: &str, more: &[&str]) -> serde_json::Value {
    let args = [&["reduce", case, "--target", target, "--level", "RC", "--json"], more].concat();
    isopod(&args).exits(0).json()
}

/// The lines of setup and steps.
fn lines(json: &serde_json::Value) -> Vec<String> {
    let text = json["case"].as_str().unwrap();
    text.lines().map(str::trim).filter(|line| line.ends_with(';')).map(str::to_string).collect()
}

#[test]
fn a_complaint_is_kept_whatever_the_strategy() {
    let folder = Folder::new();
    let case = folder.put("big.iso", BIG);
    for strategy in ["in-order", "random", "table", "bandit"] {
        let one = reduced(&case, PLANTED, &["--strategy", strategy, "--seed", "7"]);
        assert_eq!(one["violation"]["fingerprint"]["symptom"], "aborted-read", "{one}");
        assert_eq!((&one["to"], &one["finished"]), (&3.into(), &true.into()), "{strategy}: {one}");
        let said = lines(&one);
        let small = [
            "CREATE TABLE t (a INT);",
            "T1: BEGIN;",
            "T1: INSERT INTO t VALUES (0);",
            "T2: SELECT * FROM t;",
        ];
        assert_eq!(said, small, "{strategy}");
        // The same seed does the same.
        assert_eq!(one, reduced(&case, PLANTED, &["--strategy", strategy, "--seed", "7"]), "{strategy}");
    }
}

#[test]
fn what_was_learned_is_begun_with_and_told() {
    let folder = Folder::new();
    let case = folder.put("big.iso", BIG);
    let file = folder.0.join("learned.json").display().to_string();
    let with = ["--strategy", "bandit", "--learned", &file];
    let first = reduced(&case, PLANTED, &with);
    assert!(first["learned"].is_null(), "{first}");
    let learned: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let tried: u64 =
        learned.as_object().unwrap().values().map(|known| known["tried"].as_u64().unwrap()).sum();
    assert!(tried > 0 && tried <= first["tried"].as_u64().unwrap(), "{learned}");
    let second = reduced(&case, PLANTED, &with);
    assert_eq!(second["learned"].as_str().unwrap().len(), 16, "{second}");
    let wrong = folder.put("wrong.json", "[]");
    isopod(&["reduce", &case, "--target", PLANTED, "--learned", &wrong]).fails(&["--learned writes"]);
}

#[test]
fn a_budget_ends_the_search_and_keeps_what_it_has() {
    let folder = Folder::new();
    let case = folder.put("big.iso", BIG);
    let some = reduced(&case, PLANTED, &["--candidates", "5"]);
    assert_eq!((&some["tried"], &some["finished"]), (&5.into(), &false.into()), "{some}");
    assert!(some["to"].as_u64().unwrap() < 14, "{some}");
}

#[test]
fn two_targets_keep_differing_in_the_same_way() {
    let folder = Folder::new();
    let case = folder.put("big.iso", BIG);
    let other = ["--oracle", "crash", "--differs-from", "reference"];
    let done = reduced(&case, PLANTED, &other);
    assert_eq!((&done["keeps"], &done["to"]), (&"select at RC: other rows".into(), &3.into()), "{done}");
    isopod(&[&["reduce", &case, "--target", "reference"][..], &other].concat())
        .fails(&["comes out the same"]);
    // An oracle comes first, and that is said.
    let first =
        isopod(&["reduce", &case, "--target", PLANTED, "--level", "RC", "--differs-from", "reference"]);
    assert!(first.exits(0).err.contains("--differs-from is not asked"));
}

#[test]
fn a_command_says_what_is_interesting() {
    let folder = Folder::new();
    let case = folder.put("big.iso", &BIG.replace("session T1", "for     mysql\nsession T1"));
    let script = folder.put("check.sh", "grep -q 'DELETE FROM' \"$1\" && grep -q BEGIN \"$1\"\n");
    let done = isopod(&["reduce", &case, "--check", &format!("sh {script}"), "--json"]).exits(0).json();
    let said = lines(&done);
    assert_eq!(said, ["CREATE TABLE t (a INT);", "T1: BEGIN;", "T1: DELETE FROM t;"], "{done}");
    isopod(&["reduce", &case, "--check", "false"]).fails(&["does not end with exit code 0"]);
}

#[test]
fn an_expectation_keeps_all_that_it_names() {
    let folder = Folder::new();
    let wanted = "WHERE balance > 150;\n      => ('bob', 201) ('cid', 300)";
    let case = folder.put("big.iso", &BIG.replace("WHERE balance > 10;", wanted));
    let done = reduced(&case, "reference", &["--oracle", "crash"]);
    assert_eq!((&done["oracle"], &done["to"]), (&"expectations".into(), &1.into()), "{done}");
    let text = done["case"].as_str().unwrap();
    assert!(text.contains("WHERE balance > 150;") && text.contains("=> ('bob', 201) ('cid', 300)"), "{text}");
    assert!(text.contains("VALUES (12, 'bob', 200), (13, 'cid', 300);"), "{text}");
}

#[test]
fn a_finding_of_a_real_server_becomes_what_a_paper_would_print() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let folder = Folder::new();
    // MDEV-32898 with statements and columns around it.
    let case = folder.put(
        "big.iso",
        "\
title   A key change, hidden
session T1 level RR
session T2 level RR
session T3 level RC

setup
  CREATE TABLE x(c1 INT PRIMARY KEY, c2 INT, c3 VARCHAR(10) NOT NULL, KEY x_i (c3));
  CREATE TABLE y(c1 INT);
  INSERT INTO x (c1, c2, c3) VALUES (1, 1, 'a'), (2, 2, 'b'), (7, 7, 'c');
  INSERT INTO y VALUES (1), (2);

steps
  T3: BEGIN;
  T1: BEGIN;
  T2: START TRANSACTION WITH CONSISTENT SNAPSHOT;
  T3: UPDATE y SET c1 = 3 WHERE c1 = 1;
  T2: SELECT c1, c2, c3 FROM x WHERE c1 > 0 ORDER BY c1;
  T1: SELECT c2 FROM x WHERE c3 = 'a' FOR UPDATE;
  T1: UPDATE x SET c1 = 3 WHERE c2 = 2 AND c3 = 'b';
  T1: INSERT INTO x (c1, c2, c3) VALUES (9, 9, 'd');
  T1: COMMIT;
  T3: SELECT * FROM y;
  T2: UPDATE x SET c2 = 33 WHERE c1 < 8;
  T2: SELECT c1, c2, c3 FROM x;
  T3: COMMIT;
  T2: COMMIT;
",
    );
    let args = ["reduce", &case, "--target", "mariadb@10.11", "--level", "RR", "--json"];
    let done = isopod(&args).exits(0).json();
    assert_eq!(
        done["violation"]["fingerprint"]["cause"]["deviations"][0], "key-change-keeps-old-row",
        "{done}"
    );
    // The paper has eight statements and two rows.
    assert!(done["to"].as_u64().unwrap() <= 6, "{done}");
    let said = lines(&done);
    assert_eq!(said[0], "CREATE TABLE t (a INT PRIMARY KEY);", "{done}");
    assert_eq!(said[1].matches('(').count(), 1, "{done}");
    // What stands there is what shows it.
    let small = folder.put("small.iso", done["case"].as_str().unwrap());
    let again =
        isopod(&["reduce", &small, "--target", "mariadb@10.11", "--level", "RR", "--json"]).exits(0).json();
    assert_eq!(lines(&again), said, "{again}");
}

#[test]
fn the_strategies_are_compared_on_the_findings_of_a_run() {
    let folder = Folder::new();
    let out = folder.0.join("run").display().to_string();
    let hunt = [
        "hunt",
        PLANTED,
        "--cases",
        "150",
        "--keep",
        "3",
        "--no-reduce",
        "--profile",
        "wide",
        "--seed",
        "7",
        "--out",
        &out,
    ];
    isopod(&hunt).exits(1);
    let kept = folder.0.join("small");
    let bench = ["bench", "reduce", &out, "--findings", "3", "--json", "--out", kept.to_str().unwrap()];
    let json = isopod(&bench).exits(0).json();
    let rows = json["findings"].as_array().unwrap();
    assert!(!rows.is_empty() && rows.len() <= 3, "{json}");
    for row in rows {
        for strategy in ["in-order", "random", "table", "bandit"] {
            let after = row["after"][strategy]["characters"].as_u64().unwrap();
            assert!(after < row["before"]["characters"].as_u64().unwrap(), "{row}");
        }
    }
    assert_eq!(json["drift"]["same"].as_u64().unwrap() as usize, rows.len(), "{json}");
    assert_eq!(fs::read_dir(&kept).unwrap().count(), rows.len());
    isopod(&["bench", "reduce", &out, "--findings", "2", "--quick"])
        .exits(0)
        .says(&["in-order", "explained as"]);
    isopod(&["bench", "reduce", folder.path()]).fails(&["isopod hunt"]);
}
