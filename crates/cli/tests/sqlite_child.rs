//! SQLite in its child process, driven through the executor's seams: what it answers, how it is killed, and what
//! is left behind.

use std::{
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use dbms::sqlite::{SqliteServer, StartError};
use execute::{RawReply, Server, Session, Settled, WireReply};
use model::{Kind, Product};

const BUSY: u32 = 5;
const BUSY_SNAPSHOT: u32 = 517;

fn exe() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_isopod"))
}

fn start(target: &str) -> SqliteServer {
    SqliteServer::start(exe(), &target.parse().unwrap()).unwrap()
}

/// Polls, as the scheduler would, until something is so.
fn until(mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it did not come");
        thread::yield_now();
    }
}

fn wait(session: &mut dyn Session) -> WireReply {
    let mut answer = None;
    until(|| {
        answer = session.receive();
        answer.is_some()
    });
    answer.unwrap()
}

fn run(session: &mut dyn Session, sql: &str) -> WireReply {
    session.send(sql);
    wait(session)
}

/// The answer in one line, with `*` where a transaction is open after it.
fn say(session: &mut dyn Session, sql: &str) -> String {
    let answer = run(session, sql);
    let text = match &answer.reply {
        RawReply::Rows(rows) => rows.to_string(),
        RawReply::Done { affected, .. } => format!("{affected}"),
        RawReply::Error(error) => format!("error {}", error.code),
        RawReply::RolledBack => "rolled back".to_string(),
        RawReply::Unreadable(why) => why.clone(),
        RawReply::Lost => "lost".to_string(),
    };
    if answer.transaction == model::Open::Yes { text + "*" } else { text }
}

/// A server, two sessions, and a table with (1,1) (2,2).
fn two(target: &str) -> (SqliteServer, Box<dyn Session>, Box<dyn Session>) {
    let mut server = start(target);
    let mut a = server.connect().unwrap();
    let b = server.connect().unwrap();
    assert_eq!(say(&mut *a, "CREATE TABLE t(a INT PRIMARY KEY, b INT)"), "0");
    assert_eq!(say(&mut *a, "INSERT INTO t VALUES (1, 1), (2, 2)"), "2");
    (server, a, b)
}

