//! The story of the rows, told of traces made by hand: who wrote what, when that was committed or undone, and what reads should see.

use model::{
    Case, Cause, Level, Open, Outcome, Product, Reply, Round, RowSet, ServerInfo, SessionSpec, Setup, Step,
    Trace, Wait,
    account::{View, Writer},
    rows::Column,
    value::Kind,
};
use oracles::{Answer, mvcc::Mvcc};

fn rows(cells: &[[&str; 2]]) -> Reply {
    let column = |name: &str| Column { name: name.into(), kind: Kind::Integer, type_name: "INT".into() };
    let mut set = RowSet::new(vec![column("a"), column("b")]);
    cells.iter().flatten().for_each(|cell| set.push(Some(cell.as_bytes())));
    Reply::Rows(set)
}

fn done(affected: u64) -> Reply {
    Reply::Done { affected, matched: None }
}

/// Steps with their sessions and replies; those in `waits` wait until the step beside them.
fn run(steps: &[(usize, &str, Reply, Open)], waits: &[(usize, usize)], left: &[[&str; 2]]) -> Answer {
    let case = Case {
        sessions: vec![SessionSpec::plain("T1"), SessionSpec::plain("T2")],
        setup: Setup {
            statements: vec![
                "CREATE TABLE t (a INT PRIMARY KEY, b INT)".into(),
                "INSERT INTO t (a, b) VALUES (1, 10)".into(),
            ],
        },
        steps: steps
            .iter()
            .map(|(session, sql, ..)| Step { session: *session, sql: sql.to_string(), expect: Vec::new() })
            .collect(),
        ..Case::default()
    };
    let round = |step: usize| {
        let waiting =
            waits.iter().filter(|(of, _)| *of == step).map(|(of, _)| Wait { step: *of, blockers: vec![] });
        let waiting: Vec<Wait> = waiting.collect();
        let own = waiting.is_empty().then_some(step);
        let woken = waits.iter().filter(|(_, by)| *by == step).map(|(of, _)| *of);
        Round { cause: Cause::Sent(step), answered: own.into_iter().chain(woken).collect(), waiting }
    };
    let Reply::Rows(left) = rows(left) else { panic!("rows are rows") };
    let trace = Trace {
        server: ServerInfo {
            product: Product::Mariadb,
            version: "10.11.19".parse().unwrap(),
            version_text: String::new(),
            settings: [("innodb_snapshot_isolation".to_string(), "OFF".to_string())].into(),
            flags: Vec::new(),
        },
        level: Level::RepeatableRead,
        rounds: (0..steps.len()).map(round).collect(),
        outcomes: steps
            .iter()
            .map(|(_, _, reply, open)| Outcome { reply: reply.clone(), warnings: vec![], transaction: *open })
            .collect(),
        stalled: false,
        false_decisions: 0,
        final_state: Some(vec![("t".into(), left)]),
    };
    Answer { case, trace, aftermath: Default::default() }
}

#[test]
fn versions_say_who_wrote_them_and_what_became_of_them() {
    let seen = run(
        &[
            (0, "BEGIN", done(0), Open::Yes),
            (0, "SELECT a, b FROM t", rows(&[["1", "10"]]), Open::Yes),
            (1, "UPDATE t SET b = 20", done(1), Open::No),
            (0, "UPDATE t SET b = 30", done(1), Open::Yes),
            (0, "ROLLBACK", done(0), Open::No),
            (0, "SELECT a, b FROM t", rows(&[["1", "20"]]), Open::No),
        ],
        &[],
        &[["1", "20"]],
    );
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
    let seen = run(
        &[
            (0, "BEGIN", done(0), Open::Yes),
            (0, "SELECT a, b FROM t", rows(&[["1", "10"]]), Open::Yes),
            (1, "UPDATE t SET b = 20", done(1), Open::No),
            (0, "UPDATE t SET b = 20", done(0), Open::Yes),
            (0, "SELECT a, b FROM t", rows(&[["1", "10"]]), Open::Yes),
            (0, "COMMIT", done(0), Open::No),
        ],
        &[],
        &[["1", "20"]],
    );
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
    let seen = run(
        &[
            (0, "BEGIN", done(0), Open::Yes),
            (0, "UPDATE t SET b = 20", done(1), Open::Yes),
            (1, "SELECT a, b FROM t FOR UPDATE", rows(&[["1", "20"]]), Open::No),
            (0, "COMMIT", done(0), Open::No),
        ],
        &[(2, 3)],
        &[["1", "20"]],
    );
    let account = Mvcc::default().told_for_people(&seen, None).unwrap();
    let row = &account.tables[0].rows[0];
    assert_eq!((row[1].committed, row[1].seen.as_slice()), (Some(3), &[2][..]), "{row:?}");
    assert_eq!(account.reads.last().map(|read| (read.view, read.taken)), Some((View::Committed, 3)));
}

#[test]
fn without_a_contract_nothing_is_told() {
    let mut seen = run(&[(0, "SELECT a, b FROM t", rows(&[]), Open::No)], &[], &[]);
    seen.trace.server.product = Product::Postgres;
    assert_eq!(Mvcc::default().told_for_people(&seen, None), Err(model::Reason::NoContract));
}
