//! Who waits, who wakes whom, and how a case ends that does not come to its own end.

use super::*;

#[test]
fn waits_wakes_and_queues() {
    everywhere(&labelled(), |runner| {
        let trace = trace(
            runner,
            TABLE,
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
        assert_eq!(
            story(&trace),
            [
                "sent 0: 0",
                "sent 1: 1",
                "sent 2: 2",
                "sent 3: waits 3 for T1",
                "sent 6: waits 6 for T1 T2",
                "sent 7: 3 7",
                "sent 4: 4",
                "sent 5: 5 6",
                "sent 8: 8",
            ]
        );
        assert_eq!(
            said(&trace),
            ["0 rows*", "1 row*", "0 rows*", "1 row*", "(20)*", "0 rows", "1 row", "0 rows", "(21)"]
        );
        assert_eq!((trace.woken_by(3), trace.woken_by(6), trace.woken_by(8)), (Some(7), Some(5), None));
        assert_eq!(left(&trace, "t"), ["(1, 21)", "(2, 2)", "(3, 3)"]);
        assert!(!trace.stalled);
    });
}

#[test]
fn one_commit_wakes_several() {
    everywhere(&labelled(), |runner| {
        let steps = "T1: BEGIN
             T1: UPDATE t SET b = 10 WHERE a = 1
             T2: SELECT b FROM t WHERE a = 1 LOCK IN SHARE MODE
             T3: SELECT b FROM t WHERE a = 1 LOCK IN SHARE MODE
             T4: SELECT b FROM t WHERE a = 1 LOCK IN SHARE MODE
             T2: SELECT 2
             T4: SELECT 4
             T1: COMMIT";
        for _ in 0..10 {
            let trace = trace(runner, TABLE, steps);
            let story = story(&trace);
            assert_eq!(story[5..], ["sent 7: 2 3 4 7", "sent 5: 5", "sent 6: 6"], "{story:?}");
            assert!(story[2] == "sent 2: waits 2 for T1", "{story:?}");
            assert_eq!(said(&trace)[2..5], ["(10)", "(10)", "(10)"]);
        }
        assert!(runner.counts().waits >= 30);
    });
}

#[test]
fn a_deadlock_ends_the_transaction() {
    everywhere(&Options::default(), |runner| {
        let trace = trace(
            runner,
            TABLE,
            "T1: BEGIN
             T1: UPDATE t SET b = 10 WHERE a = 1
             T2: BEGIN
             T2: UPDATE t SET b = 20 WHERE a = 2
             T1: UPDATE t SET b = 10 WHERE a = 2
             T2: UPDATE t SET b = 20 WHERE a = 1
             T1: INSERT INTO t VALUES (11, 11)
             T2: INSERT INTO t VALUES (12, 12)",
        );
        let victims: Vec<usize> = (4..6).filter(|&step| trace.outcomes[step].error().is_some()).collect();
        assert_eq!(victims.len(), 1, "{:?}", said(&trace));
        let victim = &trace.outcomes[victims[0]];
        assert_eq!(class(victim), Some((ErrorClass::Deadlock, Ends::Transaction)));
        assert_eq!(victim.transaction, Open::No);
        let other = 9 - victims[0];
        assert_eq!(trace.outcomes[other].transaction, Open::Yes);
        assert_eq!(story(&trace)[5], "sent 5: 4 5");
        // The next statement of the victim commits alone; the other's transaction is rolled back by us.
        let (alone, inside) = (victims[0] + 2, other + 2);
        assert_eq!(trace.outcomes[alone].transaction, Open::No);
        assert_eq!(trace.outcomes[inside].transaction, Open::Yes);
        let row = if victims[0] == 4 { "(11, 11)" } else { "(12, 12)" };
        assert_eq!(left(&trace, "t"), ["(1, 1)", row, "(2, 2)", "(3, 3)"]);
        assert!(!trace.stalled);
    });
}

#[test]
fn a_lock_timeout_ends_only_the_statement() {
    let watched = Options { watch: Some(Duration::from_secs(4)), ..Options::default() };
    everywhere(&watched, |runner| {
        let trace = trace(
            runner,
            TABLE,
            "T1: BEGIN
             T1: UPDATE t SET b = 10 WHERE a = 1
             T2: BEGIN
             T2: UPDATE t SET b = 20 WHERE a = 2
             T2: SELECT * FROM t WHERE a = 1 FOR UPDATE NOWAIT
             T2: SET innodb_lock_wait_timeout = 1
             T2: UPDATE t SET b = 20 WHERE a = 1
             T2: COMMIT",
        );
        let timeout = Some((ErrorClass::LockTimeout, Ends::Statement));
        for step in [4, 6] {
            assert_eq!(class(&trace.outcomes[step]), timeout, "{:?}", said(&trace));
            assert_eq!(trace.outcomes[step].transaction, Open::Yes);
        }
        assert_eq!(
            story(&trace)[4..],
            ["sent 4: 4", "sent 5: 5", "sent 6: waits 6", "timeout: 6", "sent 7: 7", "rolled back T1:"]
        );
        assert_eq!(left(&trace, "t"), ["(1, 1)", "(2, 20)", "(3, 3)"]);
    });
}

#[test]
fn a_stalled_case_is_ended_by_rolling_back() {
    everywhere(&Options::default(), |runner| {
        let trace = trace(
            runner,
            TABLE,
            "T1: BEGIN
             T1: UPDATE t SET b = 10 WHERE a = 1
             T2: BEGIN
             T2: UPDATE t SET b = b + 1 WHERE a = 1
             T2: SELECT b FROM t WHERE a = 1
             T2: COMMIT
             T3: UPDATE t SET b = b + 1 WHERE a = 1
             T3: SELECT b FROM t WHERE a = 1",
        );
        assert!(trace.stalled);
        assert_eq!(
            story(&trace)[3..],
            [
                "sent 3: waits 3",
                "sent 6: waits 6",
                "rolled back T1: 3",
                "sent 4: 4",
                "sent 5: 5 6",
                "sent 7: 7"
            ]
        );
        assert_eq!(said(&trace)[3..], ["1 row*", "(2)*", "0 rows", "1 row", "(3)"]);
        assert_eq!(left(&trace, "t"), ["(1, 3)", "(2, 2)", "(3, 3)"]);
    });
}

#[test]
fn what_nothing_else_helps_is_killed() {
    everywhere(&Options::default(), |runner| {
        let steps = "T1: SELECT GET_LOCK('x', 0)
             T2: SELECT GET_LOCK('x', 100)
             T2: SELECT 2
             T1: SELECT 1";
        // Twice: a lock of that kind must not be there for the next case.
        for _ in 0..2 {
            let trace = trace(runner, TABLE, steps);
            assert!(trace.stalled);
            assert_eq!(
                story(&trace),
                ["sent 0: 0", "sent 1: waits 1", "sent 3: 3", "killed T2: 1", "sent 2: 2"]
            );
            assert_eq!(said(&trace), ["(1)", "still waiting at the end", "(2)", "(1)"]);
        }
        let trace = trace(runner, TABLE, "T1: SELECT 1\nT2: SELECT GET_LOCK('x', 0)");
        assert_eq!(said(&trace)[1], "(1)");
    });
}

/// T1 and T2 hold a shared lock each and ask for the other's row. While T3 shares both rows the servers name only one of those whom a statement waits for,
/// and see no circle; which one, the first or the last, differs.
#[test]
fn a_circle_of_waits_that_the_server_does_not_report_is_noted() {
    let third = "T3: BEGIN\nT3: SELECT * FROM t WHERE a < 3 LOCK IN SHARE MODE";
    let others = "T1: BEGIN\nT1: SELECT * FROM t WHERE a = 1 LOCK IN SHARE MODE
        T2: BEGIN\nT2: SELECT * FROM t WHERE a = 2 LOCK IN SHARE MODE";
    let end = "T1: UPDATE t SET b = 7 WHERE a = 2\nT2: UPDATE t SET b = 7 WHERE a = 1";
    let noted = |target: &str, steps: String| {
        let mut runner = runner(target, Settle::Proc, Options::default())?;
        let run = runner.run(&case(TABLE, &steps), Level::RepeatableRead).unwrap();
        assert!(run.trace.false_decisions == 0, "{target}");
        Some(run.aftermath.circle)
    };
    for (target, steps) in [
        ("mariadb@10.11", format!("{third}\n{others}\n{end}")),
        ("mysql@9.7", format!("{others}\n{third}\n{end}")),
    ] {
        if let Some(circle) = noted(target, steps) {
            assert_eq!(circle, [6, 7], "{target}");
        }
    }
    // Without a third one there is nothing to note: one of the two is ended.
    if let Some(circle) = noted("mariadb@10.11", format!("{others}\n{end}")) {
        assert_eq!(circle, [0; 0]);
    }
}

/// MariaDB's purge goes round and round beside an ALTER TABLE that waits for an open change: the ALTER waits all the same, and is not hung.
#[test]
fn a_wait_beside_a_background_thread_that_never_sleeps_is_a_wait() {
    let Some(mut runner) = runner("mariadb@11.8", Settle::Proc, Options::default()) else { return };
    let steps = "T1: BEGIN
        T1: SELECT * FROM t
        T2: BEGIN
        T2: UPDATE t SET b = 3 WHERE a = 1
        T3: ALTER TABLE t ADD UNIQUE KEY k (b)
        T2: INSERT INTO t VALUES (4, 2)
        T1: UPDATE t SET b = 9 WHERE a = 1
        T2: COMMIT
        T1: COMMIT";
    let run = runner.run(&case(TABLE, steps), Level::ReadCommitted).unwrap();
    assert_eq!(said(&run.trace)[4], "error duplicate-key (1062)", "{:?}", said(&run.trace));
}
