//! Traces made by hand, held against case files: each status, and each kind of outcome both met and missed.

use model::{
    Case, DbError, Ends, ErrorClass, Level, Open, Outcome, Product, Reply, Round, RoundCause, RowSet,
    ServerInfo, Trace, Wait, casefile, rows::Column, target::Settings, value::Kind,
};
use oracles::expectations::{CheckReport, CheckStatus, StepCheck, Surprise, applies, check};

fn case(text: &str) -> Case {
    casefile::parse(text).unwrap_or_else(|problems| panic!("{problems:#?}")).into_case()
}

fn server(product: Product, version: &str, settings: &[(&str, &str)]) -> ServerInfo {
    let settings: Settings =
        settings.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    ServerInfo { settings, ..ServerInfo::bare(product, version.parse().unwrap()) }
}

fn rows(kinds: &[Kind], cells: &[Option<&[u8]>]) -> RowSet {
    let column = |kind: &Kind| Column { name: "c".into(), kind: *kind, type_name: String::new() };
    let mut set = RowSet::new(kinds.iter().map(column).collect());
    cells.iter().for_each(|cell| set.push(*cell));
    set
}

fn ints(cells: &[&str]) -> RowSet {
    rows(&[Kind::Integer], &cells.iter().map(|cell| Some(cell.as_bytes())).collect::<Vec<_>>())
}

fn done(affected: u64) -> Outcome {
    Outcome::bare(Reply::Done { affected, matched: None })
}

fn selected(set: RowSet) -> Outcome {
    Outcome::bare(Reply::Rows(set))
}

fn error(class: ErrorClass, code: u32, ends: Ends, transaction: Open) -> Outcome {
    let error = DbError { code, sqlstate: String::new(), class, ends, message: String::new() };
    Outcome { reply: Reply::Error(error), warnings: Vec::new(), transaction }
}

/// A trace on MySQL 9.7.4 at RR in which these steps waited.
fn trace(outcomes: Vec<Outcome>, waited: &[usize], tables: &[(&str, RowSet)]) -> Trace {
    let rounds = (0..outcomes.len())
        .map(|step| Round {
            cause: RoundCause::Sent(step),
            answered: vec![step],
            waiting: waited.contains(&step).then(|| Wait { step, blockers: vec![] }).into_iter().collect(),
        })
        .collect();
    Trace {
        server: server(Product::Mysql, "9.7.4", &[("log_bin", "ON")]),
        level: Level::RepeatableRead,
        rounds,
        outcomes,
        stalled: false,
        false_decisions: 0,
        final_state: Some(tables.iter().map(|(name, rows)| (name.to_string(), rows.clone())).collect()),
    }
}

/// Is this outcome of a single step what the file says?
fn meets(expected: &str, outcome: Outcome, waited: bool) -> bool {
    let case = case(&format!("steps\n  T1: SELECT 1;\n => {expected}\n"));
    let waited: &[usize] = if waited { &[0] } else { &[] };
    let report = check(&case, &trace(vec![outcome], waited, &[]));
    match report.status {
        CheckStatus::Pass => true,
        CheckStatus::Surprise(Surprise::UnexpectedFailure) => false,
        status => panic!("{status:?}"),
    }
}

#[test]
fn counts_and_successes() {
    assert!(meets("ok", done(3), false));
    assert!(meets("ok", selected(ints(&[])), false));
    assert!(!meets("ok", error(ErrorClass::Deadlock, 1213, Ends::Transaction, Open::No), false));
    assert!(meets("2 rows", done(2), false));
    assert!(!meets("2 rows", done(1), false));
    assert!(!meets("0 rows", selected(ints(&[])), false));
    assert!(meets("no rows", selected(ints(&[])), false));
    assert!(!meets("no rows", done(0), false));
    assert!(!meets("no rows", selected(ints(&["1"])), false));
}

#[test]
fn rows_are_multisets_unless_ordered() {
    let got = || selected(ints(&["1", "2", "2"]));
    assert!(meets("(2) (1) (2)", got(), false));
    assert!(!meets("(1) (1) (2)", got(), false));
    assert!(!meets("(1) (2)", got(), false));
    assert!(meets("ordered (1) (2) (2)", got(), false));
    assert!(!meets("ordered (2) (1) (2)", got(), false));
    let pairs =
        || selected(rows(&[Kind::Integer, Kind::Integer], &[Some(b"1"), Some(b"2"), Some(b"3"), Some(b"4")]));
    assert!(meets("(3, 4) (1, 2)", pairs(), false));
    assert!(!meets("(1, 4) (3, 2)", pairs(), false));
    assert!(!meets("(1) (3)", pairs(), false));
}

