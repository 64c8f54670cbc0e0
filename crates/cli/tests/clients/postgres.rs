//! What only PostgreSQL has.

use std::{
    env, fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use dbms::{
    locks::Settle,
    net::{Address, Login, SILENCE},
    postgres::{PgServer, PgSession, locks::wait_notices::WaitNotices, session::PgConnectOptions},
};
use execute::{
    ConnectError, Executor, RawReply, Server, Session, WireReply,
    ask::{demand, demand_rows},
};
use model::{Case, Level, Open, Outcome, Reply, SessionSpec, Step, case::Setup};

use crate::{
    Client, Text, Texts,
    common::{
        case,
        table::{BOTH, Own, Table, on_each, run, texts},
    },
};

/// The oldest and the newest version that is offered.
const VERSIONS: [&str; 2] = ["postgres@18", "postgres@13"];

pub struct Postgres;

impl Client for Postgres {
    type Server = PgServer;

    const SERVERS: Texts = &VERSIONS;
    const VALUES: (Text, Text, Texts) = (
        "SELECT 1.10::numeric d, '\\x00ff'::bytea b, 9223372036854775807 n, '' e, NULL z, 'ü' u, 1.5::float8 f, \
             INTERVAL '-1 hour' t, true y, B'101' bits, '{\"a\": 1}'::jsonb j, 'x'::char(3) c, ARRAY[1,NULL] a, \
             'it''s' q",
        "(1.10, x'00ff', 9223372036854775807, '', NULL, 'ü', 1.5, '-01:00:00', 't', '101', \
                        '{\"a\": 1}', 'x  ', '{1,NULL}', 'it''s')",
        &[
            "NUMERIC",
            "BYTEA",
            "BIGINT",
            "TEXT",
            "TEXT",
            "TEXT",
            "DOUBLE PRECISION",
            "INTERVAL",
            "BOOLEAN",
            "BIT",
            "JSONB",
            "CHAR",
            "INTEGER[]",
            "TEXT",
        ],
    );
    const SCHEMA: Text = "SELECT current_schema()";
    const RESET: (Text, Texts) = (
        "SELECT current_schemas(false), current_setting('application_name'), \
                        current_setting('client_encoding'), current_setting('deadlock_timeout'), \
                        current_setting('log_lock_waits'), current_setting('client_min_messages'), \
                        current_setting('default_transaction_isolation'), current_setting('lock_timeout'), \
                        to_regclass('tmp') IS NULL, (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' \
                        AND pid = pg_backend_pid()), current_user",
        &[
            "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            "CREATE TEMPORARY TABLE tmp (a INT)",
            "SELECT pg_advisory_lock(7)",
            "SET lock_timeout = 5",
            "SET search_path = pg_catalog",
            "SET client_min_messages = error",
            "BEGIN",
            "INSERT INTO tmp VALUES (1)",
        ],
    );
    const INTERRUPTED: Text = "57014";
    const DEADLOCK: Text = "40P01";
    const SETTINGS: &'static [(Text, Texts)] = &[
        ("default_transaction_isolation", &["read committed"]),
        // What is in force in the sessions of a case.
        ("deadlock_timeout", &["1ms"]),
        ("server_encoding", &["UTF8"]),
        ("standard_conforming_strings", &["on"]),
        ("max_pred_locks_per_page", &["2"]),
        ("lc_collate", &[]),
    ];
    const SLEEP: Text = "SELECT pg_sleep(1)";
    const INFO_SCHEMA: Text = "SELECT 1 FROM pg_namespace WHERE nspname = 'isopod_info'";

    fn closer_is_victim(settle: Settle) -> bool {
        settle == Settle::Proc
    }

    fn open(own: &Own, name: &str, settle: Settle) -> PgServer {
        PgServer::open(own.options(superuser(), name, settle), "postgres").unwrap()
    }

    fn connect(address: &Address) -> Result<Box<dyn Session>, ConnectError> {
        let options = PgConnectOptions {
            address: address.clone(),
            login: superuser(),
            database: "postgres".into(),
            settings: Vec::new(),
        };
        Ok(Box::new(PgSession::connect(&options, &WaitNotices::default())?))
    }

    fn drop_schema(server: &mut PgServer) {
        server.drop_schema().unwrap();
    }

    fn code(answer: &WireReply) -> String {
        state(answer).to_string()
    }

    fn killed(answer: &WireReply) -> bool {
        state(answer) == "57P01" && answer.transaction == Open::No
    }
}

