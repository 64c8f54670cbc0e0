//! A session that was reset behaves as a fresh one. What a session is asked here is not what its variables say but what it does: each
//! statement is run by a fresh session and by one that was changed in every way that we know of and then reset, and must give
//! the same, down to what the binary log holds of it. How a session is reset is the executor's own rule: by the protocol where
//! the dialect trusts that (`resets_sessions`) and the server can, else by opening another. Where the dialect does not trust it, the
//! test also says why: a reset by the protocol must show in one of the answers.

use std::time::Duration;

use dbms::{locks::Settle, net::SILENCE};
use execute::{
    RawReply, Server, Session, WireReply,
    ask::{await_answer, demand},
    os::{Interest, wait},
};

use crate::{
    Client, Text, Texts,
    common::table::{Own, on_each, run, texts},
    mysql::Mysql,
    postgres::Postgres,
};

/// What a family is asked.
struct Probes {
    /// Makes the tables. `p` and `c` are joined by a foreign key that cascades.
    setup: Texts,
    /// Changes whatever a session may keep.
    changes: Texts,
    /// Asked of each session, one after another.
    statements: Texts,
    /// Lets a wait for a lock end soon; it must be forgotten.
    short_wait: Text,
    /// Asks the server for all that its binary log holds; none if it has no such log.
    binlog: fn(&mut dyn Session) -> Vec<String>,
}

/// Longer than the short wait.
const LONGER: Duration = Duration::from_millis(1_300);

const MYSQL: Probes = Probes {
    setup: &[
        "CREATE TABLE p (a INT PRIMARY KEY) ENGINE=InnoDB",
        "CREATE TABLE c (a INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (a) ON DELETE CASCADE ON UPDATE CASCADE) ENGINE=InnoDB",
        "CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT, s VARCHAR(3), b INT) ENGINE=InnoDB",
    ],
    changes: &[
        "CREATE TEMPORARY TABLE tmp (a INT)",
        "PREPARE st FROM 'SELECT 1'",
        "SET @x = 1",
        "SET NAMES latin1",
        "SET collation_connection = latin1_bin",
        "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
        "SET sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES'",
        "SET time_zone = '+05:30', foreign_key_checks = 0, unique_checks = 0, sql_safe_updates = 1, sql_select_limit = 1",
        "SET lock_wait_timeout = 1, div_precision_increment = 9, group_concat_max_len = 4, auto_increment_increment = 7",
        "SELECT GET_LOCK('isopod_probe', 0)",
        "INSERT INTO t (s) VALUES ('a')",
        "USE mysql",
        "SET autocommit = 0",
        "START TRANSACTION READ ONLY",
        "SELECT COUNT(*) FROM isopod_probes.t",
    ],
    statements: &[
        "SELECT DATABASE()",
        "SELECT 'a' = 'A', 'a' = 'ä', 'a' = 'a ', 'ß' = 'ss', CHARSET('x'), COLLATION('x'), LENGTH('ü'), 'ü', UPPER('ü')",
        "SELECT \"x\", 'a' || 'b', '\\n' = CHAR(10), 1 / 3",
        "SELECT @x, @@autocommit, LAST_INSERT_ID(), ROW_COUNT(), IS_FREE_LOCK('isopod_probe')",
        "SELECT FROM_UNIXTIME(0)",
        "SELECT * FROM tmp",
        "EXECUTE st",
        "INSERT INTO t VALUES (100, 'too long', 1)",
        "INSERT INTO t VALUES (101, 'a', 1 / 0)",
        "INSERT INTO t (s) VALUES ('a'), ('b')",
        "INSERT INTO t VALUES (102, 'a', 1), (102, 'a', 1)",
        "SELECT GROUP_CONCAT(s ORDER BY s) FROM t",
        "SELECT s FROM t ORDER BY s",
        "UPDATE t SET b = 3",
        "INSERT INTO c VALUES (9, 99)",
        "INSERT INTO p VALUES (1), (2), (3)",
        "INSERT INTO c VALUES (1, 1), (2, 2), (3, 3)",
        "UPDATE p SET a = 5 WHERE a = 2",
        "DELETE FROM p WHERE a = 1",
        "DELETE FROM p WHERE a = 77",
        "SELECT * FROM c ORDER BY a",
        "DELETE FROM p",
        "SELECT COUNT(*) FROM c",
    ],
    short_wait: "SET innodb_lock_wait_timeout = 1",
    binlog: mysql_binlog,
};

