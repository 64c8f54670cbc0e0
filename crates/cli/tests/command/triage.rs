//! What is known: `isopod hunt --known`, `--fail-on new`, stale entries, and what the reduction begins with.

use std::{fs, path::Path};

use campaign::{
    CleanRuns, CleanServer, Panel, RunReader, RunWriter,
    record::{Recorded, read_case},
};
use dbms::launch::Settle;
use execute::{Options, Reset};
use model::{Finding, JudgeOverrides, Level};

use crate::{
    common::{installed, runner, target},
    tools::{Folder, Ran, isopod, servers},
};

const ONE: &str = "reference?plant=aborted-read";
const BOTH: &str = "reference?plant=aborted-read,duplicate-unique";

fn hunt(folder: &Folder, name: &str, target: &str, more: &[&str]) -> (Ran, serde_json::Value) {
    hunt_from(folder, "7", name, target, more)
}

fn hunt_from(
    folder: &Folder,
    seed: &str,
    name: &str,
    target: &str,
    more: &[&str],
) -> (Ran, serde_json::Value) {
    let out = folder.0.join(name).display().to_string();
    let usual = [
        "hunt",
        target,
        "--profile",
        "wide",
        "--seed",
        seed,
        "--cases",
        "200",
        "--workers",
        "1",
        "--out",
        &out,
        "--json",
    ];
    let ran = isopod(&[&usual[..], more].concat());
    let json = ran.json();
    (ran, json)
}

fn rows(summary: &serde_json::Value) -> &Vec<serde_json::Value> {
    summary["findings"].as_array().unwrap()
}

/// The small cases of a run, as files without verdicts.
fn cases(run: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(run.join("findings")).unwrap().flatten() {
        let name = format!("{}.iso", entry.file_name().to_string_lossy());
        fs::copy(entry.path().join("case.iso"), to.join(name)).unwrap();
    }
}

#[test]
fn what_is_known_does_not_fail() {
    let folder = Folder::new();
    let (ran, first) = hunt(&folder, "first", BOTH, &[]);
    ran.exits(1);
    assert!(rows(&first).iter().all(|row| row["known"].is_null()), "{first}");
    let known = folder.0.join("first/findings").display().to_string();
    let (ran, summary) = hunt(&folder, "second", BOTH, &["--known", &known, "--fail-on", "new"]);
    ran.exits(0);
    assert!(rows(&summary).iter().all(|row| row["known"].is_string()), "{summary}");
    assert_eq!(summary["stale"].as_array().unwrap().len(), 0, "{summary}");
    assert!(summary["looked"].as_u64().unwrap() > 0, "{summary}");
    let (ran, _) = hunt(&folder, "third", BOTH, &["--known", &known, "--fail-on", "any"]);
    ran.exits(1);
    // The report says the same as the summary.
    let report = isopod(&["report", folder.0.join("second").to_str().unwrap()]);
    report.exits(0);
    let told = fs::read_to_string(folder.0.join("second/report/findings.json")).unwrap();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let groups = told["groups"].as_array().unwrap();
    assert_eq!(groups.len(), rows(&summary).len(), "{told}");
    for (group, row) in groups.iter().zip(rows(&summary)) {
        assert_eq!((&group["id"], &group["known"]), (&row["id"], &row["known"]));
        assert_eq!(group["cases"], row["cases"], "{group} {row}");
    }
}

#[test]
fn what_is_new_beside_what_is_known_fails() {
    let folder = Folder::new();
    hunt(&folder, "one", ONE, &["--oracle", "invariants"]).0.exits(1);
    let known = folder.0.join("known");
    cases(&folder.0.join("one"), &known);
    let more = ["--oracle", "invariants", "--known", known.to_str().unwrap(), "--fail-on", "new"];
    // Another seed, and a second bug.
    let (ran, summary) = hunt_from(&folder, "9", "both", BOTH, &more);
    ran.exits(1);
    let (mut same, mut other) = (0, 0);
    for row in rows(&summary) {
        match row["smallest"]["violation"]["fingerprint"]["symptom"].as_str().unwrap() {
            "aborted-read" => same += u64::from(row["known"].is_string()),
            _ => {
                other += 1;
                assert!(row["known"].is_null(), "{row}");
            }
        }
    }
    assert!(same > 0 && other > 0, "{summary}");
}