crate::scenarios!(Postgres);

fn superuser() -> Login {
    Login { user: "postgres".to_string(), ..Login::default() }
}

fn state(answer: &WireReply) -> &str {
    match &answer.reply {
        RawReply::Error(error) => &error.sqlstate,
        RawReply::Rows(_)
        | RawReply::Done { .. }
        | RawReply::RolledBack
        | RawReply::Unreadable(_)
        | RawReply::Lost => "",
    }
}

fn done(affected: u64) -> RawReply {
    RawReply::Done { affected, matched: None }
}

#[test]
fn counts_and_the_open_transaction() {
    on_each(&VERSIONS, |own| {
        for (settle, how) in BOTH {
            let mut server = Postgres::open(own, &format!("counts_{how}"), settle);
            let mut session = server.connect().unwrap();
            let session = session.as_mut();
            run(session, "CREATE TABLE t (a INT PRIMARY KEY, b INT)");
            let answer = run(session, "INSERT INTO t VALUES (1, 1), (2, 2)");
            assert_eq!((answer.reply, answer.transaction, answer.warnings), (done(2), Open::No, 0));
            assert_eq!(run(session, "BEGIN").transaction, Open::Yes);
            assert_eq!(run(session, "BEGIN").warnings, 0, "a warning that is a notice");
            let answer = run(session, "UPDATE t SET b = 1");
            assert_eq!((answer.reply, answer.transaction), (done(2), Open::Yes));
            let answer = run(session, "DELETE FROM t WHERE a = 2 RETURNING b");
            assert!(matches!(&answer.reply, RawReply::Rows(rows) if rows.texts() == ["(1)"]), "{answer:?}");
            let answer = run(session, "INSERT INTO t VALUES (1, 1)");
            assert_eq!((state(&answer), answer.transaction), ("23505", Open::Failed));
            let answer = run(session, "SELECT 1");
            assert_eq!((state(&answer), answer.transaction), ("25P02", Open::Failed));
            let answer = run(session, "COMMIT");
            assert_eq!((answer.reply, answer.transaction), (RawReply::RolledBack, Open::No));
            assert_eq!(texts(session, "SELECT * FROM t ORDER BY a"), ["(1, 1)", "(2, 2)"]);
            for end in ["COMMIT", "ROLLBACK"] {
                run(session, "BEGIN");
                assert_eq!(run(session, end).reply, done(0), "{end}");
            }
            assert_eq!(
                demand_rows(session, "SELECT FROM generate_series(1, 3)", SILENCE).unwrap().columns(),
                []
            );
            // Several statements in one text: the last one's answer, or the first error.
            let answer = run(session, "BEGIN; SELECT 1; UPDATE t SET b = 3");
            assert_eq!((answer.reply, answer.transaction), (done(2), Open::Yes));
            assert_eq!(state(&run(session, "SELECT 1/0; SELECT 2")), "22012");
            run(session, "ROLLBACK");
            assert_eq!(run(session, "").reply, done(0));
            assert_eq!(run(session, " -- nothing").reply, done(0));
            // What a step says to its client is no answer.
            assert_eq!(
                run(session, "DO $$ BEGIN RAISE LOG 'ProcSleep'; RAISE WARNING 'w'; END $$").reply,
                done(0)
            );
            // COPY neither hangs nor breaks the session.
            assert_eq!(state(&run(session, "COPY t FROM STDIN")), "57014");
            assert_eq!(texts(session, "COPY (SELECT 1, 2) TO STDOUT"), ["('1\t2')"]);
            assert_eq!(texts(session, "SELECT 1"), ["(1)"]);
            server.drop_schema().unwrap();
        }
    });
}

