//! A password is found nowhere: not in what is printed, not in any process, not in any file of ours.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use crate::{
    common::{EXE, SERVERS},
    host::{ALL, Host, PASSWORD},
    tools::{Folder, descendants, eventually, isopod, isopod_with, signal},
};

const SLOW: &str = "setup\n  CREATE TABLE t(a INT PRIMARY KEY);\nsteps\n  T1: SELECT SLEEP(3);\n";

/// Is it in a file of this folder or below?
fn found_in(folder: &Path) -> Option<String> {
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let path = entry.path();
        let found = match entry.file_type() {
            Ok(kind) if kind.is_dir() => found_in(&path),
            Ok(kind) if kind.is_file() => {
                let bytes = fs::read(&path).unwrap_or_default();
                let there = bytes.windows(PASSWORD.len()).any(|part| part == PASSWORD.as_bytes());
                there.then(|| path.display().to_string())
            }
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

#[test]
fn nobody_sees_a_password() {
    for name in ALL {
        let Some(mut host) = Host::start(name) else { continue };
        let folder = Folder::new();
        let slow = if host.postgres() { SLOW.replace("SLEEP", "pg_sleep") } else { SLOW.to_string() };
        let (case, file) = (folder.put("slow.iso", &slow), folder.put("password", &format!("{PASSWORD}\n")));
        let (url, bare) = (host.url(), host.bare_url());
        let ways = [
            ("the address", vec![], url.clone()),
            ("ISOPOD_PASSWORD", vec![("ISOPOD_PASSWORD", PASSWORD)], bare.clone()),
            ("the client's variable", vec![("MYSQL_PWD", PASSWORD), ("PGPASSWORD", PASSWORD)], bare.clone()),
            ("a file", vec![("ISOPOD_PASSWORD_FILE", file.as_str())], bare.clone()),
        ];
        for (way, variables, target) in ways {
            let mut child = Command::new(EXE)
                .args(["run", &case, "--trust", "--target", &target])
                .envs(variables)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut listed = Vec::new();
            eventually(Duration::from_secs(20), "it is in the middle", || {
                listed = host.running();
                assert!(child.try_wait().unwrap().is_none(), "{name}, {way}");
                listed
                    .iter()
                    .any(|row| row.to_ascii_uppercase().contains("SLEEP(3)") && row.contains("guest"))
            });
            for pid in [vec![child.id()], descendants(child.id())].concat() {
                for what in ["cmdline", "environ"] {
                    let text = fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
                    let text = String::from_utf8_lossy(&text).into_owned();
                    assert!(!text.contains(PASSWORD), "{name}, {way}: {what}: {text}");
                    assert!(what != "cmdline" || text.contains("guest"), "{text}");
                }
            }
            assert!(listed.iter().all(|row| !row.contains(PASSWORD)), "{listed:?}");
            signal("-INT", &child.id().to_string());
            let output = child.wait_with_output().unwrap();
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            assert!(!said.contains(PASSWORD), "{name}, {way}: {said}");
            assert!(host.ours().is_empty(), "{name}, {way}: {said}");
        }
        fs::remove_file(&file).unwrap();
        let quick = folder.put("quick.iso", &SLOW.replace("SLEEP(3)", "1"));
        for args in [
            &["run", &quick, "--json", "--target", &url][..],
            &["bench", "execute", "--turns", "1", "--json", "--target", &url],
        ] {
            let ran = isopod(args).exits(0);
            assert!(!ran.out.contains(PASSWORD) && !ran.err.contains(PASSWORD), "{}{}", ran.out, ran.err);
            assert!(ran.out.contains("guest@127.0.0.1"), "{}", ran.out);
        }
        assert_eq!(found_in(&folder.0), None);
        let cache = provision::Store::open().unwrap().root().to_path_buf();
        // What is installed is large and older than the password; what is beside it is looked at.
        for entry in fs::read_dir(&cache).unwrap().flatten().filter(|entry| entry.file_name() != "installs") {
            assert_eq!(found_in(&entry.path()), None);
        }
    }
}

#[test]
fn a_password_in_a_wrong_address_is_not_repeated() {
    for target in [
        format!("mysql://guest:{PASSWORD}@127.0.0.1:port"),
        format!("mysql://guest:{PASSWORD}"),
        format!("mysql://guest:{PASSWORD}@"),
        format!("mysql://guest:%zz{PASSWORD}@h"),
        format!("mysql://guest:a?{PASSWORD}@h"),
        format!("mysql://guest:a?b={PASSWORD}@h"),
        format!("mysql://guest@127.0.0.1?password={PASSWORD}"),
        format!("oracle://guest:{PASSWORD}@h"),
        format!("mysql://guest:{PASSWORD}@127.0.0.1:1?sslmode=maybe"),
        format!("mysql://guest:{PASSWORD}@127.0.0.1:1"),
        format!("sqlite://guest:{PASSWORD}@h"),
        format!("postgres://guest:{PASSWORD}@127.0.0.1:1/db"),
        format!("mysql:/guest:{PASSWORD}@127.0.0.1:1"),
        format!("mysql//guest:{PASSWORD}@127.0.0.1:1"),
        format!("guest:{PASSWORD}@127.0.0.1:1"),
        format!("mysql@guest:{PASSWORD}@127.0.0.1"),
        format!("mysql:guest:{PASSWORD}@127.0.0.1"),
        format!("mysql://guest/{PASSWORD}@127.0.0.1:1"),
        format!("mysql://guest;{PASSWORD}@127.0.0.1:1"),
        format!("mysql://guest@127.0.0.1:1?PASSWORD={PASSWORD}"),
        format!("mysql://guest@127.0.0.1:1?sslpassword={PASSWORD}"),
    ] {
        for args in [
            &["corpus", "test", "--target", &target][..],
            &["corpus", "test", &format!("--target={target}")],
            &["server", "start", &target],
            &["server", "install", &target],
            &["server", "prune", "--target", &target],
            &["fmt", "--no-such", &target],
            &["no-such-command", &target],
            &["run", &target],
            &["fmt", &target],
            &["corpus", "test", &target],
            &["corpus", "list", &target],
            &["corpus", "bisect", &target],
            &["corpus", "bisect", "x", "--product", &target],
            &["corpus", "test", "--level", &target],
            &["server", "stop", &target],
            &["run", "x.iso", "--basedir", &target],
            &["corpus", "test", &format!("--no-such={target}")],
        ] {
            let ran = isopod(args).exits(2);
            assert!(!ran.err.contains(PASSWORD) && !ran.out.contains(PASSWORD), "{args:?}: {}", ran.err);
        }
    }
}

#[test]
fn the_clients_own_file_is_read() {
    let Some(host) = Host::start(SERVERS[0]) else { return };
    let folder = Folder::new();
    let case = folder.put("quick.iso", &SLOW.replace("SLEEP(3)", "CURRENT_USER()"));
    folder.put(".my.cnf", &format!("[client]\nuser = guest\npassword = \"{PASSWORD}\"\n"));
    let target = format!("mysql://127.0.0.1:{}", host.port());
    let ran = isopod_with(&[("HOME", &folder.0)], &["run", &case, "--target", &target]).exits(0);
    assert!(ran.out.contains("guest@127.0.0.1"), "{}", ran.out);
    let target = host.bare_url();
    isopod_with(&[("HOME", Path::new("/nonexistent"))], &["run", &case, "--target", &target])
        .fails(&["cannot log in", "no password was found"]);
}
