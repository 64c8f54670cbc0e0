//! Twins on the engine with planted bugs, told to the model as if a server with known deviations had run them: what the known deviation is
//! the cause of is gone in the twin, what only looks like it stays.

mod common;

use common::runner;
use dialect::Execution;
use model::{Case, Product, Reply, RowSet, Trace, Verdict};
use oracles::mvcc::{Mvcc, named, twins::Shows};
use reference::Bug;

/// What a server does to what it shows, beside its planted bug.
type Quirk = fn(&Case, &mut Trace);

/// The case of one bug on an engine with another one, and what the twin shows: `NAME: gone`, `NAME: stays`, or why nothing.
fn shown(of: Bug, planted: Option<Bug>, on: (Product, &str), quirk: Quirk) -> String {
    let case = model::casefile::parse(of.case()).unwrap().into_case();
    let mut runner =
        runner(&planted.map_or("reference".into(), |bug| format!("reference?plant={}", bug.name())));
    let mut run = |case: &Case| {
        let level = case.sessions[0].level.unwrap();
        let mut trace = runner.run(case, level).unwrap().trace;
        (trace.server.product, trace.server.version) = (on.0, on.1.parse().unwrap());
        quirk(case, &mut trace);
        Execution::new(case.clone(), trace)
    };
    let model = Mvcc::default();
    let seen = run(&case);
    let (verdict, uses) = model.account(&seen, &[]);
    let (wrong, symptom, name) = match &verdict {
        Verdict::Violated(violation) if named(&violation.fingerprint).is_some() => {
            let print = &violation.fingerprint;
            (violation.step, Some(print.symptom), print.cause.to_string())
        }
        Verdict::Holds { by } if !by.is_empty() => (Some(uses[0].1), None, by.first().unwrap().to_string()),
        other => return format!("{other:?}"),
    };
    let twin = match model.twin(&seen, &uses, wrong) {
        Ok(twin) => twin,
        Err(why) => return format!("{name}: none, {why}"),
    };
    let again = run(&twin.request.case);
    match twin.shows(&model, &again, wrong, symptom) {
        Shows::Gone => format!("{name}: gone"),
        Shows::Stays(violation) => {
            assert_eq!(named(&violation.fingerprint), None, "{violation:?}");
            format!("{name}: stays")
        }
        Shows::Nothing(why) => format!("{name}: nothing, {why}"),
    }
}

const MYSQL: (Product, &str) = (Product::Mysql, "9.7.4");
const MARIADB: (Product, &str) = (Product::Mariadb, "10.11.5");

fn honest(_: &Case, _: &mut Trace) {}

/// Gives the first row of every locking read twice.
fn doubles(case: &Case, trace: &mut Trace) {
    for (step, outcome) in case.steps.iter().zip(&mut trace.outcomes) {
        if let (true, Reply::Rows(rows)) = (step.sql.contains("FOR UPDATE"), &mut outcome.reply) {
            let first: Vec<_> =
                (0..rows.columns().len()).map(|at| rows.cell(0, at).map(<[u8]>::to_vec)).collect();
            let mut more = RowSet::new(rows.columns().to_vec());
            (0..rows.len()).for_each(|row| (0..first.len()).for_each(|at| more.push(rows.cell(row, at))));
            first.iter().for_each(|cell| more.push(cell.as_deref()));
            *rows = more;
        }
    }
}

/// Counts a row too few in what T2 changes, and leaves the end open.
fn miscounts(case: &Case, trace: &mut Trace) {
    trace.final_state = None;
    for (step, outcome) in case.steps.iter().zip(&mut trace.outcomes) {
        if let (1, true, Reply::Done { affected, matched }) = (
            step.session,
            step.sql.starts_with("UPDATE") || step.sql.starts_with("DELETE"),
            &mut outcome.reply,
        ) {
            *affected = affected.saturating_sub(1);
            *matched = matched.map(|matched| matched.saturating_sub(1));
        }
    }
}

#[test]
fn what_a_known_deviation_is_the_cause_of_is_gone() {
    let said = |bug: Bug, on| shown(bug, Some(bug), on, honest);
    assert_eq!(said(Bug::NoopUpdateNoVersion, MYSQL), "noop-without-version: gone");
    assert_eq!(said(Bug::KeyChangeLeavesOldRow, MYSQL), "key-change-keeps-old-row: gone");
    assert_eq!(said(Bug::ResumedScan, MYSQL), "skipped-before-wait: gone");
    assert_eq!(said(Bug::DeleteMissesMovedRow, MYSQL), "moved-across-scan: gone");
    assert_eq!(said(Bug::DuplicateRowAfterRollback, MARIADB), "duplicate-after-rollback: gone");
}

#[test]
fn what_only_looks_like_it_stays() {
    // It does not see what it wrote itself: with a no-op that looks like MDEV-26642, but another value does not help.
    assert_eq!(
        shown(Bug::NoopUpdateNoVersion, Some(Bug::LostOwnWrite), MYSQL, honest),
        "noop-without-version: stays"
    );
    assert_eq!(
        shown(Bug::DuplicateRowAfterRollback, None, MARIADB, doubles),
        "duplicate-after-rollback: stays"
    );
    assert_eq!(shown(Bug::ResumedScan, None, MYSQL, miscounts), "skipped-before-wait: stays");
    assert_eq!(shown(Bug::DeleteMissesMovedRow, None, MYSQL, miscounts), "moved-across-scan: stays");
}
