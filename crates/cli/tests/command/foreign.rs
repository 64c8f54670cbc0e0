//! Files, folders and names that other people made: nothing of them leaves its place, is obeyed by a shell or a terminal, or starts
//! anything without being asked.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use report::text::for_terminal;
use serde_json::Value;

use crate::tools::{EXE, Folder, Ran, isopod, isopod_with};

/// What a terminal would obey.
const OBEYED: &str = "\u{1b}]0;PWN\u{7}\u{1b}[2J";

/// A run with findings, on the engine in process.
fn hunted(folder: &Folder, name: &str) -> PathBuf {
    let out = folder.0.join(name);
    let planted = "reference?plant=aborted-read,duplicate-unique,internal-error";
    let path = out.display().to_string();
    let settings = ["--profile", "wide", "--seed", "7", "--cases", "120", "--keep", "1", "--no-reduce"];
    isopod(&[&["hunt", planted, "--out", &path], &settings[..]].concat()).exits(1);
    out
}

/// The folder of some finding of a run.
fn finding(run: &Path) -> PathBuf {
    fs::read_dir(run.join("findings")).unwrap().flatten().next().unwrap().path()
}

fn edit(file: &Path, change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    change(&mut value);
    fs::write(file, value.to_string()).unwrap();
}

#[test]
fn an_id_is_no_path_and_names_its_folder() {
    let folder = Folder::new();
    let run = hunted(&folder, "run");
    let path = run.display().to_string();
    let of = finding(&run);
    let (verdict, id) = (of.join("verdict.json"), of.file_name().unwrap().to_string_lossy().into_owned());
    let good = fs::read_to_string(&verdict).unwrap();
    let outside = folder.0.join("outside").display().to_string();
    for bad in ["../../outside", &outside, "x$(touch PWN)", "", "9B1F0A2C", "9b1f0a2", "9b1f0a2c0"] {
        edit(&verdict, |value| value["id"] = bad.into());
        let name = verdict.display().to_string();
        isopod(&["report", &path]).fails(&[&name, "is no id of a finding"]);
        isopod(&["hunt", "--resume", &path]).fails(&[&name, "is no id of a finding"]);
        isopod(&["run", &of.join("case.iso").display().to_string(), "-t", "reference"])
            .fails(&[&name, "is no id of a finding"]);
        let known = ["hunt", "reference", "--cases", "1", "--known", &path];
        isopod(&known).fails(&[&name, "is no id of a finding"]);
    }
    // One of another finding would be written over that one's files.
    edit(&verdict, |value| value["id"] = "00000000".into());
    isopod(&["report", &path]).fails(&["it is of finding 00000000, and its folder has another name"]);
    let left: Vec<String> = fs::read_dir(&folder.0)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(left, ["run"], "nothing is written beside the run");
    fs::write(&verdict, good).unwrap();
    isopod(&["report", &path]).exits(0);
    assert!(run.join(format!("report/{id}.html")).is_file());
}

#[test]
fn what_is_written_into_a_run_stays_in_it() {
    for part in ["progress/0", "events.jsonl", "servers", "triage.new"] {
        let folder = Folder::new();
        let run = hunted(&folder, "run");
        let path = run.display().to_string();
        let (inside, outside) = (run.join(part), folder.0.join("precious"));
        if inside.exists() {
            fs::rename(&inside, &outside).unwrap();
        }
        std::os::unix::fs::symlink(&outside, &inside).unwrap();
        isopod(&["hunt", "--resume", &path, "--cases", "130"]).fails(&[part, "is a link"]);
    }
}

