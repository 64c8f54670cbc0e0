//! The generated scripts with the real clients: `mariadb`, MySQL's own `mysql`, `psql`, MariaDB's mysqltest and PostgreSQL's isolationtester.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use dbms::launch::Settle;
use dialect::Execution;
use execute::Options;
use model::{
    Case, Evidence, Finding, Fingerprint, Level, Place, ShownBy, Symptom, Target, Trace, Violation,
    verdict::Cause, verdict::Response,
};
use provision::{Instance, StartOptions};
use report::{BugReport, scripts};

use crate::{
    common::{EXE, case, installed, runner, target, whole},
    tested::{isolationtester, mysqls_own_client, mysqltest, program},
    tools::{Folder, isopod, servers},
};

fn started(name: &str) -> Option<Instance> {
    let options = StartOptions::default();
    let server = installed(name)?;
    Some(
        server
            .start(Path::new(EXE), &target(name), &options)
            .unwrap_or_else(|error| panic!("{}", whole(&error))),
    )
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn bash(script: &Path, args: &[&str]) -> Output {
    Command::new("bash").arg(script).args(args).stdin(Stdio::null()).output().unwrap()
}

/// The findings of a hunt on MariaDB, each shown again by the vendor's own tools.
#[test]
fn what_a_hunt_finds_on_mariadb_comes_again_from_its_clients() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let Some(client) = program(&["mariadb"], "mariadb-client-core") else { return };
    if mysqltest().is_none() {
        return;
    }
    let folder = Folder::new();
    let out = folder.0.join("run").display().to_string();
    let hunt = [
        "hunt",
        "mariadb@10.11",
        "--profile",
        "wide",
        "--seed",
        "5",
        "--cases",
        "600",
        "--keep",
        "1",
        "--workers",
        "1",
        "--out",
        &out,
    ];
    isopod(&hunt).exits(1);
    isopod(&["report", &out]).exits(0);
    let report = folder.0.join("run/report");
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(report.join("findings.json")).unwrap()).unwrap();
    let Some(server) = started("mariadb@10.11") else { return };
    let socket = server.socket().display().to_string();
    let (mut waited, mut checked) = (0, 0);
    let findings = json["findings"].as_array().unwrap();
    for finding in findings {
        let id = finding["id"].as_str().unwrap();
        let script = report.join(format!("{id}.sh"));
        let output = bash(&script, &["-S", &socket, "-u", "root"]);
        let words = said(&output);
        assert_eq!(output.status.code(), Some(0), "{id}\n{words}\n{}", fs::read_to_string(&script).unwrap());
        assert!(!words.contains("it does not wait"), "{id}\n{words}");
        waited += usize::from(words.contains(" goes on\n"));
        checked += usize::from(words.contains("the wrong answer came again"));
        let test = report.join(format!("{id}.test"));
        let Some(mut tester) = mysqltest() else { return };
        let output = tester
            .args(["--no-defaults", "--user=root", "--host=localhost", "--database=mysql"])
            .arg(format!("--socket={socket}"))
            .arg(format!("--test-file={}", test.display()))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let words = said(&output);
        assert!(output.status.success(), "{id}\n{words}\n{}", fs::read_to_string(&test).unwrap());
        // The rows that are wrong are in what it printed.
        for row in finding["actual"]["rows"].as_array().into_iter().flatten() {
            let cells: Vec<&str> = row
                .as_array()
                .unwrap()
                .iter()
                .map(|cell| cell.as_str().unwrap().trim_matches('\''))
                .collect();
            assert!(words.contains(&cells.join("\t")), "{cells:?} of {id} is not in\n{words}");
        }
    }
    assert!(findings.len() >= 2 && waited >= 1, "{} findings, {waited} with waits", findings.len());
    assert_eq!(checked, findings.len());
    // Everything that they made is gone.
    let left =
        Command::new(client).args(["-S", &socket, "-u", "root", "-e", "SHOW DATABASES"]).output().unwrap();
    assert!(!said(&left).contains("test_"), "{}", said(&left));
}

/// The findings of a hunt on MySQL, each shown again by MySQL's own client.
#[test]
fn what_a_hunt_finds_on_mysql_comes_again_from_its_own_client() {
    let Some(_alone) = servers(&["mysql@9.7"]) else { return };
    let Some(client) = mysqls_own_client() else { return };
    let version = said(&Command::new(&client).arg("--version").output().unwrap());
    assert!(version.contains("Ver ") && !version.contains("MariaDB"), "{version}");
    let folder = Folder::new();
    let out = folder.0.join("run").display().to_string();
    let hunt = [
        "hunt",
        "mysql@9.7",
        "--profile",
        "wide",
        "--seed",
        "1",
        "--cases",
        "600",
        "--keep",
        "1",
        "--workers",
        "1",
        "--out",
    ];
    isopod(&[&hunt[..], &[&out]].concat()).exits(1);
    isopod(&["report", &out]).exits(0);
    let report = folder.0.join("run/report");
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(report.join("findings.json")).unwrap()).unwrap();
    let Some(server) = started("mysql@9.7") else { return };
    let socket = server.socket().display().to_string();
    let findings = json["findings"].as_array().unwrap();
    let mut waited = 0;
    for finding in findings {
        let id = finding["id"].as_str().unwrap();
        let script = report.join(format!("{id}.sh"));
        let output = Command::new("bash")
            .arg(&script)
            .args(["-S", &socket, "-u", "root"])
            .env("CLIENT", &client)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let words = said(&output);
        assert_eq!(output.status.code(), Some(0), "{id}\n{words}\n{}", fs::read_to_string(&script).unwrap());
        assert!(words.contains("the wrong answer came again"), "{id}\n{words}");
        assert!(!words.contains("it does not wait"), "{id}\n{words}");
        waited += usize::from(words.contains(" goes on\n"));
    }
    assert!(findings.len() >= 2 && waited >= 1, "{} findings, {waited} with waits", findings.len());
}

