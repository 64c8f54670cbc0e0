//! Each invariant and each kind of crash against a trace made by hand that breaks it, and against neighbours that do not.

use dialect::Execution;
use model::{
    Case, DbError, Ends, ErrorClass, IndexScan, Level, Open, Outcome, Product, Reply, Round, RoundCause,
    RowSet, ServerInfo, SessionSpec, Setup, Step, Trace, Verdict, rows::Column, value::Kind,
};
use oracles::{crash::Crash, invariants::Invariants, judge};

/// One statement of a run: who, what, and what came.
type Line<'a> = (usize, &'a str, Outcome);

fn run(product: Product, level: Level, setup: &[&str], lines: Vec<Line<'_>>) -> Execution {
    let sessions = 1 + lines.iter().map(|(session, ..)| *session).max().unwrap_or(0);
    let case = Case {
        sessions: (1..=sessions).map(|i| SessionSpec::plain(format!("T{i}"))).collect(),
        setup: Setup { statements: setup.iter().map(|text| text.to_string()).collect() },
        steps: lines
            .iter()
            .map(|(session, sql, _)| Step { session: *session, sql: sql.to_string(), expect: Vec::new() })
            .collect(),
        ..Case::default()
    };
    let trace = Trace {
        rounds: (0..lines.len())
            .map(|step| Round { cause: RoundCause::Sent(step), answered: vec![step], waiting: Vec::new() })
            .collect(),
        outcomes: lines.into_iter().map(|(_, _, outcome)| outcome).collect(),
        final_state: Some(Vec::new()),
        ..Trace::empty(ServerInfo::bare(product, "9.7.4".parse().unwrap()), level)
    };
    Execution::new(case, trace)
}

fn table(columns: &[&str], cells: &[&[Option<&str>]]) -> RowSet {
    let column =
        |name: &&str| Column { name: name.to_string(), kind: Kind::Integer, type_name: "INT".into() };
    let mut set = RowSet::new(columns.iter().map(column).collect());
    cells.iter().flat_map(|row| row.iter()).for_each(|cell| set.push(cell.map(str::as_bytes)));
    set
}

/// Rows of `t(a, b)`.
fn ab(cells: &[(&str, &str)]) -> RowSet {
    let mut set = table(&["a", "b"], &[]);
    for (a, b) in cells {
        [a, b].iter().for_each(|cell| set.push((**cell != "NULL").then_some(cell.as_bytes())));
    }
    set
}

fn rows(cells: &[(&str, &str)], transaction: Open) -> Outcome {
    Outcome { reply: Reply::Rows(ab(cells)), warnings: Vec::new(), transaction }
}

fn ok(transaction: Open) -> Outcome {
    Outcome { reply: Reply::Done { affected: 1, matched: None }, warnings: Vec::new(), transaction }
}

fn error(class: ErrorClass, ends: Ends, transaction: Open) -> Outcome {
    let error = DbError { code: 1, sqlstate: String::new(), class, ends, message: "m".into() };
    Outcome { reply: Reply::Error(error), warnings: Vec::new(), transaction }
}

fn invariants(seen: &Execution) -> Verdict {
    judge(&Invariants, seen)
}

fn rule(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Holds { by } if by.is_empty() => "holds".into(),
        Verdict::Holds { by } => {
            format!("by {}", by.iter().map(|by| by.name()).collect::<Vec<_>>().join(" "))
        }
        Verdict::Violated(violation) => {
            let print = &violation.fingerprint;
            format!("{} {} {}", print.symptom, print.cause, print.statement)
        }
        Verdict::Undecided { reason } => format!("undecided {reason}"),
    }
}

const SETUP: &[&str] =
    &["CREATE TABLE t(a INT PRIMARY KEY, b INT UNIQUE)", "INSERT INTO t VALUES (1, 10), (2, 20)"];

use Level::{ReadCommitted as RC, ReadUncommitted as RU, RepeatableRead as RR, Serializable as SER};
use Open::{No, Yes};

