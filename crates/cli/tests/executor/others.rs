//! The same on servers that do it in other ways: PostgreSQL, with a process per session and a deadlock search of its
//! own, and MySQL 5.6, which does not say which thread serves whom and begins anew after a deadlock.

use super::*;

/// How each of them says what the tests need.
struct Words {
    server: &'static str,
    shared: &'static str,
    /// Works for much longer than anybody waits.
    long: &'static str,
    /// A lock by name, taken by the first and waited for by the second.
    named: [&'static str; 2],
    /// What the victim of a deadlock says, and what its next INSERT.
    victim: [&'static str; 2],
    /// For whom the second in a queue waits.
    queue: &'static str,
}

const OTHERS: [Words; 2] = [
    Words {
        server: "postgres@18",
        shared: "FOR SHARE",
        long: "SELECT count(*) FROM generate_series(1, 10000000000) n",
        named: ["SELECT pg_advisory_lock(7)", "SELECT pg_advisory_lock(7)"],
        victim: ["error deadlock (40P01), transaction over!", "(25P02)"],
        queue: "T2",
    },
    Words {
        server: "mysql@5.6",
        shared: "LOCK IN SHARE MODE",
        long: "SELECT BENCHMARK(1000000000, SHA2('a', 256))",
        named: ["SELECT GET_LOCK('x', 0)", "SELECT GET_LOCK('x', 100)"],
        victim: ["error deadlock (1213), transaction over*", "1 row*"],
        queue: "T1 T2",
    },
];

/// Runs a test on each of them, settled in both ways.
fn on_others(options: &Options, test: fn(&mut Runner, &Words)) {
    for words in &OTHERS {
        for settle in SETTLES {
            let Some(mut runner) = runner(words.server, settle, options.clone()) else { continue };
            println!("on {}, settled by {}", words.server, runner.executor().unwrap().settles_by());
            test(&mut runner, words);
        }
    }
}

/// Runs steps at READ COMMITTED, where no server refuses to change what another one has changed.
fn committed(runner: &mut Runner, steps: &str) -> Trace {
    let run = runner.run(&case(TABLE, steps), Level::ReadCommitted).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run.trace.false_decisions, 0, "{:?}", run.trace);
    run.trace
}

#[test]
fn others_wait_wake_and_queue() {
    on_others(&labelled(), |runner, words| {
        let trace = committed(
            runner,
            "T1: BEGIN
             T1: UPDATE t SET b = 10 WHERE a = 1
             T2: BEGIN
             T2: UPDATE t SET b = 20 WHERE a = 1
             T2: SELECT b FROM t WHERE a = 1
             T2: COMMIT
             T3: UPDATE t SET b = b + 1 WHERE a = 1
             T1: COMMIT
             T1: SELECT b FROM t WHERE a = 1",
        );
        let queue = format!("sent 6: waits 6 for {}", words.queue);
        // PostgreSQL: who waited for T1 lets go of its place in the queue before it looks for the new row, so that at
        // ordinary priority the one behind it may be faster.
        let overtaken = words.server.starts_with("postgres") && story(&trace)[5] == "sent 7: 3 6 7";
        let (woken, ended, last) =
            if overtaken { ("sent 7: 3 6 7", "sent 5: 5", 20) } else { ("sent 7: 3 7", "sent 5: 5 6", 21) };
        assert_eq!(
            story(&trace)[3..],
            ["sent 3: waits 3 for T1", &queue, woken, "sent 4: 4", ended, "sent 8: 8"]
        );
        assert_eq!(said(&trace)[8], format!("({last})"));
        assert_eq!(left(&trace, "t"), [&format!("(1, {last})"), "(2, 2)", "(3, 3)"]);
        let steps = format!(
            "T1: BEGIN
             T1: UPDATE t SET b = 10 WHERE a = 1
             T2: SELECT b FROM t WHERE a = 1 {0}
             T3: SELECT b FROM t WHERE a = 1 {0}
             T1: COMMIT",
            words.shared
        );
        for _ in 0..5 {
            let trace = committed(runner, &steps);
            assert_eq!(story(&trace)[2], "sent 2: waits 2 for T1");
            assert_eq!(story(&trace)[4], "sent 4: 2 3 4");
            assert_eq!(said(&trace)[2..4], ["(10)", "(10)"]);
        }
    });
}

#[test]
fn others_end_deadlocks_and_stalls() {
    on_others(&Options::default(), |runner, words| {
        let trace = committed(
            runner,
            "T1: BEGIN
             T1: UPDATE t SET b = 10 WHERE a = 1
             T2: BEGIN
             T2: UPDATE t SET b = 20 WHERE a = 2
             T1: UPDATE t SET b = 10 WHERE a = 2
             T2: UPDATE t SET b = 20 WHERE a = 1
             T1: INSERT INTO t VALUES (11, 11)
             T2: INSERT INTO t VALUES (12, 12)",
        );
        let said = said(&trace);
        assert_eq!(story(&trace)[5], "sent 5: 4 5");
        let victims: Vec<usize> = (4..6).filter(|&step| trace.outcomes[step].error().is_some()).collect();
        assert_eq!(victims.len(), 1, "{said:?}");
        assert_eq!(said[victims[0]], words.victim[0], "{said:?}");
        assert!(said[victims[0] + 2].contains(words.victim[1]), "{said:?}");
        assert_eq!(class(&trace.outcomes[victims[0]]).unwrap().0, ErrorClass::Deadlock);
        assert_eq!(left(&trace, "t"), ["(1, 1)", "(2, 2)", "(3, 3)"]);

        let trace = committed(
            runner,
            "T1: BEGIN
             T1: UPDATE t SET b = 10 WHERE a = 1
             T2: UPDATE t SET b = b + 1 WHERE a = 1",
        );
        assert!(trace.stalled);
        assert_eq!(story(&trace)[2..], ["sent 2: waits 2", "rolled back T1: 2"]);
        assert_eq!(left(&trace, "t"), ["(1, 2)", "(2, 2)", "(3, 3)"]);

        // Twice: a lock of that kind must not be there for the next case.
        let steps = format!("T1: {}\nT2: {}\nT1: SELECT 1", words.named[0], words.named[1]);
        for _ in 0..2 {
            let trace = committed(runner, &steps);
            assert_eq!(story(&trace), ["sent 0: 0", "sent 1: waits 1", "sent 2: 2", "killed T2: 1"]);
        }
    });
}

#[test]
fn others_hang_and_die() {
    let impatient = Options { hung_after: Duration::from_millis(500), ..Options::default() };
    on_others(&impatient, |runner, words| {
        let hung = format!(
            "T1: BEGIN\nT1: UPDATE t SET b = 10 WHERE a = 1\nT1: {}\nT2: SELECT b FROM t WHERE a = 1",
            words.long
        );
        let trace = committed(runner, &hung);
        assert!(said(&trace)[2].starts_with("hung"), "{:?}", said(&trace));
        assert_eq!(said(&trace)[3], "(1)");
        assert_eq!(left(&trace, "t"), ["(1, 1)", "(2, 2)", "(3, 3)"]);

        end_process(runner.executor().unwrap().server().pid().unwrap());
        assert_eq!(said(&committed(runner, "T1: SELECT b FROM t WHERE a = 1")), ["(1)"]);
        assert_eq!(runner.deaths(), 1);
    });
}

/// Then its session is ended, and what that says is not the statement's own error.
#[test]
fn a_statement_that_minds_no_cancel_is_hung_all_the_same() {
    let impatient = Options { hung_after: Duration::from_millis(500), ..Options::default() };
    let Some(mut runner) = runner("postgres@18", Settle::Proc, impatient) else { return };
    let steps = "T1: DO $$ BEGIN LOOP BEGIN PERFORM pg_sleep(100); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END $$
         T2: SELECT b FROM t WHERE a = 1";
    let trace = committed(&mut runner, steps);
    assert!(said(&trace)[0].starts_with("hung"), "{:?}", said(&trace));
    assert_eq!(said(&trace)[1], "(1)");
}

/// A case that ends the sessions of others gets a server of its own, so that the next one finds its sessions.
#[test]
fn a_case_that_ends_sessions_spoils_nothing_for_the_next() {
    let Some(mut runner) = runner("postgres@18", Settle::Proc, Options::default()) else { return };
    let innocent = "T1: SELECT b FROM t WHERE a = 1\nT2: SELECT b FROM t WHERE a = 2";
    assert_eq!(said(&committed(&mut runner, innocent)), ["(1)", "(2)"]);
    committed(
        &mut runner,
        "T1: SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() \
         AND application_name = current_setting('application_name')
         T2: SELECT 1",
    );
    assert_eq!(said(&committed(&mut runner, innocent)), ["(1)", "(2)"]);
    assert_eq!(runner.deaths(), 0);
}

/// One process of PostgreSQL that crashes takes the others along, and so is a crash of the server.
#[test]
fn a_crashed_backend_is_a_dead_server() {
    let Some(mut runner) = runner("postgres@18", Settle::Proc, Options::default()) else { return };
    let pid: u32 = cell(&committed(&mut runner, "T1: SELECT pg_backend_pid()"), 0).parse().unwrap();
    let killer = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        end_process(pid);
    });
    // The session keeps its process from case to case.
    let steps = "T2: BEGIN
         T2: UPDATE t SET b = 10 WHERE a = 1
         T1: SELECT count(*) FROM generate_series(1, 10000000000) n
         T2: COMMIT";
    let trace = committed(&mut runner, steps);
    killer.join().unwrap();
    assert_eq!(said(&trace)[2..], ["server died", "not sent"], "{:?}", story(&trace));
    assert_eq!(said(&committed(&mut runner, "T1: SELECT b FROM t WHERE a = 1")), ["(1)"]);
    assert_eq!(runner.deaths(), 1);
}

