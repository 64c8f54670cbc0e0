//! The clients of MySQL's family and of PostgreSQL with both of their monitors, on real servers. What holds for every product is
//! here, as scenarios that each of them runs; what only one of them has is in its own file.

#[path = "../common/mod.rs"]
mod common;
mod mysql;
mod postgres;
mod reset_probes;

use std::{path::PathBuf, time::Duration};

use common::table::{BOTH, Own, Table, on_each, run, texts};
use dbms::{
    locks::Settle,
    net::{Address, SILENCE},
};
use execute::{
    ConnectError, Server, Session, WireReply,
    ask::{ask, demand, demand_rows},
};
use model::Open;

type Text = &'static str;
type Texts = &'static [Text];

/// What the scenarios must know of a product.
trait Client {
    type Server: Server;
    const SERVERS: Texts;
    /// A query, its row as text and the types of its columns.
    const VALUES: (Text, Text, Texts);
    /// Asks for the schema in force.
    const SCHEMA: Text;
    /// Asks for everything that a reset brings back, and what changes it.
    const RESET: (Text, Texts);
    /// The error of a statement that is killed.
    const INTERRUPTED: Text;
    const DEADLOCK: Text;
    /// Is the victim of a deadlock always the session that closes the cycle, as far as this monitor can tell?
    fn closer_is_victim(settle: Settle) -> bool;
    /// Settings that the server tells of itself, with the values that they may have; none for any.
    const SETTINGS: &'static [(Text, Texts)];
    /// Takes a second.
    const SLEEP: Text;
    /// Gives a row if there is a schema `isopod_info`.
    const INFO_SCHEMA: Text;
    fn open(own: &Own, name: &str, settle: Settle) -> Self::Server;
    fn connect(address: &Address) -> Result<Box<dyn Session>, ConnectError>;
    fn drop_schema(server: &mut Self::Server);
    /// The code of an error as the product's manual lists it; empty for anything else.
    fn code(answer: &WireReply) -> String;
    /// Does it say that the session was killed?
    fn killed(answer: &WireReply) -> bool;
    /// Lets sessions that are opened from now on send statements of any size.
    fn allow_large(_session: &mut dyn Session) {}
}

/// The tests of a product that all have.
macro_rules! scenarios {
    ($client:ty) => {
        #[test]
        fn values_come_as_the_server_wrote_them() {
            crate::values::<$client>();
        }

        #[test]
        fn answers_and_statements_of_any_size() {
            crate::sizes::<$client>();
        }

        #[test]
        fn a_reset_forgets_all_but_the_settings_of_the_beginning() {
            crate::reset::<$client>();
        }

        #[test]
        fn a_kill_ends_the_statement_or_the_session() {
            crate::kill::<$client>();
        }

        #[test]
        fn a_deadlock_is_not_taken_for_a_wait() {
            crate::deadlock::<$client>();
        }

        #[test]
        fn the_server_says_what_it_is() {
            crate::info::<$client>();
        }
    };
}
use scenarios;

fn values<C: Client>() {
    on_each(C::SERVERS, |own| {
        let mut session = C::open(own, "values", Settle::Sql).connect().unwrap();
        let (sql, row, types) = C::VALUES;
        let rows = demand_rows(session.as_mut(), sql, SILENCE).unwrap();
        assert_eq!(rows.texts(), [row]);
        let told: Vec<&str> = rows.columns().iter().map(|column| &column.type_name[..]).collect();
        assert_eq!(told, types);
        assert_eq!(texts(session.as_mut(), C::SCHEMA), ["('isopod_values')"]);
    });
}

fn sizes<C: Client>() {
    on_each(C::SERVERS, |own| {
        let mut server = C::open(own, "large", Settle::Sql);
        C::allow_large(server.connect().unwrap().as_mut());
        let mut session = server.connect().unwrap();
        // The third one fills a packet of MySQL's.
        for size in [16_000, 100_000, 16_777_215 - 20, 40_000_000] {
            let sql = format!("SELECT '{}', 7", "x".repeat(size));
            let rows = demand_rows(session.as_mut(), &sql, SILENCE).unwrap();
            assert_eq!(rows.cell(0, 0).map(<[u8]>::len), Some(size));
            assert_eq!(rows.cell(0, 1), Some(&b"7"[..]));
        }
        let three = "(SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3)";
        let many: Vec<String> = (0..10).map(|i| format!("{three} x{i}")).collect();
        let many = format!("SELECT x0.n * 0 + 12345 FROM {}", many.join(", "));
        let rows = demand_rows(session.as_mut(), &many, SILENCE).unwrap();
        assert_eq!(rows.len(), 59_049);
        assert!((0..rows.len()).all(|row| rows.cell(row, 0) == Some(&b"12345"[..])));
    });
}

