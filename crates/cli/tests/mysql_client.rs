//! The MySQL client and both monitors on real servers of both products.

mod common;

use std::{path::PathBuf, time::Duration};

use common::{
    SERVERS,
    table::{self, BOTH, Own, Table, run, texts},
};
use dbms::{
    locks::Settle,
    mysql::{MysqlServer, MysqlSession},
    net::{Address, Login, SILENCE},
};
use execute::{
    Answer, ConnectError, RawReply, Server,
    ask::{ask, demand, demand_rows},
    os::{Interest, wait},
};
use model::{Open, Product};

/// Runs a test on one server of each product.
fn on_both(test: fn(&Own)) {
    table::on_each(&SERVERS, test);
}

fn server(own: &Own, name: &str, settle: Settle) -> MysqlServer {
    MysqlServer::open(own.options(Login::default(), name, settle)).unwrap()
}

fn table(own: &Own, name: &str, settle: Settle, sessions: usize) -> Table<MysqlServer> {
    Table::of(server(own, name, settle), sessions)
}

fn code(answer: &Answer) -> u32 {
    match &answer.reply {
        RawReply::Error(error) => error.code,
        RawReply::Rows(_) | RawReply::Done { .. } | RawReply::RolledBack | RawReply::Lost => 0,
    }
}

#[test]
fn values_come_as_the_server_wrote_them() {
    on_both(|own| {
        let mut server = server(own, "values", Settle::Sql);
        let mut session = server.connect().unwrap();
        let session = session.as_mut();
        let rows = demand_rows(
            session,
            "SELECT CAST(1.10 AS DECIMAL(5,2)) d, x'00ff' b, 18446744073709551615 n, '' e, NULL z, 'ü' u, 1e0 f, \
             TIME'-838:59:59' t",
            SILENCE,
        )
        .unwrap();
        assert_eq!(rows.texts(), ["(1.10, x'00ff', 18446744073709551615, '', NULL, 'ü', 1, '-838:59:59')"]);
        let types: Vec<&str> = rows.columns().iter().map(|column| &column.type_name[..]).collect();
        let expected =
            ["DECIMAL", "VARBINARY", "BIGINT UNSIGNED", "VARCHAR", "NULL", "VARCHAR", "DOUBLE", "TIME"];
        assert_eq!(types, expected);
        assert_eq!(texts(session, "SELECT DATABASE()"), ["('isopod_values')"]);
        server.drop_schema().unwrap();
    });
}

#[test]
fn counts_warnings_and_the_open_transaction() {
    on_both(|own| {
        let mut server = server(own, "counts", Settle::Sql);
        let mut session = server.connect().unwrap();
        let session = session.as_mut();
        run(session, "CREATE TABLE t (a INT PRIMARY KEY, b INT)");
        assert_eq!(run(session, "INSERT INTO t VALUES (1, 1), (2, 2)").transaction, Open::No);
        assert_eq!(run(session, "BEGIN").transaction, Open::Yes);
        let answer = run(session, "UPDATE t SET b = 1");
        assert_eq!(answer.reply, RawReply::Done { affected: 1, matched: Some(2) });
        assert_eq!(answer.transaction, Open::Yes);
        assert_eq!(run(session, "SELECT * FROM t").transaction, Open::Yes);
        let answer = run(session, "INSERT INTO t VALUES (1, 1)");
        assert_eq!((code(&answer), answer.transaction), (1062, Open::Unknown));
        assert_eq!(run(session, "COMMIT").transaction, Open::No);
        assert_eq!(run(session, "SELECT * FROM t").transaction, Open::No);
        assert_eq!(run(session, "INSERT IGNORE INTO t VALUES (1, 1)").warnings, 1);
        server.drop_schema().unwrap();
    });
}

#[test]
fn answers_and_statements_of_more_than_a_packet() {
    on_both(|own| {
        let mut server = server(own, "large", Settle::Sql);
        let mut first = server.connect().unwrap();
        let old = texts(first.as_mut(), "SELECT @@GLOBAL.max_allowed_packet").remove(0);
        demand(first.as_mut(), "SET GLOBAL max_allowed_packet = 67108864", SILENCE).unwrap();
        let mut session = server.connect().unwrap(); // The limit is taken over at the login.
        for size in [100_000, 16_777_215 - 20, 40_000_000] {
            let sql = format!("SELECT '{}', 7", "x".repeat(size));
            let rows = demand_rows(session.as_mut(), &sql, SILENCE).unwrap();
            assert_eq!(rows.cell(0, 0).map(<[u8]>::len), Some(size));
            assert_eq!(rows.cell(0, 1), Some(&b"7"[..]));
        }
        let many = "SELECT a.N * 0 + 12345 FROM (SELECT 1 N UNION ALL SELECT 2 UNION ALL SELECT 3) a";
        let many = (0..9).fold(many.to_string(), |sql, i| {
            sql + &format!(", (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) x{i}")
        });
        let rows = demand_rows(session.as_mut(), &many, SILENCE).unwrap();
        assert_eq!(rows.len(), 59_049);
        assert!((0..rows.len()).all(|row| rows.cell(row, 0) == Some(&b"12345"[..])));
        let old = old.trim_matches(['(', ')']);
        demand(first.as_mut(), &format!("SET GLOBAL max_allowed_packet = {old}"), SILENCE).unwrap();
        server.drop_schema().unwrap();
    });
}

