//! Ctrl-C and worse: what was measured is shown where that is possible, and nothing is left behind.

use std::{
    net::TcpListener,
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::tools::{EXE, Folder, descendants, eventually, folders, lives, servers, signal, skip};

/// A long selftest in a process group of its own, as a shell starts it; with its server's processes and folders.
fn begin(target: &str, children: usize) -> (Child, Vec<u32>, Vec<std::path::PathBuf>) {
    let child = Command::new(EXE)
        .args(["selftest", "determinism", "--cases", "100000", "--target", target])
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let up = || descendants(child.id()).len() >= children && !folders(&descendants(child.id())).is_empty();
    eventually(Duration::from_secs(20), "its server comes up", up);
    // It is in the middle of its cases some moments later.
    thread::sleep(Duration::from_millis(700));
    let started = descendants(child.id());
    let folders = folders(&started);
    assert!(
        started.len() >= children && folders.iter().all(|folder| folder.exists()),
        "{started:?} {folders:?}"
    );
    (child, started, folders)
}

#[track_caller]
fn nothing_is_left(started: &[u32], folders: &[std::path::PathBuf]) {
    eventually(Duration::from_secs(2), &format!("the processes {started:?} end"), || {
        !started.iter().any(|&pid| lives(pid))
    });
    eventually(Duration::from_secs(2), &format!("{folders:?} go"), || {
        !folders.iter().any(|folder| folder.exists())
    });
}

fn ctrl_c(target: &str, children: usize) {
    let (child, started, folders) = begin(target, children);
    let begun = Instant::now();
    // The terminal sends it to everyone in the group.
    signal("-INT", &format!("-{}", child.id()));
    let output = child.wait_with_output().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{out}{err}");
    assert!(out.contains("interrupted: "), "{out}{err}");
    assert!(out.contains(" 0 cases twice") && !out.contains(" 0 statements"), "{out}");
    nothing_is_left(&started, &folders);
}

#[test]
fn ctrl_c_ends_soon_with_what_was_measured() {
    ctrl_c("sqlite", 1);
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    ctrl_c("mariadb@10.11", 2);
}

#[test]
fn a_killed_isopod_leaves_no_server() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    for (target, children) in [("mariadb@10.11", 2), ("sqlite", 1)] {
        let (mut child, started, folders) = begin(target, children);
        signal("-KILL", &child.id().to_string());
        child.wait().unwrap();
        nothing_is_left(&started, &folders);
    }
}

/// An installation that hangs: a registry that takes connections and says nothing.
#[test]
fn ctrl_c_in_an_installation_leaves_nothing_half_done() {
    let cache = Folder::new();
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let child = Command::new(EXE)
        .args(["server", "install", "postgres@18"])
        .env("ISOPOD_CACHE", &cache.0)
        .env("npm_config_registry", format!("http://{}/", silent.local_addr().unwrap()))
        .env("no_proxy", "127.0.0.1")
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let tmp = cache.0.join("tmp");
    let at_work = || tmp.exists() && !descendants(child.id()).is_empty() || !lives(child.id());
    eventually(Duration::from_secs(20), "npm is at work", at_work);
    let started = descendants(child.id());
    let in_the_middle = tmp.exists();
    let begun = Instant::now();
    signal("-INT", &format!("-{}", child.id()));
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    if err.contains("npm is not on this machine") {
        return skip(&err);
    }
    assert!(in_the_middle && begun.elapsed() < Duration::from_secs(3), "{:?} {err}", begun.elapsed());
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("error: interrupted"), "{err}");
    nothing_is_left(&started, &[tmp]);
}
