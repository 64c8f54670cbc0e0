//! What is kept is an expectation of the file that is not met, with what comes instead. Nobody knows what should come of a changed
//! statement, so only steps and rows may go that no expectation names.

use campaign::{CleanRuns, CleanServer};
use execute::Reset;
use model::{Case, Execution};
use oracles::expectations::{self, Status, StepCheck};
use reduce::Scope;

use super::{Done, Search};

/// What is missed: statement or table, and what comes there.
pub type Missed = Vec<(String, String)>;

/// What a run misses of what its case expects; none if nothing.
pub fn missed(seen: &Execution) -> Option<Missed> {
    let report = expectations::check(&seen.case, &seen.trace);
    match report.status {
        Status::Surprise(_) | Status::KnownFailure => {}
        Status::Pass | Status::NothingExpected | Status::Invalid | Status::Contradiction(_) => return None,
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

/// Makes the case smaller.
pub fn smaller(
    search: &mut Search<'_>,
    server: &mut CleanServer,
    seen: &Execution,
    wanted: &Missed,
) -> anyhow::Result<Done> {
    server.set_postchecks(false);
    let level = seen.trace.level;
    let product = seen.trace.server.product;
    let mut holds = |case: &Case| {
        server.rerun(case, level, Reset::Clean).is_some_and(|run| missed(&run).as_ref() == Some(wanted))
    };
    let (case, tried, finished) = search.without_oracle(&seen.case, product, Scope::Unnamed, &mut holds)?;
    let keeps: Vec<String> = wanted.iter().map(|(what, got)| format!("{what} gives {got}")).collect();
    let keeps = keeps.join("; ");
    Ok(Done { oracle: "expectations".into(), keeps, violation: None, case, tried, finished })
}
