//! What is kept is an expectation of the file that is not met, with what comes instead. Nobody knows what should come of a changed
//! statement, so only steps and rows may go that no expectation names.

use campaign::{
    CleanRuns, CleanServer,
    symptoms::{Missed, missed},
};
use dialect::Execution;
use execute::Reset;
use model::Case;
use reduce::Scope;

use super::{Done, Search};

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
    let (case, tried, finished) =
        search.without_oracle(&seen.case, product, Scope::KeepExpectations, &mut holds)?;
    let keeps: Vec<String> = wanted.iter().map(|(what, got)| format!("{what} gives {got}")).collect();
    let keeps = keeps.join("; ");
    Ok(Done { oracle: "expectations".into(), keeps, violation: None, case, tried, finished })
}
