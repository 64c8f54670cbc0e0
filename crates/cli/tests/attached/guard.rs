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
        ("SET sql_mode = 'NO_BACKSLASH_ESCAPES'", "it may change how the server reads quotes"),
        ("SELECT NEXTVAL(shop.s)", "it calls `nextval`"),
        ("SELECT * FROM (SELECT 1 FROM sys.x FOR UPDATE) d", "it names the schema `sys`"),
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
            "steps\n  T1: SELECT @@innodb_lock_wait_timeout, @@sql_mode;\n      => (7, 'PIPES_AS_CONCAT')\n  T1: SET @x = 1;\n",
        );
        let url = format!("{}?innodb_lock_wait_timeout=7&sql_mode=PIPES_AS_CONCAT", host.url());
        // Three times: the second and third follow a reset of the session.
        let ran = isopod(&["run", &case, "--repeat", "3", "--json", "--target", &url]).exits(0);
        let found = ran.json();
        assert_eq!(found[0]["alike"], 3, "{}", ran.out);
        let settings = &found[0]["trace"]["server"]["settings"];
        assert_eq!(
            (settings["innodb_lock_wait_timeout"].as_str(), settings["sql_mode"].as_str()),
            (Some("7"), Some("PIPES_AS_CONCAT"))
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
        asked("sql_mode=ANSI_QUOTES").fails(&["cannot be set", "in another way than Isopod"]);
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
        // A carriage return ends a comment there; the catalogue is found without its name, also the view that sets.
        "SELECT 1 -- a\r; UPDATE shop.t SET b = 0\n     ",
        "UPDATE pg_settings SET setting = 'shop' WHERE name = 'search_path'",
        "UPDATE pg_database SET datconnlimit = 5",
        "LOCK TABLE pg_class",
        "SELECT * FROM (SELECT datname FROM pg_database FOR UPDATE) d",
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
    asked("standard_conforming_strings=off").fails(&["cannot be set"]);
    assert_eq!(host.dump(), before);
    assert!(host.ours().is_empty());
}

/// Under these modes the server takes for a statement what we take for a string. The sessions of a case do without them.
#[test]
fn a_server_that_reads_quotes_in_another_way() {
    const HIDDEN: &str = "setup\n  CREATE TABLE t(a INT PRIMARY KEY, b INT);\n  INSERT INTO t VALUES (1, 1);\nsteps\n  \
        T1: UPDATE t JOIN (SELECT '\\' AS x) d, shop.t AS z SET z.b = 77 -- ') d SET t.b = 2;\n      => 1 row\n  \
        T1: SELECT \"a\" FROM t;\n      => ('a')\n\nfinal\n  t => (1, 2)\n";
    for name in SERVERS {
        let Some(mut host) = Host::start(name) else { continue };
        host.run("GRANT ALL PRIVILEGES ON *.* TO 'guest'@'127.0.0.1'");
        host.run("SET GLOBAL sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES,STRICT_TRANS_TABLES'");
        let before = host.dump();
        let folder = Folder::new();
        let case = folder.put("hidden.iso", HIDDEN);
        // The second run follows a reset of the session.
        let ran = isopod(&["run", &case, "--repeat", "2", "--target", &host.url()]).exits(0);
        assert!(ran.err.contains("NO_BACKSLASH_ESCAPES"), "{}", ran.err);
        assert_eq!(host.dump(), before, "{name}");
    }
}

/// What a server has set for everybody must not make a case mean something else.
#[test]
fn sessions_have_what_a_case_takes_for_granted() {
    for name in SERVERS {
        let Some(mut host) = Host::start(name) else { continue };
        for setting in [
            "autocommit = 0",
            "completion_type = 1",
            "default_storage_engine = MyISAM",
            "foreign_key_checks = 0",
            "sql_safe_updates = 1",
        ] {
            host.run(&format!("SET GLOBAL {setting}"));
        }
        let ran = isopod(&["corpus", "test", "phenomena/", "--target", &host.url()]).exits(0);
        assert!(ran.err.contains("autocommit is 0 on the server"), "{}", ran.err);
        assert!(host.ours().is_empty());
    }
    let Some(mut host) = Host::start("postgres@18") else { return };
    for setting in ["default_transaction_read_only = on", "lock_timeout = 5", "statement_timeout = 20"] {
        host.run(&format!("ALTER ROLE guest SET {setting}"));
    }
    let ran = isopod(&["corpus", "test", "phenomena/lost", "--target", &host.url()]).exits(0);
    assert!(ran.err.contains("GRANT SET ON PARAMETER deadlock_timeout TO guest;"), "{}", ran.err);
    host.run("GRANT SET ON PARAMETER deadlock_timeout TO guest");
    let ran = isopod(&["corpus", "test", "phenomena/lost", "--target", &host.url()]).exits(0);
    assert!(!ran.err.contains("deadlock_timeout"), "{}", ran.err);
    assert!(host.ours().is_empty());
}