/// T1 writes 77 and rolls back, T2 reads in between.
fn dirty(product: Product, level: Level, read: &str, got: &[(&str, &str)], end: &str) -> Execution {
    run(
        product,
        level,
        SETUP,
        vec![
            (0, "BEGIN", ok(Yes)),
            (0, "UPDATE t SET b = 77 WHERE a = 1", ok(Yes)),
            (1, read, rows(got, No)),
            (0, end, ok(No)),
        ],
    )
}

#[test]
fn a_value_of_an_undone_writer_is_seen() {
    let seen = [("1", "77"), ("2", "20")];
    let plain = "SELECT * FROM t";
    for product in [Product::Mysql, Product::Mariadb, Product::Postgres] {
        let told = invariants(&dirty(product, RC, plain, &seen, "ROLLBACK"));
        assert_eq!(rule(&told), "aborted-read invariant select", "{product}");
    }
    let said = |level, read, got: &[(&str, &str)], end| {
        rule(&invariants(&dirty(Product::Mysql, level, read, got, end)))
    };
    assert_eq!(said(RU, plain, &seen, "ROLLBACK"), "by dirty-read");
    assert_eq!(
        said(RU, "SELECT * FROM t FOR UPDATE", &seen, "ROLLBACK"),
        "aborted-read invariant locking-select"
    );
    assert_eq!(said(RC, "SELECT b, a FROM t x", &[("77", "1")], "ROLLBACK"), "aborted-read invariant select");
    assert_eq!(said(RC, plain, &[("1", "10"), ("2", "20")], "ROLLBACK"), "holds");
    assert_eq!(said(RC, plain, &seen, "COMMIT"), "holds", "a dirty read, but not of an undone writer");
}

#[test]
fn one_s_own_undone_work_may_be_seen() {
    let seen = run(
        Product::Mysql,
        RR,
        SETUP,
        vec![
            (0, "BEGIN", ok(Yes)),
            (0, "UPDATE t SET b = 77 WHERE a = 1", ok(Yes)),
            (0, "SELECT * FROM t", rows(&[("1", "77"), ("2", "20")], Yes)),
            (0, "ROLLBACK", ok(No)),
        ],
    );
    assert_eq!(rule(&invariants(&seen)), "holds");
}

#[test]
fn going_back_to_a_savepoint_undoes_for_others() {
    let with = |last: &str| {
        let mut seen = run(
            Product::Mysql,
            RC,
            SETUP,
            vec![
                (0, "BEGIN", ok(Yes)),
                (0, "SAVEPOINT s", ok(Yes)),
                (0, "UPDATE t SET b = 77 WHERE a = 1", ok(Yes)),
                (0, last, ok(Yes)),
                (0, "COMMIT", ok(No)),
            ],
        );
        seen.trace.final_state = Some(vec![("t".into(), ab(&[("1", "77"), ("2", "20")]))]);
        rule(&invariants(&seen))
    };
    assert_eq!(with("ROLLBACK TO s"), "aborted-read invariant final");
    assert_eq!(with("RELEASE SAVEPOINT s"), "holds");
}

#[test]
fn a_value_that_nobody_wrote() {
    let with = |got: &[(&str, &str)], update: &str, level| {
        let lines = vec![(1, update, ok(No)), (0, "SELECT * FROM t", rows(got, No))];
        rule(&invariants(&run(Product::Mysql, level, SETUP, lines)))
    };
    let constant = "UPDATE t SET b = 30 WHERE a = 2";
    assert_eq!(with(&[("1", "15")], constant, RR), "value-from-nowhere invariant select");
    assert_eq!(with(&[("1", "15")], constant, RU), "value-from-nowhere invariant select");
    assert_eq!(with(&[("5", "10")], constant, RR), "value-from-nowhere invariant select");
    assert_eq!(with(&[("1", "10"), ("2", "30")], constant, RR), "holds");
    assert_eq!(with(&[("1", "15")], "UPDATE t SET b = b + 5", RR), "holds", "b is computed: nothing is said");
    assert_eq!(
        with(&[("5", "15")], "UPDATE t SET b = b + 5", RR),
        "value-from-nowhere invariant select",
        "a is not"
    );
    assert_eq!(with(&[("1", "15")], "INSERT INTO t SELECT a, b FROM t", RR), "holds");
    assert_eq!(with(&[("1", "NULL")], "INSERT INTO t(a) VALUES (1)", RR), "holds", "the default");
    assert_eq!(with(&[("1", "NULL")], constant, RR), "value-from-nowhere invariant select");
}

