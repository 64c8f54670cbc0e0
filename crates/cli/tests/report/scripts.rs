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
    verdict::{Cause, Response, evidence::Sighting},
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

/// A finding about this step, of a run that really happened: the symptom, what should have come, and what an invariant saw.
fn seen_as(run: Execution, step: usize, symptom: Symptom, expected: Option<Response>) -> BugReport {
    let sighting = match symptom {
        Symptom::UnreportedDeadlock => Some(Sighting::Circle { steps: run.aftermath.circle.clone() }),
        _ => None,
    };
    let mut bug = finding(run.case.case().clone(), run.trace, step);
    bug.finding.violation.fingerprint.symptom = symptom;
    bug.finding.violation.evidence = Box::new(Evidence { expected, sighting, ..Evidence::default() });
    bug
}

const ROWS: [&str; 2] =
    ["CREATE TABLE t (a INT PRIMARY KEY, b INT)", "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)"];

/// The script of a finding on this server: its exit code, and what it says.
fn by_client(name: &str, bug: &BugReport) -> Option<(Option<i32>, String)> {
    let (folder, server) = (Folder::new(), started(name)?);
    let socket = server.socket().display().to_string();
    let mut command = Command::new("bash");
    command.arg(put(&folder, bug, ".sh")).args(["-S", &socket, "-u", "root"]).env("LIMIT", "4");
    let output = command.stdin(Stdio::null()).output().unwrap();
    let left = Command::new("mariadb").args(["-S", &socket, "-u", "root", "-e", "SHOW DATABASES"]).output();
    assert!(!said(&left.unwrap()).contains("test_"), "its schema is still there");
    Some((output.status.code(), said(&output)))
}

/// T3 shares both rows, and T1 and T2 wait for each other. MariaDB 10.5 ends one of them.
#[test]
fn a_deadlock_that_is_not_reported_comes_again_as_a_stall() {
    let Some(_alone) = servers(&["mariadb@10.11", "mariadb@10.5"]) else { return };
    let (Some(_), Some(mut tester)) = (program(&["mariadb"], "mariadb-client-core"), mysqltest()) else {
        return;
    };
    let steps = "T3: BEGIN\nT3: SELECT * FROM t WHERE a < 3 LOCK IN SHARE MODE
        T1: BEGIN\nT1: SELECT * FROM t WHERE a = 1 LOCK IN SHARE MODE
        T2: BEGIN\nT2: SELECT * FROM t WHERE a = 2 LOCK IN SHARE MODE
        T1: UPDATE t SET b = 7 WHERE a = 2\nT2: UPDATE t SET b = 7 WHERE a = 1";
    let Some(run) = run("mariadb@10.11", &case(&ROWS, steps)) else { return };
    assert_eq!(run.aftermath.circle, [6, 7]);
    let bug = seen_as(run, 7, Symptom::UnreportedDeadlock, None);
    let (Some(shows), Some(ends)) = (by_client("mariadb@10.11", &bug), by_client("mariadb@10.5", &bug))
    else {
        return;
    };
    assert_eq!(shows.0, Some(0), "{}", shows.1);
    assert!(shows.1.contains("8  T2 still waits after 10 seconds"), "{}", shows.1);
    assert!(shows.1.contains("expected error deadlock (1213) for one of steps 7 and 8"), "{}", shows.1);
    assert!(ends.0 == Some(1) && ends.1.contains("ERROR 1213"), "{}", ends.1);
    let (folder, Some(server)) = (Folder::new(), started("mariadb@10.11")) else { return };
    let output = tester
        .args(["--no-defaults", "--user=root", "--host=localhost", "--database=mysql"])
        .arg(format!("--socket={}", server.socket().display()))
        .arg(format!("--test-file={}", put(&folder, &bug, ".test")))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    // The file says that they wait, and whoever runs it sees that.
    let file = put(&folder, &bug, ".iso");
    let found = fs::read_to_string(&file).unwrap();
    assert!(found.ends_with("    step 7 => waits\n    step 8 => waits\n"), "{found}");
    isopod(&["run", &file, "--target", "mariadb@10.11", "--level", "RR"]).says(&["known: "]);
}

