//! Run folders of an earlier build (format 0: no file says its format), one of a real MariaDB and one of the reference engine: whatever
//! reads a run reads them. And what a later build wrote is refused.

use std::{fs, path::Path};

use crate::tools::{Folder, isopod, repository};

const REFERENCE: &str =
    "reference?one_in=20&plant=aborted-read,duplicate-unique,internal-error,key-change-leaves-old-row";

/// A copy of an old run.
fn old(folder: &Folder, name: &str) -> String {
    let to = folder.0.join(name);
    copy(&repository().join("crates/cli/tests/data/old-run").join(name), &to);
    to.display().to_string()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).unwrap();
        }
    }
}

fn report(run: &str) -> serde_json::Value {
    isopod(&["report", run]).exits(0);
    serde_json::from_str(&fs::read_to_string(format!("{run}/report/findings.json")).unwrap()).unwrap()
}

#[test]
fn a_report_names_what_was_known_then() {
    let folder = Folder::new();
    let json = report(&old(&folder, "mariadb"));
    let groups = json["groups"].as_array().unwrap();
    let mut known: Vec<&str> = groups.iter().filter_map(|group| group["known"].as_str()).collect();
    known.sort_unstable();
    let names =
        ["MDEV-26642", "MDEV-27992", "MDEV-32898, MySQL#113228", "MDEV-34108", "MySQL#104833, MDEV-26643"];
    assert_eq!((known, groups.len()), (names.to_vec(), names.len()));
    // More cases than findings: those that were only counted are in the log.
    let cases: u64 = groups.iter().map(|group| group["cases"].as_u64().unwrap()).sum();
    assert_eq!((json["findings"].as_array().unwrap().len(), json["cases"].as_u64()), (5, Some(3_000)));
    assert!(cases > 60, "{cases}");
    let json = report(&old(&folder, "reference"));
    assert_eq!(json["cases"], 600);
    let group = |id: &str| json["groups"].as_array().unwrap().iter().find(|group| group["id"] == id).unwrap();
    assert!(["cb3bc09c", "e7024686"].iter().all(|id| group(id)["known"].is_null()), "{json}");
}

#[test]
fn its_findings_are_judged_and_run() {
    let folder = Folder::new();
    let (mariadb, reference) = (old(&folder, "mariadb"), old(&folder, "reference"));
    isopod(&["judge", &format!("{mariadb}/findings/dcbf16d5")]).exits(1).says(&["MDEV-26642"]);
    let finding = format!("{reference}/findings/cb3bc09c");
    isopod(&["judge", &finding]).exits(1).says(&["each plain read shows what was committed when it began"]);
    isopod(&["run", &finding, "--target", REFERENCE, "--level", "RC"])
        .exits(1)
        .says(&["each plain read shows what was committed when it began"]);
}

#[test]
fn its_findings_are_known() {
    let folder = Folder::new();
    let known = format!("{}/findings", old(&folder, "reference"));
    let out = folder.0.join("new");
    let args = [
        "hunt",
        REFERENCE,
        "--profile",
        "wide",
        "--seed",
        "1717-0000-0003",
        "--cases",
        "200",
        "--workers",
        "1",
        "--json",
    ];
    let more = ["--known", &known, "--fail-on", "new", "--out", out.to_str().unwrap()];
    let summary = isopod(&[&args[..], &more].concat()).exits(0).json();
    let groups = summary["findings"].as_array().unwrap();
    assert!(!groups.is_empty() && groups.iter().all(|group| group["known"].is_string()), "{summary}");
    assert!(summary["looked"].as_u64() > Some(0) && summary["stale"].as_array().unwrap().is_empty());
}

#[test]
fn it_is_not_resumed_and_it_is_said_what_to_do() {
    let folder = Folder::new();
    let run = old(&folder, "reference");
    isopod(&["hunt", "--resume", &run]).fails(&[
        "was begun by an earlier Isopod",
        "begin a new run",
        "--seed 1717-0000-0003 --profile wide",
        &format!("--known {run}/findings"),
    ]);
}

#[test]
fn what_a_later_build_wrote_is_refused() {
    let folder = Folder::new();
    let new = folder.0.join("new");
    let args = ["hunt", "reference?plant=aborted-read", "--cases", "120", "--workers", "1", "--keep-traces"];
    isopod(
        &[
            &args[..],
            &["--profile", "wide", "--seed", "7", "--oracle", "invariants", "--out", new.to_str().unwrap()],
        ]
        .concat(),
    )
    .exits(1);
    let finding = fs::read_dir(new.join("findings")).unwrap().flatten().next().unwrap().file_name();
    let finding = format!("findings/{}/verdict.json", finding.to_string_lossy());
    let files =
        ["settings.json", "triage.json", "servers/0.json", "quality/0.json", "progress/0", "progress/clock"];
    for file in files.into_iter().chain(["events.jsonl", &finding]) {
        let run = folder.0.join("later");
        copy(&new, &run);
        let path = run.join(file);
        let text = fs::read_to_string(&path).unwrap();
        let later =
            text.replacen("\"format\": 1", "\"format\": 9", 1).replacen("\"format\":1", "\"format\":9", 1);
        let later = later.replacen("format 1", "format 9", 1);
        assert_ne!(text, later, "{file} has no number");
        fs::write(&path, later).unwrap();
        isopod(&["report", run.to_str().unwrap()]).fails(&[file, "format 9", "newer Isopod"]);
        fs::remove_dir_all(&run).unwrap();
    }
    let traces = fs::read_dir(new.join("traces")).unwrap().flatten().next().unwrap().path();
    let text = fs::read_to_string(&traces).unwrap();
    assert!(text.starts_with("{\"format\":1}\n"), "{}", &text[..40]);
    fs::write(&traces, text.replacen("{\"format\":1}", "{\"format\":9}", 1)).unwrap();
    isopod(&["judge", "--traces", new.to_str().unwrap()]).fails(&["format 9", "newer Isopod"]);
}