#[test]
fn a_unique_value_twice() {
    let with = |product, level, before: &str, read: &str, got: &[(&str, &str)]| {
        let lines = vec![
            (0, "BEGIN", ok(Yes)),
            (0, before, ok(Yes)),
            (0, read, rows(got, Yes)),
            (0, "COMMIT", ok(No)),
        ];
        rule(&invariants(&run(product, level, SETUP, lines)))
    };
    let (plain, none) = ("SELECT * FROM t", "SAVEPOINT s");
    let twice = [("1", "20"), ("2", "20")];
    assert_eq!(with(Product::Mysql, RR, none, plain, &twice), "unique-value-twice invariant select");
    assert_eq!(with(Product::Postgres, RC, none, plain, &twice), "unique-value-twice invariant select");
    assert_eq!(
        with(Product::Mysql, SER, none, plain, &[("1", "10"), ("1", "20")]),
        "primary-value-twice invariant select"
    );
    let own = "UPDATE t SET b = 20 WHERE a = 2";
    assert_eq!(with(Product::Mysql, RR, own, plain, &twice), "by mixed-snapshot");
    assert_eq!(
        with(Product::Mysql, RR, own, "SELECT * FROM t FOR UPDATE", &twice),
        "unique-value-twice invariant locking-select"
    );
    assert_eq!(with(Product::Postgres, RR, own, plain, &twice), "by own-updates");
    assert_eq!(with(Product::Postgres, SER, own, plain, &twice), "unique-value-twice invariant select");
    assert_eq!(with(Product::Mysql, RC, own, plain, &twice), "unique-value-twice invariant select");
    assert_eq!(with(Product::Mysql, RU, none, plain, &twice), "by dirty-read");
    let nothing = "UPDATE t SET b = NULL";
    assert_eq!(
        with(Product::Mysql, RC, nothing, plain, &[("1", "NULL"), ("2", "NULL")]),
        "holds",
        "NULL differs"
    );
    assert_eq!(with(Product::Mysql, RC, none, "SELECT 1, b FROM t", &[("1", "10"), ("1", "20")]), "holds");
    assert_eq!(with(Product::Mysql, RC, none, "SELECT t.a, u.b FROM t JOIN t u", &twice), "holds");
}

#[test]
fn postgres_emulates_serial_execution_of_what_commits_at_that_level() {
    let with = |end: &str, other: Option<Level>| {
        let lines = vec![
            (0, "BEGIN", ok(Yes)),
            (0, "UPDATE t SET b = 20 WHERE a = 2", ok(Yes)),
            (0, "SELECT * FROM t", rows(&[("1", "20"), ("2", "20")], Yes)),
            (1, "DELETE FROM t WHERE a = 1", ok(No)),
            (0, end, ok(No)),
        ];
        let seen = run(Product::Postgres, SER, SETUP, lines);
        let mut case = seen.case.case().clone();
        case.sessions[1].level = other;
        let seen = Execution::new(case, seen.trace);
        rule(&invariants(&seen))
    };
    assert_eq!(with("COMMIT", None), "unique-value-twice invariant select");
    assert_eq!(with("ROLLBACK", None), "by not-committed");
    assert_eq!(with("COMMIT", Some(RC)), "by mixed-levels");
}