/// A wait that ends because the statement's time is over ends by itself, and was a wait all the same.
#[test]
fn a_statement_timeout_is_no_false_decision() {
    let watched = Options { watch: Some(Duration::from_secs(4)), ..Options::default() };
    for (server, limit) in
        [("postgres@18", "SET statement_timeout = 1000"), ("mariadb@10.11", "SET max_statement_time = 1")]
    {
        for settle in SETTLES {
            let Some(mut runner) = runner(server, settle, watched.clone()) else { continue };
            let steps = format!(
                "T1: BEGIN
                 T1: UPDATE t SET b = 10 WHERE a = 1
                 T2: {limit}
                 T2: UPDATE t SET b = 20 WHERE a = 1
                 T2: SELECT 1"
            );
            let trace = committed(&mut runner, &steps);
            assert_eq!(class(&trace.outcomes[3]).unwrap().0, ErrorClass::Interrupted, "{:?}", said(&trace));
            assert_eq!(story(&trace)[3..5], ["sent 3: waits 3", "timeout: 3"], "{server}");
            assert_eq!(left(&trace, "t"), ["(1, 1)", "(2, 2)", "(3, 3)"]);
        }
    }
}

#[test]
fn others_leave_nothing_for_the_next_case() {
    on_others(&Options::default(), |runner, _| {
        let innocent = "T1: SELECT * FROM t\nT2: SELECT COUNT(*) FROM t";
        for steps in [
            innocent,
            "T1: BEGIN\nT1: UPDATE t SET b = 5\nT2: DELETE FROM t WHERE a = 1",
            "T1: ALTER TABLE t ADD c INT DEFAULT 7\nT1: INSERT INTO t VALUES (7, 7, 7)",
            "T1: CREATE TEMPORARY TABLE t (x INT)\nT1: INSERT INTO t VALUES (1)",
            "T1: CREATE VIEW v AS SELECT * FROM t",
            "T1: CREATE TABLE u (a INT)\nT1: DROP TABLE t",
        ] {
            println!("{steps}");
            committed(runner, steps);
            let trace = committed(runner, innocent);
            assert_eq!(said(&trace), ["(1, 1) (2, 2) (3, 3)", "(3)"]);
        }
    });
}
