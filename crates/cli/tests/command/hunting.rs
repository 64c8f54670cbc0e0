//! `isopod hunt`: small ones on what is in process, and a real server; what they leave behind, and how they end.

use std::{
    collections::BTreeMap,
    fs,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use crate::tools::{EXE, Folder, Ran, eventually, isopod, servers, signal};

/// Bugs of several kinds, often enough for a small hunt.
const PLANTED: &str = "reference?plant=aborted-read,duplicate-unique,internal-error";

/// A hunt of so many cases into a folder; its summary.
fn hunt(folder: &Folder, name: &str, target: &str, more: &[&str]) -> (Ran, serde_json::Value) {
    let out = folder.0.join(name).display().to_string();
    let args =
        [&["hunt", target, "--profile", "wide", "--seed", "7", "--out", &out, "--json"], more].concat();
    let ran = isopod(&args);
    let json = ran.json();
    (ran, json)
}

/// What must be the same each time: counts, and the findings by name.
fn what_counts(summary: &serde_json::Value) -> String {
    let mut tally = summary["targets"][0]["tally"].clone();
    tally.as_object_mut().unwrap().retain(|_, count| count != 0);
    let rows = summary["findings"].as_array().unwrap().iter();
    let mut rows: Vec<String> = rows.map(|row| format!("{} {}", row["signature"], row["cases"])).collect();
    rows.sort();
    format!("{tally} {rows:?}")
}

fn found(folder: &Folder, name: &str) -> Vec<String> {
    let findings = fs::read_dir(folder.0.join(name).join("findings")).unwrap().flatten();
    let mut names: Vec<String> =
        findings.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_same_seed_finds_the_same() {
    let folder = Folder::new();
    let all = ["--cases", "300", "--keep", "10000", "--no-reduce"];
    let (one, first) = hunt(&folder, "one", PLANTED, &[&all[..], &["--workers", "1"]].concat());
    let (two, second) = hunt(&folder, "two", PLANTED, &[&all[..], &["--workers", "2"]].concat());
    one.exits(1);
    two.exits(1);
    assert_eq!(first["targets"][0]["tally"]["cases"], 300, "{first}");
    assert_eq!(what_counts(&first), what_counts(&second));
    assert!(!found(&folder, "one").is_empty());
    assert_eq!(found(&folder, "one"), found(&folder, "two"));
}

#[test]
fn nothing_is_wrong_with_sqlite_whose_readers_do_not_stop_writers() {
    let folder = Folder::new();
    let (ran, summary) = hunt(&folder, "wal", "sqlite?journal_mode=wal", &["--cases", "2000"]);
    ran.exits(0);
    assert_eq!(summary["targets"][0]["tally"]["cases"], 2_000, "{summary}");
    assert_eq!(summary["findings"].as_array().unwrap().len(), 0, "{summary}");
}

#[test]
fn a_finding_is_a_folder_that_replays() {
    let folder = Folder::new();
    // A name that a shell would take apart.
    let run = "it's a $run";
    let (ran, summary) = hunt(&folder, run, PLANTED, &["--cases", "200", "--keep", "1"]);
    ran.exits(1);
    let id = summary["findings"][0]["id"].as_str().unwrap();
    let finding = folder.0.join(run).join("findings").join(id);
    for name in ["case.iso", "trace.json", "verdict.json", "server.json", "replay.txt"] {
        assert!(finding.join(name).is_file(), "{name}");
    }
    let replay = fs::read_to_string(finding.join("replay.txt")).unwrap();
    let by_shell = Command::new("sh").arg("-c").arg(replay.replacen("isopod", EXE, 1)).output().unwrap();
    assert_eq!(by_shell.status.code(), Some(1), "{replay}: {by_shell:?}");
    isopod(&["where", finding.to_str().unwrap(), "--target", PLANTED, "--runs", "1"]).exits(1);
    let events = fs::read_to_string(folder.0.join(run).join("events.jsonl")).unwrap();
    for line in events.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(event["event"].is_string() && event["at"].is_u64(), "{line}");
    }
    let junit = fs::read_to_string(folder.0.join(run).join("junit.xml")).unwrap();
    assert!(junit.contains("<failure ") && junit.contains(id), "{junit}");
}

#[test]
fn no_more_are_kept_than_asked_for_however_many_workers_there_are() {
    let folder = Folder::new();
    hunt(&folder, "run", PLANTED, &["--cases", "400", "--keep", "1", "--workers", "4", "--no-pin"])
        .0
        .exits(1);
    let mut kept = std::collections::BTreeSet::new();
    for id in found(&folder, "run") {
        let verdict = folder.0.join("run/findings").join(id).join("verdict.json");
        let verdict: serde_json::Value = serde_json::from_str(&fs::read_to_string(verdict).unwrap()).unwrap();
        // What turned out to be something else is kept under another limit.
        if verdict["first_fingerprint"].is_null() {
            let print = &verdict["violation"]["fingerprint"];
            assert!(kept.insert(print.to_string()), "two of {print}");
        }
    }
    assert!(kept.len() > 5, "{kept:?}");
}

#[test]
fn the_case_of_a_finding_is_made_smaller() {
    let folder = Folder::new();
    // Of two workers that find the same kind at once one is kept, whichever comes first.
    let few = ["--cases", "200", "--keep", "1", "--oracle", "invariants", "--workers", "1"];
    let (ran, summary) = hunt(&folder, "small", PLANTED, &few);
    ran.exits(1);
    hunt(&folder, "large", PLANTED, &[&few[..], &["--no-reduce"]].concat());
    assert_eq!(found(&folder, "small"), found(&folder, "large"), "names do not depend on it");
    for row in summary["findings"].as_array().unwrap() {
        let finding = folder.0.join("small/findings").join(row["id"].as_str().unwrap());
        let (to, from) = (&row["smallest"]["statements"], &row["smallest"]["reduced_from"]);
        assert!(to.as_u64().unwrap() < from.as_u64().unwrap(), "{row}");
        let same = folder.0.join("large/findings").join(row["id"].as_str().unwrap()).join("verdict.json");
        let same: serde_json::Value = serde_json::from_str(&fs::read_to_string(same).unwrap()).unwrap();
        assert_eq!(
            (from, &row["smallest"]["violation"]["fingerprint"]),
            (&same["statements"], &same["violation"]["fingerprint"])
        );
        let original = fs::read_to_string(finding.join("original.iso")).unwrap();
        let before = folder.0.join("large/findings").join(row["id"].as_str().unwrap()).join("case.iso");
        // What comes of it stands behind the case itself.
        assert!(fs::read_to_string(before).unwrap().starts_with(&original));
        let case = fs::read_to_string(finding.join("case.iso")).unwrap();
        assert!(case.contains("note    reduced from"), "{case}");
        // The small case with its trace is enough for the oracle.
        isopod(&["judge", finding.to_str().unwrap(), "--oracle", "invariants"]).exits(1);
        // And the command makes the same of the large one.
        let target = row["targets"][0].as_str().unwrap();
        let path = finding.join("original.iso").display().to_string();
        let made = isopod(&["reduce", &path, "--target", target, "--oracle", "invariants", "--json"])
            .exits(0)
            .json();
        assert!(case.starts_with(made["case"].as_str().unwrap()), "{case}");
        assert!(case.contains("\nfails on\n  reference@"), "{case}");
    }
}

#[test]
fn the_case_of_a_finding_is_a_regression_test_and_is_judged_by_those_who_filed_it() {
    let folder = Folder::new();
    let (ran, summary) =
        hunt(&folder, "run", PLANTED, &["--cases", "200", "--keep", "1", "--oracle", "vote"]);
    ran.exits(1);
    let wrong_rows =
        |row: &&serde_json::Value| row["smallest"]["violation"]["fingerprint"]["symptom"] == "wrong-rows";
    let rows = summary["findings"].as_array().unwrap();
    let row = rows.iter().find(wrong_rows).unwrap_or_else(|| panic!("{summary}"));
    let finding = folder.0.join("run/findings").join(row["id"].as_str().unwrap());
    let case = fs::read_to_string(finding.join("case.iso")).unwrap();
    assert!(case.contains("      => ") && case.contains("\nfails on\n  reference@"), "{case}");
    let command = fs::read_to_string(finding.join("replay.txt")).unwrap();
    let words: Vec<&str> = command.split_whitespace().skip(1).map(|word| word.trim_matches('\'')).collect();
    let shown = isopod(&words).exits(1);
    let level = row["smallest"]["violation"]["fingerprint"]["level"].as_str().unwrap();
    let level: model::Level = level.parse().unwrap();
    assert!(shown.out.lines().next().unwrap().contains(level.sql()), "{}", shown.out);
    assert!(!shown.out.contains("nothing is expected"), "{}", shown.out);
    shown.says(&["expected", "known: the case file says so (fails on)", "it should return"]);
    // The folder means its case, and not what that was before; the one who filed it asks for more runs.
    let on = &words[2..];
    let json = isopod(&[&["run", finding.to_str().unwrap(), "--json"], on].concat()).exits(1).json();
    let [ran] = json.as_array().unwrap().as_slice() else { panic!("{json}") };
    assert_eq!(ran["status"], "known-failure");
    assert!(ran["violations"][0]["evidence"]["second_opinion"].is_object(), "{json}");
    // Elsewhere nobody knows who filed it.
    let copied = folder.put("copied.iso", &case);
    let json = isopod(&[&["run", &copied, "--json"], on].concat()).exits(1).json();
    assert!(json[0]["violations"][0]["evidence"]["second_opinion"].is_null(), "{json}");
    let asked = isopod(&[&["run", &copied, "--json", "--oracle", "vote"], on].concat()).exits(1).json();
    assert!(asked[0]["violations"][0]["evidence"]["second_opinion"].is_object(), "{asked}");
}

#[test]
fn what_cannot_be_made_smaller_is_said() {
    let folder = Folder::new();
    let case = folder.put("case.iso", "title Fine\n\nsteps\n  T1: SELECT 1;\n");
    isopod(&["reduce", &case]).fails(&["no oracle complains", "isopod run"]);
    isopod(&["reduce", &case, "--target", "reference", "--level", "all"]).fails(&["one level"]);
    isopod(&["reduce", &case, "--target", "sqlite", "--target", "reference"]).fails(&["one target"]);
}

#[test]
fn a_killed_hunt_goes_on_where_it_was() {
    let args = ["selftest", "resume", "--times", "3", "--cases", "400", "--json", "--target"];
    for target in [PLANTED, "sqlite"] {
        let json = isopod(&[&args[..], &[target]].concat()).exits(0).json();
        assert_eq!((&json[0]["killed"], &json[0]["cases"]), (&3.into(), &400.into()), "{json}");
        assert_eq!(json[0]["differences"].as_array().unwrap().len(), 0, "{json}");
        assert!(target == "sqlite" || json[0]["findings"].as_u64().unwrap() > 0, "{json}");
    }
}

#[test]
fn ctrl_c_ends_with_a_summary_and_the_rest_can_follow() {
    let folder = Folder::new();
    let out = folder.0.join("run");
    let child = Command::new(EXE)
        .args(["hunt", "sqlite", "--cases", "100000", "--out"])
        .arg(&out)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Its first line is the number of its format.
    let head = model::run::LINE as u64;
    let begun = || fs::metadata(out.join("progress/0")).is_ok_and(|file| file.len() > head);
    eventually(Duration::from_secs(20), "the first case is done", begun);
    thread::sleep(Duration::from_millis(200));
    signal("-INT", &child.id().to_string());
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(ended.status.code().is_some_and(|code| code < 2), "{said}");
    assert!(said.contains("to go on: isopod hunt --resume") && said.contains(" cases "), "{said}");
    let done: u64 = fs::read_to_string(out.join("progress/0"))
        .unwrap()
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().next().unwrap().parse::<u64>().unwrap())
        .sum();
    let resumed = isopod(&[
        "hunt",
        "--resume",
        out.to_str().unwrap(),
        "--cases",
        &(done.next_multiple_of(500)).to_string(),
        "--json",
    ]);
    assert!(resumed.code.is_some_and(|code| code < 2), "{resumed:?}");
    assert!(resumed.json()["targets"][0]["tally"]["cases"].as_u64().unwrap() >= done, "{resumed:?}");
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = Folder::new();
    folder.put("full/file", "x");
    isopod(&["hunt", "--resume", folder.path()]).fails(&["no run to go on with", "settings.json"]);
    isopod(&["hunt", "--cases", "1", "--out", &format!("{}/full", folder.path())])
        .fails(&["not empty", "--resume"]);
    isopod(&["hunt", "--oracle", "tarot"]).fails(&["tarot", "crash, invariants"]);
    isopod(&["hunt", "--profile", "narrow"]).fails(&["narrow", "wide"]);
    isopod(&["hunt", "postgres@18", "--level", "RU", "--cases", "1"]).fails(&["RU", "RC, RR, SER"]);
    isopod(&["hunt", "--known", &format!("{}/nothing", folder.path())]).fails(&["known", "verdict.json"]);
}