#[test]
fn the_same_select_twice() {
    let with = |product, level, between: &str, came: Outcome, read: &str| {
        let lines = vec![
            (0, "BEGIN", ok(Yes)),
            (0, read, rows(&[("1", "10"), ("2", "20")], Yes)),
            (1, "UPDATE t SET b = 30 WHERE a = 1", ok(No)),
            (0, between, came),
            (0, read, rows(&[("1", "30"), ("2", "20")], Yes)),
            (0, "COMMIT", ok(No)),
        ];
        rule(&invariants(&run(product, level, SETUP, lines)))
    };
    let (plain, none) = ("SELECT * FROM t", "SAVEPOINT s");
    let bad = "read-not-repeatable invariant select";
    for product in [Product::Mysql, Product::Mariadb, Product::Postgres, Product::Sqlite] {
        assert_eq!(with(product, SER, none, ok(Yes), plain), bad, "{product}");
    }
    assert_eq!(with(Product::Mysql, RR, none, ok(Yes), plain), bad);
    assert_eq!(with(Product::Mysql, RR, "SELECT * FROM t FOR UPDATE", rows(&[("1", "30")], Yes), plain), bad);
    let write = "UPDATE t SET b = 30 WHERE a = 1";
    let failed = error(ErrorClass::DuplicateKey, Ends::Statement, Yes);
    assert_eq!(with(Product::Mysql, RR, write, failed, plain), bad, "a change that failed is none");
    assert_eq!(with(Product::Mysql, RR, write, ok(Yes), plain), "holds");
    assert_eq!(with(Product::Mysql, RC, none, ok(Yes), plain), "holds");
    assert_eq!(with(Product::Mysql, RR, none, ok(Yes), "SELECT * FROM t LIMIT 2"), "holds");
    assert_eq!(with(Product::Mysql, RR, none, ok(Yes), "SELECT * FROM t WHERE RAND() < 1"), "holds");
    assert_eq!(with(Product::Mysql, RR, none, ok(Yes), "SELECT * FROM t LOCK IN SHARE MODE"), "holds");
}

#[test]
fn a_change_that_a_savepoint_took_back_is_none() {
    let with = |last: &str| {
        let lines = vec![
            (0, "BEGIN", ok(Yes)),
            (0, "SELECT * FROM t", rows(&[("1", "10"), ("2", "20")], Yes)),
            (0, "SAVEPOINT s", ok(Yes)),
            (0, "UPDATE t SET b = 30 WHERE a = 1", ok(Yes)),
            (0, last, ok(Yes)),
            (0, "SELECT * FROM t", rows(&[("1", "30"), ("2", "20")], Yes)),
            (0, "ROLLBACK", ok(No)),
        ];
        rule(&invariants(&run(Product::Mysql, RR, SETUP, lines)))
    };
    assert_eq!(with("ROLLBACK TO s"), "read-not-repeatable invariant select");
    assert_eq!(with("RELEASE SAVEPOINT s"), "holds", "the whole was undone only after the read");
}

#[test]
fn going_back_behind_the_first_read_changes_what_it_saw() {
    let lines = vec![
        (0, "BEGIN", ok(Yes)),
        (0, "SAVEPOINT s", ok(Yes)),
        (0, "UPDATE t SET b = 30 WHERE a = 1", ok(Yes)),
        (0, "SELECT * FROM t", rows(&[("1", "30"), ("2", "20")], Yes)),
        (0, "ROLLBACK TO s", ok(Yes)),
        (0, "SELECT * FROM t", rows(&[("1", "10"), ("2", "20")], Yes)),
        (0, "COMMIT", ok(No)),
    ];
    assert_eq!(rule(&invariants(&run(Product::Mysql, RR, SETUP, lines))), "holds");
}

#[test]
fn indexes_must_agree() {
    let mut seen = run(Product::Mysql, RR, SETUP, vec![(0, "SELECT * FROM t", rows(&[("1", "10")], No))]);
    seen.trace.final_state = Some(vec![("t".into(), ab(&[("1", "10"), ("2", "20")]))]);
    let scan = |cells: &[(&str, &str)]| IndexScan { table: "t".into(), index: "u".into(), rows: ab(cells) };
    seen.aftermath.index_scans = vec![scan(&[("2", "20"), ("1", "10")])];
    assert_eq!(rule(&invariants(&seen)), "holds");
    seen.aftermath.index_scans = vec![scan(&[("1", "10")])];
    assert_eq!(rule(&invariants(&seen)), "index-disagrees invariant final");
}