#[test]
fn what_does_not_come_back_is_stale() {
    let folder = Folder::new();
    hunt(&folder, "one", ONE, &["--oracle", "invariants", "--keep", "1"]).0.exits(1);
    let known = folder.0.join("one/findings");
    // The bug is repaired: the same entries on the engine without it.
    for entry in fs::read_dir(&known).unwrap().flatten() {
        let file = entry.path().join("verdict.json");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace(ONE, "reference")).unwrap();
    }
    folder.put("one/findings/fine.iso", "title Fine\nlink MINE-1\n\nsteps\n  T1: SELECT 1;\n");
    let known = known.display().to_string();
    let few = ["--oracle", "invariants", "--cases", "5", "--known", &known];
    let out = folder.0.join("two").display().to_string();
    let ran = isopod(&[&["hunt", "reference", "--out", &out][..], &few].concat());
    ran.exits(0).says(&["stale: MINE-1 did not come back on reference", "in 3 runs"]);
    let (_, summary) = {
        let out = folder.0.join("three").display().to_string();
        let ran = isopod(&[&["hunt", "reference", "--out", &out, "--json"][..], &few].concat());
        let json = ran.json();
        (ran, json)
    };
    let entries = fs::read_dir(&known).unwrap().count() as u64;
    assert_eq!(summary["looked"], entries, "{summary}");
    assert_eq!(summary["stale"].as_array().unwrap().len() as u64, entries, "{summary}");
}