#[test]
fn values_keep_their_bytes_and_their_kind() {
    let one = |kind: Kind, cell: Option<&[u8]>| selected(rows(&[kind], &[cell]));
    assert!(meets("(1.10)", one(Kind::Decimal, Some(b"1.10")), false));
    assert!(!meets("(1.1)", one(Kind::Decimal, Some(b"1.10")), false));
    assert!(meets("(NULL)", one(Kind::Text, None), false));
    assert!(!meets("(NULL)", one(Kind::Text, Some(b"NULL")), false));
    assert!(!meets("('')", one(Kind::Text, None), false));
    assert!(meets("('it''s')", one(Kind::Text, Some(b"it's")), false));
    assert!(meets("('2026-01-01')", one(Kind::Time, Some(b"2026-01-01")), false));
    assert!(!meets("('7')", one(Kind::Integer, Some(b"7")), false));
    assert!(meets("(x'00ff')", one(Kind::Bytes, Some(&[0, 255])), false));
    assert!(!meets("('a')", one(Kind::Bytes, Some(b"a")), false));
    assert!(meets("(x'ff')", one(Kind::Text, Some(&[255])), false));
}

#[test]
fn errors_by_class_by_number_and_by_what_they_end() {
    let deadlock = |ends, open| error(ErrorClass::Deadlock, 1213, ends, open);
    let over = || deadlock(Ends::Transaction, Open::No);
    let open = || deadlock(Ends::Statement, Open::Yes);
    assert!(meets("error deadlock", over(), false));
    assert!(meets("error 1213", over(), false));
    assert!(!meets("error lock-timeout", over(), false));
    assert!(!meets("error 1205", over(), false));
    assert!(!meets("error deadlock", done(1), false));
    assert!(meets("error deadlock, transaction over", over(), false));
    assert!(!meets("error deadlock, transaction open", over(), false));
    assert!(meets("error deadlock, transaction open", open(), false));
    assert!(!meets("error deadlock, transaction over", open(), false));
    // A new transaction is open already: the old one is over all the same.
    assert!(meets("error deadlock, transaction over", deadlock(Ends::Transaction, Open::Yes), false));
    // The dialect thinks that it goes on, the server says that it does not.
    assert!(meets("error deadlock, transaction over", deadlock(Ends::Statement, Open::No), false));
}

#[test]
fn errors_by_state_and_commits_that_roll_back() {
    let failed = |state: &str| {
        let mut outcome = error(ErrorClass::SerializationFailure, 0, Ends::Transaction, Open::Failed);
        if let Reply::Error(error) = &mut outcome.reply {
            error.sqlstate = state.to_string();
        }
        outcome
    };
    assert!(meets("error 40001", failed("40001"), false));
    assert!(!meets("error 40001", failed("40P01"), false));
    assert!(!meets("error 1213", failed("01213"), false));
    assert!(meets("error 40P01, transaction over", failed("40P01"), false));
    assert!(!meets("error 40P01, transaction open", failed("40P01"), false));
    assert!(meets("error 01004", failed("01004"), false));
    assert!(!meets("error 01004", failed("1004"), false));

    let rolled_back = || Outcome::bare(Reply::RolledBack);
    assert!(meets("rolled back", rolled_back(), false));
    assert!(meets("waits, then rolled back", rolled_back(), true));
    for other in ["ok", "0 rows", "no rows", "error other"] {
        assert!(!meets(other, rolled_back(), false), "{other}");
    }
    assert!(!meets("rolled back", done(0), false));
    assert!(!meets("rolled back", failed("25P02"), false));
}

#[test]
fn waiting_must_be_said_and_must_happen() {
    assert!(meets("waits, then 1 row", done(1), true));
    assert!(!meets("waits, then 1 row", done(2), true));
    assert!(!meets("waits, then 1 row", done(1), false));
    assert!(!meets("1 row", done(1), true));
    assert!(meets("waits", done(1), true));
    assert!(!meets("waits", done(1), false));
    assert!(meets("waits", Outcome::bare(Reply::Killed), true));
    assert!(!meets("waits, then ok", Outcome::bare(Reply::Killed), true));
}

#[test]
fn what_queues_behind_a_waiting_step_waits_and_what_has_no_session_does_not() {
    let case = case("steps\n  T1: SELECT 1;\n  T2: SELECT 2;\n  T1: SELECT 3;\n  => waits\n");
    let third = |first: Reply| {
        let outcomes = vec![Outcome::bare(first), done(0), Outcome::bare(Reply::NotSent)];
        check(&case, &trace(outcomes, &[], &[])).should.steps[2].clone()
    };
    assert_eq!(third(Reply::Killed), StepCheck::Met);
    assert!(matches!(third(Reply::ConnectionLost), StepCheck::Missed { got, .. } if got == "not sent"));
}

const KNOWN: &str = "
setup
  CREATE TABLE t(a INT);
steps
  T1: UPDATE t SET a = 1;
      => 1 row
      => [SER] 5 rows
      => [mysql@9.7 log_bin=ON] 2 rows
  T1: SELECT a FROM t;
      => (1)
  T1: SELECT 1;
final
  t => (1)
fails on
  mysql@9.., at RR:
    step 2 => (7)
  mysql log_bin=ON:
    final t => (8)