#[test]
fn what_cannot_be_told_is_undecided() {
    let said = |setup: &[&str], sql: &str| {
        rule(&invariants(&run(Product::Mysql, RR, setup, vec![(0, sql, rows(&[("9", "9")], No))])))
    };
    assert_eq!(said(SETUP, "SELECT * FROM t, LATERAL (SELECT 1) x"), "undecided unparsed");
    assert_eq!(said(SETUP, "TRUNCATE TABLE t"), "undecided schema-changed");
    assert_eq!(said(SETUP, "SET unique_checks = 0"), "undecided settings-changed");
    assert_eq!(
        said(&["CREATE TABLE t(a INT, b INT)", "UPDATE t SET a = 1"], "SELECT * FROM t"),
        "undecided setup-not-read"
    );
    let trigger = "CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET NEW.b = 1; END";
    assert_eq!(said(&[SETUP[0], trigger], "SELECT * FROM t"), "undecided stored-program");
    let mut late = run(Product::Mysql, RR, SETUP, vec![(0, "SELECT * FROM t", rows(&[("9", "9")], No))]);
    late.trace.false_decisions = 1;
    assert_eq!(rule(&invariants(&late)), "undecided late-answer");
}

#[test]
fn every_kind_of_crash() {
    let step = |sql: &str, outcome: Outcome| {
        run(Product::Mysql, RR, SETUP, vec![(0, "BEGIN", ok(Yes)), (0, sql, outcome)])
    };
    let said = |seen: &Execution| rule(&judge(&Crash, seen));
    let update = "UPDATE t SET b = 1";
    let mut died = step(update, Outcome::bare(Reply::ServerDied));
    assert_eq!(said(&died), "crash unknown update");
    died.aftermath.log = vec![
        "2026-11-16T14:00:00Z 8 [ERROR] [InnoDB] Assertion failure: lock0lock.cc:77:x thread 1".into(),
        "14:00:00 UTC - mysqld got signal 6 ;".into(),
    ];
    assert_eq!(said(&died), "crash assertion lock0lock.cc:77 update");
    let Verdict::Violated(violation) = judge(&Crash, &died) else { panic!() };
    assert_eq!((violation.step, violation.fingerprint.level), (Some(1), Some(RR)));
    assert!(
        violation.evidence.log.iter().any(|line| line.contains("got signal 6")),
        "{:?}",
        violation.evidence
    );

    assert_eq!(said(&step(update, Outcome::bare(Reply::Hung))), "hang unknown update");
    assert_eq!(said(&step(update, Outcome::bare(Reply::ConnectionLost))), "lost-connection unknown update");
    let internal = error(ErrorClass::Internal, Ends::Statement, Yes);
    assert_eq!(said(&step("SELECT * FROM t", internal)), "internal-error 1 select");
    assert_eq!(said(&step(update, Outcome::bare(Reply::Killed))), "holds", "it waited to the end");
    assert_eq!(said(&step(update, error(ErrorClass::Deadlock, Ends::Transaction, No))), "holds");
    assert_eq!(said(&step("SHUTDOWN", Outcome::bare(Reply::ServerDied))), "by asked-for");

    let mut damaged = step(update, ok(Yes));
    damaged.aftermath.damage = vec!["t: Corrupt".into()];
    assert_eq!(said(&damaged), "corruption integrity-check final");
    let mut logged = step(update, ok(Yes));
    logged.aftermath.log = vec!["8 [ERROR] [InnoDB] Index u of t is corrupted".into()];
    assert!(said(&logged).starts_with("error-log "), "{}", said(&logged));
    logged.trace.final_state = None;
    assert!(said(&logged).starts_with("crash "), "{}: it answered, and went down", said(&logged));
    logged.trace.final_state = Some(Vec::new());
    logged.aftermath.log = vec!["8 [Note] Aborted connection 8".into()];
    assert_eq!(said(&logged), "holds");
}

#[test]
fn the_worst_is_told_and_of_several_the_one_sent_last() {
    let seen = run(
        Product::Mysql,
        RR,
        SETUP,
        vec![
            (0, "UPDATE t SET b = 1", Outcome::bare(Reply::ServerDied)),
            (1, "SELECT * FROM t", error(ErrorClass::Internal, Ends::Statement, Yes)),
            (1, "DELETE FROM t", Outcome::bare(Reply::ServerDied)),
        ],
    );
    assert_eq!(rule(&judge(&Crash, &seen)), "crash unknown delete");
}

