//! `isopod corpus` over many servers: `--target all`, the table, and `corpus bisect`.
//!
//! What is installed on a machine is its own affair, so these tests look at caches of their own, with links to servers
//! of the real one in them.

use std::{
    fs,
    os::unix::{fs::symlink, process::CommandExt},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use expect_test::expect;

use crate::{
    common,
    tools::{EXE, Folder, Ran, isopod, isopod_with, servers, signal},
};

/// A cache in which these installed servers are all there is.
fn cache(targets: &[&str]) -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.0.join("installs")).unwrap();
    for target in targets {
        let installed = common::installed(target).unwrap();
        let name = installed.folder().file_name().unwrap();
        symlink(installed.folder(), folder.0.join("installs").join(name)).unwrap();
    }
    folder
}

/// Puts the server into the cache once more, under another version.
fn another_version(cache: &Folder, target: &str, version: &str) {
    let installed = common::installed(target).unwrap();
    let folder = cache.0.join(format!("installs/another-{version}"));
    fs::create_dir(&folder).unwrap();
    for entry in fs::read_dir(installed.folder()).unwrap().flatten() {
        symlink(entry.path(), folder.join(entry.file_name())).unwrap();
    }
    let manifest = fs::read_to_string(folder.join("manifest.json")).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    manifest["version"] = version.into();
    fs::remove_file(folder.join("manifest.json")).unwrap();
    fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
}

fn with(cache: &Folder, args: &[&str]) -> Ran {
    isopod_with(&[("ISOPOD_CACHE", cache.0.as_path())], args)
}

/// The targets of a `corpus test --json`, in order.
fn targets(ran: &Ran) -> Vec<String> {
    let json = ran.json();
    let checks = json.as_array().unwrap();
    let mut names: Vec<String> =
        checks.iter().map(|check| check["target"].as_str().unwrap().to_string()).collect();
    names.dedup();
    names
}

#[test]
fn all_with_nothing_installed_is_what_is_built_in() {
    let cache = cache(&[]);
    let ran = with(&cache, &["corpus", "test", "write-skew-predicate", "--target", "all", "--json"]).exits(0);
    assert_eq!(targets(&ran), ["sqlite?journal_mode=delete", "sqlite?journal_mode=wal"]);
    assert!(ran.err.starts_with("note: all means the 1 that are here; "), "{}", ran.err);
    assert!(ran.err.contains(" more can be had: isopod server list\n"), "{}", ran.err);
    for command in ["determinism", "recovery"] {
        let size = if command == "recovery" { "--times" } else { "--cases" };
        let args = ["selftest", command, "--target", "all", "--json", size, "2"];
        assert_eq!(with(&cache, &args).exits(0).json().as_array().unwrap().len(), 1);
    }
    // A level that only others have, and a case that is only for others.
    with(&cache, &["corpus", "test", "--target", "all", "--level", "RC"]).exits(0).says(&["nothing was run"]);
    let case = crate::tools::repository().join("corpus/seeds/mdev-32898.iso").display().to_string();
    with(&cache, &["run", &case, "--target", "all"]).fails(&["none of these cases", "isopod server list"]);
}

#[test]
fn all_is_what_is_installed_by_product_and_version() {
    let Some(_alone) = servers(&["mariadb@10.11", "mysql@9.7"]) else { return };
    let cache = cache(&["mariadb@10.11", "mysql@9.7"]);
    another_version(&cache, "mariadb@10.11", "10.11.7");
    let ran = with(&cache, &["corpus", "test", "write-skew-predicate", "--target", "all", "--json"]).exits(0);
    let newest = |name: &str| common::installed(name).unwrap().version().to_string();
    let (mariadb, mysql) = (newest("mariadb@10.11"), newest("mysql@9.7"));
    assert_eq!(
        targets(&ran),
        [
            &format!("mysql@{mysql}?binlog_format=ROW&log_bin=ON"),
            &format!("mysql@{mysql}?log_bin=OFF"),
            // This one does not have the setting, so it is not started with it.
            "mariadb@10.11.7?log_bin=OFF",
            "mariadb@10.11.7?binlog_format=MIXED&log_bin=ON",
            &format!("mariadb@{mariadb}?innodb_snapshot_isolation=OFF&log_bin=OFF"),
            &format!("mariadb@{mariadb}?binlog_format=MIXED&innodb_snapshot_isolation=OFF&log_bin=ON"),
            &format!("mariadb@{mariadb}?innodb_snapshot_isolation=ON&log_bin=OFF"),
            "sqlite?journal_mode=delete",
            "sqlite?journal_mode=wal",
        ]
    );
    // SQLite is left out with a word, where a named target would be an error.
    let ran = with(&cache, &["corpus", "test", "write-skew-predicate", "--target", "all", "--level", "RC"])
        .exits(0);
    assert!(ran.err.contains("note: sqlite does not have this level and is left out\n"), "{}", ran.err);
    ran.says(&["  checks ", "mysql 9.7", "mariadb 10.11", "7 checks (case, target, level): 7 as they"]);
}

