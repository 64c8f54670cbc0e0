//! A finding made by hand: a read that waited and came back with a row too few, beside a snapshot that is two rounds old.

#![allow(dead_code)] // Every test file is a crate of its own, and none needs all of this.

use dialect::Execution;
use model::{
    Account, Case, DbError, Ends, ErrorClass, Evidence, Finding, Fingerprint, Level, Open, Outcome, Product,
    Reply, Round, RoundCause, RowSet, RuleId, ServerInfo, SessionSpec, Setup, ShownBy, Step, Symptom, Trace,
    Violation, Wait,
    account::{Read, RowVersion, TableChains, View, Writer},
    rows::Column,
    sql::StatementKind,
    value::Kind,
    verdict::{self, Response},
};
use report::{
    BugReport,
    bug_report::{Elsewhere, Seen},
};

/// What nothing may get out of.
pub const NASTY: &str = "</script><img src=x onerror=alert(1)>'\"`$(reboot)`";

pub fn rows(names: &[&str], cells: &[&[Option<&str>]]) -> RowSet {
    let column =
        |name: &&str| Column { name: name.to_string(), kind: Kind::Text, type_name: "VARCHAR".into() };
    let mut set = RowSet::new(names.iter().map(column).collect());
    cells.iter().for_each(|row| row.iter().for_each(|cell| set.push(cell.map(str::as_bytes))));
    set
}

/// The same, the first column with numbers.
pub fn numbered(names: &[&str], cells: &[&[Option<&str>]]) -> RowSet {
    let set = rows(names, cells);
    let mut columns = set.columns().to_vec();
    columns[0].kind = Kind::Integer;
    let mut numbered = RowSet::new(columns);
    cells.iter().for_each(|row| row.iter().for_each(|cell| numbered.push(cell.map(str::as_bytes))));
    numbered
}

pub fn outcome(reply: Reply, transaction: Open) -> Outcome {
    Outcome { reply, warnings: Vec::new(), transaction }
}

fn done(affected: u64, open: Open) -> Outcome {
    outcome(Reply::Done { affected, matched: None }, open)
}