/// Nobody in the case ends T1; Isopod does, and so does the script.
#[test]
fn what_came_after_our_rollback_comes_again_after_that_of_the_script() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    if program(&["mariadb"], "mariadb-client-core").is_none() {
        return;
    }
    let steps = "T1: BEGIN\nT1: UPDATE t SET b = b + 1 WHERE a = 1\nT2: UPDATE t SET b = 2 WHERE a = 1";
    let Some(run) = run("mariadb@10.11", &case(&ROWS, steps)) else { return };
    assert!(run.trace.answered_after_stall(2) && run.trace.rolled_back_before(Some(2)) == Some(vec![0]));
    let bug = seen_as(run, 2, Symptom::WrongCount, Some(Response::Words("0 rows".into())));
    let Some(shows) = by_client("mariadb@10.11", &bug) else { return };
    assert_eq!(shows.0, Some(0), "{}", shows.1);
    assert!(shows.1.contains("r1  T1: ROLLBACK;\n") && shows.1.contains("3  T2 goes on\n"), "{}", shows.1);
}

/// T1's lock is gone after it went back to a savepoint that was set before its first statement, so T2 does not wait. If T1 reads something
/// before the savepoint, T2 waits: that is another answer, though the count is the same in the end.
#[test]
fn a_wait_that_is_missing_comes_again() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    if program(&["mariadb"], "mariadb-client-core").is_none() {
        return;
    }
    let steps = |first: &str| {
        format!(
            "T1: BEGIN\nT1: {first}\nT1: SAVEPOINT s\nT1: SELECT * FROM t WHERE a = 2 FOR UPDATE
             T1: ROLLBACK TO SAVEPOINT s\nT2: UPDATE t SET b = 21 WHERE a = 2\nT1: COMMIT"
        )
    };
    let Some(run) = run("mariadb@10.11", &case(&ROWS, &steps("SELECT 1"))) else { return };
    assert!(!run.trace.waited(5), "{:?}", run.trace);
    let bug = seen_as(run, 5, Symptom::MissingWait, Some(Response::Wait));
    let Some(shows) = by_client("mariadb@10.11", &bug) else { return };
    assert_eq!(shows.0, Some(0), "{}", shows.1);
    assert!(shows.1.contains("the wrong answer came again; expected a wait"), "{}", shows.1);
    let mut right = bug;
    let mut case = right.execution.case.case().clone();
    case.steps[1].sql = "SELECT * FROM t WHERE 1 = 0".into();
    right.execution = Execution::new(case, right.execution.trace);
    let Some(waits) = by_client("mariadb@10.11", &right) else { return };
    assert!(waits.0 == Some(1) && waits.1.contains("another answer came: T2 waits"), "{}", waits.1);
}

/// SKIP LOCKED waits where two indexes are merged. By one index it does not, and the rows are the same.
#[test]
fn a_wait_that_should_not_be_comes_again() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    if program(&["mariadb"], "mariadb-client-core").is_none() {
        return;
    }
    let table = "CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT, KEY i (b))";
    let rows: Vec<String> = (1..=20).map(|n| format!("({n}, {n}, 0)")).collect();
    let fill = format!("INSERT INTO t VALUES {}", rows.join(", "));
    let steps = "T1: BEGIN\nT1: UPDATE t SET c = 1 WHERE a = 2
        T2: SELECT a FROM t FORCE INDEX (PRIMARY, i) WHERE b = 2 OR a = 5 FOR UPDATE SKIP LOCKED";
    let Some(run) = run("mariadb@10.11", &case(&[table, &fill], steps)) else { return };
    assert!(run.trace.waited(2), "{:?}", run.trace);
    let bug = seen_as(run, 2, Symptom::NeedlessWait, Some(Response::AnAnswer { nobody_in_the_way: false }));
    let Some(shows) = by_client("mariadb@10.11", &bug) else { return };
    assert_eq!(shows.0, Some(0), "{}", shows.1);
    assert!(!shows.1.contains("goes on"), "{}", shows.1);
    let mut right = bug;
    let mut case = right.execution.case.case().clone();
    case.steps[2].sql = "SELECT a FROM t WHERE a = 5 FOR UPDATE SKIP LOCKED".into();
    right.execution = Execution::new(case, right.execution.trace);
    let Some(answers) = by_client("mariadb@10.11", &right) else { return };
    assert!(answers.0 == Some(1) && answers.1.contains("it does not wait"), "{}", answers.1);
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

fn run(server: &str, case: &Case) -> Option<Execution> {
    let mut runner = runner(server, Settle::Proc, Options::default())?;
    let level = case.sessions[0].level.unwrap_or(Level::RepeatableRead);
    Some(runner.run(case, level).unwrap_or_else(|error| panic!("{error}")))
}

fn traced(server: &str, case: &Case) -> Option<Trace> {
    Some(run(server, case)?.trace)
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