#[test]
fn a_table() {
    let folder = Folder::new();
    let file = folder.0.join("table.md");
    let args = ["corpus", "test", "write-skew-predicate", "--table", file.to_str().unwrap()];
    let ran = isopod(&args).exits(0);
    assert!(ran.err.ends_with(&format!("the table is in {}\n", file.display())), "{}", ran.err);
    let first = fs::read_to_string(&file).unwrap();
    for word in [
        "## SQLite\n\nLevels: SER.\n",
        "ran once",
        "2 checks, 0 known to fail, 0 surprises",
        "| phenomena/write-skew-predicate | busy SER |",
    ] {
        assert!(first.contains(word), "`{word}` is not in\n{first}");
    }
    isopod(&args).exits(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), first, "the same results give the same bytes");
    isopod(&["corpus", "test", "write-skew-predicate", "--table", "/no/such/folder/t.md"])
        .fails(&["/no/such/folder"]);
    isopod(&["corpus", "test", "write-skew-predicate", "--table", folder.path()]).fails(&["is a folder"]);
    // Known before anything runs.
    isopod(&["corpus", "test", "write-skew-predicate", "--table", "/proc/t.md"])
        .fails(&["cannot write /proc/t.md"]);
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1, "no draft stays");
}

#[test]
fn a_table_of_a_server_with_settings() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let folder = Folder::new();
    let file = folder.0.join("table.md");
    let cases = ["corpus", "test", "mdev-32898", "mdev-34108", "mdev-33802"];
    let rest = ["--target", "mariadb@10.11", "--repeat", "2", "--table", file.to_str().unwrap()];
    isopod(&[&cases[..], &rest].concat()).exits(0);
    let text = fs::read_to_string(&file).unwrap();
    let version = common::installed("mariadb@10.11").unwrap().version().to_string();
    let table = text.split_once("## MariaDB").unwrap().1.replace(&version, "10.11.xx");
    expect![[r#"


        Levels: RU, RC, RR, SER.
        - 10.11.xx: innodb_snapshot_isolation=OFF, log_bin=OFF; binlog_format=MIXED, innodb_snapshot_isolation=OFF, log_bin=ON; innodb_snapshot_isolation=ON, log_bin=OFF

        | case                        | 10.11.xx                                          |
        |-----------------------------|---------------------------------------------------|
        | seeds/mdev-32898            | fails RR (1); deadlock SER; write-conflict RR (2) |
        | seeds/mdev-33802-for-update | ok                                                |
        | seeds/mdev-33802            | ok                                                |
        | seeds/mdev-34108            | fails RU, RC (1); write-conflict SER (2)          |

        - (1) only with innodb_snapshot_isolation=OFF
        - (2) only with innodb_snapshot_isolation=ON
    "#]].assert_eq(&table);
    assert!(text.contains("ran 2 times") && text.contains("48 checks"), "{text}");
}

#[test]
fn one_target_that_does_not_start_is_not_the_end() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let bad = "mariadb@10.11?no_such_setting=1";
    let folder = Folder::new();
    let file = folder.0.join("table.md").display().to_string();
    let args = [
        "corpus",
        "test",
        "write-skew-predicate",
        "--as-is",
        "--target",
        bad,
        "--target",
        "sqlite",
        "--table",
        &file,
    ];
    let ran =
        isopod(&args).exits(2).says(&["sqlite 3.", "1 check (case, target, level): 1 as they should be"]);
    assert!(ran.err.contains(&format!("error: {bad} was not tested\n")), "{}", ran.err);
    assert!(
        ran.err.contains("no_such_setting") && ran.err.contains("1 thing could not be tested"),
        "{}",
        ran.err
    );
    // Alone it is an error as any other.
    isopod(&["corpus", "test", "write-skew-predicate", "--as-is", "--target", bad])
        .fails(&["no_such_setting"]);
}

#[test]
fn ctrl_c_shows_what_is_done() {
    let folder = Folder::new();
    let file = folder.0.join("table.md");
    let child = Command::new(EXE)
        .args(["corpus", "test", "--list", "--repeat", "300", "--table", file.to_str().unwrap()])
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    thread::sleep(Duration::from_millis(1500));
    let begun = Instant::now();
    signal("-INT", &format!("-{}", child.id()));
    let output = child.wait_with_output().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{out}{err}");
    assert!(out.contains("sqlite 3.") && out.contains("interrupted; so far:\n"), "{out}{err}");
    assert!(out.contains(", up to 300 times each: "), "{out}{err}");
    assert!(err.contains("was not written, because not everything was run") && !file.exists(), "{err}");
}

const OFF: &str = "mariadb@10.11?innodb_snapshot_isolation=OFF";
const ON: &str = "mariadb@10.11?innodb_snapshot_isolation=ON";

