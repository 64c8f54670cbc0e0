//! What only MySQL and MariaDB have.

use std::time::Duration;

use dbms::{
    locks::Settle,
    mysql::{MysqlServer, MysqlSession},
    net::{Address, Login, SILENCE},
};
use execute::{
    ConnectError, RawReply, Server, Session, WireReply,
    ask::demand,
    os::{Interest, wait},
};
use model::{Open, Product};

use crate::{
    Client, Text, Texts,
    common::{
        SERVERS,
        table::{BOTH, Own, Table, on_each, run, texts},
    },
};

pub struct Mysql;

impl Client for Mysql {
    type Server = MysqlServer;

    const SERVERS: Texts = &SERVERS;
    const VALUES: (Text, Text, Texts) = (
        "SELECT CAST(1.10 AS DECIMAL(5,2)) d, x'00ff' b, 18446744073709551615 n, '' e, NULL z, 'ü' u, 1e0 f, \
         TIME'-838:59:59' t",
        "(1.10, x'00ff', 18446744073709551615, '', NULL, 'ü', 1, '-838:59:59')",
        &["DECIMAL", "VARBINARY", "BIGINT UNSIGNED", "VARCHAR", "NULL", "VARCHAR", "DOUBLE", "TIME"],
    );
    const SCHEMA: Text = "SELECT DATABASE()";
    const RESET: (Text, Texts) = (
        "SELECT DATABASE(), @@character_set_client, @@collation_connection, @@character_set_results, @@sql_mode, \
         @x, @@autocommit",
        &["SET autocommit = 0, @x = 1, sql_mode = ''", "INSERT INTO t VALUES (1)"],
    );
    const INTERRUPTED: Text = "1317";
    const DEADLOCK: Text = "1213";
    const SETTINGS: &'static [(Text, Texts)] = &[
        ("log_bin", &["ON", "OFF"]),
        ("autocommit", &["ON", "OFF"]),
        ("innodb_rollback_on_timeout", &["ON", "OFF"]),
        ("sql_mode", &[]),
        ("transaction_isolation", &[]),
        ("innodb_lock_wait_timeout", &[]),
        ("lower_case_table_names", &[]),
    ];
    const SLEEP: Text = "SELECT SLEEP(1)";
    const INFO_SCHEMA: Text = "SHOW DATABASES LIKE 'isopod\\_info'";

    fn closer_is_victim(_: Settle) -> bool {
        false
    }

    fn open(own: &Own, name: &str, settle: Settle) -> MysqlServer {
        MysqlServer::open(own.options(Login::default(), name, settle)).unwrap()
    }

    fn connect(address: &Address) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(MysqlSession::connect(address, &Login::default(), None)?))
    }

    fn drop_schema(server: &mut MysqlServer) {
        server.drop_schema().unwrap();
    }

    fn code(answer: &WireReply) -> String {
        match &answer.reply {
            RawReply::Error(error) => error.code.to_string(),
            RawReply::Rows(_)
            | RawReply::Done { .. }
            | RawReply::RolledBack
            | RawReply::Unreadable(_)
            | RawReply::Lost => String::new(),
        }
    }

    fn killed(answer: &WireReply) -> bool {
        answer.reply == RawReply::Lost
            || ["1317", "1927", "4031", "1053"].contains(&Self::code(answer).as_str())
    }

    fn allow_large(session: &mut dyn Session) {
        demand(session, "SET GLOBAL max_allowed_packet = 67108864", SILENCE).unwrap();
    }
}

crate::scenarios!(Mysql);

#[test]
fn counts_warnings_and_the_open_transaction() {
    on_each(&SERVERS, |own| {
        let mut server = Mysql::open(own, "counts", Settle::Sql);
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
        assert_eq!((Mysql::code(&answer).as_str(), answer.transaction), ("1062", Open::Unknown));
        assert_eq!(run(session, "COMMIT").transaction, Open::No);
        assert_eq!(run(session, "SELECT * FROM t").transaction, Open::No);
        assert_eq!(run(session, "INSERT IGNORE INTO t VALUES (1, 1)").warnings, 1);
        server.drop_schema().unwrap();
    });
}

#[test]
fn passwords() {
    on_each(&SERVERS, |own| {
        let mut server = Mysql::open(own, "login", Settle::Sql);
        let mut root = server.connect().unwrap();
        let root = root.as_mut();
        let maria = server.info().product == Product::Mariadb;
        let plugin = if maria { "" } else { "WITH caching_sha2_password " };
        let by = format!("IDENTIFIED {plugin}BY 'se''cret'");
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
fn a_wait_is_known_and_names_its_blockers() {
    on_each(&SERVERS, |own| {
        for (settle, how) in BOTH {
            let mut table = Table::of(Mysql::open(own, &format!("waits_{how}"), settle), 4);
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
