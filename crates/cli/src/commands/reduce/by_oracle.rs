//! What is kept is the complaint of an oracle: kind, rule, statement and level.

use campaign::{
    CleanServer, Judge,
    confirm::{Suspicion, confirm},
    reducing::{self, How, Reduction},
};
use dialect::Execution;
use model::Violation;

use super::{Done, Search, over};
use crate::errors::Advised;

pub fn smaller(
    search: &mut Search<'_>,
    server: &mut CleanServer,
    judge: Judge<'_>,
    violation: &Violation,
    seen: &Execution,
) -> anyhow::Result<Done> {
    let times = search.args.confirm;
    let suspicion = Suspicion { seen, judge, violation, leftovers: None };
    let reproduction = confirm(server, &suspicion, times as u32).ok_or_else(|| {
        Advised::new(
            format!("{} did not come back {times} times in a row", violation.fingerprint),
            ["what comes only now and then cannot be reduced; try --confirm 1"],
        )
    })?;
    let (line, until) = (&search.line, search.until);
    let how = How {
        candidates: search.args.candidates,
        strategy: search.strategy,
        over: &|| over(until),
        told: &mut |trial| super::told(line, trial),
    };
    let Reduction { reproduction, tried, finished, .. } =
        reducing::reduce_finding(server, &suspicion, reproduction, how);
    Ok(Done {
        oracle: judge.oracle.name().to_string(),
        keeps: reproduction.violation.fingerprint.to_string(),
        violation: Some(reproduction.violation),
        case: reproduction.execution.case.case().clone(),
        tried,
        finished,
    })
}
