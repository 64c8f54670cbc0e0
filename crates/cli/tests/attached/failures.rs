//! What can go wrong at somebody else's server: each a clear message within ten seconds and exit code 2.

use std::{
    net::TcpListener,
    os::unix::fs::MetadataExt,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    common::EXE,
    host::{ALL, Host, PASSWORD},
    tools::{Folder, Ran, eventually, isopod, signal},
};

const CASE: &str = "setup\n  CREATE TABLE t(a INT PRIMARY KEY);\nsteps\n  T1: SELECT * FROM t;\n";

/// Runs a case there; it must fail in time and say these.
#[track_caller]
fn fails(target: &str, words: &[&str]) -> Ran {
    let folder = Folder::new();
    let case = folder.put("case.iso", CASE);
    let begun = Instant::now();
    let ran = isopod(&["run", &case, "--target", target]).fails(words);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}: {}", begun.elapsed(), ran.err);
    assert!(!ran.err.contains(PASSWORD), "{}", ran.err);
    ran
}

#[test]
fn nobody_answers() {
    // Takes connections and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    for scheme in ["mysql", "postgres"] {
        fails(
            &format!("{scheme}://guest:{PASSWORD}@127.0.0.1:{port}"),
            &["does not answer", "right address"],
        );
    }
    drop(silent);
    fails(
        &format!("mysql://guest:{PASSWORD}@127.0.0.1:{port}"),
        &["cannot be reached", "Connection refused"],
    );
    fails(&format!("mysql://guest:{PASSWORD}@/nonexistent/socket"), &["cannot be reached", "No such file"]);
    fails(&format!("mysql://guest:{PASSWORD}@no-such-host.invalid"), &["cannot be reached"]);
    let begun = Instant::now();
    isopod(&["server", "prune", "--target", &format!("mysql://guest:{PASSWORD}@127.0.0.1:{port}")])
        .fails(&["cannot be reached"]);
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn somebody_else_answers() {
    // Another protocol.
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    let answering = std::thread::spawn(move || {
        use std::io::Write;
        for _ in 0..2 {
            let (mut stream, _) = other.accept().unwrap();
            let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2p1\r\n");
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    fails(&format!("mysql://guest@127.0.0.1:{port}"), &["error: "]);
    fails(&format!("mysql://guest@127.0.0.1:{port}"), &["error: "]);
    answering.join().unwrap();
}

#[test]
fn a_wrong_password_and_missing_rights() {
    for name in ALL {
        let Some(mut host) = Host::start_without_rights(name) else { continue };
        let before = host.dump();
        let denied = if host.postgres() { "password authentication failed" } else { "Access denied" };
        let wrong = host.url_of(&format!("guest:not-{PASSWORD}"));
        fails(&wrong, &["cannot log in", denied, "the password came from the address"]);
        fails(&host.bare_url(), &["cannot log in", denied, "ISOPOD_PASSWORD", "password_file"]);
        let grants: Vec<String> = host.grants().iter().map(|grant| format!("{grant};")).collect();
        let mut words = vec!["lacks rights on"];
        words.extend(grants.iter().map(String::as_str));
        fails(&host.url(), &words);
        assert_eq!(host.dump(), before, "{name}");
        assert!(host.ours().is_empty());
        if let [schemas, locks] = &grants[..] {
            // Half of the rights: what is there is not named again, and nothing is left behind.
            host.run("GRANT CREATE, DROP, SELECT ON `isopod\\_%`.* TO 'guest'@'127.0.0.1'");
            let half = fails(&host.url(), &["lacks rights", locks, schemas]);
            assert!(half.err.contains("INSERT command denied"), "{}", half.err);
            assert!(host.ours().is_empty());
            host.run(schemas.trim_end_matches(';'));
            let last = fails(&host.url(), &["lacks rights", locks]);
            assert!(!last.err.contains(schemas), "{}", last.err);
        }
        // What the message says is enough.
        grants.iter().for_each(|grant| host.run(grant.trim_end_matches(';')));
        let folder = Folder::new();
        isopod(&["run", &folder.put("case.iso", CASE), "--target", &host.url()]).exits(0);
        assert!(host.ours().is_empty());
    }
}

#[test]
fn encryption_is_refused_or_demanded() {
    if let Some(host) = Host::start("mariadb@10.11") {
        // It has no certificate.
        let url = format!("{}?sslmode=require", host.url());
        fails(&url, &["cannot be encrypted", "the server offers no encryption", "sslmode=disable"]);
    }
    let Some(mut host) = Host::start("mysql@9.7") else { return };
    let folder = Folder::new();
    let case = folder.put("case.iso", CASE);
    // The password has never been sent, so the server has to see it: never in the clear.
    fails(
        &format!("{}?sslmode=disable", host.url()),
        &["may only be sent over an encrypted connection", "sslmode=require"],
    );
    host.run("SET GLOBAL require_secure_transport = ON");
    // From here on the server knows the password well enough to have it proved.
    isopod(&["run", &case, "--target", &format!("{}?sslmode=require", host.url())]).exits(0);
    fails(
        &format!("{}?sslmode=disable", host.url()),
        &["takes encrypted connections only", "sslmode=require"],
    );
    let root = host.instance.folder().join("data/ca.pem");
    let with = |options: &str| format!("{}?{options}", host.url());
    for options in [
        "sslmode=require",
        "ssl-mode=REQUIRED",
        "connect_timeout=5",
        &format!("sslrootcert={}", root.display()),
    ] {
        isopod(&["run", &case, "--target", &with(options)]).exits(0);
    }
    // Its certificate names nobody, and another root did not sign it.
    let root = root.display();
    fails(
        &with(&format!("sslmode=verify-full&sslrootcert={root}")),
        &["cannot be encrypted", "not valid for name"],
    );
    fails(&with("sslmode=verify-ca"), &["sslrootcert=FILE"]);
    fails(&with("sslmode=verify-ca&sslrootcert=/nonexistent"), &["cannot be read"]);
    let other = folder.put("other.pem", OTHER_ROOT);
    fails(
        &with(&format!("sslmode=verify-ca&sslrootcert={other}")),
        &["cannot be encrypted", "invalid peer certificate"],
    );
    // What goes over it is encrypted in the eyes of the server, too.
    let seen = folder.put(
        "seen.iso",
        "steps\n  T1: SELECT VARIABLE_VALUE <> '' FROM performance_schema.session_status WHERE VARIABLE_NAME = 'Ssl_cipher';\n      => (1)\n",
    );
    isopod(&["run", &seen, "--target", &with("sslmode=prefer")]).exits(0);
    isopod(&["corpus", "test", "phenomena", "--level", "RR", "--target", &with("sslmode=require")]).exits(0);
    assert!(host.ours().is_empty());
}

#[test]
fn encryption_on_postgres() {
    let Some(mut host) = Host::start("postgres@18") else { return };
    let with = |host: &Host, options: &str| format!("{}?{options}", host.url());
    fails(&with(&host, "sslmode=require"), &["cannot be encrypted", "the server offers no encryption"]);
    let data = host.ask("SHOW data_directory")[0].trim_matches(['(', ')', '\'']).to_string();
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "server.key", "-out", "server.crt"])
        .current_dir(&data)
        .output();
    if !made.is_ok_and(|output| output.status.success()) {
        return crate::common::skip("there is no openssl here to make a certificate with");
    }
    for file in ["server.key", "server.crt"] {
        let path = format!("{data}/{file}");
        let owner = std::fs::metadata(&data).unwrap();
        std::os::unix::fs::chown(&path, Some(owner.uid()), Some(owner.gid())).unwrap();
    }
    host.run("ALTER SYSTEM SET ssl = on");
    host.let_in("hostssl all all 127.0.0.1/32 scram-sha-256");
    let folder = Folder::new();
    let seen = folder.put(
        "seen.iso",
        "steps\n  T1: SELECT count(*) FROM pg_catalog.pg_stat_ssl WHERE ssl AND version <> '';\n",
    );
    let root = format!("{data}/server.crt");
    for options in ["sslmode=prefer", "sslmode=require", &format!("sslmode=verify-full&sslrootcert={root}")] {
        isopod(&["run", &seen, "--target", &with(&host, options)]).exits(0);
    }
    fails(&with(&host, "sslmode=disable"), &["no encryption", "sslmode=require"]);
    let other = folder.put("other.pem", OTHER_ROOT);
    fails(
        &with(&host, &format!("sslmode=verify-ca&sslrootcert={other}")),
        &["cannot be encrypted", "certificate"],
    );
    let ran = isopod(&[
        "corpus",
        "test",
        "phenomena",
        "--level",
        "RR",
        "--target",
        &with(&host, "sslmode=require"),
    ]);
    // Who is the victim of a deadlock is the server's choice; here it only counts that all of it went through.
    assert!(matches!(ran.code, Some(0 | 1)), "{}{}", ran.out, ran.err);
    assert!(host.ours().is_empty());
}

/// The certificate of a root that signed nothing here.
const OTHER_ROOT: &str = include_str!("other-root.pem");

#[test]
fn the_server_goes_away_in_the_middle() {
    for name in ALL {
        let Some(mut host) = Host::start(name) else { continue };
        let folder = Folder::new();
        let sleep = if host.postgres() { "SELECT pg_sleep(8)" } else { "SELECT SLEEP(8)" };
        let case = folder.put(
            "long.iso",
            &format!("setup\n  CREATE TABLE t(a INT PRIMARY KEY);\nsteps\n  T1: BEGIN;\n  T1: {sleep};\n  T1: COMMIT;\n"),
        );
        let child = Command::new(EXE)
            .args(["run", &case, "--trust", "--hung-after", "30", "--target", &host.url()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        eventually(Duration::from_secs(10), "it is in the middle", || {
            host.running().iter().any(|row| row.contains(sleep))
        });
        signal("-9", &host.instance.pid().to_string());
        let begun = Instant::now();
        let output = child.wait_with_output().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(10), "{name}: {:?}", begun.elapsed());
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(2), "{name}: {out}{err}");
        assert!(out.contains("server died"), "{name}: {out}{err}");
        assert!(err.contains("went away in the middle of") && err.contains("not ours"), "{name}: {err}");
        assert!(!err.contains(PASSWORD) && !out.contains(PASSWORD));
    }
}

#[test]
fn the_other_kind_of_server_answers() {
    let Some(host) = Host::start("postgres@18") else { return };
    fails(
        &format!("mysql://guest@127.0.0.1:{}", host.port()),
        &["does not answer", "begins with postgres://"],
    );
    let folder = host.instance.socket().parent().unwrap().display().to_string();
    let folder = folder.replace('/', "%2F");
    fails(&format!("postgres://guest@{folder}:{}", host.port()), &["a socket has no port", "?port=NUMBER"]);
    fails(&format!("postgres://guest@{folder}?port=1"), &["cannot be reached", ".s.PGSQL.1"]);
    fails(&format!("postgres://guest@{folder}?port=0"), &["port must be a number"]);
    fails(
        &format!("postgres://guest@{folder}/postgres?port={}&no_such=1", host.port()),
        &["no_such", "(42704)"],
    );
    drop(host);
    let Some(host) = Host::start("mysql@9.7") else { return };
    fails(
        &format!("postgres://guest@127.0.0.1:{}/x", host.port()),
        &["cannot connect", "begins with mysql://"],
    );
}