#[test]
fn a_reset_forgets_all_but_the_schema_and_the_character_set() {
    on_both(|own| {
        let mut server = server(own, "reset", Settle::Sql);
        let mut session = server.connect().unwrap();
        let session = session.as_mut();
        let what = "SELECT DATABASE(), @@character_set_client, @@collation_connection, @@character_set_results, \
                    @@sql_mode, @x, @@autocommit";
        let before = texts(session, what);
        for sql in [
            "CREATE TABLE t (a INT)",
            "SET autocommit = 0, @x = 1, sql_mode = ''",
            "INSERT INTO t VALUES (1)",
        ] {
            demand(session, sql, SILENCE).unwrap();
        }
        assert_ne!(texts(session, what), before);
        let id = session.id();
        assert!(session.reset());
        assert_eq!(session.id(), id);
        assert_eq!(texts(session, what), before);
        assert_eq!(texts(session, "SELECT COUNT(*) FROM t"), ["(0)"]);
        server.drop_schema().unwrap();
    });
}

#[test]
fn passwords() {
    on_both(|own| {
        let mut server = server(own, "login", Settle::Sql);
        let mut root = server.connect().unwrap();
        let root = root.as_mut();
        let by = match server.info().product {
            Product::Mariadb => "IDENTIFIED BY 'se''cret'",
            Product::Mysql | Product::Postgres | Product::Sqlite | Product::Reference => {
                "IDENTIFIED WITH caching_sha2_password BY 'se''cret'"
            }
        };
        run(root, "DROP USER isopod_test@localhost");
        demand(root, &format!("CREATE USER isopod_test@localhost {by}"), SILENCE).unwrap();
        let login = |password: &str| {
            let who =
                Login { user: "isopod_test".to_string(), password: password.to_string(), ..Login::default() };
            MysqlSession::connect(&own.address, &who, None)
        };
        for _long_way_then_short_way in 0..2 {
            let mut session = login("se'cret").unwrap();
            assert_eq!(texts(&mut session, "SELECT 1"), ["(1)"]);
        }
        for wrong in ["wrong", ""] {
            match login(wrong) {
                Err(ConnectError::Refused { reason, .. }) => assert!(reason.contains("1045"), "{reason}"),
                other => panic!("{other:?}"),
            }
        }
        demand(root, "DROP USER isopod_test@localhost", SILENCE).unwrap();
        server.drop_schema().unwrap();
    });
}

#[test]
fn a_kill_ends_the_statement_or_the_session() {
    on_both(|own| {
        let mut table = table(own, "kill", Settle::Proc, 3);
        table.now(0, "CREATE TABLE t (a INT PRIMARY KEY) ENGINE=InnoDB");
        table.now(0, "BEGIN");
        table.now(0, "INSERT INTO t VALUES (1)");
        table.waits(1, "INSERT INTO t VALUES (1)");
        let id = table.id(1);
        table.server.kill(id, false).unwrap();
        let answers = table.later();
        assert_eq!((answers.len(), code(&answers[0].1)), (1, 1317));
        table.waits(1, "INSERT INTO t VALUES (1)");
        table.server.kill(id, true).unwrap();
        let answers = table.later();
        let killed = [0, 1317, 1927, 4031, 1053];
        assert!(killed.contains(&code(&answers[0].1)), "{answers:?}");
        table.kill_again(1, 2, |answer| killed[1..].contains(&code(answer)));
        table.now(0, "ROLLBACK");
        table.server.drop_schema().unwrap();
    });
}

