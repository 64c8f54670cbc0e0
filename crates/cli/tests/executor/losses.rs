//! Hung statements, lost connections, dead servers: all of them outcomes.

use super::*;

#[test]
fn a_hung_statement_is_killed() {
    let impatient = Options { hung_after: Duration::from_millis(300), ..Options::default() };
    everywhere(&impatient, |runner| {
        let trace = trace(
            runner,
            TABLE,
            "T1: BEGIN
             T1: UPDATE t SET b = 10 WHERE a = 1
             T2: UPDATE t SET b = 20 WHERE a = 1
             T1: SELECT BENCHMARK(1000000000, SHA2('a', 256))
             T1: SELECT b FROM t WHERE a = 1
             T1: COMMIT",
        );
        assert_eq!(said(&trace)[3..], ["hung*", "(10)*", "0 rows"]);
        assert_eq!(story(&trace)[2..], ["sent 2: waits 2", "sent 3: 3", "sent 4: 4", "sent 5: 2 5"]);
        assert_eq!(left(&trace, "t"), ["(1, 20)", "(2, 2)", "(3, 3)"]);
    });
    let mut runner = runner("sqlite", Settle::Proc, impatient).unwrap();
    let trace = trace(
        &mut runner,
        TABLE,
        "T1: BEGIN
         T1: UPDATE t SET b = 10 WHERE a = 1
         T1: WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1000000000) SELECT count(*) FROM c
         T1: SELECT b FROM t WHERE a = 1",
    );
    assert_eq!(said(&trace), ["0 rows*", "1 row*", "hung*", "(10)*"]);
    assert_eq!(left(&trace, "t"), ["(1, 1)", "(2, 2)", "(3, 3)"]);
}

/// T2 kills T1, which is idle or waits for T2, and goes on.
fn connection_killed(runner: &mut Runner, waiting: bool) -> Trace {
    // A false decision makes a trace no evidence, and this case cannot just be run again: the number has changed.
    for _ in 0..5 {
        let id = cell(&trace(runner, TABLE, "T1: SELECT CONNECTION_ID()"), 0);
        let third = if waiting { "UPDATE t SET b = 10 WHERE a = 2" } else { "SELECT 3" };
        let steps = format!(
            "T2: BEGIN
             T2: UPDATE t SET b = 20 WHERE a = 2
             T1: BEGIN
             T1: UPDATE t SET b = 10 WHERE a = 1
             T1: {third}
             T2: KILL {id}
             T1: SELECT 1
             T1: SELECT 2
             T2: SELECT b FROM t WHERE a = 1 FOR UPDATE
             T2: COMMIT"
        );
        let trace = runner.run(&case(TABLE, &steps), Level::RepeatableRead).unwrap().trace;
        if trace.false_decisions == 0 {
            return trace;
        }
        println!("false: {:?}", story(&trace));
    }
    panic!("five false decisions in a row");
}

#[test]
fn a_lost_connection_is_an_outcome() {
    by(Settle::Proc, &Options { tries: 1, ..Options::default() }, |runner| {
        for waiting in [false, true] {
            let trace = connection_killed(runner, waiting);
            println!("{:?}\n{:?}", said(&trace), story(&trace));
            let gone = if waiting { 4 } else { 6 };
            let outcome = &trace.outcomes[gone];
            let told = class(outcome) == Some((ErrorClass::GoneAway, Ends::Session));
            assert!(told || outcome.reply == Reply::ConnectionLost, "{outcome:?}");
            assert_eq!(outcome.transaction, Open::No);
            for step in if waiting { 6..8 } else { 7..8 } {
                assert_eq!(trace.outcomes[step].reply, Reply::NotSent);
                assert!(trace.answered_in(step).is_none());
            }
            // Its transaction went with it.
            assert_eq!(said(&trace)[8..], ["(1)*", "0 rows"]);
            assert_eq!(left(&trace, "t"), ["(1, 1)", "(2, 20)", "(3, 3)"]);
        }
        assert_eq!(runner.deaths(), 0);
        assert_eq!(said(&trace(runner, TABLE, "T1: SELECT b FROM t WHERE a = 1")), ["(1)"]);
    });
}

/// Kills the server a little later, from outside.
fn end_later(runner: &mut Runner) -> thread::JoinHandle<()> {
    let pid = runner.executor().unwrap().server().pid().unwrap();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        end_process(pid);
    })
}

#[test]
fn a_dead_server_is_an_outcome_and_is_replaced() {
    everywhere(&Options::default(), |runner| {
        let plain = "T1: UPDATE t SET b = 10 WHERE a = 1";
        assert_eq!(said(&trace(runner, TABLE, plain)), ["1 row"]);
        let pid = runner.executor().unwrap().server().pid().unwrap();
        end_process(pid);
        let after = trace(runner, TABLE, plain);
        assert_eq!((said(&after), runner.deaths()), (vec!["1 row".to_string()], 1));
        assert_eq!(left(&after, "t"), ["(1, 10)", "(2, 2)", "(3, 3)"]);

        let killer = end_later(runner);
        let trace = trace(
            runner,
            TABLE,
            "T1: BEGIN
             T1: UPDATE t SET b = 10 WHERE a = 1
             T2: UPDATE t SET b = 20 WHERE a = 1
             T2: SELECT 2
             T1: SELECT BENCHMARK(1000000000, SHA2('a', 256))
             T1: COMMIT
             T3: SELECT 3",
        );
        killer.join().unwrap();
        assert_eq!(
            said(&trace)[2..],
            ["server died", "not sent", "server died", "not sent", "not sent"],
            "{:?}",
            story(&trace)
        );
        assert!(trace.final_state.is_none() && !trace.stalled);
        assert_eq!(said(&common::trace(runner, TABLE, plain)), ["1 row"]);
        assert_eq!(runner.deaths(), 2);
    });
}
