//! What is written into the folder of a run, and what is said of one that is none or that is damaged.

use std::{fs, time::Duration};

use crate::tools::{Folder, eventually, isopod, isopod_with};

const PLANTED: &str = "reference?plant=aborted-read,duplicate-unique,internal-error";

/// A run on the engine in process.
pub fn run(folder: &Folder) -> String {
    let out = folder.0.join("run").display().to_string();
    let hunt = [
        "hunt",
        PLANTED,
        "--profile",
        "wide",
        "--seed",
        "7",
        "--cases",
        "120",
        "--keep",
        "1",
        "--no-reduce",
        "--out",
        &out,
    ];
    isopod(&hunt).exits(1);
    out
}

#[test]
fn every_finding_has_its_files() {
    let folder = Folder::new();
    let run = run(&folder);
    isopod(&["report", &run]).exits(0).says(&["group", "report/index.html"]);
    let report = folder.0.join("run/report");
    let text = fs::read_to_string(report.join("findings.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let findings = json["findings"].as_array().unwrap();
    assert_eq!(findings.len(), fs::read_dir(folder.0.join("run/findings")).unwrap().count());
    assert!(!findings.is_empty());
    let index = fs::read_to_string(report.join("index.html")).unwrap();
    for finding in findings {
        let id = finding["id"].as_str().unwrap();
        assert!(index.contains(&format!("{id}.html")), "{id} is not in the index");
        assert!(report.join(format!("{id}.html")).is_file());
        for file in finding["files"].as_array().unwrap() {
            assert!(report.join(file.as_str().unwrap()).is_file(), "{file}");
        }
        let case = report.join(format!("{id}.iso"));
        assert!(model::casefile::parse(&fs::read_to_string(case).unwrap()).is_ok());
        // What is in the groups is in the findings, once.
        let groups = json["groups"].as_array().unwrap();
        let of = |group: &&serde_json::Value| group["findings"].as_array().unwrap().contains(&finding["id"]);
        assert_eq!(groups.iter().filter(of).count(), 1, "{id}");
    }
    // Again: what was there is replaced.
    fs::write(report.join("old.html"), "old").unwrap();
    isopod(&["report", &run]).exits(0);
    assert!(!report.join("old.html").exists() && report.join("index.html").is_file());
    assert!(!folder.0.join("run/.report.new").exists());
}

#[test]
fn a_folder_that_is_no_run_is_named() {
    let folder = Folder::new();
    isopod(&["report", folder.path()]).fails(&["is not the folder of a run: it has no settings.json"]);
    isopod(&["report", &format!("{}/none", folder.path())]).fails(&["there is no such folder"]);
    isopod(&["report"]).exits(2);
}

#[test]
fn a_damaged_file_is_named_with_the_reason() {
    let folder = Folder::new();
    let run = run(&folder);
    let finding = fs::read_dir(folder.0.join("run/findings")).unwrap().flatten().next().unwrap().path();
    let good = |name: &str| fs::read_to_string(finding.join(name)).unwrap();
    for (name, with, reason) in [
        ("verdict.json", "{\"id\": 1}", "verdict.json"),
        ("trace.json", "[]", "trace.json"),
        ("trace.json", "", "EOF"),
        ("case.iso", "steps\n  T1: COMMIT;\n", "a COMMIT without a BEGIN"),
        ("case.iso", "title  Another\n\nsteps\n  T1: SELECT 1;\n", "outcomes"),
    ] {
        let before = good(name);
        fs::write(finding.join(name), with).unwrap();
        isopod(&["report", &run]).fails(&[&finding.display().to_string(), reason]);
        fs::write(finding.join(name), before).unwrap();
    }
    // A session that is not there.
    let trace = good("trace.json");
    fs::write(
        finding.join("trace.json"),
        trace.replacen("\"rounds\": [", "\"rounds\": [{\"cause\": {\"killed\": 99}},", 1),
    )
    .unwrap();
    isopod(&["report", &run]).fails(&["names session 99"]);
    fs::write(finding.join("trace.json"), &trace).unwrap();
    fs::write(folder.0.join("run/quality/0.json"), "{").unwrap();
    isopod(&["report", &run]).fails(&["quality/0.json"]);
    fs::remove_file(folder.0.join("run/quality/0.json")).unwrap();
    fs::write(folder.0.join("run/progress/clock"), "soon").unwrap();
    isopod(&["report", &run]).fails(&["progress/clock", "milliseconds"]);
    fs::remove_file(folder.0.join("run/progress/clock")).unwrap();
    // A line that a killed process left half written is no damage, and is counted.
    let events = folder.0.join("run/events.jsonl");
    let text = fs::read_to_string(&events).unwrap();
    fs::write(&events, format!("{text}{{\"at\": 1, \"eve")).unwrap();
    isopod(&["report", &run]).exits(0);
    let index = fs::read_to_string(folder.0.join("run/report/index.html")).unwrap();
    assert!(index.contains("1 lines of the log could not be read"), "{index}");
    fs::write(&events, "nothing\nat all\n").unwrap();
    isopod(&["report", &run]).fails(&["events.jsonl", "no line of it is an event"]);
}

#[test]
fn a_browser_is_asked_to_open_the_page() {
    let folder = Folder::new();
    let out = folder.0.join("run").display().to_string();
    isopod(&["hunt", "sqlite", "--profile", "wide", "--seed", "7", "--cases", "2", "--out", &out]).exits(0);
    let programs = folder.0.join("bin");
    let asked = folder.0.join("asked");
    // Without any browser the page is written all the same.
    fs::create_dir_all(&programs).unwrap();
    let ran = isopod_with(&[("PATH", &programs)], &["report", &out, "--open"]).exits(2);
    assert!(ran.err.contains("no browser was found") && ran.err.contains("report/index.html"), "{}", ran.err);
    assert!(folder.0.join("run/report/index.html").is_file());
    let script = folder.put("bin/xdg-open", &format!("#!/bin/sh\necho \"$1\" >'{}'\n", asked.display()));
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    isopod_with(&[("PATH", &programs)], &["report", &out, "--open"]).exits(0);
    eventually(Duration::from_secs(20), "the browser is asked", || {
        fs::read_to_string(&asked).is_ok_and(|page| page.ends_with("run/report/index.html\n"))
    });
}

#[test]
fn a_run_that_found_nothing_has_a_page_too() {
    let folder = Folder::new();
    let out = folder.0.join("run").display().to_string();
    isopod(&["hunt", "sqlite", "--profile", "wide", "--seed", "7", "--cases", "20", "--out", &out]).exits(0);
    isopod(&["report", &out]).exits(0).says(&["0 findings"]);
    let index = fs::read_to_string(folder.0.join("run/report/index.html")).unwrap();
    assert!(index.contains("Nothing was found"), "{index}");
}
