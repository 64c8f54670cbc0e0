//! The oracles on real servers: silent over random cases that are fine, and loud where something is wrong.
//!
//! How many cases each server gets is set with `ISOPOD_ORACLE_CASES`, and which servers with `ISOPOD_ORACLE_TARGETS`.

mod common;

use std::{collections::BTreeMap, env, fs, path::Path, process::Command, time::Duration};

use common::{case, installed, runner, target};
use dbms::launch::Settle;
use dialect::Execution;
use execute::{Options, PostCheckInterval, Reset};
use model::{Case, Level, Product, Seed, Target, Verdict, verdict::evidence::AccessPath};
use oracles::{Ask, Oracle, crash::Crash, invariants::Invariants};
use reference::ReferenceServer;

/// Runs so many cases of the workload at every level; gives what was said, counted.
fn judge_many(text: &str, cases: u64) -> Option<BTreeMap<String, u64>> {
    let options = Options {
        reset: Reset::Fast,
        postchecks: PostCheckInterval { integrity: 50, index_scans: 10 },
        ..Options::default()
    };
    let mut runner = runner(text, Settle::Proc, options)?;
    let product = target(text).product;
    let judges: Vec<Box<dyn Oracle>> = oracles::without_server();
    let mut said: BTreeMap<String, u64> = BTreeMap::new();
    let levels = dialect::of(product).levels;
    let (mut checked, mut through) = (0, 0);
    for number in 0..cases {
        let case = generate::workload::case(Seed(11), number, product);
        let level: Level = levels[number as usize % levels.len()];
        let run = runner.run(&case, level).unwrap_or_else(|error| panic!("{text}: {error}"));
        checked += u64::from(run.aftermath.damage.is_empty());
        through += run.aftermath.index_scans.len();
        let seen = run;
        for judge in &judges {
            let verdict = oracles::judge(judge.as_ref(), &seen);
            let word = match &verdict {
                Verdict::Holds { by } if by.is_empty() => "holds".to_string(),
                Verdict::Holds { by } => {
                    format!("by {}", by.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
                }
                Verdict::Undecided { reason } => format!("undecided {reason}"),
                Verdict::Violated(violation) => {
                    println!("{text} {level} case {number}: {violation:#?}\n{:#?}", seen.case.steps);
                    match oracles::mvcc::known(&violation.fingerprint) {
                        Some(name) => format!("known {name}"),
                        None => format!("VIOLATED {:?}", violation.fingerprint),
                    }
                }
            };
            *said.entry(format!("{}: {word}", judge.name())).or_default() += 1;
        }
    }
    println!("{text}: {said:#?}; {checked} undamaged; {through} reads through an index");
    assert!(through > 0 || cases < 10, "{text}: no table was read through an index");
    Some(said)
}

#[test]
fn nothing_is_said_where_nothing_is_wrong() {
    let cases = env::var("ISOPOD_ORACLE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    let targets =
        env::var("ISOPOD_ORACLE_TARGETS").unwrap_or("sqlite mariadb@10.11 mysql@9.7 postgres@18".into());
    for text in targets.split_whitespace() {
        let Some(said) = judge_many(text, cases) else { continue };
        let bad: Vec<&String> = said.keys().filter(|word| word.contains("VIOLATED")).collect();
        assert!(bad.is_empty(), "{text}: {said:#?}");
        // How much the model can tell is counted by hunts.
        let others = |word: &str| word.contains("undecided") && !word.starts_with("model:");
        let undecided: u64 = said.iter().filter(|(word, _)| others(word)).map(|(_, n)| n).sum();
        assert!(undecided * 20 <= cases, "{text}: {said:#?}");
    }
}

/// MySQL's own build for debugging, which crashes where a debug point tells it to.
const DEBUG: &str = "mysql@8.0.33?build=debug";

/// A debug point that only going back to a savepoint passes: an assertion fails there.
const SAVEPOINT: &str = "debug=+d,transaction_write_set_savepoint_block_before_rollback";

const SETUP: [&str; 2] =
    ["CREATE TABLE t(a INT PRIMARY KEY, b INT, KEY kb(b))", "INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)"];

fn seen(runner: &mut execute::Runner, case: &Case) -> Execution {
    runner.run(case, Level::RepeatableRead).unwrap_or_else(|error| panic!("{error}"))
}

fn fingerprint(oracle: &dyn Oracle, seen: &Execution) -> String {
    match oracles::judge(oracle, seen) {
        Verdict::Violated(violation) => {
            let print = violation.fingerprint;
            format!("{} {} {}", print.symptom, print.cause, print.statement)
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn a_planted_crash_is_told_with_its_log_and_its_stack() {
    let options = Options { postchecks: PostCheckInterval::ALWAYS, ..Options::default() };
    let Some(mut runner) = runner(&format!("{DEBUG}&{SAVEPOINT}"), Settle::Proc, options) else { return };
    let steps = "T1: BEGIN
                 T1: SAVEPOINT s
                 T2: UPDATE t SET b = 11 WHERE a = 1
                 T1: UPDATE t SET b = 21 WHERE a = 2
                 T1: ROLLBACK TO s
                 T1: COMMIT";
    let crashed = seen(&mut runner, &case(&SETUP, steps));
    let told = fingerprint(&Crash, &crashed);
    assert!(told.starts_with("crash assertion debug_sync.cc:") && told.ends_with(" savepoint"), "{told}");
    let log = &crashed.aftermath.log;
    assert!(log.iter().any(|line| line.contains("got signal 6")), "{log:#?}");
    assert!(crashed.aftermath.stack.is_some_and(|stack| stack.contains("mysqld-debug")), "{log:#?}");

    // The next one runs on a new server, and nothing of the old log is held against it.
    let fine = seen(&mut runner, &case(&SETUP, "T1: UPDATE t SET b = 11 WHERE a = 1"));
    for oracle in oracles::without_server() {
        assert_eq!(oracles::judge(oracle.as_ref(), &fine), Verdict::holds());
    }
    assert_eq!((runner.deaths(), fine.aftermath.log.len()), (1, 0));
}

#[test]
fn a_planted_loss_in_an_index_is_told_by_the_server_and_by_us() {
    let options = Options { postchecks: PostCheckInterval::ALWAYS, ..Options::default() };
    let Some(mut runner) = runner(DEBUG, Settle::Proc, options) else { return };
    let steps = "T1: SET SESSION debug = 'd,row_ins_skip_sec'
                 T1: INSERT INTO t VALUES (4, 40)";
    let damaged = seen(&mut runner, &case(&SETUP, steps));
    assert_eq!(fingerprint(&Crash, &damaged), "corruption integrity-check final");
    assert_eq!(fingerprint(&Invariants, &damaged), "index-disagrees invariant final");
}

#[test]
fn a_hunt_files_a_planted_crash_with_its_log_and_goes_on() {
    if installed(DEBUG).is_none() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("run");
    let output = Command::new(common::EXE)
        .args(["hunt", &format!("{DEBUG}&{SAVEPOINT}"), "--level", "RR", "--cases", "8", "--workers", "1"])
        .args(["--profile", "wide", "--seed", "8F2C-91D0-55AE", "--keep", "1", "--confirm", "1", "--out"])
        .arg(&folder)
        .output()
        .unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let filed = findings(&folder);
    let crash = filed.iter().find(|finding| {
        let verdict = fs::read_to_string(finding.join("verdict.json")).unwrap();
        verdict.contains("\"crash\"") && verdict.contains("debug_sync.cc:")
    });
    let crash = crash.unwrap_or_else(|| panic!("{filed:?}\n{said}"));
    let log = fs::read_to_string(crash.join("server.log")).unwrap();
    assert!(log.contains("got signal 6"), "{log}");
    assert!(fs::read_to_string(crash.join("stack.txt")).unwrap().contains("mysqld-debug"));
    // All cases were run, those after the crash too.
    let events = fs::read_to_string(folder.join("events.jsonl")).unwrap();
    assert!(events.contains(r#""event":"ended","why":"budget","cases":8"#), "{events}");
    assert!(events.contains(r#""why":"died""#), "{events}");
}

fn findings(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder.join("findings")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.join("verdict.json").is_file()).collect()
}

/// Runs cases on the reference engine with this bug planted until one is told; the fingerprint of that.
fn first_told(plant: &str, cases: u64) -> Option<String> {
    let settings = [("plant".to_string(), plant.to_string())].into_iter().filter(|_| !plant.is_empty());
    let engine = Target { settings: settings.collect(), ..target("reference") };
    let options =
        Options { reset: Reset::Fast, hung_after: Duration::from_millis(200), ..Options::default() };
    let start = engine.clone();
    let launch = Box::new(move || Ok(Box::new(ReferenceServer::start(&start)?) as Box<dyn execute::Server>));
    let wish = execute::Placement { pin: false, realtime: false, cpu: None };
    let mut runner = execute::Runner::new(launch, options, wish).unwrap();
    let judges = oracles::without_server();
    for number in 0..cases {
        let case = generate::workload::case(Seed(11), number, Product::Reference);
        let run =
            runner.run(&case, Level::ALL[number as usize % 4]).unwrap_or_else(|error| panic!("{error}"));
        let seen = run;
        for judge in &judges {
            if let Verdict::Violated(_) = oracles::judge(judge.as_ref(), &seen) {
                return Some(fingerprint(judge.as_ref(), &seen));
            }
        }
    }
    None
}

#[test]
fn every_bug_that_can_be_planted_is_told_for_what_it_is() {
    assert_eq!(first_told("", 1000), None, "nothing is planted");
    for (plant, kinds) in [
        ("crash", &["crash "][..]),
        ("hang", &["hang "]),
        ("internal-error", &["internal-error 1815 "]),
        ("aborted-read", &["aborted-read invariant "]),
        ("duplicate-unique", &["unique-value-twice invariant ", "primary-value-twice invariant "]),
    ] {
        let told = first_told(plant, 4000).unwrap_or_else(|| panic!("{plant} is not told"));
        assert!(kinds.iter().any(|kind| told.starts_with(kind)), "{plant}: {told}");
    }
}

/// What the vote says, with all the runs and probes that it asks for.
fn voted(runner: &mut execute::Runner, seen: &Execution) -> model::Violation {
    let vote = oracles::vote::Vote::default();
    let mut talk = vote.open(seen);
    let mut ask = talk.next(&[]);
    loop {
        ask = match ask {
            Ask::Done(Verdict::Violated(violation)) => return violation,
            Ask::Done(verdict) => panic!("{verdict:?}"),
            Ask::Run(requests) => {
                let run = |request: &oracles::Request| runner.run(&request.case, request.level).unwrap();
                talk.next(&requests.iter().map(run).collect::<Vec<_>>())
            }
            Ask::Probe(probe) => talk.probed(runner.probe(&probe).unwrap()),
        };
    }
}

#[test]
fn a_resumed_scan_is_explained_by_the_index_that_the_server_names() {
    for server in ["mariadb@10.11", "mysql@9.7"] {
        let Some(mut runner) = runner(server, Settle::Proc, Options::default()) else { continue };
        for name in ["mysql-104833", "mdev-34108"] {
            let text = fs::read_to_string(corpus().join(format!("seeds/{name}.iso"))).unwrap();
            let case = model::casefile::parse(&text).unwrap_or_else(|_| panic!("{name}")).into_case();
            let run = runner.run(&case, Level::ReadCommitted).unwrap();
            let seen = run;
            let violation = voted(&mut runner, &seen);
            assert!(oracles::mvcc::known(&violation.fingerprint).is_some(), "{server} {name}: {violation:?}");
            let path = violation.evidence.access_path;
            assert_eq!(path, Some(AccessPath::Table), "{server} {name}");
        }
    }
}

fn corpus() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}