/// T2 waits with its locking read until T1 commits; then a row is missing.
pub fn finding(product: Product) -> BugReport {
    let step = |session: usize, sql: &str| Step { session, sql: sql.into(), expect: Vec::new() };
    let case = Case {
        title: "By hand".into(),
        sessions: vec![SessionSpec::plain("T1"), SessionSpec::plain("T2")],
        setup: Setup {
            statements: vec!["CREATE TABLE t (a INT, b TEXT)".into(), "INSERT INTO t VALUES (1, 'x')".into()],
        },
        steps: vec![
            step(0, "BEGIN"),
            step(1, "SELECT a, b FROM t"),
            step(0, "UPDATE t SET a = 2"),
            step(1, "SELECT a, b FROM t FOR UPDATE"),
            step(0, "COMMIT"),
            step(1, "DELETE FROM nothing"),
        ],
        ..Case::default()
    };
    let sent =
        |step: usize| Round { cause: RoundCause::Sent(step), answered: vec![step], waiting: Vec::new() };
    let read = outcome(Reply::Rows(rows(&["a", "b"], &[&[Some("1"), Some("x")]])), Open::No);
    let refused = DbError {
        code: 1146,
        sqlstate: "42P01".into(),
        class: ErrorClass::Syntax,
        ends: Ends::Statement,
        message: "no such table".into(),
    };
    let server = ServerInfo {
        version_text: "10.11.19-TEST".into(),
        settings: [("log_bin".to_string(), "OFF".to_string())].into(),
        flags: vec!["--datadir=/dev/shm/secret-place".into(), "--sync-binlog=0".into()],
        ..ServerInfo::bare(product, "10.11.19".parse().unwrap())
    };
    let trace = Trace {
        server: server.clone(),
        level: Level::RepeatableRead,
        rounds: vec![
            sent(0),
            sent(1),
            sent(2),
            Round {
                cause: RoundCause::Sent(3),
                answered: vec![],
                waiting: vec![Wait { step: 3, blockers: vec![0] }],
            },
            Round { cause: RoundCause::Sent(4), answered: vec![4, 3], waiting: vec![] },
            sent(5),
        ],
        outcomes: vec![
            done(0, Open::Yes),
            read,
            done(1, Open::Yes),
            outcome(Reply::Rows(rows(&["a", "b"], &[])), Open::No),
            done(0, Open::No),
            outcome(Reply::Error(refused), Open::No),
        ],
        stalled: false,
        false_decisions: 0,
        final_state: Some(vec![("t".into(), rows(&["a", "b"], &[&[Some("2"), Some("x")]]))]),
    };
    let violation = Violation {
        fingerprint: Fingerprint {
            symptom: Symptom::WrongRows,
            cause: verdict::Cause::Rule(RuleId::NewestForChanges),
            statement: ShownBy::Statement(Some(StatementKind::LockingSelect)),
            level: Some(Level::RepeatableRead),
        },
        step: Some(3),
        evidence: Box::new(Evidence {
            session: "T2".into(),
            sql: "SELECT a, b FROM t FOR UPDATE".into(),
            rule: Some(RuleId::NewestForChanges),
            expected: Some(Response::Rows(numbered(&["a", "b"], &[&[Some("2"), Some("x")]]))),
            actual: Some(Response::Outcome(Box::new(trace.outcomes[3].clone()))),
            ..Evidence::default()
        }),
    };
    let version = |by: Writer, a: &str| RowVersion {
        by,
        values: Some(vec![a.into(), "'x'".into()]),
        same: false,
        committed: None,
        undone: None,
        seen: Vec::new(),
    };
    let first = RowVersion { seen: vec![1], ..version(Writer::Setup, "1") };
    let second = RowVersion { committed: Some(4), seen: vec![3], ..version(Writer::Step(2), "2") };
    let account = Account {
        tables: vec![TableChains {
            table: "t".into(),
            columns: vec!["a".into(), "b".into()],
            rows: vec![vec![first, second]],
        }],
        reads: vec![
            Read { step: 1, view: View::Fresh, taken: 1 },
            Read { step: 3, view: View::Committed, taken: 4 },
        ],
        rounds: 4,
        whole: false,
        by: Vec::new(),
    };
    let target = format!("{product}@10.11").parse().unwrap();
    let finding = Finding {
        seed: "8F2C-91D0-55AE".parse().unwrap(),
        case: 77,
        oracle: "vote".into(),
        runs: [3, 3],
        statements: case.steps.len(),
        reduced_from: Some(31),
        ..Finding::bare("9b1f0a2c", target, violation)
    };
    BugReport {
        finding,
        execution: Execution::new(case, trace),
        isopod: "0.1.0".into(),
        date: "2026-11-18 05:50 UTC".into(),
        hunt: "isopod hunt mariadb@10.11 --seed 0000-0000-0007".into(),
        sources: |_| None,
        account: Ok(account),
        replay: "isopod run runs/1/findings/9b1f0a2c/case.iso --target x --level RR".into(),
        ready: None,
        elsewhere: vec![Elsewhere {
            server: "mariadb@11.8.6".into(),
            levels: vec![("RC".into(), "right".into()), ("RR".into(), "3 of 3 wrong".into())],
        }],
        seen: vec![Seen { server: format!("{product} 10.11.19"), level: Level::RepeatableRead, findings: 2 }],
    }
}

/// Changes the case of a finding.
pub fn edit(bug: &mut BugReport, change: impl FnOnce(&mut Case)) {
    let mut case = bug.execution.case.case().clone();
    change(&mut case);
    bug.execution =
        Execution::looked_after(case, bug.execution.trace.clone(), bug.execution.aftermath.clone());
}
