//! The help teaches.

use std::{
    io::Read,
    process::{Command, Stdio},
};

use crate::tools::{EXE, isopod, skip};

#[test]
fn every_subcommand_says_what_it_does_and_how() {
    for command in [
        "run",
        "demo",
        "judge",
        "reduce",
        "report",
        "where",
        "corpus list",
        "corpus test",
        "corpus bisect",
        "server install",
        "server start",
        "server stop",
        "server list",
        "server prune",
        "fmt",
        "selftest determinism",
        "selftest recovery",
        "selftest mutation",
        "selftest oracles",
        "selftest levels",
        "selftest proxy",
        "bench execute",
        "bench judge",
    ] {
        let args: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let ran = isopod(&args);
        assert_eq!(ran.code, Some(0));
        assert!(ran.out.contains("Example"), "no example in\n{}", ran.out);
        assert!(
            ran.out.contains(&format!("\n  isopod {command}")),
            "no example of {command} in\n{}",
            ran.out
        );
    }
    for command in ["corpus", "server", "selftest", "bench"] {
        let ran = isopod(&[command, "--help"]);
        assert_eq!(ran.code, Some(0));
        assert!(ran.out.contains("Commands:"), "{}", ran.out);
    }
}

#[test]
fn without_arguments_there_is_help() {
    let ran = isopod(&[]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("Usage: isopod <COMMAND>") && ran.err.contains("Exit codes:"), "{}", ran.err);
    assert_eq!(isopod(&["--version"]).exits(0).out, format!("isopod {}\n", env!("CARGO_PKG_VERSION")));
    isopod(&["copus"]).fails(&["unrecognized subcommand 'copus'", "'corpus'"]);
}

#[test]
fn a_reader_that_leaves_is_no_reason_to_panic() {
    let mut child = Command::new(EXE)
        .args(["corpus", "list", "--show"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    child.wait().unwrap();
    assert_eq!(err, "");
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else {
        return skip("there is no /dev/full");
    };
    let output = Command::new(EXE).args(["corpus", "list"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(
        err.starts_with("error: standard output cannot be written: ") && err.lines().count() == 1,
        "{err}"
    );
}