#[test]
fn what_a_command_is_told_to_repeat_is_quoted() {
    let folder = Folder::new();
    let run = hunted(&folder, "run;id $(touch PWN)");
    let of = finding(&run);
    edit(&of.join("verdict.json"), |value| {
        value["target"] = "mysql?x='$(touch PWN)'".into();
        value["oracle"] = "`touch PWN`".into();
    });
    let ran = isopod(&["report", &run.display().to_string()]).exits(0);
    let id = of.file_name().unwrap().to_string_lossy().into_owned();
    let json = fs::read_to_string(run.join("report/findings.json")).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    let one = json["findings"].as_array().unwrap().iter().find(|one| one["id"] == *id).unwrap();
    let replay = one["replay"].as_str().unwrap();
    assert!(replay.contains(r"'mysql?x='\''$(touch PWN)'\'''"), "{replay}");
    let filed = fs::read_to_string(finding(&run).join("replay.txt")).unwrap();
    assert!(filed.contains("run;id"), "{filed}");
    // The shell itself says what it makes of them.
    let hints = isopod(&["hunt", "sqlite", "--out", &run.display().to_string()]).exits(2).err;
    let resume = hints.lines().find_map(|line| line.split_once("is there: ")).unwrap().1.to_string();
    for command in [replay.to_string(), filed, resume] {
        let text = format!("isopod() {{ printf '%s\\n' \"$@\"; }}\n{command}\n");
        let shell = Command::new("bash").arg("-c").arg(text).current_dir(&folder.0).output().unwrap();
        assert!(shell.status.success() && shell.stderr.is_empty(), "{command}: {shell:?}");
        assert!(!folder.0.join("PWN").exists(), "{command}");
    }
    assert!(ran.err.is_empty(), "{}", ran.err);
}

/// A run of somebody else names a program: it is shown, and not started.
#[test]
fn what_a_run_of_somebody_else_names_is_not_started() {
    let folder = Folder::new();
    let (ours, theirs) = (folder.0.join("cache"), folder.0.join("another"));
    let touched = folder.0.join("touched");
    let evil =
        folder.put("evil/bin/mysqld", &format!("#!/bin/sh\necho evil\ntouch '{}'\n", touched.display()));
    fs::set_permissions(&evil, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    folder.put("evil/share/english/errmsg.sys", "");
    let evil = folder.0.join("evil").display().to_string();
    let run = folder.0.join("run;id").display().to_string();
    let with = |cache: &Path, args: &[&str]| isopod_with(&[("ISOPOD_CACHE", cache)], args);
    with(&theirs, &["hunt", "reference", "--cases", "20", "--out", &run]).exits(0);
    // What only names servers of our own is gone on with, whoever began it.
    with(&ours, &["hunt", "--resume", &run, "--cases", "30"]).exits(0);
    let settings = folder.0.join("run;id/settings.json");
    let good = fs::read_to_string(&settings).unwrap();
    for (target, would) in [
        (format!("mysql?basedir={evil}"), format!("start the programs of the server in {evil}")),
        ("postgres@18?archive_command=id".into(), "start postgres with archive_command=id".into()),
        ("mysql://u@127.0.0.1:1".into(), "connect to mysql://u@127.0.0.1:1".into()),
    ] {
        fs::write(&settings, good.replace("\"reference\"", &format!("{target:?}"))).unwrap();
        // With the mark of its first settings, or none, it is nobody's here.
        let command = format!("isopod hunt --resume '{run}' --trust");
        for cache in [&ours, &theirs] {
            with(cache, &["hunt", "--resume", &run, "--cases", "40"]).fails(&[&would, &command]);
        }
        assert!(!touched.exists());
    }
    // Whoever began a run himself is not asked.
    let own = folder.0.join("own").display().to_string();
    with(&ours, &["hunt", "reference?plant=aborted-read", "--cases", "20", "--out", &own]);
    assert!(folder.0.join("own/mark").is_file());
    let key = fs::metadata(ours.join("run-key")).unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&key) & 0o777, 0o600);
    // With --trust it goes as far as the program goes.
    fs::write(&settings, good.replace("\"reference\"", &format!("{:?}", format!("mysql?basedir={evil}"))))
        .unwrap();
    with(&ours, &["hunt", "--resume", &run, "--cases", "40", "--trust"]).exits(2);
    assert!(touched.exists());
}