#[test]
fn a_wait_is_known_and_names_its_blockers() {
    on_both(|own| {
        for (settle, how) in BOTH {
            let mut table = table(own, &format!("waits_{how}"), settle, 4);
            assert_eq!(table.monitor.how(), how);
            table.now(0, "CREATE TABLE t (a INT PRIMARY KEY, b INT) ENGINE=InnoDB");
            table.now(0, "INSERT INTO t VALUES (1, 1), (5, 5)");
            for _ in 0..50 {
                (0..3).for_each(|session| drop(table.now(session, "BEGIN")));
                table.now(0, "UPDATE t SET b = b + 1 WHERE a = 1");
                table.waits(1, "UPDATE t SET b = b + 1 WHERE a = 1");
                // A waiter that has written nothing, behind another one.
                table.waits(2, "SELECT * FROM t WHERE a = 1 LOCK IN SHARE MODE");
                let ids = [table.id(1), table.id(2)];
                let blockers = table.monitor.blockers(&ids);
                assert_eq!(blockers[0], [table.id(0)]);
                assert_eq!(blockers[1], [table.id(0), table.id(1)]);
                let answers = table.send(0, "COMMIT");
                let who: Vec<usize> = answers.iter().map(|(session, _)| *session).collect();
                assert!(who.contains(&0) && who.contains(&1) && !who.contains(&2), "{who:?}");
                let answers = table.send(1, "COMMIT");
                assert_eq!(answers.len(), 2);
                table.now(2, "COMMIT");
            }
            // An insert into a locked gap; its blocker has only read.
            table.now(0, "BEGIN");
            table.now(0, "SELECT * FROM t WHERE a BETWEEN 2 AND 4 FOR UPDATE");
            table.waits(1, "INSERT INTO t VALUES (3, 3)");
            assert_eq!(table.monitor.blockers(&[table.id(1)]), [[table.id(0)]]);
            assert_eq!(table.send(0, "COMMIT").len(), 2);
            // A wait above the storage engine.
            table.now(0, "BEGIN");
            table.now(0, "SELECT * FROM t");
            table.waits(3, "ALTER TABLE t ADD c INT");
            assert_eq!(table.monitor.blockers(&[table.id(3)]).len(), 1);
            assert_eq!(table.late, 0, "{how}");
            // DDL sleeps for other reasons, too, so the end of its wait may be told later than it comes.
            let mut answers = table.send(0, "COMMIT");
            while answers.len() < 2 {
                assert!(wait(&[table.sessions[3].fd()], Interest::Read, Duration::from_secs(10)), "{how}");
                table.drain(&mut answers);
            }
            table.server.drop_schema().unwrap();
        }
    });
}

#[test]
fn a_deadlock_is_not_taken_for_a_wait() {
    on_both(|own| {
        for (settle, how) in BOTH {
            let mut table = table(own, &format!("deadlock_{how}"), settle, 2);
            table.now(0, "CREATE TABLE t (a INT PRIMARY KEY, b INT) ENGINE=InnoDB");
            table.now(0, "INSERT INTO t VALUES (1, 1), (2, 2)");
            for round in 0..200 {
                (0..2).for_each(|session| drop(table.now(session, "BEGIN")));
                // In turn: writers, and readers that have no transaction number.
                let lock = |row| match round % 2 {
                    0 => format!("UPDATE t SET b = b + 1 WHERE a = {row}"),
                    _ => format!("SELECT * FROM t WHERE a = {row} FOR UPDATE"),
                };
                table.now(0, &lock(1));
                table.now(1, &lock(2));
                table.waits(0, &lock(2));
                let answers = table.send(1, &lock(1));
                let mut codes: Vec<u32> = answers.iter().map(|(_, answer)| code(answer)).collect();
                codes.sort_unstable();
                assert_eq!(codes, [0, 1213], "{how}, round {round}");
                (0..2).for_each(|session| drop(table.now(session, "ROLLBACK")));
            }
            assert_eq!(table.late, 0, "{how}");
            table.server.drop_schema().unwrap();
        }
    });
}

#[test]
fn the_server_says_what_it_is() {
    on_both(|own| {
        let mut server = server(own, "info", Settle::Proc);
        let info = server.info().clone();
        assert!(
            info.version.0.len() >= 2 && info.version_text.contains(&info.version.to_string()),
            "{info:?}"
        );
        for name in ["log_bin", "autocommit", "innodb_rollback_on_timeout"] {
            assert!(matches!(info.settings[name].as_str(), "ON" | "OFF"), "{name}: {info:?}");
        }
        for name in
            ["sql_mode", "transaction_isolation", "innodb_lock_wait_timeout", "lower_case_table_names"]
        {
            assert!(!info.settings[name].is_empty(), "{name}: {info:?}");
        }
        assert!(server.alive());
        server.drop_schema().unwrap();
        let mut session = MysqlSession::connect(&own.address, &Login::default(), None).unwrap();
        assert!(texts(&mut session, "SHOW DATABASES LIKE 'isopod\\_info'").is_empty());
        let nowhere = Address::Unix(PathBuf::from("/nonexistent/socket"));
        let refused = MysqlSession::connect(&nowhere, &Login::default(), None).unwrap_err();
        assert!(matches!(refused, ConnectError::Refused { .. }), "{refused}");
        let late = ask(&mut session, "SELECT SLEEP(1)", Duration::from_millis(20));
        assert!(matches!(late, Err(ConnectError::Own { .. })));
    });
}
