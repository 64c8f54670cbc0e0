//! What reaches outside of its schema is refused before anything is sent.

use crate::{
    common::SERVERS,
    host::Host,
    tools::{Folder, isopod},
};

#[test]
fn a_case_that_reaches_out_is_refused() {
    let Some(mut host) = Host::start(SERVERS[0]) else { return };
    host.run("GRANT ALL PRIVILEGES ON *.* TO 'guest'@'127.0.0.1'");
    let before = host.dump();
    let (folder, url) = (Folder::new(), host.url());
    for (statement, why) in [
        ("UPDATE shop.t SET b = 0", "it names the schema `shop`"),
        ("USE shop", "it goes to another schema"),
        ("SET GLOBAL innodb_lock_wait_timeout = 7", "it changes the server for everybody"),
        ("CREATE USER x", "it is about accounts"),
        ("KILL 1", "it changes the server for everybody"),
        ("DROP DATABASE shop", "it changes the server for everybody"),
        ("SELECT 'x' INTO OUTFILE '/tmp/isopod-outfile'", "it cannot be read"),
        ("ALTER TABLE t ADD c INT", "it cannot be read"),
        ("SET sql_log_bin = 0", "it sets `sql_log_bin`"),
    ] {
        let table = "setup\n  CREATE TABLE t(a INT PRIMARY KEY);\n";
        let step = folder.put("step.iso", &format!("{table}steps\n  T1: {statement};\n"));
        let ran = isopod(&["run", &step, "--target", &url]).fails(&[
            &step,
            "was not run",
            "step 1: ",
            why,
            statement,
        ]);
        assert!(ran.err.contains("--trust"), "{}", ran.err);
        let setup = folder.put("setup.iso", &format!("setup\n  {statement};\nsteps\n  T1: BEGIN;\n"));
        isopod(&["run", &setup, "--target", &url]).fails(&["setup statement 1: ", why]);
    }
    assert_eq!(host.dump(), before);
    // Reading what the server says of itself is harmless; what is trusted runs.
    let read = folder
        .put("read.iso", "steps\n  T1: SELECT COUNT(*) > 0 FROM information_schema.tables;\n      => (1)\n");
    isopod(&["run", &read, "--target", &url]).exits(0);
    let trusted =
        folder.put("trusted.iso", "steps\n  T1: SELECT b FROM shop.t WHERE a = 1;\n      => (10)\n");
    isopod(&["run", &trusted, "--trust", "--target", &url]).exits(0);
    assert_eq!(host.dump(), before);
    assert!(host.ours().is_empty());
}

#[test]
fn settings_are_set_per_session_or_not_at_all() {
    for name in SERVERS {
        let Some(mut host) = Host::start(name) else { continue };
        let before = host.dump();
        let folder = Folder::new();
        let case = folder.put(
            "case.iso",
            "steps\n  T1: SELECT @@innodb_lock_wait_timeout, @@sql_mode;\n      => (7, 'ANSI_QUOTES')\n  T1: SET @x = 1;\n",
        );
        let url = format!("{}?innodb_lock_wait_timeout=7&sql_mode=ANSI_QUOTES", host.url());
        // Three times: the second and third follow a reset of the session.
        let ran = isopod(&["run", &case, "--repeat", "3", "--json", "--target", &url]).exits(0);
        let found = ran.json();
        assert_eq!(found[0]["alike"], 3, "{}", ran.out);
        let settings = &found[0]["trace"]["server"]["settings"];
        assert_eq!(
            (settings["innodb_lock_wait_timeout"].as_str(), settings["sql_mode"].as_str()),
            (Some("7"), Some("ANSI_QUOTES"))
        );
        let asked = |setting: &str| isopod(&["run", &case, "--target", &format!("{}?{setting}", host.url())]);
        let opposite = if name.starts_with("maria") { "ON" } else { "OFF" };
        asked(&format!("log_bin={opposite}")).fails(&[
            "log_bin",
            "cannot be set",
            "read only variable",
            "per session only",
        ]);
        asked("innodb_print_all_deadlocks=ON").fails(&["cannot be set", "GLOBAL"]);
        asked("no_such=1").fails(&["cannot be set", "Unknown system variable"]);
        asked("sslmode=maybe").fails(&["sslmode must be one of"]);
        assert_eq!(host.dump(), before);
        assert!(host.ours().is_empty());
    }
}

#[test]
fn the_same_on_postgres() {
    let Some(mut host) = Host::start("postgres@18") else { return };
    host.run("ALTER ROLE guest SUPERUSER");
    let before = host.dump();
    let (folder, url) = (Folder::new(), host.url());
    for statement in [
        "UPDATE shop.t SET b = 0",
        "SELECT * FROM public.t",
        "SET search_path = shop",
        "SET ROLE postgres",
        "ALTER SYSTEM SET work_mem = '1MB'",
        "COPY shop.t TO PROGRAM 'cat'",
        "DO $$ BEGIN DELETE FROM shop.child; END $$",
        "CREATE DATABASE other",
        "SELECT pg_terminate_backend(1)",
        "DROP SCHEMA shop CASCADE",
    ] {
        let file = folder.put("step.iso", &format!("steps\n  T1: {statement};\n"));
        isopod(&["run", &file, "--target", &url]).fails(&["was not run", "step 1: ", "--trust"]);
    }
    assert_eq!(host.dump(), before);
    let set =
        folder.put("set.iso", "steps\n  T1: SELECT current_setting('lock_timeout');\n      => ('7s')\n");
    let ran = isopod(&["run", &set, "--repeat", "2", "--target", &format!("{url}?lock_timeout=7s")]).exits(0);
    assert!(ran.out.contains("2 of 2"), "{}", ran.out);
    let asked = |setting: &str| isopod(&["run", &set, "--target", &format!("{url}?{setting}")]);
    asked("max_connections=7").fails(&["cannot be set", "cannot be changed without restarting the server"]);
    asked("no_such=1").fails(&["cannot be set", "no_such"]);
    asked("search_path=shop").fails(&["cannot be set"]);
    assert_eq!(host.dump(), before);
    assert!(host.ours().is_empty());
}
