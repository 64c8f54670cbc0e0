//! What stays while a case gets smaller about which no oracle complains: how two servers differ, or what an expectation misses.

use dialect::Execution;
use model::{Case, Outcome, Reply, Trace, sql::StatementKind};
use oracles::expectations::{self, CheckStatus, StepCheck};

/// What is missed: statement or table, and what comes there.
pub type Missed = Vec<(String, String)>;

/// What a run misses of what its case expects; none if nothing.
pub fn missed(seen: &Execution) -> Option<Missed> {
    let report = expectations::check(&seen.case, &seen.trace);
    match report.status {
        CheckStatus::Surprise(_) | CheckStatus::KnownFailure => {}
        CheckStatus::Pass
        | CheckStatus::NothingExpected
        | CheckStatus::Invalid
        | CheckStatus::Contradiction(_) => return None,
    }
    let got = |finding: &StepCheck| match finding {
        StepCheck::Missed { got, .. } => Some(got.clone()),
        StepCheck::Met | StepCheck::Unspecified => None,
    };
    let step = |at: usize| {
        let step = &seen.case.steps[at];
        format!("{}: {}", seen.case.sessions[step.session].name, step.sql)
    };
    let steps = report.should.steps.iter().enumerate();
    let steps = steps.filter_map(|(at, finding)| got(finding).map(|got| (step(at), got)));
    let tables = report.should.tables.iter();
    let tables = tables.filter_map(|(table, finding)| got(finding).map(|got| (table.clone(), got)));
    let all: Missed = steps.chain(tables).collect();
    (!all.is_empty()).then_some(all)
}

/// The first difference in one line; none if there is none.
pub fn difference(product: model::Product, case: &Case, one: &Trace, two: &Trace) -> Option<String> {
    for step in 0..case.steps.len() {
        let tree = dialect::sql::parse(product, &case.steps[step].sql).tree();
        let kind = StatementKind::label(tree.map(|tree| tree.kind()));
        let session = &case.sessions[case.steps[step].session];
        let level = session.level.unwrap_or(one.level).short();
        let waits = |trace: &Trace| if trace.waited(step) { "waits" } else { "does not wait" };
        if one.waited(step) != two.waited(step) {
            return Some(format!("{kind} at {level}: {} against {}", waits(one), waits(two)));
        }
        if let Some(how) = other_reply(&one.outcomes[step], &two.outcomes[step]) {
            return Some(format!("{kind} at {level}: {how}"));
        }
    }
    match (&one.final_state, &two.final_state) {
        (Some(one), Some(two)) => {
            let same = one.len() == two.len()
                && one
                    .iter()
                    .zip(two)
                    .all(|((name, rows), (other, more))| name == other && rows.same_rows(more));
            (!same).then(|| "other rows in the end".to_string())
        }
        (one, two) => {
            (one.is_some() != two.is_some()).then(|| "no rows in the end on one of them".to_string())
        }
    }
}

fn other_reply(one: &Outcome, two: &Outcome) -> Option<String> {
    match (&one.reply, &two.reply) {
        (Reply::Rows(one), Reply::Rows(two)) => (!one.same_rows(two)).then(|| "other rows".to_string()),
        (Reply::Done { affected: one, .. }, Reply::Done { affected: two, .. }) => {
            (one != two).then(|| "another count".to_string())
        }
        (one, two) => {
            let (one, two) = (word(one), word(two));
            (one != two).then(|| format!("{one} against {two}"))
        }
    }
}

fn word(reply: &Reply) -> String {
    match reply {
        Reply::Rows(_) => "rows".into(),
        Reply::Done { .. } => "done".into(),
        Reply::RolledBack => "rolled back".into(),
        Reply::Error(error) => format!("error {}", error.class.name()),
        Reply::ConnectionLost => "connection lost".into(),
        Reply::ServerDied => "server died".into(),
        Reply::Hung => "hung".into(),
        Reply::Killed => "killed".into(),
        Reply::NotSent => "not sent".into(),
    }
}