const POSTGRES: Probes = Probes {
    setup: &[
        "CREATE TABLE p (a INT PRIMARY KEY)",
        "CREATE TABLE c (a INT PRIMARY KEY, p INT REFERENCES p (a) ON DELETE CASCADE ON UPDATE CASCADE)",
        "CREATE TABLE t (a INT PRIMARY KEY, s VARCHAR(3), b INT)",
        "CREATE SEQUENCE q",
    ],
    changes: &[
        "CREATE TEMPORARY TABLE tmp (a INT)",
        "PREPARE st AS SELECT 1",
        "SELECT set_config('my.x', '1', false)",
        "SELECT nextval('q')",
        "SET client_encoding = 'LATIN1'",
        "SET standard_conforming_strings = off",
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        "SET default_transaction_read_only = on",
        "SET time zone 'Asia/Kolkata'",
        "SET datestyle = 'German'",
        "SET extra_float_digits = -3",
        "SET transform_null_equals = on",
        "SET session_replication_role = replica",
        "SET statement_timeout = '900ms'",
        "SELECT pg_advisory_lock(7)",
        "DECLARE cur CURSOR WITH HOLD FOR SELECT 1",
        "SET search_path = pg_catalog",
        "SET ROLE pg_monitor",
        "BEGIN",
    ],
    statements: &[
        "SELECT current_schema(), current_user",
        "SELECT 'a' = 'A', 'a' < 'B', octet_length('ü'), 'ü', upper('ü')",
        "SELECT '\\n', 0.1::float4 + 0.2::float4, NULL = NULL",
        // DISCARD ALL empties a setting that nobody but the user knows; that it was there once remains.
        "SELECT COALESCE(current_setting('my.x', true), ''), (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')",
        "SELECT TIMESTAMPTZ 'epoch'",
        "SELECT currval('q')",
        "SELECT * FROM tmp",
        "EXECUTE st",
        "FETCH cur",
        "SHOW transaction_isolation",
        "SELECT 1 / 0",
        "INSERT INTO t VALUES (100, 'too long', 1)",
        "INSERT INTO t VALUES (101, 'a', 1), (102, 'b', 2)",
        "INSERT INTO t VALUES (102, 'a', 1)",
        "SELECT s FROM t ORDER BY s",
        "INSERT INTO c VALUES (9, 99)",
        "INSERT INTO p VALUES (1), (2), (3)",
        "INSERT INTO c VALUES (1, 1), (2, 2), (3, 3)",
        "UPDATE p SET a = 5 WHERE a = 2",
        "DELETE FROM p WHERE a = 1",
        "SELECT * FROM c ORDER BY a",
        "DELETE FROM p",
        "SELECT COUNT(*) FROM c",
    ],
    short_wait: "SET lock_timeout = '1s'",
    binlog: |_| Vec::new(),
};

/// The kinds of all events in the log that is written now, with the tables that they name.
fn mysql_binlog(session: &mut dyn Session) -> Vec<String> {
    let logs = texts(session, "SHOW BINARY LOGS");
    let name = logs.last().and_then(|row| row.split('\'').nth(1)).unwrap_or_default().to_string();
    let rows =
        execute::ask::demand_rows(session, &format!("SHOW BINLOG EVENTS IN '{name}'"), SILENCE).unwrap();
    let cell = |row, column| execute::ask::text(&rows, row, column);
    // Numbers of tables and transactions differ from one to the next.
    let word = |info: String| info.split(['(', ')']).nth(1).unwrap_or_default().to_string();
    (0..rows.len())
        .map(|row| match cell(row, 2).as_str() {
            "Table_map" => format!("Table_map {}", word(cell(row, 5))),
            other => other.to_string(),
        })
        .collect()
}

/// What an answer says, without what differs from one session to the next.
fn said(answer: &WireReply, code: String) -> String {
    match &answer.reply {
        RawReply::Rows(rows) => format!("{:?}, {} warnings", rows.texts(), answer.warnings),
        RawReply::Error(_) => format!("error {code}"),
        other => format!("{other:?}, {} warnings, {:?}", answer.warnings, answer.transaction),
    }
}

