//! The executor on real servers: who waits and who wakes whom, how cases end, what becomes of hung statements,
//! lost connections and dead servers, and that nothing of a case is left for the next one.

#[path = "../common/mod.rs"]
mod common;
mod leftovers;
mod losses;
mod others;
mod resets;
mod waits;

use std::{process::Command, thread, time::Duration};

use common::{SERVERS, SETTLES, case, left, run, runner, said, story, trace};
use dbms::launch::Settle;
use execute::{Options, Reset, Runner};
use model::{
    Case, Ends, ErrorClass, Expectation, FinalState, Level, Open, Outcome, Reply, SessionSpec, Trace,
};

const TABLE: &[&str] =
    &["CREATE TABLE t (a INT PRIMARY KEY, b INT)", "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)"];

fn labelled() -> Options {
    Options { label: true, ..Options::default() }
}

/// Runs a test on both products, each settled in both ways.
fn everywhere(options: &Options, test: fn(&mut Runner)) {
    for settle in SETTLES {
        by(settle, options, test);
    }
}

/// Runs a test on both products.
fn by(settle: Settle, options: &Options, test: fn(&mut Runner)) {
    for text in SERVERS {
        let Some(mut runner) = runner(text, settle, options.clone()) else { continue };
        println!("on {text}, settled by {}", runner.executor().unwrap().settles_by());
        test(&mut runner);
    }
}

fn class(outcome: &Outcome) -> Option<(ErrorClass, Ends)> {
    outcome.error().map(|error| (error.class, error.ends))
}

fn cell(trace: &Trace, step: usize) -> String {
    match &trace.outcomes[step].reply {
        Reply::Rows(rows) => String::from_utf8(rows.cell(0, 0).unwrap().to_vec()).unwrap(),
        other => panic!("step {step}: {other:?}"),
    }
}

fn end_process(pid: u32) {
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}