#[test]
fn rows_come_in_the_order_that_was_asked_for() {
    const SETUP: [&str; 2] = [
        "CREATE TABLE t(a INT, b INT)",
        "INSERT INTO t VALUES (3, NULL), (2, 9), (1, 10), (2, 1), (1, 1), (0, 2), (2, 2), (3, 3)",
    ];
    let by = |product: Product, sql: &str, cells: &[(&str, &str)]| {
        let lines = vec![(0, sql, rows(cells, Open::No))];
        said(&run(product, Level::ReadCommitted, &SETUP, lines))
    };
    let mysql = |sql: &str, cells: &[(&str, &str)]| by(Product::Mysql, sql, cells);
    let sorted = [("3", "NULL"), ("2", "9"), ("1", "10")];
    let reversed = [("1", "10"), ("2", "9"), ("3", "NULL")];
    assert_eq!(mysql("SELECT * FROM t ORDER BY b", &sorted), "holds");
    assert_eq!(mysql("SELECT * FROM t ORDER BY b DESC", &reversed), "holds");
    assert_eq!(mysql("SELECT * FROM t ORDER BY b", &reversed), "wrong-order at 1");
    assert_eq!(mysql("SELECT a, b FROM t ORDER BY b DESC, a", &sorted), "wrong-order at 1");
    // Of the second key only where the first is the same.
    let tied = [("2", "1"), ("1", "1"), ("0", "2")];
    assert_eq!(mysql("SELECT * FROM t ORDER BY b", &tied), "holds");
    assert_eq!(mysql("SELECT * FROM t ORDER BY b, a", &tied), "wrong-order at 1");
    // Another column of that name, or one that is not shown.
    assert_eq!(mysql("SELECT a, -b AS b FROM t ORDER BY b", &reversed), "holds");
    let other = [("1", "1"), ("2", "2"), ("3", "3")];
    assert_eq!(mysql("SELECT a, a FROM t ORDER BY b", &other), "holds");
    let nulls_last = [("2", "9"), ("1", "10"), ("3", "NULL")];
    assert_eq!(by(Product::Postgres, "SELECT * FROM t ORDER BY b", &nulls_last), "holds");
    assert_eq!(by(Product::Postgres, "SELECT * FROM t ORDER BY b", &sorted), "wrong-order at 1");
    // PostgreSQL sorts before it locks, and says so.
    assert_eq!(by(Product::Postgres, "SELECT * FROM t ORDER BY b FOR UPDATE", &sorted), "holds by exempt");
    assert_eq!(mysql("SELECT * FROM t ORDER BY b FOR UPDATE", &reversed), "wrong-order at 1");
}

#[test]
fn a_transaction_that_only_reads_changes_nothing() {
    const TABLE: &str = "CREATE TABLE t(a INT PRIMARY KEY, b INT)";
    let changed = |begin: &str, answer: Outcome| {
        let lines = vec![(0, begin, ok(Open::Yes)), (0, "UPDATE t SET b = 1", answer)];
        said(&run(Product::Postgres, Level::ReadCommitted, &[TABLE], lines))
    };
    assert_eq!(changed("START TRANSACTION READ ONLY", ok(Open::Yes)), "missing-error at 2");
    assert_eq!(changed("START TRANSACTION", ok(Open::Yes)), "holds");
    let nothing = Outcome {
        reply: Reply::Done { affected: 0, matched: None },
        warnings: Vec::new(),
        transaction: Open::Yes,
    };
    assert_eq!(changed("START TRANSACTION READ ONLY", nothing), "holds");
}