/// Everything that a session gives.
fn answers<C: Client>(server: &mut C::Server, probes: &Probes, session: &mut dyn Session) -> Vec<String> {
    let mut other = server.connect().unwrap();
    let other = other.as_mut();
    for table in ["c", "p", "t"] {
        demand(other, &format!("DELETE FROM {table}"), SILENCE).unwrap();
    }
    let _ = run(other, "ALTER TABLE t AUTO_INCREMENT = 1"); // PostgreSQL has none.
    demand(other, "INSERT INTO t VALUES (1, 'x', 1)", SILENCE).unwrap();
    let mut all = Vec::new();
    for sql in probes.statements {
        let before = (probes.binlog)(other).len();
        let answer = run(session, sql);
        let logged = (probes.binlog)(other).split_off(before);
        all.push(format!("{sql}: {} {logged:?}", said(&answer, C::code(&answer))));
    }
    // What is written is committed at once, and others see it.
    all.push(format!("others see {:?}", texts(other, "SELECT a, s FROM t ORDER BY a")));
    // The level: does a transaction see what was committed after its first read?
    demand(session, "BEGIN", SILENCE).unwrap();
    texts(session, "SELECT COUNT(*) FROM t");
    demand(other, "INSERT INTO t VALUES (50, 'n', 1)", SILENCE).unwrap();
    all.push(format!("the second read gives {:?}", texts(session, "SELECT COUNT(*) FROM t WHERE a = 50")));
    demand(session, "COMMIT", SILENCE).unwrap();
    // A wait for a lock lasts for as long as it does in a fresh session.
    demand(other, "BEGIN", SILENCE).unwrap();
    demand(other, "UPDATE t SET b = 7 WHERE a = 1", SILENCE).unwrap();
    session.send("UPDATE t SET b = 8 WHERE a = 1");
    let early = wait(&[session.fd()], Interest::Read, LONGER) && session.receive().is_some();
    demand(other, "COMMIT", SILENCE).unwrap();
    all.push(format!("its wait ended early: {early}"));
    if !early {
        await_answer(session, "UPDATE", SILENCE).unwrap();
    }
    all
}

/// Changes a session in every way.
fn change(session: &mut dyn Session, probes: &Probes) {
    for sql in [&[probes.short_wait], probes.changes].concat() {
        demand(session, sql, SILENCE).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

fn alike<C: Client>(own: &Own, probes: &Probes) {
    let mut server = C::open(own, "probes", Settle::Sql);
    let mut builder = server.connect().unwrap();
    probes.setup.iter().for_each(|sql| drop(demand(builder.as_mut(), sql, SILENCE).unwrap()));
    drop(builder);
    let fresh = server.connect().unwrap();
    let fresh = answers::<C>(&mut server, probes, { fresh }.as_mut());
    let trusted = (dialect::of(server.info().product).resets_sessions)(&server.info().version);
    let mut session = server.connect().unwrap();
    // As the executor does it, twice: a session that was reset is reset again.
    for round in 0..2 {
        change(session.as_mut(), probes);
        let reset = trusted && session.reset();
        if !reset {
            session = server.connect().unwrap();
        }
        let after = answers::<C>(&mut server, probes, session.as_mut());
        assert_eq!(after, fresh, "{}, round {round}, reset by the protocol: {reset}", own.target);
    }
    // What is not trusted must show why.
    if !trusted && session.reset() {
        let after = answers::<C>(&mut server, probes, session.as_mut());
        let differs = after.iter().zip(&fresh).filter(|(after, fresh)| after != fresh);
        let shown: Vec<_> = differs.collect();
        println!("{}: after a reset by the protocol:", own.target);
        shown.iter().for_each(|(after, fresh)| println!("  {after}\n  instead of {fresh}"));
        assert!(!shown.is_empty(), "{}: a reset by the protocol could be trusted", own.target);
    }
}

#[test]
fn a_reset_session_of_mysql_behaves_as_a_fresh_one() {
    const SERVERS: Texts = &[
        "mysql@5.6?log_bin=ON&binlog_format=ROW",
        "mysql@8.0.33",
        "mysql@9.7",
        "mariadb@10.5?log_bin=ON&binlog_format=ROW",
        "mariadb@10.11?log_bin=ON&binlog_format=ROW",
        "mariadb@11.8?log_bin=ON&binlog_format=ROW",
    ];
    on_each(SERVERS, |own| alike::<Mysql>(own, &MYSQL));
}

#[test]
fn a_reset_session_of_postgres_behaves_as_a_fresh_one() {
    on_each(&["postgres@13", "postgres@18"], |own| alike::<Postgres>(own, &POSTGRES));
}
