//! `isopod server`.

use std::{
    io::Read,
    os::unix::{fs::PermissionsExt, net::UnixStream},
    path::{Path, PathBuf},
    time::Duration,
};

use crate::tools::{Folder, eventually, installed, isopod, isopod_with, lives, servers};

/// The word behind a label in the output.
fn after<'a>(text: &'a str, label: &str) -> &'a str {
    text.split_once(label)
        .and_then(|(_, rest)| rest.split_whitespace().next())
        .unwrap_or_else(|| panic!("{text}"))
}

/// Stops the instance however the test ends.
struct Started(String);

impl Drop for Started {
    fn drop(&mut self) {
        isopod(&["server", "stop", &self.0]);
    }
}

#[test]
fn start_list_stop() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let ran = isopod(&["server", "start", "mariadb@10.11", "--tcp"]).exits(0);
    let name = ran.out.split_whitespace().next().unwrap().to_string();
    let started = Started(name.clone());
    let socket = PathBuf::from(after(&ran.out, "socket"));
    let pid: u32 = after(&ran.out, "pid").parse().unwrap();
    assert!(ran.out.contains(&format!("isopod server stop {name}")), "{}", ran.out);
    // The server speaks first.
    let mut greeting = [0; 5];
    UnixStream::connect(&socket).unwrap().read_exact(&mut greeting).unwrap();
    assert_eq!(greeting[4], 10, "protocol 10");
    std::net::TcpStream::connect(after(&ran.out, "port")).unwrap();

    isopod(&["server", "list"]).exits(0).says(&["mariadb@10.11", "running:", &name, "until stopped"]);
    isopod(&["server", "prune"]).exits(0);
    assert!(lives(pid), "what runs is not pruned");
    assert_eq!(isopod(&["server", "stop", &name]).exits(0).out, format!("stopped {name}\n"));
    eventually(Duration::from_secs(2), "the server is gone", || !lives(pid) && !socket.exists());
    assert!(!socket.parent().unwrap().parent().unwrap().exists());
    assert!(!isopod(&["server", "list"]).exits(0).out.contains(&name));
    isopod(&["server", "stop", &name]).fails(&["there is no instance"]);
    drop(started);
}

#[test]
fn by_the_port_nobody_comes_in_without_the_password() {
    for (name, scheme, user) in [
        ("mariadb@10.11", "mysql", "root"),
        ("mysql@9.7", "mysql", "root"),
        ("mysql@5.6", "mysql", "root"),
        ("postgres@18", "postgres", "postgres"),
        ("postgres@13", "postgres", "postgres"),
    ] {
        let Some(_alone) = servers(&[name]) else { continue };
        let ran = isopod(&["server", "start", name, "--tcp"]).exits(0);
        let started = Started(ran.out.split_whitespace().next().unwrap().to_string());
        let password = after(&ran.out, "password for the port: ").trim_end_matches(',');
        let file = PathBuf::from(after(&ran.out, "also in"));
        assert_eq!(std::fs::read_to_string(&file).unwrap().trim_end(), password);
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
        let folder = Folder::new();
        let reach = format!("{scheme}://{user}@{}", after(&ran.out, "port"));
        let case =
            folder.put("case.iso", "setup\n  CREATE TABLE t (a INT);\nsteps\n  T1: SELECT * FROM t;\n");
        let run = ["run", &case, "--target", &reach];
        let clean = [("ISOPOD_PASSWORD", Path::new("")), ("HOME", &folder.0)];
        isopod_with(&clean, &run).fails(&["cannot log in"]);
        isopod_with(&[("ISOPOD_PASSWORD", Path::new("0")), ("HOME", &folder.0)], &run)
            .fails(&["cannot log in"]);
        isopod_with(&[("ISOPOD_PASSWORD", Path::new(password)), ("HOME", &folder.0)], &run).exits(0);
        drop(started);
        assert!(!file.exists());
    }
}

#[test]
fn list_is_aligned_and_needs_nothing_installed() {
    let cache = Folder::new();
    let ran = isopod_with(&[("ISOPOD_CACHE", &cache.0)], &["server", "list"]).exits(0);
    let column = ran.out.lines().next().unwrap().find("installed").unwrap();
    for line in ran.out.lines().take_while(|line| !line.starts_with("cache")) {
        assert_eq!(&line[column - 2..column], "  ", "{}", ran.out);
        assert_ne!(&line[column..=column], " ", "{}", ran.out);
    }
    assert!(ran.out.contains(&format!("cache: {}", cache.path())), "{}", ran.out);
}

#[test]
fn what_cannot_be_had_says_why() {
    let (cache, nothing) = (Folder::new(), Folder::new());
    let bare = [("ISOPOD_CACHE", cache.0.as_path()), ("PATH", nothing.0.as_path())];
    let why = [
        "mvn is not on this machine: apt-get install maven",
        "npm is not on this machine: apt-get install npm",
        "apt-get is not on this machine",
    ];
    isopod_with(&bare, &["server", "list"]).exits(0).says(&why);
    isopod_with(&bare, &["server", "install", "all"]).exits(0).says(&why);
    isopod_with(&bare, &["server", "install", "mysql@8.0"])
        .fails(&["mysql@8.0.33 cannot be had here", why[0]]);
}

#[test]
fn a_folder_goes_with_one_product() {
    let folder = Folder::new();
    let run = |target: &str| isopod(&["corpus", "test", "--target", target, "--basedir", folder.path()]);
    for wrong in ["mysql@9.7", "sqlite", "all"] {
        run(wrong).fails(&["--basedir goes with one --target"]);
    }
    run("mysql").fails(&["does not hold a server of mysql", "looked for bin/mariadbd"]);
}

#[test]
fn what_makes_no_sense() {
    isopod(&["server", "start", "sqlite"]).fails(&["sqlite is embedded"]);
    isopod(&["server", "start", "mysql@8.4"]).fails(&["mysql@8.4 cannot be installed here"]);
    isopod(&["server", "install"]).fails(&["<TARGETS>..."]);
    isopod(&["server", "install", "sqlite"]).exits(0).says(&["built in"]);
    let nowhere =
        isopod_with(&[("ISOPOD_CACHE", Path::new("/proc/none"))], &["server", "install", "mysql@9.7"]);
    nowhere.fails(&["cannot make /proc/none", "set ISOPOD_CACHE to a folder that you can write to"]);
}

#[test]
fn what_runs_keeps_its_installation() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let root = installed("mariadb@10.11").unwrap().folder().join("root");
    let cache = Folder::new();
    let own = [("ISOPOD_CACHE", cache.0.as_path())];
    let target = format!("mariadb?basedir={}", root.display());
    let ran = isopod_with(&own, &["server", "start", &target]).exits(0);
    let name = ran.out.split_whitespace().next().unwrap().to_string();
    let started = Started(name.clone());
    let there = || std::fs::read_dir(cache.0.join("folders")).into_iter().flatten().count();
    let kept = format!(" alone: {name} runs from it\n");
    isopod_with(&own, &["server", "prune", "--installs"]).exits(0).says(&["left ", &kept]);
    assert_eq!(there(), 1);
    drop(started);
    isopod_with(&own, &["server", "prune", "--installs"]).exits(0).says(&["removed "]);
    assert_eq!(there(), 0);
    assert!(root.exists(), "the folder of the user is not ours to remove");
}