/// The same for what is found: a target of a finding that is none of the run.
#[test]
fn a_finding_on_a_target_that_its_run_did_not_have_is_somebody_elses() {
    let folder = Folder::new();
    let run = hunted(&folder, "run");
    let path = run.display().to_string();
    isopod(&["hunt", "--resume", &path, "--cases", "121"]).exits(1);
    edit(&finding(&run).join("verdict.json"), |value| value["target"] = "mysql?basedir=/tmp/evil".into());
    for command in [
        vec!["hunt", "--resume", &path, "--cases", "122"],
        vec!["report", &path, "--ready"],
        vec!["bench", "fold", &path],
    ] {
        isopod(&command).fails(&["start the programs of the server in /tmp/evil", "--trust"]);
    }
    isopod(&["report", &path]).exits(0);
}

/// As on a terminal with colours.
fn coloured(args: &[&str]) -> Ran {
    let mut command = Command::new(EXE);
    let output = command.args(args).env("CLICOLOR_FORCE", "1").stdin(Stdio::null()).output().unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn nothing_that_others_wrote_is_obeyed_by_the_terminal() {
    let folder = Folder::new();
    let odd = format!("a{OBEYED}");
    let good = format!("title  A{OBEYED}\n\nsteps\n  T1: SELECT '{OBEYED}' AS \"b{OBEYED}\";\n");
    let good = folder.put(&format!("{odd}.iso"), &good);
    let wrong = folder.put("wrong.iso", &format!("steps\n  T1: SELECT '{OBEYED}'; -- rows (1)\n"));
    let broken = folder.put("broken.iso", &format!("steps\n  T{OBEYED}: SELECT 1;\n"));
    let setup = format!("setup\n  CREATE TABLE \"{OBEYED}\" (a INT, a INT);\nsteps\n  T1: SELECT 1;\n");
    let setup = folder.put("setup.iso", &setup);
    let error = folder.put("error.iso", &format!("steps\n  T1: SELECT * FROM \"{OBEYED}\";\n"));
    let run = hunted(&folder, "run");
    let of = finding(&run);
    edit(&of.join("trace.json"), |trace| trace["server"]["version_text"] = odd.clone().into());
    let case = fs::read_to_string(of.join("case.iso")).unwrap();
    fs::write(of.join("case.iso"), case.replacen("title  ", &format!("title  {OBEYED}"), 1)).unwrap();
    let (run, of) = (run.display().to_string(), of.display().to_string());
    let missing = folder.0.join(&odd).display().to_string();
    let odd_target = format!("mysql://u@h{OBEYED}");
    let scenes: &[&[&str]] = &[
        &["run", &good],
        &["run", &good, "--json"],
        &["run", &wrong],
        &["run", &broken],
        &["run", &setup],
        &["run", &error],
        &["run", &missing],
        &["fmt", "--check", &good, &broken],
        &["judge", &of],
        &["report", &run],
        &["report", &missing],
        &["hunt", "--resume", &missing],
        &["hunt", "sqlite", "--cases", "1", "--known", &missing],
        &["hunt", "sqlite", "--cases", "1", "--out", &missing],
        &["run", &good, "--target", &odd_target],
        &["run", &good, "--target", &odd],
        &["run", &good, "--oracle", &odd],
        &["hunt", "sqlite", "--profile", &odd],
        &["reduce", &wrong, "--check", &format!("true '{OBEYED}'; false")],
    ];
    let mut met = 0;
    for scene in scenes {
        let ran = coloured(scene);
        for text in [&ran.out, &ran.err] {
            assert_eq!(*text, for_terminal(text), "{scene:?} with exit code {:?}", ran.code);
            let obeyed = ["\u{7}", "\u{1b}]", "\u{1b}[2J"].iter().any(|part| text.contains(part));
            assert!(!obeyed, "{scene:?} with exit code {:?}: {text:?}", ran.code);
            met += usize::from(text.contains("PWN"));
        }
    }
    assert!(met + 2 > scenes.len(), "only {met} texts repeat what others wrote");
    // JSON says the same, in its own way.
    let json: Value = serde_json::from_str(&coloured(&["run", &good, "--json"]).out).unwrap();
    assert!(json.to_string().contains("PWN"), "{json}");
}