#[test]
fn on_real_servers() {
    let Some(_alone) = servers(&["mariadb@10.11", "postgres@18"]) else { return };
    let folder = Folder::new();
    let out = folder.0.join("run").display().to_string();
    let ran = isopod(&[
        "hunt",
        "mariadb@10.11",
        "postgres@18",
        "--cases",
        "120",
        "--profile",
        "wide",
        "--seed",
        "7",
        "--out",
        &out,
        "--json",
    ]);
    let summary = ran.json();
    let found = !summary["findings"].as_array().unwrap().is_empty();
    ran.exits(i32::from(found));
    for hunted in summary["targets"].as_array().unwrap() {
        let tally = &hunted["tally"];
        assert_eq!((&tally["cases"], &tally["refused"]), (&120.into(), &0.into()), "{hunted}");
        assert!(tally["conflicts"].as_u64().unwrap() > 60, "{tally}");
        assert!(tally["waits"].as_u64().unwrap() > 0, "{tally}");
    }
    // With one worker the two take turns.
    let out = folder.0.join("turns").display().to_string();
    let ran = isopod(&[
        "hunt",
        "mariadb@10.11",
        "sqlite",
        "--workers",
        "1",
        "--cases",
        "20",
        "--out",
        &out,
        "--json",
    ]);
    let summary = ran.json();
    for hunted in summary["targets"].as_array().unwrap() {
        assert_eq!(hunted["tally"]["cases"], 20, "{hunted}");
    }
}