fn settings(server: &SqliteServer) -> Vec<String> {
    server.info().settings.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

#[test]
fn it_says_what_it_is() {
    let server = start("sqlite");
    assert_eq!(server.info().product, Product::Sqlite);
    assert_eq!(server.info().version.0[0], 3);
    assert_eq!(settings(&server), ["foreign_keys=OFF", "journal_mode=DELETE"]);

    let server =
        start("sqlite@3?journal_mode=wal&foreign_keys=on&page_size=1024&auto_vacuum=full&cache_size=20");
    assert_eq!(
        settings(&server),
        ["auto_vacuum=FULL", "cache_size=20", "foreign_keys=ON", "journal_mode=WAL", "page_size=1024"]
    );
}

#[test]
fn a_target_that_cannot_be_had_is_refused() {
    let start = |target: &str| SqliteServer::start(exe(), &target.parse().unwrap()).unwrap_err();
    assert!(matches!(start("sqlite@2.8"), StartError::Version { .. }));
    let unknown = start("sqlite?log_bin=ON").to_string();
    assert!(unknown.contains("log_bin") && unknown.contains("journal_mode"), "{unknown}");
    assert!(matches!(start("sqlite?page_size=1000"), StartError::Setting(_)));
    let wrong = SqliteServer::start(Path::new("/bin/false"), &"sqlite".parse().unwrap()).unwrap_err();
    assert!(matches!(wrong, StartError::Child { .. }), "{wrong}");
}

#[test]
fn values_keep_their_storage_class() {
    let mut server = start("sqlite");
    let mut session = server.connect().unwrap();
    let sql = "SELECT 9223372036854775807 AS i, 0.1 + 0.2 AS r, 'it''s' AS t, x'00ff' AS b, NULL AS n";
    let RawReply::Rows(rows) = run(&mut *session, sql).reply else { panic!() };
    assert_eq!(rows.to_string(), "(9223372036854775807, 0.30000000000000004, 'it''s', x'00ff', NULL)");
    let kinds: Vec<Kind> = rows.columns().iter().map(|column| column.kind).collect();
    assert_eq!(kinds, [Kind::Integer, Kind::Float, Kind::Text, Kind::Bytes, Kind::Other]);
    assert_eq!(rows.columns()[1].name, "r");

    for (sql, comes) in [
        ("CREATE TABLE t(a INT)", "0"),
        ("INSERT INTO t VALUES (1), (2) RETURNING a", "(1) (2)"),
        ("SELECT * FROM t WHERE a > 9", "no rows"),
        ("PRAGMA user_version", "(0)"),
        ("PRAGMA user_version = 4", "0"),
        ("UPDATE t SET a = a + 1", "2"),
        ("SELEC 1", "error 1"),
        ("BEGIN", "0*"),
        ("SELECT 1; SELECT 2", "error 21*"),
    ] {
        assert_eq!(say(&mut *session, sql), comes, "{sql}");
    }
}

#[test]
fn a_large_answer_and_a_large_statement_arrive() {
    let mut server = start("sqlite");
    let mut session = server.connect().unwrap();
    let long = "x".repeat(900_000);
    let RawReply::Rows(rows) = run(&mut *session, &format!("SELECT '{long}'")).reply else { panic!() };
    assert_eq!(rows.cell(0, 0).unwrap(), long.as_bytes());
}

#[test]
fn columns_are_those_of_the_table_as_it_is_now() {
    let (_server, mut a, mut b) = two("sqlite");
    assert_eq!(say(&mut *b, "SELECT * FROM t"), "(1, 1) (2, 2)");
    assert_eq!(say(&mut *a, "ALTER TABLE t ADD COLUMN c INT DEFAULT 7"), "0");
    assert_eq!(say(&mut *b, "SELECT * FROM t"), "(1, 1, 7) (2, 2, 7)");
    assert_eq!(say(&mut *a, "ALTER TABLE t DROP COLUMN b"), "0");
    assert_eq!(say(&mut *b, "DELETE FROM t RETURNING *"), "(1, 7) (2, 7)");
}

#[test]
fn wal_readers_keep_their_snapshot_and_may_not_write_after_it() {
    let (_server, mut a, mut b) = two("sqlite?journal_mode=WAL");
    assert_eq!(say(&mut *a, "BEGIN"), "0*");
    assert_eq!(say(&mut *b, "BEGIN"), "0*");
    assert_eq!(say(&mut *b, "SELECT b FROM t WHERE a = 1"), "(1)*");
    assert_eq!(say(&mut *a, "UPDATE t SET b = 10 WHERE a = 1"), "1*");
    // No dirty read, and the second writer is refused at once.
    assert_eq!(say(&mut *b, "SELECT b FROM t WHERE a = 1"), "(1)*");
    assert_eq!(say(&mut *b, "UPDATE t SET b = 20 WHERE a = 2"), format!("error {BUSY}*"));
    assert_eq!(say(&mut *a, "COMMIT"), "0");
    // The snapshot is old now: it can be read but not written from, and the transaction stays open.
    assert_eq!(say(&mut *b, "SELECT b FROM t WHERE a = 1"), "(1)*");
    assert_eq!(say(&mut *b, "UPDATE t SET b = 20 WHERE a = 2"), format!("error {BUSY_SNAPSHOT}*"));
    assert_eq!(say(&mut *b, "COMMIT"), "0");
    // The statement is lost, not the transaction.
    assert_eq!(say(&mut *b, "SELECT * FROM t"), "(1, 10) (2, 2)");
}

#[test]
fn rollback_journal_commit_is_busy_while_a_reader_is_open() {
    let (_server, mut a, mut b) = two("sqlite?journal_mode=DELETE");
    say(&mut *a, "BEGIN");
    say(&mut *b, "BEGIN");
    assert_eq!(say(&mut *b, "SELECT b FROM t WHERE a = 1"), "(1)*");
    assert_eq!(say(&mut *a, "UPDATE t SET b = 10 WHERE a = 1"), "1*");
    assert_eq!(say(&mut *b, "SELECT b FROM t WHERE a = 1"), "(1)*");
    assert_eq!(say(&mut *b, "UPDATE t SET b = 20 WHERE a = 2"), format!("error {BUSY}*"));
    assert_eq!(say(&mut *a, "COMMIT"), format!("error {BUSY}*"));
    assert_eq!(say(&mut *b, "COMMIT"), "0");
    assert_eq!(say(&mut *a, "COMMIT"), "0");
    assert_eq!(say(&mut *b, "SELECT * FROM t"), "(1, 10) (2, 2)");
}

#[test]
fn write_skew_is_prevented_in_both_modes() {
    for target in ["sqlite?journal_mode=WAL", "sqlite"] {
        let (_server, mut a, mut b) = two(target);
        say(&mut *a, "BEGIN");
        say(&mut *b, "BEGIN");
        say(&mut *a, "SELECT sum(b) FROM t");
        say(&mut *b, "SELECT sum(b) FROM t");
        assert_eq!(say(&mut *a, "UPDATE t SET b = 0 WHERE a = 1"), "1*", "{target}");
        assert_eq!(say(&mut *b, "UPDATE t SET b = 0 WHERE a = 2"), format!("error {BUSY}*"), "{target}");
    }
}

#[test]
fn a_dropped_session_lets_go_of_its_locks_before_the_next_statement() {
    let (mut server, mut a, b) = two("sqlite");
    drop(b);
    for i in 0..200 {
        let mut other = server.connect().unwrap();
        assert_eq!(say(&mut *other, "BEGIN IMMEDIATE"), "0*");
        drop(other);
        assert_eq!(say(&mut *a, "UPDATE t SET b = b + 1 WHERE a = 1"), "1", "round {i}");
    }
}

#[test]
fn a_reset_forgets_the_session_but_not_the_settings() {
    let (_server, mut a, mut b) = two("sqlite?foreign_keys=ON");
    assert_eq!(say(&mut *a, "CREATE TEMP TABLE own(a)"), "0");
    assert_eq!(say(&mut *a, "BEGIN"), "0*");
    assert_eq!(say(&mut *a, "DELETE FROM t"), "2*");
    assert!(a.reset());
    assert_eq!(say(&mut *a, "SELECT * FROM own"), "error 1");
    assert_eq!(say(&mut *a, "PRAGMA foreign_keys"), "(1)");
    assert_eq!(say(&mut *a, "PRAGMA synchronous"), "(0)");
    assert_eq!(say(&mut *b, "SELECT count(*) FROM t"), "(2)");
}

const FOREVER: &str =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

#[test]
fn a_running_statement_can_be_killed() {
    let (mut server, mut a, mut b) = two("sqlite");
    let mut monitor = server.monitor().unwrap();
    assert_eq!(monitor.how(), "never");
    a.send(FOREVER);
    assert_eq!(monitor.check(&[a.id()]).unwrap(), Settled::Working);
    // The kill may come before the statement has begun, and then there is nothing to interrupt yet.
    let mut answer = None;
    until(|| {
        server.kill(a.id(), false).unwrap();
        answer = a.receive();
        answer.is_some()
    });
    assert!(matches!(&answer.unwrap().reply, RawReply::Error(error) if error.code == 9));
    assert_eq!(say(&mut *a, "SELECT 1"), "(1)");

    a.send(FOREVER);
    until(|| {
        server.kill(a.id(), true).unwrap();
        a.receive().is_some_and(|answer| answer.reply == RawReply::Lost)
    });
    assert!(server.alive());
    assert!(!a.reset());
    assert_eq!(say(&mut *b, "SELECT count(*) FROM t"), "(2)");
    // A session that does not exist (any longer) is no failure.
    server.kill(999, false).unwrap();
}

/// Behind a savepoint, a statement that changes many pages keeps them in a temporary file: the child must be able to make one.
#[test]
fn a_statement_that_changes_many_pages_has_a_journal_of_its_own() {
    for target in ["sqlite", "sqlite?journal_mode=wal"] {
        let mut server = start(target);
        let mut a = server.connect().unwrap();
        let columns: Vec<String> = (0..40).map(|i| format!("c{i} INT")).collect();
        say(&mut *a, &format!("CREATE TABLE w(k INTEGER PRIMARY KEY, {})", columns.join(", ")));
        for i in 0..40 {
            say(&mut *a, &format!("CREATE INDEX w{i} ON w(c{i})"));
        }
        say(&mut *a, "INSERT INTO w(k) VALUES (1), (2)");
        assert_eq!(say(&mut *a, "BEGIN"), "0*");
        assert_eq!(say(&mut *a, "SAVEPOINT s"), "0*");
        let sets: Vec<String> = (0..40).map(|i| format!("c{i} = k")).collect();
        assert_eq!(say(&mut *a, &format!("UPDATE w SET {}", sets.join(", "))), "2*", "{target}");
        assert_eq!(say(&mut *a, "ROLLBACK TO s"), "0*");
        assert_eq!(say(&mut *a, "SELECT count(c7) FROM w"), "(0)*");
    }
}

/// SQLite forgets an interrupt that comes just before a statement's first step: that must not leave the child at work
/// for a session that is gone.
#[test]
fn a_session_that_is_killed_as_its_statement_begins_does_not_hold_up_the_others() {
    let (mut server, _, mut b) = two("sqlite");
    for round in 0..300 {
        let mut session = server.connect().unwrap();
        session.send(FOREVER);
        thread::sleep(Duration::from_micros(round % 60));
        server.kill(session.id(), true).unwrap();
        assert_eq!(say(&mut *b, "SELECT count(*) FROM t"), "(2)");
    }
}

#[test]
fn a_killed_child_is_an_outcome_and_the_next_one_runs() {
    for _ in 0..20 {
        let (mut server, mut a, mut b) = two("sqlite");
        let folder = server.folder().to_path_buf();
        say(&mut *b, "BEGIN");
        a.send(FOREVER);
        let pid = server.pid().unwrap().to_string();
        assert!(server.alive());
        assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
        assert_eq!(wait(&mut *a).reply, RawReply::Lost);
        assert!(!server.alive());
        assert_eq!(run(&mut *b, "COMMIT").reply, RawReply::Lost);
        assert!(server.connect().is_err());
        assert!(server.kill(1, false).is_err());
        drop(server);
        assert!(!folder.exists() && !folder.with_added_extension("lock").exists());
    }
}

#[test]
fn several_children_do_not_meet() {
    let (one, mut a, _b) = two("sqlite");
    let (other, mut c, _d) = two("sqlite");
    assert_ne!(one.folder(), other.folder());
    assert_eq!(say(&mut *a, "DELETE FROM t"), "2");
    assert_eq!(say(&mut *c, "SELECT count(*) FROM t"), "(2)");
}

/// A parent that is killed hard leaves nothing but a closed pipe.
#[test]
fn the_child_ends_and_cleans_up_when_its_parent_is_gone() {
    let neighbour = start("sqlite");
    let folder = neighbour.folder().with_file_name(format!("sqlite-{}-4000000", std::process::id()));
    let mut child = Command::new(exe())
        .arg("__sqlite")
        .arg(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until(|| folder.join("socket").exists());
    assert!(child.try_wait().unwrap().is_none());
    drop(child.stdin.take());
    until(|| child.try_wait().unwrap().is_some());
    assert!(!folder.exists() && !folder.with_added_extension("lock").exists());
}

/// A child that is killed together with its parent leaves a folder, which is known to be nobody's; that of a
/// living one is not touched.
#[test]
fn what_the_dead_left_is_pruned() {
    let (mut neighbour, mut a, _b) = two("sqlite");
    let folder = neighbour.folder().with_file_name(format!("sqlite-{}-4000001", std::process::id()));
    let mut child = Command::new(exe())
        .arg("__sqlite")
        .arg(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until(|| folder.join("socket").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    dbms::sqlite::prune();
    assert!(!folder.exists() && !folder.with_added_extension("lock").exists());
    assert_eq!(say(&mut *a, "SELECT count(*) FROM t"), "(2)");
    assert!(neighbour.alive() && neighbour.folder().join("isopod.db").exists());
}