";

fn known(affected: u64, read: &str, last: &str, change: impl Fn(&mut Trace)) -> CheckReport {
    let outcomes = vec![done(affected), selected(ints(&[read])), selected(ints(&["1"]))];
    let mut trace = trace(outcomes, &[], &[("T", ints(&[last]))]);
    change(&mut trace);
    check(&case(KNOWN), &trace)
}

#[test]
fn a_known_failure_must_come_out_exactly_as_said() {
    let report = known(2, "7", "8", |_| {});
    assert_eq!(report.status, CheckStatus::KnownFailure);
    assert_eq!(report.groups, [0, 1]);
    assert_eq!(report.should.counts(), (1, 2, 1));
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["status"], "known-failure");
    assert_eq!(json["should"]["steps"][1]["missed"]["got"], "(7)");
    assert_eq!(report.known.unwrap().counts(), (3, 0, 1));
    assert_eq!(known(2, "1", "1", |_| {}).status, CheckStatus::Surprise(Surprise::UnexpectedPass));
    assert_eq!(known(2, "7", "1", |_| {}).status, CheckStatus::Surprise(Surprise::OtherFailure));
    assert_eq!(known(2, "9", "8", |_| {}).status, CheckStatus::Surprise(Surprise::OtherFailure));
    // What the groups do not mention must still be as expected: here the narrowest expectation wins.
    assert_eq!(known(1, "7", "8", |_| {}).status, CheckStatus::Surprise(Surprise::OtherFailure));
}

#[test]
fn elsewhere_the_same_case_must_hold() {
    let elsewhere = |trace: &mut Trace| trace.server = server(Product::Mariadb, "10.11.2", &[]);
    assert_eq!(known(1, "1", "1", elsewhere).status, CheckStatus::Pass);
    assert_eq!(known(2, "1", "1", elsewhere).status, CheckStatus::Surprise(Surprise::UnexpectedFailure));
    let report = known(1, "7", "1", elsewhere);
    assert_eq!(report.status, CheckStatus::Surprise(Surprise::UnexpectedFailure));
    assert!(matches!(&report.should.steps[1], StepCheck::Missed { expected, got }
        if expected.to_string() == "(1)" && got == "(7)"));
    let serializable = |trace: &mut Trace| {
        elsewhere(trace);
        trace.level = Level::Serializable;
    };
    assert_eq!(known(5, "1", "1", serializable).status, CheckStatus::Pass);
    let unread = |trace: &mut Trace| {
        elsewhere(trace);
        trace.final_state = None;
    };
    assert_eq!(known(1, "1", "1", unread).status, CheckStatus::Surprise(Surprise::UnexpectedFailure));
}

#[test]
fn only_one_group_may_fit() {
    let log_off =
        |trace: &mut Trace| trace.server.settings = Settings::from([("log_bin".into(), "off".into())]);
    assert_eq!(known(1, "7", "1", log_off).status, CheckStatus::KnownFailure);
    let older = |trace: &mut Trace| trace.server.version = "8.0.40".parse().unwrap();
    assert_eq!(known(1, "1", "8", older).status, CheckStatus::KnownFailure);
}

#[test]
fn a_false_decision_is_no_evidence() {
    assert_eq!(known(2, "7", "8", |trace| trace.false_decisions = 1).status, CheckStatus::Invalid);
}

#[test]
fn nothing_expected_is_not_a_pass() {
    let silent = case("steps\n  T1: SELECT 1;\n  => [SER] (2)\n");
    let run = |outcome| check(&silent, &trace(vec![outcome], &[], &[])).status;
    assert_eq!(run(selected(ints(&["1"]))), CheckStatus::NothingExpected);
    assert_eq!(run(Outcome::bare(Reply::ServerDied)), CheckStatus::Surprise(Surprise::UnexpectedFailure));
}

#[test]
fn a_program_can_make_a_case_that_contradicts_itself() {
    let mut case = case(KNOWN);
    case.fails[1].steps.push((1, case.steps[0].expect[0].then.clone()));
    let outcomes = vec![done(2), done(0), done(0)];
    let status = check(&case, &trace(outcomes, &[], &[])).status;
    assert!(matches!(status, CheckStatus::Contradiction(what) if what.starts_with("step 2")));
    let mut case = self::case(KNOWN);
    let mut other = case.steps[1].expect[0].clone();
    other.then.waits = true;
    case.steps[1].expect.push(other);
    let status = check(&case, &trace(vec![done(1)], &[], &[])).status;
    assert!(matches!(status, CheckStatus::Contradiction(what) if what.starts_with("step 2")));
}

#[test]
fn a_case_is_for_the_products_that_it_names() {
    assert!(applies(&case("steps\n  T1: SELECT 1;"), Product::Sqlite));
    let named = case("for mysql\nsteps\n  T1: SELECT 1;");
    assert!(applies(&named, Product::Mysql));
    assert!(!applies(&named, Product::Sqlite));
}