#[test]
fn passwords() {
    on_each(&VERSIONS, |own| {
        let mut server = Postgres::open(own, "login", Settle::Sql);
        let mut root = server.connect().unwrap();
        let root = root.as_mut();
        let hba = &texts(root, "SHOW hba_file")[0].clone();
        let hba = PathBuf::from(hba.trim_matches(['(', ')', '\'']));
        let before = fs::read_to_string(&hba).unwrap();
        let put = |root: &mut dyn Session, text: &str| {
            fs::write(&hba, text).unwrap();
            demand(root, "SELECT pg_reload_conf()", SILENCE).unwrap();
        };
        let connect = |user: &str, password: &str| PgConnectOptions {
            address: own.address.clone(),
            login: Login { user: user.to_string(), password: password.to_string(), ..Login::default() },
            database: "postgres".to_string(),
            settings: Vec::new(),
        };
        for (method, encryption) in [("scram-sha-256", "scram-sha-256"), ("md5", "md5"), ("password", "md5")]
        {
            let user = format!("isopod_{}", method.replace('-', "_"));
            run(root, &format!("DROP ROLE IF EXISTS {user}"));
            demand(root, &format!("SET password_encryption = '{encryption}'"), SILENCE).unwrap();
            demand(root, &format!("CREATE ROLE {user} LOGIN PASSWORD 'se''cret'"), SILENCE).unwrap();
            put(root, &format!("local all {user} {method}\n{before}"));
            // The server reads it when it likes.
            let begun = Instant::now();
            while PgSession::connect(&connect(&user, "wrong"), &WaitNotices::default()).is_ok() {
                assert!(begun.elapsed() < SILENCE, "{method} is not asked for");
            }
            let mut session =
                PgSession::connect(&connect(&user, "se'cret"), &WaitNotices::default()).unwrap();
            assert_eq!(texts(&mut session, "SELECT current_user"), [format!("('{user}')")]);
            for wrong in ["wrong", ""] {
                match PgSession::connect(&connect(&user, wrong), &WaitNotices::default()) {
                    Err(ConnectError::Refused { reason, .. }) => {
                        assert!(reason.contains("28P01"), "{reason}")
                    }
                    other => panic!("{other:?}"),
                }
            }
            drop(session);
            put(root, &before);
            run(root, &format!("DROP ROLE {user}"));
        }
        server.drop_schema().unwrap();
    });
}