/// Another answer than the one that was recorded is told apart.
#[test]
fn a_script_says_when_another_answer_came() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    if program(&["mariadb"], "mariadb-client-core").is_none() {
        return;
    }
    let case = case(&["CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1), (2)"], "T1: SELECT a FROM t");
    let Some(trace) = traced("mariadb@10.11", &case) else { return };
    let folder = Folder::new();
    let with = |insert: &str| {
        let mut case = case.clone();
        case.setup.statements[1] = insert.into();
        finding(case, trace.clone(), 0)
    };
    let Some(server) = started("mariadb@10.11") else { return };
    let socket = server.socket().display().to_string();
    let run = |bug: &BugReport| bash(Path::new(&put(&folder, bug, ".sh")), &["-S", &socket, "-u", "root"]);
    assert_eq!(run(&finding(case.clone(), trace.clone(), 0)).status.code(), Some(0));
    // The server has two rows and the record says three.
    let output = run(&with("INSERT INTO t VALUES (1), (2), (3)"));
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    // A setup that fails, and no server.
    let broken = with("INSERT INTO nothing VALUES (1)");
    assert_eq!(run(&broken).status.code(), Some(2));
    let output = bash(Path::new(&put(&folder, &broken, ".sh")), &["-S", "/nowhere", "-u", "root"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

/// Waits, an update conflict and a changed answer, on PostgreSQL.
const STEPS: &str = "T1: BEGIN
    T1: SELECT a, b FROM t ORDER BY a
    T2: BEGIN
    T2: UPDATE t SET b = 'two' WHERE a = 1
    T1: UPDATE t SET b = b || '!' WHERE a = 1
    T2: COMMIT
    T1: SELECT a, b FROM t ORDER BY a
    T1: COMMIT";

const SETUP: [&str; 2] =
    ["CREATE TABLE t (a INT PRIMARY KEY, b TEXT)", "INSERT INTO t VALUES (1, 'one'), (2, NULL)"];

#[test]
fn psql_and_isolationtester_repeat_what_was_seen_on_postgres() {
    let Some(_alone) = servers(&["postgres@15"]) else { return };
    let (Some(_), Some(tester)) = (program(&["psql"], "postgresql-client-15"), isolationtester()) else {
        return;
    };
    let Some(server) = started("postgres@15") else { return };
    let socket = server.socket().parent().unwrap().display().to_string();
    let user = server.superuser().to_string();
    let folder = Folder::new();
    // At each of these levels another thing is remarkable: the changed row, and the refused update.
    for (level, wrong, words) in [
        (Level::ReadCommitted, 6, "1|two!"),
        (Level::RepeatableRead, 4, "could not serialize access due to concurrent update"),
    ] {
        let mut case = case(&SETUP, STEPS);
        case.sessions.iter_mut().for_each(|session| session.level = Some(level));
        let Some(trace) = traced("postgres@15", &case) else { return };
        assert!(trace.waited(4), "{trace:?}");
        let finding = finding(case, trace, wrong);
        let script = put(&folder, &finding, ".sh");
        let output = bash(Path::new(&script), &["-h", &socket, "-U", &user, "-d", "postgres"]);
        let said_words = said(&output);
        let text = fs::read_to_string(&script).unwrap();
        assert_eq!(output.status.code(), Some(0), "{level}\n{said_words}\n{text}");
        assert!(said_words.contains(words) && !said_words.contains("it does not wait"), "{said_words}");
        let spec = fs::File::open(put(&folder, &finding, ".spec")).unwrap();
        let output = Command::new(&tester)
            .arg(format!("host={socket} user={user} dbname=postgres"))
            .stdin(spec)
            .output()
            .unwrap();
        let printed = said(&output);
        assert!(output.status.success(), "{printed}");
        assert!(
            printed.contains("<waiting ...>") && printed.contains("step s5: <... completed>"),
            "{printed}"
        );
        assert!(printed.contains(words), "{words} is not in\n{printed}");
    }
}

fn traced(server: &str, case: &Case) -> Option<Trace> {
    let mut runner = runner(server, Settle::Proc, Options::default())?;
    let level = case.sessions[0].level.unwrap_or(Level::RepeatableRead);
    Some(runner.run(case, level).unwrap_or_else(|error| panic!("{error}")).trace)
}

/// A finding about one step of a run that really happened.
fn finding(case: Case, trace: Trace, step: usize) -> BugReport {
    let level = trace.level;
    let violation = Violation {
        fingerprint: Fingerprint {
            symptom: Symptom::WrongRows,
            cause: Cause::Unknown,
            statement: ShownBy::FinalState,
            level: Some(level),
        },
        step: Some(step),
        evidence: Box::new(Evidence {
            expected: Some(Response::Words("something else".into())),
            ..Evidence::default()
        }),
    };
    let target = Target {
        product: trace.server.product,
        version: None,
        settings: Default::default(),
        place: Place::Cache,
    };
    BugReport {
        date: String::new(),
        hunt: String::new(),
        finding: Finding::bare(&format!("0000000{step}"), target, violation),
        execution: Execution::new(case, trace),
        isopod: "0".into(),
        sources: |_| None,
        account: Err("a-test".into()),
        replay: String::new(),
        seen: Vec::new(),
        elsewhere: Vec::new(),
        ready: None,
    }
}

fn put(folder: &Folder, bug: &BugReport, ending: &str) -> String {
    let file = scripts::all(bug).into_iter().find(|file| file.name.ends_with(ending)).unwrap();
    folder.put(&file.name, &file.text)
}
