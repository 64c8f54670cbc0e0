//! The story of the rows, told of traces made by hand: who wrote what, when that was committed or undone, and what reads should see.

use dialect::Execution;
use model::{
    Level, Product,
    account::{View, Writer},
};
use oracles::mvcc::Mvcc;

const T: [&str; 2] = ["CREATE TABLE t (a INT PRIMARY KEY, b INT)", "INSERT INTO t (a, b) VALUES (1, 10)"];

fn run(text: &str) -> Execution {
    let server = notation::server("mariadb@10.11.19?innodb_snapshot_isolation=OFF");
    let (case, trace) = notation::trace(server, Level::RepeatableRead, &T, text);
    Execution::new(case, trace)
}

#[test]
fn versions_say_who_wrote_them_and_what_became_of_them() {
    let seen = run("T1: BEGIN => ok
         T1: SELECT a, b FROM t => (1, 10)
         T2: UPDATE t SET b = 20 => 1 row
         T1: UPDATE t SET b = 30 => 1 row
         T1: ROLLBACK => ok
         T1: SELECT a, b FROM t => (1, 20)
         final t: (1, 20)");
    let account = Mvcc::default().told_for_people(&seen, None).unwrap();
    assert!(account.whole && account.by.is_empty(), "{account:?}");
    let [row] = account.tables[0].rows.as_slice() else { panic!("{account:?}") };
    let told: Vec<_> = row
        .iter()
        .map(|version| (version.by, version.committed, version.undone, version.seen.as_slice()))
        .collect();
    assert_eq!(
        told,
        [
            (Writer::Setup, None, None, &[1][..]),
            (Writer::Step(2), Some(2), None, &[5][..]),
            (Writer::Step(3), None, Some(4), &[][..]),
        ]
    );
    assert_eq!(row[1].values.as_deref(), Some(&["1".to_string(), "20".to_string()][..]));
    let views: Vec<(usize, View, usize)> =
        account.reads.iter().map(|read| (read.step, read.view, read.taken)).collect();
    assert_eq!(views, [(1, View::Snapshot, 1), (5, View::Fresh, 5)]);
}

#[test]
fn what_a_wrong_read_should_see_follows_from_the_strict_rules() {
    // MDEV-26642: T1's UPDATE sets what is there, and the engine makes no version of it.
    let seen = run("T1: BEGIN => ok
         T1: SELECT a, b FROM t => (1, 10)
         T2: UPDATE t SET b = 20 => 1 row
         T1: UPDATE t SET b = 20 => 0 rows
         T1: SELECT a, b FROM t => (1, 10)
         T1: COMMIT => ok
         final t: (1, 20)");
    let account = Mvcc::default().told_for_people(&seen, Some(4)).unwrap();
    assert!(!account.whole && account.by.is_empty() && account.rounds == 4, "{account:?}");
    let row = &account.tables[0].rows[0];
    assert_eq!(
        (row[2].by, row[2].same, row[2].seen.as_slice()),
        (Writer::Step(3), true, &[4][..]),
        "{row:?}"
    );
    assert_eq!(row[0].seen, [1]);
    // The snapshot that it reads by is that of the first read.
    assert_eq!(
        account.reads.last().map(|read| (read.step, read.view, read.taken)),
        Some((4, View::Snapshot, 1))
    );
}

#[test]
fn a_read_that_waited_sees_what_let_it_go_on() {
    let seen = run("T1: BEGIN => ok
         T1: UPDATE t SET b = 20 => 1 row
         T2: SELECT a, b FROM t FOR UPDATE => waits
         T1: COMMIT => ok | (1, 20)
         final t: (1, 20)");
    let account = Mvcc::default().told_for_people(&seen, None).unwrap();
    let row = &account.tables[0].rows[0];
    assert_eq!((row[1].committed, row[1].seen.as_slice()), (Some(3), &[2][..]), "{row:?}");
    assert_eq!(account.reads.last().map(|read| (read.view, read.taken)), Some((View::Committed, 3)));
}

#[test]
fn without_a_contract_nothing_is_told() {
    let mut seen = run("T1: SELECT a, b FROM t => none");
    seen.trace.server.product = Product::Postgres;
    assert_eq!(Mvcc::default().told_for_people(&seen, None), Err(model::Reason::NoContract));
}