#[test]
fn a_wait_is_known_and_names_its_blockers() {
    on_each(&VERSIONS, |own| {
        for (settle, how) in BOTH {
            let mut table = Table::of(Postgres::open(own, &format!("waits_{how}"), settle), 4);
            assert_eq!(table.monitor.how(), how);
            table.now(0, "CREATE TABLE t (a INT PRIMARY KEY, b INT)");
            table.now(0, "INSERT INTO t VALUES (1, 1), (5, 5)");
            for _ in 0..30 {
                (0..3).for_each(|session| drop(table.now(session, "BEGIN")));
                table.now(0, "UPDATE t SET b = b + 1 WHERE a = 1");
                table.waits(1, "UPDATE t SET b = b + 1 WHERE a = 1");
                // A waiter that has written nothing, behind another one.
                table.waits(2, "SELECT * FROM t WHERE a = 1 FOR SHARE");
                let ids = [table.id(1), table.id(2)];
                let blockers = table.monitor.blockers(&ids);
                assert_eq!(blockers, [[table.id(0)], [table.id(1)]]);
                // Both wake: the first lets the other past before it locks the row's new version. Whoever loses
                // waits again, in the same statement.
                let answers = table.send(0, "COMMIT");
                let mut who: Vec<usize> = answers.iter().map(|(session, _)| *session).collect();
                who.sort_unstable();
                assert!(who == [0, 1] || who == [0, 2], "{who:?}");
                let (winner, loser) = (who[1], 3 - who[1]);
                assert_eq!(table.monitor.blockers(&[table.id(loser)]), [[table.id(winner)]]);
                assert_eq!(table.send(winner, "COMMIT").len(), 2);
                table.now(loser, "COMMIT");
            }
            // A unique value that another transaction has not yet committed; advisory locks; a whole table.
            for (first, second) in [
                ("INSERT INTO t VALUES (3, 3)", "INSERT INTO t VALUES (3, 4)"),
                ("SELECT pg_advisory_xact_lock(1)", "SELECT pg_advisory_xact_lock(1)"),
                ("SELECT * FROM t", "ALTER TABLE t ADD c INT"),
                ("LOCK TABLE t", "SELECT * FROM t"),
            ] {
                table.now(0, "BEGIN");
                table.now(0, first);
                table.waits(1, second);
                assert_eq!(table.monitor.blockers(&[table.id(1)]), [[table.id(0)]], "{how}: {second}");
                assert_eq!(table.send(0, "ROLLBACK").len(), 2, "{how}: {second}");
            }
            // A snapshot that waits for no lock but for a transaction.
            table.now(0, "BEGIN ISOLATION LEVEL SERIALIZABLE");
            table.now(0, "SELECT * FROM t");
            table.now(1, "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE");
            table.waits(1, "SELECT * FROM t");
            assert_eq!(table.monitor.blockers(&[table.id(1)]), [[table.id(0)]], "{how}");
            assert_eq!(table.send(0, "COMMIT").len(), 2, "{how}");
            table.now(1, "COMMIT");
            // A sleep is no wait, whatever the process looks like.
            assert_eq!(table.send(2, "SELECT pg_sleep(0.2)").len(), 1);
            // A wait after a wait in one statement, and one in which the notices are switched off.
            table.now(0, "BEGIN");
            table.now(3, "BEGIN");
            table.now(0, "UPDATE t SET b = 0 WHERE a = 1");
            table.now(3, "UPDATE t SET b = 0 WHERE a = 5");
            table.now(1, "SET client_min_messages = error");
            table.waits(1, "UPDATE t SET b = 9");
            assert_eq!(table.send(0, "COMMIT").len(), 1);
            assert_eq!(table.monitor.blockers(&[table.id(1)]), [[table.id(3)]], "{how}");
            assert_eq!(table.send(3, "COMMIT").len(), 2);
            assert_eq!(table.late, 0, "{how}");
            table.server.drop_schema().unwrap();
        }
    });
}

/// A cycle through queues that the server opens without an error: it lets one of the waiting past another.
#[test]
fn a_queue_that_the_server_reorders_is_not_taken_for_a_wait() {
    on_each(&VERSIONS, |own| {
        for (settle, how) in BOTH {
            let mut table = Table::of(Postgres::open(own, &format!("soft_{how}"), settle), 4);
            table.now(0, "CREATE TABLE a (a INT)");
            table.now(0, "CREATE TABLE b (a INT)");
            for round in 0..20 {
                (0..4).for_each(|session| drop(table.now(session, "BEGIN")));
                table.now(0, "LOCK TABLE a IN ACCESS SHARE MODE");
                table.now(1, "LOCK TABLE b IN ACCESS SHARE MODE");
                table.waits(2, "LOCK TABLE a IN ACCESS EXCLUSIVE MODE");
                table.waits(3, "LOCK TABLE b IN ACCESS EXCLUSIVE MODE");
                table.waits(0, "LOCK TABLE b IN ACCESS SHARE MODE");
                let answers = table.send(1, "LOCK TABLE a IN ACCESS SHARE MODE");
                assert!(!answers.is_empty(), "{how}, round {round}: {:?}", table.outstanding);
                assert!(
                    answers.iter().all(|(session, answer)| *session < 2 && answer.reply == done(0)),
                    "{answers:?}"
                );
                let mut open = vec![0, 1, 2, 3];
                while let Some(at) = open.iter().position(|session| !table.outstanding.contains(session)) {
                    table.send(open.remove(at), "ROLLBACK");
                }
                assert!(open.is_empty(), "{how}, round {round}: {open:?}");
            }
            assert_eq!(table.late, 0, "{how}");
            table.server.drop_schema().unwrap();
        }
    });
}