fn reset<C: Client>() {
    on_each(C::SERVERS, |own| {
        for (settle, how) in BOTH {
            let mut session = C::open(own, &format!("reset_{how}"), settle).connect().unwrap();
            let session = session.as_mut();
            let (what, changes) = C::RESET;
            let before = texts(session, what);
            assert!(before[0].contains("isopod_reset"), "{before:?}");
            demand(session, "CREATE TABLE t (a INT)", SILENCE).unwrap();
            for sql in changes {
                demand(session, sql, SILENCE).unwrap();
            }
            assert_ne!(texts(session, what), before);
            let id = session.id();
            assert!(session.reset());
            assert_eq!(session.id(), id);
            assert_eq!(texts(session, what), before);
            assert_eq!(texts(session, "SELECT COUNT(*) FROM t"), ["(0)"]);
            run(session, "BEGIN");
            assert_ne!(C::code(&run(session, "SELECT * FROM nowhere")), "");
            assert!(session.reset(), "out of a failed transaction");
            assert_eq!(run(session, "SELECT 1").transaction, Open::No);
        }
    });
}

fn kill<C: Client>() {
    on_each(C::SERVERS, |own| {
        let mut table = Table::of(C::open(own, "kill", Settle::Proc), 3);
        table.now(0, "CREATE TABLE t (a INT PRIMARY KEY)");
        table.now(0, "BEGIN");
        table.now(0, "INSERT INTO t VALUES (1)");
        table.waits(1, "INSERT INTO t VALUES (1)");
        let id = table.id(1);
        table.server.kill(id, false).unwrap();
        let answers = table.later();
        assert_eq!((answers.len(), &C::code(&answers[0].1)[..]), (1, C::INTERRUPTED));
        table.waits(1, "INSERT INTO t VALUES (1)");
        table.server.kill(id, true).unwrap();
        let answers = table.later();
        assert!(answers.len() == 1 && C::killed(&answers[0].1), "{answers:?}");
        table.kill_again(1, 2, C::killed);
        table.now(0, "ROLLBACK");
    });
}

fn deadlock<C: Client>() {
    on_each(C::SERVERS, |own| {
        for (settle, how) in BOTH {
            let mut table = Table::of(C::open(own, &format!("deadlock_{how}"), settle), 2);
            table.now(0, "CREATE TABLE t (a INT PRIMARY KEY, b INT)");
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
                let mut codes: Vec<(String, usize)> =
                    answers.iter().map(|(session, answer)| (C::code(answer), *session)).collect();
                codes.sort_unstable();
                let victim = codes.last().map_or(0, |(_, session)| *session);
                codes.iter_mut().for_each(|(_, session)| *session = 0);
                assert_eq!(codes, [(String::new(), 0), (C::DEADLOCK.into(), 0)], "{how}, round {round}");
                assert!(victim == 1 || !C::closer_is_victim(settle), "{how}, round {round}");
                (0..2).for_each(|session| drop(table.now(session, "ROLLBACK")));
            }
            assert_eq!(table.late, 0, "{how}");
        }
    });
}

fn info<C: Client>() {
    on_each(C::SERVERS, |own| {
        let mut server = C::open(own, "info", Settle::Proc);
        let info = server.info().clone();
        assert!(own.target.starts_with(info.product.name()), "{info:?}");
        assert!(info.version.0.len() >= 2, "{info:?}");
        assert!(info.version_text.contains(&info.version.to_string()), "{info:?}");
        for (name, values) in C::SETTINGS {
            let told = &info.settings[*name][..];
            assert!(values.contains(&told) || values.is_empty() && !told.is_empty(), "{name}: {info:?}");
        }
        assert!(server.alive());
        C::drop_schema(&mut server);
        let mut session = C::connect(&own.address).unwrap();
        assert!(texts(session.as_mut(), C::INFO_SCHEMA).is_empty());
        let Err(refused) = C::connect(&Address::Unix(PathBuf::from("/nonexistent/socket"))) else {
            panic!("nobody is there");
        };
        assert!(matches!(refused, ConnectError::Refused { .. }), "{refused}");
        let late = ask(session.as_mut(), C::SLEEP, Duration::from_millis(20));
        assert!(matches!(late, Err(ConnectError::Own { .. })));
    });
}
