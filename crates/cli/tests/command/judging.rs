//! `isopod judge`: findings and kept traces, judged again without a server.

use std::fs;

use crate::tools::{Folder, isopod};

/// A hunt that keeps its traces, in a folder `run`; the path of the first finding's folder, if there is one.
fn hunt(folder: &Folder, target: &str, more: &[&str]) -> (serde_json::Value, Option<String>) {
    let out = folder.0.join("run").display().to_string();
    let args = [
        "hunt",
        target,
        "--profile",
        "wide",
        "--seed",
        "7",
        "--cases",
        "200",
        "--keep-traces",
        "--json",
        "--out",
        &out,
    ];
    let summary = isopod(&[&args[..], more].concat()).json();
    let id = summary["findings"][0]["id"].as_str();
    let path = id.map(|id| folder.0.join("run/findings").join(id).display().to_string());
    (summary, path)
}

#[test]
fn a_finding_is_judged_again_from_its_folder() {
    let folder = Folder::new();
    let (_, path) = hunt(&folder, "reference?plant=aborted-read", &["--oracle", "invariants"]);
    let path = path.unwrap();
    let (case, trace) = (format!("{path}/case.iso"), format!("{path}/trace.json"));
    let words =
        ["invariants: violated", "NEW aborted-read", "Rule: ", "Found by invariants", "Replay: isopod judge"];
    isopod(&["judge", &path, "--oracle", "invariants"]).exits(1).says(&words);
    isopod(&["judge", &case, &trace, "--oracle", "invariants"]).exits(1).says(&words);
    isopod(&["judge", &case, &trace, "--oracle", "crash"]).exits(0).says(&["crash: holds"]);
    // Whoever is told that the readers ran at READ UNCOMMITTED has nothing to say against it.
    let told = ["judge", &case, &trace, "--oracle", "invariants", "--judge-as", "RU", "--json"];
    let json = isopod(&told).exits(0).json();
    assert!(json[0]["verdict"]["violated"].is_null(), "{json}");
}

#[test]
fn kept_traces_are_judged_as_the_hunt_judged_them() {
    let folder = Folder::new();
    let (summary, _) =
        hunt(&folder, "reference?plant=aborted-read", &["--oracle", "invariants,crash", "--workers", "2"]);
    let run = folder.0.join("run").display().to_string();
    let judged =
        isopod(&["judge", "--traces", &run, "--oracle", "invariants,crash", "--json"]).exits(1).json();
    assert_eq!(judged["runs"], 200, "{judged}");
    let during = &summary["targets"][0]["quality"]["verdicts"];
    for oracle in ["crash", "invariants"] {
        for what in ["holds", "holds_by_design", "by", "violated", "undecided"] {
            assert_eq!(judged["oracles"][oracle][what], during[oracle][what], "{oracle} {what}");
        }
    }
    isopod(&["judge", "--traces", &run]).exits(1).says(&["200 runs", "aborted-read · ", "undecided"]);
}

#[test]
fn what_cannot_be_judged_is_said() {
    let folder = Folder::new();
    let (_, path) = hunt(&folder, "reference?plant=aborted-read", &["--oracle", "invariants"]);
    let trace = format!("{}/trace.json", path.unwrap());
    let other = folder.put("other.iso", "title Other\n\nsteps\n  T1: SELECT 1;\n");
    isopod(&["judge", &other, &trace]).fails(&["no trace of", "has 1 steps"]);
    isopod(&["judge", &other]).fails(&["cannot be judged", "CASE TRACE"]);
    isopod(&["judge", "--traces", folder.path()]).fails(&["--keep-traces"]);
    isopod(&["judge", &other, &trace, "--oracle", "tarot"]).fails(&["tarot"]);
    isopod(&["judge", &other, &trace, "--judge-as", "tarot"]).fails(&["a level"]);
    let broken = folder.put("trace.json", "{");
    isopod(&["judge", &other, &broken]).fails(&["trace.json"]);
}

#[test]
fn traces_are_kept_only_if_asked_for() {
    let folder = Folder::new();
    let out = folder.0.join("run").display().to_string();
    isopod(&["hunt", "sqlite", "--cases", "20", "--out", &out]).exits(0);
    assert!(!folder.0.join("run/traces").exists());
    assert!(fs::read_dir(folder.0.join("run")).unwrap().count() > 3);
}

#[test]
fn the_speed_of_an_oracle_is_measured_on_kept_traces() {
    let folder = Folder::new();
    hunt(&folder, "reference", &["--oracle", "crash"]);
    let run = folder.0.join("run").display().to_string();
    isopod(&["bench", "judge", &run, "--rounds", "1"]).exits(0).says(&["model", "200 cases", "of CPU time"]);
    let json = isopod(&["bench", "judge", &run, "--cases", "50", "--rounds", "2", "--json"]).exits(0).json();
    let result = &json[0];
    assert_eq!((&result["cases"], &result["rounds"]), (&50.into(), &2.into()), "{result}");
    let said = ["holds", "violated", "undecided"].map(|name| result[name].as_u64().unwrap());
    assert_eq!(said.iter().sum::<u64>(), 50, "{result}");
    assert!(result["per_cpu_second"].as_f64().unwrap() > 0.0, "{result}");
    isopod(&["bench", "judge", folder.path()]).fails(&["--keep-traces"]);
    isopod(&["bench", "judge", &run, "--oracle", "nobody"]).fails(&["is not an oracle"]);
}