#[test]
fn without_rights_the_server_is_asked_in_sql() {
    on_each(&VERSIONS, |own| {
        let mut root = Postgres::open(own, "rights_root", Settle::Sql);
        let mut session = root.connect().unwrap();
        let session = session.as_mut();
        run(session, "CREATE ROLE isopod_plain LOGIN");
        demand(session, "GRANT CREATE ON DATABASE postgres TO isopod_plain", SILENCE).unwrap();
        let who = || Login { user: "isopod_plain".to_string(), ..Login::default() };
        match PgServer::open(own.options(who(), "rights", Settle::Proc), "postgres") {
            Err(ConnectError::Refused { reason, .. }) => {
                assert!(reason.contains("must be asked in SQL"), "{reason}")
            }
            other => panic!("{other:?}"),
        }
        let server = PgServer::open(own.options(who(), "rights", Settle::Sql), "postgres").unwrap();
        assert_eq!(server.info().settings["deadlock_timeout"], "1s");
        let mut table = Table::of(server, 2);
        assert_eq!(texts(table.sessions[0].as_mut(), "SHOW deadlock_timeout"), ["('1s')"]);
        table.now(0, "CREATE TABLE t (a INT PRIMARY KEY, b INT)");
        table.now(0, "INSERT INTO t VALUES (1, 1), (2, 2)");
        for _ in 0..2 {
            (0..2).for_each(|session| drop(table.now(session, "BEGIN")));
            table.now(0, "UPDATE t SET b = 0 WHERE a = 1");
            table.now(1, "UPDATE t SET b = 0 WHERE a = 2");
            table.waits(0, "UPDATE t SET b = 0 WHERE a = 2");
            assert_eq!(table.monitor.blockers(&[table.id(0)]), [[table.id(1)]]);
            let begun = Instant::now();
            let answers = table.send(1, "UPDATE t SET b = 0 WHERE a = 1");
            let mut states: Vec<&str> = answers.iter().map(|(_, answer)| state(answer)).collect();
            states.sort_unstable();
            assert_eq!(states, ["", "40P01"], "a second is waited out: {:?}", begun.elapsed());
            (0..2).for_each(|session| drop(table.now(session, "ROLLBACK")));
        }
        let id = table.id(0);
        table.server.kill(id, true).unwrap();
        assert_eq!(table.late, 0);
        table.server.drop_schema().unwrap();
        drop(table);
        demand(session, "REVOKE CREATE ON DATABASE postgres FROM isopod_plain", SILENCE).unwrap();
        demand(session, "DROP ROLE isopod_plain", SILENCE).unwrap();
        root.drop_schema().unwrap();
    });
}

/// One process of the server crashes and takes all the others with it. (The shell's parent is the session's own.)
#[test]
fn a_crash_in_one_session_is_a_dead_server() {
    on_each(&VERSIONS, |own| {
        let server = Postgres::open(own, "crash", Settle::Proc);
        let mut executor = Executor::new(
            Box::new(server),
            execute::Options { guard: execute::Guard::Trusted, ..Default::default() },
        )
        .unwrap();
        let setup = ["CREATE TABLE t (a INT PRIMARY KEY, b INT)", "INSERT INTO t VALUES (1, 1)"];
        let steps = "T1: BEGIN
                     T1: UPDATE t SET b = 2
                     T2: UPDATE t SET b = 3
                     T1: COPY (SELECT 1) TO PROGRAM 'kill -SEGV $PPID'
                     T1: COMMIT";
        let trace = executor.run(&case(&setup, steps), Level::ReadCommitted).unwrap().trace;
        let replies: Vec<&Reply> = trace.outcomes.iter().skip(2).map(|outcome| &outcome.reply).collect();
        assert_eq!(replies, [&Reply::ServerDied, &Reply::ServerDied, &Reply::NotSent]);
        assert!(executor.dead());
    });
}