#[test]
fn kept_examples_are_orders_of_different_sets_of_transactions() {
    let folder = Folder::new();
    let (profile, out) = (folder.0.join("ten.toml"), folder.0.join("run"));
    fs::write(&profile, "[cases]\norders_per_set = 10\n").unwrap();
    let (profile, run) = (profile.display().to_string(), out.display().to_string());
    let hunt = ["hunt", "reference?plant=aborted-read", "--level", "RC", "--cases", "120", "--no-reduce"];
    let how = ["--profile", &profile, "--seed", "7", "--workers", "1", "--out", &run];
    isopod(&[&hunt[..], &how].concat()).exits(1);
    let mut sets = BTreeMap::<String, Vec<u64>>::new();
    for finding in fs::read_dir(out.join("findings")).unwrap().flatten() {
        let text = fs::read_to_string(finding.path().join("verdict.json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let finding = if json["finding"].is_object() { &json["finding"] } else { &json };
        let kind = finding["violation"]["fingerprint"].to_string();
        sets.entry(kind).or_default().push(finding["case"].as_u64().unwrap() / 10);
    }
    assert!(sets.values().any(|kept| kept.len() > 1), "{sets:?}");
    for (kind, mut kept) in sets {
        let all = kept.len();
        kept.sort_unstable();
        kept.dedup();
        assert_eq!(kept.len(), all, "{kind}");
    }
}