#[test]
fn bisect_finds_a_change() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let args = ["corpus", "bisect", "mdev-32898", "--from", OFF, "--to", ON];
    let ran = isopod(&[&args[..], &["--level", "RR"]].concat()).exits(1);
    let version = common::installed("mariadb@10.11").unwrap().version().to_string();
    expect![[r#"
        seeds/mdev-32898 · A key change leaves the old row in the snapshot · mariadb

        REPEATABLE READ
          10.11.xx innodb_snapshot_isolation=OFF  fails as known (MDEV-32898, MySQL#113228)
          10.11.xx innodb_snapshot_isolation=ON   as it should be
          changed between 10.11.xx innodb_snapshot_isolation=OFF and 10.11.xx innodb_snapshot_isolation=ON
            step 6, T2: UPDATE t SET b = 3
              before  2 rows
              after   error write-conflict (1020), transaction over
            step 7, T2: SELECT * FROM t
              before  (1, 3) (2, 2) (3, 3)
              after   (1, 1) (3, 2)
            final t
              before  (1, 3) (3, 3)
              after   (1, 1) (3, 2)
            settings in force differ: innodb_snapshot_isolation: OFF, then ON

        changed at RR between 10.11.xx innodb_snapshot_isolation=OFF and 10.11.xx innodb_snapshot_isolation=ON
    "#]]
    .assert_eq(&ran.out.replace(&version, "10.11.xx"));
    let json = isopod(&[&args[..], &["--json"]].concat()).exits(1).json();
    let levels = json[0]["levels"].as_array().unwrap();
    let changes = |at: &serde_json::Value| at["changes"].as_array().unwrap().len();
    assert_eq!(levels.iter().map(changes).collect::<Vec<_>>(), [0, 0, 1, 0], "RU, RC, RR, SER");
    for behaviour in levels.iter().flat_map(|at| at["behaviours"].as_array().unwrap()) {
        assert_eq!((&behaviour["runs"], &behaviour["alike"]), (&3.into(), &3.into()), "{behaviour}");
    }
}

#[test]
fn bisect_runs_every_installed_version_between_the_ends() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let cache = cache(&["mariadb@10.11"]);
    for version in ["10.11.7", "10.11.9", "10.11.10"] {
        another_version(&cache, "mariadb@10.11", version);
    }
    let ran = |args: &[&str]| {
        let ran =
            with(&cache, &[&["corpus", "bisect", "mdev-34108", "--repeat", "1", "--json"], args].concat());
        let json = ran.exits(0).json();
        let behaviours = json[0]["levels"][0]["behaviours"].as_array().unwrap().clone();
        behaviours.iter().map(|one| one["target"].as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    let newest = format!("mariadb@{}", common::installed("mariadb@10.11").unwrap().version());
    assert_eq!(ran(&[]), ["mariadb@10.11.7", "mariadb@10.11.9", "mariadb@10.11.10", &newest]);
    assert_eq!(
        ran(&["--from", "mariadb@10.11.9", "--to", "mariadb@10.11.10?log_bin=ON"]),
        ["mariadb@10.11.9?log_bin=ON", "mariadb@10.11.10?log_bin=ON"]
    );
    // The oldest does not have the setting, and behaves as if it were off.
    assert_eq!(
        ran(&["--to", "mariadb@10.11.9?innodb_snapshot_isolation=OFF"]),
        ["mariadb@10.11.7", "mariadb@10.11.9?innodb_snapshot_isolation=OFF"]
    );
    let on = "mariadb@10.11.9?innodb_snapshot_isolation=ON";
    let ran = with(&cache, &["corpus", "bisect", "mdev-34108", "--to", on]).fails(&["no two versions"]);
    let left_out = "note: mariadb@10.11.7 does not have innodb_snapshot_isolation=ON and is left out\n";
    assert!(ran.err.contains(left_out), "{}", ran.err);
    let from = ["--from", "mariadb@10.11.10", "--to", "mariadb@10.11.9"];
    with(&cache, &[&["corpus", "bisect", "mdev-34108"], &from[..]].concat()).fails(&["10.11.10 is newer"]);
    let ran = with(&cache, &["corpus", "bisect", "mdev-34108", "--level", "RU"]).exits(0);
    ran.says(&["READ UNCOMMITTED", "fails as known (MDEV-34108)", "no change over 4 versions"]);
}

#[test]
fn bisect_says_why_it_cannot() {
    let cache = cache(&[]);
    let cannot = |args: &[&str], words: &[&str]| {
        with(&cache, &[&["corpus", "bisect"], args].concat()).fails(words);
    };
    cannot(&["mdev-32898"], &["there are no two versions to compare", "mysql: ", "isopod server install "]);
    cannot(&["write-skew-predicate", "--product", "sqlite"], &["there are no two versions to compare"]);
    cannot(&["mdev-32898", "--product", "sqlite"], &["not for sqlite", "it is for: mysql, mariadb"]);
    cannot(&["mdev-32898", "--from", "mysql@9.7", "--to", "mariadb@10.11"], &["one product"]);
    cannot(&["nix"], &["no case of the corpus"]);
    cannot(&["mdev-26"], &["cases have `mdev-26` in their name or link", "seeds/mdev-26642-range"]);
    cannot(&["none.iso"], &["cannot read none.iso"]);
    assert!(!Path::new("none.iso").exists());
}