/// A small generator of our own, so that a failure can be run again.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// A case in which much waits: four sessions on four rows, with a unique key that collides.
fn hot(seed: u64) -> Case {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut steps: Vec<Step> =
        (0..4).map(|session| Step { session, sql: "BEGIN".into(), expect: Vec::new() }).collect();
    for _ in 0..20 {
        let (row, other) = (dice.below(4), dice.below(6));
        let sql = match dice.below(12) {
            0..=3 => format!("UPDATE t SET b = b + 1 WHERE a = {row}"),
            4 => format!("UPDATE t SET b = b + 1 WHERE a >= {row}"),
            5 => format!("SELECT * FROM t WHERE a = {row} FOR UPDATE"),
            6 => format!("SELECT * FROM t WHERE a = {row} FOR SHARE"),
            7 => format!("DELETE FROM t WHERE a = {row}"),
            8 => format!("INSERT INTO t VALUES ({other}, 0) ON CONFLICT DO NOTHING"),
            9 => format!("INSERT INTO t VALUES ({other}, 1)"),
            10 => "SELECT * FROM t".to_string(),
            _ => "COMMIT".to_string(),
        };
        steps.push(Step { session: dice.below(4) as usize, sql, expect: Vec::new() });
    }
    Case {
        setup: Setup {
            statements: vec![
                "CREATE TABLE t (a INT PRIMARY KEY, b INT)".into(),
                "INSERT INTO t VALUES (0, 0), (1, 1), (2, 2), (3, 3)".into(),
            ],
        },
        sessions: (1..=4).map(|i| SessionSpec::plain(format!("T{i}"))).collect(),
        steps,
        ..Case::default()
    }
}

/// Many waits at all levels, each watched for a while: does one answer that was said to wait?
#[test]
fn nothing_answers_that_was_said_to_wait() {
    on_each(&VERSIONS, |own| {
        let cases = env::var("ISOPOD_TEST_PG_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
        for (settle, how) in BOTH {
            let server = Postgres::open(own, &format!("hot_{how}"), settle);
            let options = execute::Options {
                watch: Some(Duration::from_millis(2)),
                tries: 1,
                hung_after: Duration::from_secs(5),
                ..execute::Options::default()
            };
            let mut executor = Executor::new(Box::new(server), options).unwrap();
            let (mut deadlocks, mut waits, begun) = (0, Vec::new(), Instant::now());
            for seed in 0..cases {
                for level in [Level::ReadCommitted, Level::RepeatableRead, Level::Serializable] {
                    let run = executor.run(&hot(seed), level).unwrap();
                    let class =
                        |outcome: &&Outcome| outcome.error().is_some_and(|error| error.sqlstate == "40P01");
                    deadlocks += run.trace.outcomes.iter().filter(class).count();
                    let hung = run.trace.outcomes.iter().any(|outcome| outcome.reply == Reply::Hung);
                    assert!(!hung, "{how}, seed {seed}, {level}: {:?}", run.trace);
                    waits.extend(executor.timing.waits.clone());
                }
            }
            waits.sort_unstable();
            let at = |part: usize| waits[waits.len() * part / 100];
            println!(
                "{how}: {:?}, {deadlocks} deadlocks, {:?}, a wait known after {:?} (half), {:?} (99 of 100)",
                executor.counts,
                begun.elapsed(),
                at(50),
                at(99)
            );
            assert!(executor.counts.waits > cases, "{:?}", executor.counts);
            assert_eq!(executor.counts.false_decisions, 0, "{how}: {:?}", executor.counts);
        }
    });
}