#[test]
fn what_is_asked_not_to_wait_does_not() {
    const TABLE: &str = "CREATE TABLE t(a INT PRIMARY KEY, b INT)";
    let waits = |other: &str, sql: &str| {
        let lines = vec![
            (0, "BEGIN", ok(Open::Yes)),
            (0, other, ok(Open::Yes)),
            (1, sql, rows(&[], Open::No)),
            (0, "COMMIT", ok(Open::No)),
        ];
        let mut run = run(Product::Postgres, Level::ReadCommitted, &[TABLE], lines);
        run.trace.rounds[2].answered.clear();
        run.trace.rounds[2].waiting = vec![model::Wait { step: 2, blockers: Vec::new() }];
        run.trace.rounds[3].answered = vec![3, 2];
        said(&run)
    };
    let update = "UPDATE t SET b = 1";
    assert_eq!(waits(update, "SELECT * FROM t FOR UPDATE SKIP LOCKED"), "needless-wait at 3");
    assert_eq!(waits(update, "SELECT * FROM t FOR UPDATE NOWAIT"), "needless-wait at 3");
    assert_eq!(waits(update, "SELECT * FROM t FOR UPDATE"), "holds");
    assert_eq!(waits("LOCK TABLE t", "SELECT * FROM t FOR UPDATE NOWAIT"), "holds by exempt");
    // What is read inside was not asked.
    let inside = "SELECT * FROM t WHERE b IN (SELECT a FROM t) FOR UPDATE NOWAIT";
    assert_eq!(waits(update, inside), "holds");
}

#[test]
fn a_circle_of_waits_is_a_deadlock_and_is_ended() {
    const TABLE: &str = "CREATE TABLE t(a INT PRIMARY KEY, b INT)";
    let killed = || Outcome::bare(Reply::Killed);
    let stuck = |first: &str, detect: &str| {
        let lines = vec![
            (0, first, ok(Open::Yes)),
            (0, "UPDATE t SET b = 1 WHERE a = 1", killed()),
            (1, "UPDATE t SET b = 1 WHERE a = 2", killed()),
        ];
        let mut run = run(Product::Mysql, Level::RepeatableRead, &[TABLE], lines);
        run.aftermath.circle = vec![1, 2];
        run.trace.server.settings.insert("innodb_deadlock_detect".into(), detect.into());
        said(&run)
    };
    assert_eq!(stuck("BEGIN", "ON"), "unreported-deadlock at 3");
    assert_eq!(stuck("BEGIN", "OFF"), "holds");
    assert_eq!(stuck("LOCK TABLES t WRITE", "ON"), "unparsed");
}

/// `holds`, or the symptom and the step from 1.
fn said(seen: &Execution) -> String {
    match judge(&Invariants, seen) {
        Verdict::Holds { by } if by.is_empty() => "holds".into(),
        Verdict::Holds { .. } => "holds by exempt".into(),
        Verdict::Undecided { reason } => reason.to_string(),
        Verdict::Violated(violation) => {
            format!("{} at {}", violation.fingerprint.symptom, violation.step.map_or(0, |step| step + 1))
        }
    }
}

#[test]
fn a_column_has_the_type_that_it_has_in_the_whole_table() {
    const SETUP: [&str; 2] = ["CREATE TABLE t(a INT, b INT)", "INSERT INTO t VALUES (1, 10)"];
    let by = |product, sql: &str, kind: Kind, type_name: &str| {
        let described = ab(&[("1", "10")]);
        let mut columns = described.columns().to_vec();
        columns[1] = Column { name: columns[1].name.clone(), kind, type_name: type_name.into() };
        let mut shown = RowSet::new(columns);
        ["1", "10"].iter().for_each(|cell| shown.push(Some(cell.as_bytes())));
        let outcome = Outcome { reply: Reply::Rows(shown), warnings: Vec::new(), transaction: Open::No };
        let mut seen = run(product, Level::RepeatableRead, &SETUP, vec![(0, sql, outcome)]);
        seen.trace.final_state = Some(vec![("t".into(), described)]);
        said(&seen)
    };
    for product in [Product::Mysql, Product::Mariadb, Product::Postgres] {
        assert_eq!(by(product, "SELECT a, b FROM t", Kind::Integer, "INT"), "holds", "{product}");
        for (kind, type_name) in [(Kind::Integer, "BIGINT"), (Kind::Text, "VARCHAR")] {
            let wrong = by(product, "SELECT a, b FROM t", kind, type_name);
            assert_eq!(wrong, "wrong-types at 1", "{product} {type_name}");
            // What is computed has a type of its own.
            assert_eq!(by(product, "SELECT a, b + 0 FROM t", kind, type_name), "holds", "{product}");
        }
    }
    assert_eq!(by(Product::Sqlite, "SELECT a, b FROM t", Kind::Text, "text"), "holds");
}
