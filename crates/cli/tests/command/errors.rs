//! What is wrong is said clearly, with exit code 2 and nothing half-done left behind.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use expect_test::expect;

use crate::{
    run::GOOD,
    tools::{Folder, isopod, isopod_with, skip},
};

#[test]
fn broken_files_are_all_shown_with_their_lines() {
    let folder = Folder::new();
    let one = folder.put("one.iso", "steps\n  T1: BEGIN\n");
    let two = folder.put("two.iso", "stesp\n");
    let good = folder.put("good.iso", GOOD);
    let none = folder.0.join("none.iso").display().to_string();
    let ran = isopod(&["run", &one, &good, &two, &none]).fails(&[]);
    expect![[r#"
        error: cannot read FOLDER/none.iso
          because: No such file or directory (os error 2)

        error: `;` is missing
         --> FOLDER/one.iso:2:12
          |
        2 |   T1: BEGIN
          |            ^ the statement has no end
          |
          = help: every statement ends with `;`, also the last one

        error: unknown section `stesp`
         --> FOLDER/two.iso:1:1
          |
        1 | stesp
          | ^^^^^ not a section
          |
          = help: did you mean `steps`?
    "#]]
    .assert_eq(&ran.err.replace(folder.path(), "FOLDER"));
}

#[test]
fn files_that_are_not_there() {
    let folder = Folder::new();
    isopod(&["run", &folder.0.join("none.iso").display().to_string()]).fails(&["cannot read", "none.iso"]);
    isopod(&["run", folder.path()]).fails(&["no case file (*.iso) is in"]);
    isopod(&["fmt", folder.path()]).fails(&["no case file (*.iso) is in"]);
    fs::write(folder.0.join("bytes.iso"), [0xff, 0xfe, 0]).unwrap();
    isopod(&["run", folder.path()]).fails(&["cannot read", "bytes.iso"]);
}

#[test]
fn targets_that_cannot_be() {
    let folder = Folder::new();
    let file = folder.put("good.iso", GOOD);
    let on = |target: &str| isopod(&["run", &file, "--target", target]);
    on("oracle").fails(&[
        "`oracle` is not a product that Isopod knows",
        "mysql, mariadb, postgres, sqlite and reference",
    ]);
    on("mysql@new").fails(&["`new` is not a version"]);
    on("mysql?log_bin").fails(&["`log_bin` is not a setting; write name=value"]);
    on("mysql@8.4").fails(&["error: mysql@8.4 cannot be installed here\n", "\n  available: mysql@"]);
    on("sqlite@1.2").fails(&["sqlite@1.2 cannot be had"]);
    on("sqlite?colour=red").fails(&["sqlite has no setting `colour`", "journal_mode"]);
    on("sqlite?journal_mode=red").fails(&["`red` is no value for sqlite's journal_mode"]);
    on("mysql?=4").fails(&["`=4` is not a setting; write name=value"]);
    on("mysql@9.7?port=1").fails(&["port is decided by Isopod"]);
    on("mysql@9.7?bind_addr=0.0.0.0").fails(&["bind_addr is decided by Isopod"]);
    on("postgres@18?default_transaction_isolation=serializable")
        .fails(&["default_transaction_isolation is decided by Isopod, for each session", "--level"]);
}

#[test]
fn a_setting_that_the_server_does_not_know() {
    let Some(_alone) = crate::tools::servers(&["mysql@9.7"]) else { return };
    let folder = Folder::new();
    let file = folder.put("good.iso", GOOD);
    isopod(&["run", &file, "--target", "mysql@9.7?no_such=1"])
        .fails(&["does not take the setting no_such=1", "unknown variable"]);
}

/// What is in the cache beside locks, which must stay.
fn in_cache(cache: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(cache) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name != "locks").collect()
}

#[test]
fn a_registry_that_cannot_be_reached() {
    if Command::new("apt-get").arg("--version").output().is_err() {
        return skip("there is no apt-get here");
    }
    let (folder, cache) = (Folder::new(), Folder::new());
    let file = folder.put("good.iso", GOOD);
    let begun = Instant::now();
    // Port 9 of this machine is closed.
    let proxy = Path::new("http://127.0.0.1:9");
    let variables = [
        ("http_proxy", proxy),
        ("https_proxy", proxy),
        ("no_proxy", Path::new("")),
        ("ISOPOD_CACHE", &cache.0),
    ];
    isopod_with(&variables, &["run", &file, "--target", "mariadb@10.11"])
        .fails(&["error: the package registry cannot be reached\n", "check the network"]);
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert_eq!(in_cache(&cache.0), Vec::<String>::new());
}

#[test]
fn a_cache_that_cannot_be_written() {
    let folder = Folder::new();
    let file = folder.put("good.iso", GOOD);
    // Root may write anywhere, but not into a file, and not into /proc.
    for cache in [Path::new(&file), Path::new("/proc/none")] {
        isopod_with(&[("ISOPOD_CACHE", cache)], &["run", &file, "--target", "mariadb@10.11"])
            .fails(&["cannot make", cache.to_str().unwrap()]);
    }
}

#[test]
fn a_full_disk() {
    let (folder, cache) = (Folder::new(), Folder::new());
    let file = folder.put("good.iso", GOOD);
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(&cache.0).output();
    if !mount.is_ok_and(|output| output.status.success()) {
        return skip("a small disk cannot be mounted without root");
    }
    let ran = isopod_with(&[("ISOPOD_CACHE", &cache.0)], &["run", &file, "--target", "mariadb@10.11"]);
    let left = in_cache(&cache.0);
    assert!(Command::new("umount").arg(&cache.0).status().unwrap().success());
    if ran.err.contains("cannot be reached") {
        return skip(&ran.err);
    }
    ran.fails(&["error: there is no room for ", "MiB while it is installed", "ISOPOD_CACHE"]);
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn nothing_is_not_a_number_of_times() {
    for args in [
        &["run", "x.iso", "--repeat", "0"][..],
        &["corpus", "test", "--repeat", "0"],
        &["selftest", "determinism", "--cases", "0"],
        &["selftest", "recovery", "--times", "0"],
        &["bench", "execute", "--turns", "0"],
        &["run", "x.iso", "--hung-after", "0"],
    ] {
        isopod(args).fails(&["invalid value '0' for '--", "it must be at least 1"]);
    }
    isopod(&["run", "x.iso", "--repeat", "many"]).fails(&["it must be a whole number, at least 1"]);
}
