//! The schemas in which statements are run alone: made beside that of the cases, dropped with it, found again when a run was
//! killed, and done without where the rights do not reach so far.

use std::{
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::{
    common::{EXE, SERVERS},
    host::Host,
    tools::{Folder, Ran, eventually, isopod, signal},
};

const CASE: &str = "setup\n  CREATE TABLE t(a INT PRIMARY KEY);\nsteps\n  T1: SELECT * FROM t;\n";

/// A short hunt in which every case is run statement by statement, too.
fn hunt(url: &str, folder: &Folder) -> Ran {
    let out = folder.0.join("run").display().to_string();
    let _ = std::fs::remove_dir_all(&out);
    let ran = isopod(&[
        "hunt",
        url,
        "--oracle",
        "decoupled",
        "--cases",
        "40",
        "--seed",
        "5",
        "--no-reduce",
        "--out",
        &out,
    ]);
    assert!(matches!(ran.code, Some(0 | 1)), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("decoupled: "), "{}", ran.out);
    ran
}

#[test]
fn statements_are_run_alone_beside_the_schema_of_the_cases() {
    for name in SERVERS {
        let Some(mut host) = Host::start(name) else { continue };
        let (before, folder, url) = (host.dump(), Folder::new(), host.url());
        let ran = hunt(&url, &folder);
        assert!(!ran.out.contains("no-stage"), "{name}: {}", ran.out);
        assert_eq!(host.ours(), [""; 0], "{name}");
        assert_eq!(host.dump(), before, "{name}: after a hunt");

        // A run that is killed leaves them; they are told of, and go with the schema that they stood beside.
        let mut dead = working(&mut host, &url, &folder, "dead");
        signal("-9", &dead.id().to_string());
        dead.wait().unwrap();
        let left = host.ours();
        assert!(left.len() > 1, "{name}: {left:?}");
        let case = folder.put("case.iso", CASE);
        let next = isopod(&["run", &case, "--target", &url]).exits(0);
        assert!(
            next.err.contains("an Isopod that was killed left") && next.err.contains(&left[0]),
            "{}",
            next.err
        );
        assert_eq!(host.ours(), left, "{name}");
        let alive = working(&mut host, &url, &folder, "alive");
        let pruned = isopod(&["server", "prune", "--target", &url]).exits(0);
        left.iter().for_each(|name| assert!(pruned.out.contains(name.as_str()), "{name}: {}", pruned.out));
        let now = host.ours();
        assert!(now.iter().all(|one| !left.contains(one)), "{name}: {now:?}");
        assert!(now.len() > 1, "{name}: what is in use stays: {now:?}");

        // Ctrl-C.
        ended(alive, "-INT");
        assert_eq!(host.ours(), [""; 0], "{name}");
        assert_eq!(host.dump(), before, "{name}: after Ctrl-C");
    }
}

/// A hunt that has made a scratch schema.
fn working(host: &mut Host, url: &str, folder: &Folder, out: &str) -> Child {
    let (before, out) = (host.ours(), folder.0.join(out).display().to_string());
    let args = ["hunt", url, "--oracle", "decoupled", "--cases", "1000000", "--workers", "1", "--no-reduce"];
    let mut child = Command::new(EXE)
        .args(args)
        .args(["--out", &out])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    eventually(Duration::from_secs(60), "it works in scratch schemas, too", || {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        // One is tried for a moment at the beginning; this one has tables in it.
        let rows =
            host.ask("SELECT table_schema FROM information_schema.tables WHERE table_schema LIKE '%stage%'");
        rows.iter().any(|row| !before.iter().any(|there| row.contains(there.as_str())))
    });
    child
}

fn ended(mut child: Child, how: &str) {
    signal(how, &child.id().to_string());
    child.wait().unwrap();
}

/// The rights reach as far as the schema of the cases and no further: said in one sentence, and done without.
#[test]
fn without_the_right_to_a_second_schema_the_rest_goes_on() {
    for name in SERVERS {
        let Some(mut host) = Host::start_without_rights(name) else { continue };
        let exactly = format!("isopod\\_{}", "_".repeat(24));
        let on_schemas = host.grants()[0].replace("isopod\\_%", &exactly);
        assert!(on_schemas.contains(&exactly), "{on_schemas}");
        host.run(&on_schemas);
        host.grants()[1..].iter().for_each(|grant| host.run(grant));
        let (before, folder) = (host.dump(), Folder::new());
        let ran = hunt(&host.url(), &folder);
        assert!(ran.out.contains("no-stage"), "{name}: {}", ran.out);
        let said = ran.err.matches("no second schema can be made").count();
        assert_eq!(said, 1, "{name}: {}", ran.err);
        assert!(ran.err.contains("Access denied"), "{name}: {}", ran.err);
        assert_eq!(host.ours(), [""; 0], "{name}");
        assert_eq!(host.dump(), before, "{name}");
    }
}
