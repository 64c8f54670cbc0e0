//! The help teaches.

use std::{
    io::Read,
    process::{Command, Stdio},
};

use crate::tools::{EXE, isopod, skip};

/// The commands that end a command line, as the help of each level lists them.
fn commands(above: &[String]) -> Vec<Vec<String>> {
    let args: Vec<&str> = above.iter().map(String::as_str).chain(["--help"]).collect();
    let ran = isopod(&args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let help = ran.out;
    let listed = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
    let names = listed
        .lines()
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help");
    let below: Vec<Vec<String>> =
        names.flat_map(|name| commands(&[above, &[name.to_string()]].concat())).collect();
    if below.is_empty() { vec![above.to_vec()] } else { below }
}

#[test]
fn every_subcommand_says_what_it_does_and_how() {
    let all = commands(&[]);
    assert!(all.len() > 25 && all.contains(&vec!["bench".into(), "judge".into()]), "{all:?}");
    for command in all {
        let args: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let help = isopod(&args).out;
        assert!(help.contains("Example"), "no example in\n{help}");
        let command = command.join(" ");
        assert!(help.contains(&format!("\n  isopod {command}")), "no example of {command} in\n{help}");
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
