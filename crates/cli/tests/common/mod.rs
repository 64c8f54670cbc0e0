//! What the tests on real servers share: skipping loudly where a server cannot be had, starting one, and small
//! words for cases and for what came of them.

#![allow(dead_code)] // Every test file is a crate of its own, and none needs all of this.

pub mod table;

use std::{env, fs::OpenOptions, io::Write, path::Path, thread};

use dbms::launch::{Launcher, Settle};
use dialect::Execution;
use execute::{Options, Placement, Runner};
use model::{Case, Level, RoundCause, SessionSpec, Step, Target, Trace, case::Setup};
use provision::{ErrorKind, Installed, ServerError, Store};

/// Isopod's own binary.
pub const EXE: &str = env!("CARGO_BIN_EXE_isopod");

/// The servers on which everything is tried.
pub const SERVERS: [&str; 2] = ["mariadb@10.11", "mysql@9.7"];

/// Both ways to know that a statement waits.
pub const SETTLES: [Settle; 2] = [Settle::Proc, Settle::Sql];

/// Says that the running test cannot be done here. With CI=true that is a failure.
pub fn skip(why: &str) {
    assert!(env::var("CI").as_deref() != Ok("true"), "cannot run: {why}");
    note("SKIPPED", why);
}

/// Says that the running test cannot be done any more because its server is offered by nobody. That is no failure.
fn gone(why: &str) {
    note("GONE", why);
}

/// Says it, and writes it where the closing count is made.
fn note(what: &str, why: &str) {
    println!("{what}: {why}");
    if let Some(path) = env::var_os("ISOPOD_SKIPS") {
        let current = thread::current();
        let line = format!("{what} {}: {}\n", current.name().unwrap_or("?"), why.replace('\n', " "));
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}

/// A target from its text.
pub fn target(text: &str) -> Target {
    text.parse().unwrap()
}

/// An error of the servers with everything that it says.
pub fn whole(error: &ServerError) -> String {
    format!("{:?}: {}\n{}", error.kind, error.title, error.help.join("\n"))
}

/// The server, installed if it was not; none, and skipped, if it cannot be fetched here.
pub fn installed(text: &str) -> Option<Installed> {
    let store = Store::open().unwrap();
    match store.ensure(&target(text), &mut |_| {}) {
        Ok(installed) => Some(installed),
        Err(error) if matches!(error.kind, ErrorKind::Unreachable | ErrorKind::MissingTool) => {
            skip(&whole(&error));
            None
        }
        Err(error) if error.kind == ErrorKind::Gone => {
            gone(&whole(&error));
            None
        }
        Err(error) => panic!("{}", whole(&error)),
    }
}

/// A runner on a server of its own. Nothing is pinned, so that tests can run side by side.
pub fn runner(text: &str, settle: Settle, options: Options) -> Option<Runner> {
    if !text.starts_with("sqlite") {
        installed(text)?;
    }
    let launcher = Launcher::new(target(text), settle, Path::new(EXE).to_path_buf(), &mut |_| {})
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    let wish = Placement { pin: false, realtime: false, cpu: None };
    Some(Runner::new(Box::new(launcher), options, wish).unwrap_or_else(|error| panic!("{text}: {error}")))
}

/// A case from its setup and its steps, a line each: `T1: BEGIN`.
pub fn case(setup: &[&str], steps: &str) -> Case {
    let mut case = Case {
        setup: Setup { statements: setup.iter().map(|text| text.to_string()).collect() },
        ..Case::default()
    };
    for line in steps.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (name, sql) = line.split_once(": ").unwrap();
        let session = name[1..].parse::<usize>().unwrap() - 1;
        while case.sessions.len() <= session {
            case.sessions.push(SessionSpec::plain(format!("T{}", case.sessions.len() + 1)));
        }
        case.steps.push(Step { session, sql: sql.to_string(), expect: Vec::new() });
    }
    case
}

/// Runs a case at REPEATABLE READ.
pub fn run(runner: &mut Runner, case: &Case) -> Execution {
    let run = runner.run(case, Level::RepeatableRead).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run.trace.false_decisions, 0, "{:?}", run.trace);
    run
}

/// Runs steps on a setup, and gives the trace.
pub fn trace(runner: &mut Runner, setup: &[&str], steps: &str) -> Trace {
    run(runner, &case(setup, steps)).trace
}

/// The rounds in short: `sent 3: 1 3, waits 4 for T1`. Answers within a round stand in the order of the steps.
pub fn story(trace: &Trace) -> Vec<String> {
    let one = |round: &model::Round| {
        let cause = match round.cause {
            RoundCause::Sent(step) => format!("sent {step}:"),
            RoundCause::Timeout => "timeout:".to_string(),
            RoundCause::RolledBack(session) => format!("rolled back T{}:", session + 1),
            RoundCause::Killed(session) => format!("killed T{}:", session + 1),
        };
        let mut answered = round.answered.clone();
        answered.sort_unstable();
        let mut text = answered.iter().fold(cause, |text, step| format!("{text} {step}"));
        for wait in &round.waiting {
            text += &format!(" waits {}", wait.step);
            let blockers: Vec<String> = wait.blockers.iter().map(|i| format!("T{}", i + 1)).collect();
            if !blockers.is_empty() {
                text += &format!(" for {}", blockers.join(" "));
            }
        }
        text
    };
    trace.rounds.iter().map(one).collect()
}

/// The outcomes in the words of the case file, with `*` where a transaction is open after it.
pub fn said(trace: &Trace) -> Vec<String> {
    let one = |outcome: &model::Outcome| match outcome.transaction {
        model::Open::Yes => format!("{outcome}*"),
        model::Open::No => outcome.to_string(),
        model::Open::Failed => format!("{outcome}!"),
        model::Open::Unknown => format!("{outcome}?"),
    };
    trace.outcomes.iter().map(one).collect()
}

/// The rows of a table in the end, sorted.
pub fn left(trace: &Trace, table: &str) -> Vec<String> {
    let tables = trace.final_state.as_ref().unwrap_or_else(|| panic!("no final state: {trace:?}"));
    let (_, rows) = tables.iter().find(|(name, _)| name == table).unwrap_or_else(|| panic!("no {table}"));
    let mut rows = rows.texts();
    rows.sort();
    rows
}