#[test]
fn what_a_fresh_server_does_not_show_is_not_new() {
    let folder = Folder::new();
    let few = ["--oracle", "invariants", "--keep", "1", "--fail-on", "new"];
    let (ran, summary) = hunt(&folder, "one", ONE, &few);
    ran.exits(1);
    let fresh = |summary: &serde_json::Value| -> Vec<(String, bool)> {
        let of = |row: &serde_json::Value| {
            (row["fresh"]["on"].as_str().unwrap().to_string(), row["fresh"]["shown"].as_bool().unwrap())
        };
        rows(summary).iter().map(of).collect()
    };
    assert!(fresh(&summary).iter().all(|replay| *replay == ("server".to_string(), true)), "{summary}");
    // Only the server that found them showed this; a fresh one shows something else.
    let out = folder.0.join("one");
    for entry in fs::read_dir(out.join("findings")).unwrap().flatten() {
        let file = entry.path().join("verdict.json");
        let text = fs::read_to_string(&file).unwrap();
        let (is, was) = (r#""symptom": "aborted-read""#, r#""symptom": "value-from-nowhere""#);
        assert!(text.contains(is), "{text}");
        fs::write(&file, text.replace(is, was)).unwrap();
    }
    let again = ["hunt", "--resume", out.to_str().unwrap(), "--cases", "200", "--fail-on", "new"];
    let ran = isopod(&[&again[..], &["--json"]].concat());
    let summary = ran.exits(0).json();
    assert!(!rows(&summary).is_empty(), "{summary}");
    assert!(fresh(&summary).iter().all(|replay| *replay == ("server".to_string(), false)), "{summary}");
    let junit = fs::read_to_string(out.join("junit.xml")).unwrap();
    assert!(junit.contains("not reproduced on a fresh server") && !junit.contains("<failure"), "{junit}");
    isopod(&again).exits(0).says(&["not reproduced on a fresh server: "]);
}

/// MDEV-33802, found on 10.11.5, is repaired in the release of the same line that is installed beside it.
#[test]
fn where_a_later_version_has_no_such_bug_is_said() {
    let (old, line) = ("mariadb@10.11.5", "mariadb@10.11");
    let Some(_alone) = servers(&[old, line]) else { return };
    let folder = Folder::new();
    let out = folder.0.join("run");
    // A run to file into; what its two cases show does not matter here.
    let few = ["--cases", "2", "--workers", "1", "--seed", "1"];
    let ran = isopod(&[&["hunt", old, "--out", out.to_str().unwrap()][..], &few].concat());
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    let case = read_case(Path::new("../../corpus/seeds/mdev-33802-for-update.iso")).unwrap();
    let panel = Panel::of_one("vote", JudgeOverrides::default()).unwrap();
    let target = target(old);
    let runner = runner(old, Settle::Proc, Options::default()).unwrap();
    let mut server = CleanServer::new(runner, &target);
    let level = Level::RepeatableRead;
    let execution = server.rerun(&case, level, Reset::Clean).unwrap();
    let (_, violation) = panel.first_violation(&execution, &mut server).unwrap();
    let finding = Finding { oracle: "vote".into(), level, ..Finding::bare("00033802", target, violation) };
    let run = RunReader::read(&out).unwrap();
    RunWriter::resume(&run).unwrap().file(&Recorded { finding, execution, original: None }).unwrap();
    let again = ["hunt", "--resume", out.to_str().unwrap(), "--cases", "2", "--json"];
    let resumed = isopod(&again).json();
    let group = rows(&resumed).iter().find(|row| row["id"] == "00033802");
    let later = installed(line).unwrap().version().to_string();
    assert_eq!(group.map(|group| &group["gone_in"]), Some(&later.into()), "{resumed}");
}

/// Two are left in a circle when the server has ended another one: other statements and other places than in the case that is known, and the same bug.
#[test]
fn a_deadlock_that_is_not_reported_behaves_like_the_one_that_was_found_before() {
    let name = "mariadb@11.8";
    let Some(_alone) = servers(&[name]) else { return };
    let folder = Folder::new();
    let out = folder.0.join("run");
    let few = ["--cases", "2", "--workers", "1", "--seed", "1"];
    let ran = isopod(&[&["hunt", name, "--out", out.to_str().unwrap()][..], &few].concat());
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    let file = folder.put(
        "case.iso",
        "\
title   Two are left
session T1 level RC
session T3 level RC
session T4 level RC

setup
  CREATE TABLE t (a INT, b INT PRIMARY KEY);
  CREATE TABLE u (a INT, b INT PRIMARY KEY, g INT NOT NULL, UNIQUE KEY (a), KEY (g), FOREIGN KEY (g) REFERENCES t (b));
  INSERT INTO t VALUES (9, 13);
  INSERT INTO u VALUES (0, 0, 13);

steps
  T3: BEGIN;
  T3: INSERT INTO u VALUES (NULL, 99, 13), (19, 1, 13);
  T1: UPDATE t SET a = a + 3;
  T4: INSERT INTO u VALUES (NULL, 18, 13);
  T3: UPDATE t SET a = 12;
  T3: SELECT * FROM u FOR UPDATE;
",
    );
    let case = read_case(Path::new(&file)).unwrap();
    let panel = Panel::of_one("invariants", JudgeOverrides::default()).unwrap();
    let target = target(name);
    let mut server = CleanServer::new(runner(name, Settle::Proc, Options::default()).unwrap(), &target);
    let level = Level::ReadCommitted;
    let execution = server.rerun(&case, level, Reset::Clean).unwrap();
    let (_, violation) = panel.first_violation(&execution, &mut server).unwrap();
    assert_eq!(violation.fingerprint.symptom, model::Symptom::UnreportedDeadlock);
    let finding =
        Finding { oracle: "invariants".into(), level, ..Finding::bare("0dead10c", target, violation) };
    let run = RunReader::read(&out).unwrap();
    RunWriter::resume(&run).unwrap().file(&Recorded { finding, execution, original: None }).unwrap();
    let again = ["hunt", "--resume", out.to_str().unwrap(), "--cases", "2", "--json"];
    let resumed = isopod(&again).json();
    let group = rows(&resumed).iter().find(|row| row["id"] == "0dead10c").unwrap();
    // It is in no tracker: new, under the name of the case.
    assert!(group["known"].is_null(), "{group}");
    assert_eq!(group["resembles"], "corpus/found/unreported-deadlock", "{group}");
}

#[test]
fn the_reduction_begins_with_what_was_learned() {
    let folder = Folder::new();
    let small = ["--oracle", "invariants", "--keep", "2", "--strategy", "bandit"];
    let (_, first) = hunt(&folder, "first", ONE, &small);
    assert!(first["learned"].is_null(), "{first}");
    let (_, again) = hunt(&folder, "again", ONE, &small);
    let read = |name: &str, file: &str| fs::read_to_string(folder.0.join(name).join(file)).unwrap();
    // The same seed gives the same reductions.
    let names: Vec<&str> =
        first["findings"][0]["findings"].as_array().unwrap().iter().filter_map(|id| id.as_str()).collect();
    assert!(!names.is_empty(), "{first}");
    for id in &names {
        let file = format!("findings/{id}/case.iso");
        assert_eq!(read("first", &file), read("again", &file));
    }
    assert_eq!(read("first", "learned.json"), read("again", "learned.json"));
    assert_eq!(first["findings"][0]["findings"], again["findings"][0]["findings"]);
    // What was learned is begun with, noted, and kept.
    let file = folder.0.join("first/learned.json").display().to_string();
    let with = [&small[..], &["--learned", &file]].concat();
    let (_, second) = hunt(&folder, "second", ONE, &with);
    let hash = second["learned"].as_str().unwrap();
    assert_eq!(hash.len(), 16, "{second}");
    let settings: serde_json::Value = serde_json::from_str(&read("second", "settings.json")).unwrap();
    assert_eq!((&settings["strategy"], &settings["learned"]["hash"]), (&"bandit".into(), &hash.into()));
    assert_eq!(
        settings["learned"]["counts"],
        serde_json::from_str::<serde_json::Value>(&read("first", "learned.json")).unwrap()
    );
    let tried = |name: &str| -> u64 {
        let all: serde_json::Value = serde_json::from_str(&read(name, "learned.json")).unwrap();
        all.as_object().unwrap().values().map(|known| known["tried"].as_u64().unwrap()).sum()
    };
    assert!(tried("second") > tried("first"));
    // A resumed run keeps what it had, whatever became of the file.
    fs::remove_file(&file).unwrap();
    let run = folder.0.join("second").display().to_string();
    let more = isopod(&["hunt", "--resume", &run, "--cases", "210", "--json"]);
    assert_eq!(more.json()["learned"], hash);
    isopod(&["hunt", "--resume", &run, "--learned", &file]).fails(&["--learned"]);
    isopod(&["hunt", "sqlite", "--learned", &file]).fails(&["is not there", "learned.json"]);
}

#[test]
fn findings_fold_into_their_families() {
    let folder = Folder::new();
    let mut runs = Vec::new();
    for seed in ["1", "2", "3"] {
        let out = folder.0.join(seed).display().to_string();
        isopod(&[
            "hunt",
            ONE,
            "--cases",
            "200",
            "--keep",
            "2",
            "--profile",
            "wide",
            "--seed",
            seed,
            "--out",
            &out,
        ]);
        runs.push(out);
    }
    let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
    let json = isopod(&[&["bench", "fold", "--quick", "--json"][..], &runs].concat()).json();
    assert!(json["findings"].as_u64().unwrap() > 3, "{json}");
    assert_eq!((&json["seeds"], &json["runs"]), (&3.into(), &3.into()));
    let groups = json["groups"].as_array().unwrap();
    assert!(!groups.is_empty() && groups.iter().all(|group| group["signature"]["unexplained"].is_object()));
    isopod(&["bench", "fold", folder.path()]).fails(&["isopod hunt"]);
}

#[test]
fn what_only_one_oracle_could_judge_gets_its_name() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let folder = Folder::new();
    // MDEV-26642 beside a statement that the server refuses, because of which the model cannot tell.
    let case = folder.put(
        "case.iso",
        "\
title   A no-op, beside a statement that is refused
session T1 level RR
session T2 level RR

setup
  CREATE TABLE t (a INT);
  CREATE TABLE u (a INT PRIMARY KEY, b INT);
  INSERT INTO u VALUES (0, 0);

steps
  T1: BEGIN;
  T1: SELECT * FROM u;
  T2: INSERT INTO u VALUES (1, 0);
  T2: UPDATE u SET t.a = '';
  T1: UPDATE u SET b = 0;
  T1: SELECT * FROM u;
",
    );
    let args = ["reduce", &case, "--target", "mariadb@10.11", "--level", "RR", "--oracle", "vote", "--json"];
    let done = isopod(&args).exits(0).json();
    let fingerprint = &done["violation"]["fingerprint"];
    assert_eq!(fingerprint["cause"]["deviations"][0], "noop-without-version", "{done}");
    assert_eq!(fingerprint["symptom"], "wrong-rows", "{done}");
}
