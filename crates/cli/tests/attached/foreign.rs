//! What is not ours stays as it is: after the corpus, after a kill in the middle, after `prune`.

use std::{
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::{
    common::{EXE, SERVERS},
    host::{ALL, Host, PASSWORD},
    tools::{Folder, eventually, isopod, lives, signal},
};

#[test]
fn a_foreign_schema_stays_as_it_is() {
    for name in ALL {
        let Some(mut host) = Host::start(name) else { continue };
        let url = host.url();
        let before = host.dump();
        let ran = isopod(&["corpus", "test", "--target", &url]);
        assert!(matches!(ran.code, Some(0 | 1)), "{name}: {}{}", ran.out, ran.err);
        assert!(!ran.out.contains(PASSWORD) && !ran.err.contains(PASSWORD));
        assert_eq!(host.ours(), [""; 0]);
        assert_eq!(host.dump(), before, "{name}: after the corpus");

        // One dies in the middle, another works on.
        let mut dead = working(&mut host, &url);
        signal("-9", &dead.id().to_string());
        dead.wait().unwrap();
        let left = host.ours();
        assert_eq!(left.len(), 1, "{name}: {left:?}");
        let mut alive = working(&mut host, &url);
        assert_eq!(host.ours().len(), 2, "{name}");
        assert_eq!(host.dump(), before, "{name}: after kill -9");

        // Only the dead one's is dropped.
        let pruned = isopod(&["server", "prune", "--target", &url]).exits(0);
        assert_eq!(pruned.out, format!("dropped {} on {}\n", left[0], host.bare_url()));
        assert_eq!(pruned.err, "");
        assert_eq!(host.ours().len(), 1, "{name}: {left:?}");
        assert!(lives(alive.id()));
        isopod(&["server", "prune", "--target", &url]).exits(0).says(&["nothing to remove"]);
        assert_eq!(host.ours().len(), 1);

        // The other one ends in the ordinary way.
        signal("-INT", &alive.id().to_string());
        let code = alive.wait().unwrap().code();
        assert_eq!(code, Some(2));
        assert_eq!(host.ours(), [""; 0]);
        assert_eq!(host.dump(), before, "{name}: after prune");
    }
}

#[test]
fn a_superuser_prepares_nothing_either() {
    let Some(mut host) = Host::start("postgres@18") else { return };
    host.run(&format!("CREATE ROLE boss SUPERUSER LOGIN PASSWORD '{PASSWORD}'"));
    let (before, folder) = (host.dump(), Folder::new());
    let (url, out) = (host.url_of(&format!("boss:{PASSWORD}")), folder.0.join("run").display().to_string());
    // Every case is followed by all checks.
    let case = folder
        .put("case.iso", "setup\n  CREATE TABLE t(a INT PRIMARY KEY);\nsteps\n  T1: SELECT * FROM t;\n");
    isopod(&["run", &case, "--target", &url]).exits(0);
    let hunt = ["hunt", &url, "--cases", "300", "--seed", "5", "--no-reduce", "--out", &out];
    let ran = isopod(&hunt);
    assert!(matches!(ran.code, Some(0 | 1)), "{}{}", ran.out, ran.err);
    assert_eq!(host.dump(), before, "after a hunt");
    // Where it is there, wherever, it is used; who may not use it does without.
    host.run("CREATE SCHEMA tools");
    host.run("CREATE EXTENSION amcheck SCHEMA tools");
    let before = host.dump();
    for who in [url, host.url()] {
        let _ = std::fs::remove_dir_all(&out);
        let ran = isopod(&["hunt", &who, "--cases", "300", "--seed", "5", "--no-reduce", "--out", &out]);
        assert!(matches!(ran.code, Some(0 | 1)), "{}{}", ran.out, ran.err);
        assert!(!ran.out.contains("corruption"), "{}", ran.out);
    }
    assert_eq!(host.dump(), before, "after hunts beside the extension");
}

/// A run that has begun to work.
fn working(host: &mut Host, url: &str) -> Child {
    let before = host.ours();
    let mut child = Command::new(EXE)
        .args(["corpus", "test", "--repeat", "1000", "--target", url])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    eventually(Duration::from_secs(20), "it works in a schema of its own", || {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        host.busy(&before)
    });
    child
}

#[test]
fn a_session_that_went_elsewhere_comes_back() {
    for name in SERVERS {
        let Some(mut host) = Host::start(name) else { continue };
        host.run("GRANT ALL PRIVILEGES ON shop.* TO 'guest'@'127.0.0.1'");
        let before = host.dump();
        let folder = crate::tools::Folder::new();
        // Trusted, it may go to another schema; what comes after it must not be there.
        let away =
            folder.put("a.iso", "setup\n  USE shop;\nsteps\n  T1: USE shop;\n  T1: SELECT a FROM t;\n");
        let home = folder.put(
            "b.iso",
            "setup\n  CREATE TABLE t(a INT PRIMARY KEY);\n  INSERT INTO t VALUES (5);\nsteps\n  T1: SELECT DATABASE() = 'shop';\n      => (0)\n  T1: SELECT a FROM t;\n      => (5)\n",
        );
        let url = host.url();
        isopod(&["run", &away, &home, &away, &home, "--trust", "--target", &url]).exits(0);
        assert_eq!(host.ours(), [""; 0]);
        assert_eq!(host.dump(), before, "{name}");
    }
}

#[test]
fn a_search_path_that_went_elsewhere_comes_back() {
    let Some(mut host) = Host::start("postgres@18") else { return };
    host.run("GRANT ALL ON SCHEMA shop TO guest");
    host.run("GRANT SELECT ON ALL TABLES IN SCHEMA shop TO guest");
    let before = host.dump();
    let folder = crate::tools::Folder::new();
    let away = folder.put(
        "a.iso",
        "setup\n  SET search_path = shop;\nsteps\n  T1: SET search_path = shop;\n  T1: SELECT a FROM t WHERE b = 10;\n      => (1)\n",
    );
    let home = folder.put(
        "b.iso",
        "setup\n  CREATE TABLE t(a INT PRIMARY KEY);\n  INSERT INTO t VALUES (5);\nsteps\n  T1: SELECT a FROM t;\n      => (5)\n",
    );
    isopod(&["run", &away, &home, &away, &home, "--trust", "--target", &host.url()]).exits(0);
    assert_eq!(host.ours(), [""; 0]);
    assert_eq!(host.dump(), before);
}

#[test]
fn what_cannot_be_dropped_does_not_stop_the_rest() {
    let Some(mut host) = Host::start("postgres@18") else { return };
    let mut names = [(); 3].map(|()| format!("isopod_{}", dbms::attach::schema::draw()));
    names.sort();
    host.run(&format!("CREATE SCHEMA {}", names[0])); // Its owner is another.
    host.run(&format!("CREATE SCHEMA {} AUTHORIZATION guest", names[1]));
    host.run(&format!("CREATE SCHEMA {} AUTHORIZATION guest", names[2]));
    let ran = isopod(&["server", "prune", "--target", &host.url()]).exits(2);
    for said in ["could not be dropped", &names[0], "must be owner"] {
        assert!(ran.err.contains(said), "{}", ran.err);
    }
    assert_eq!(host.ours(), names[..1]);
    assert!(ran.out.contains(&names[1]) && ran.out.contains(&names[2]), "{}", ran.out);
    let url = host.url_of("postgres");
    host.let_in("host all all 127.0.0.1/32 trust");
    isopod(&["server", "prune", "--target", &url]).exits(0).says(&[&names[0]]);
    assert_eq!(host.ours(), [""; 0]);
}
