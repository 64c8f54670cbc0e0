//! What is kept is the complaint of an oracle: kind, rule, statement and level.

use campaign::{
    Guise,
    confirm::{Suspicion, confirm},
    judge::Judge,
    reducing::{self, How, Smaller},
};
use model::{Verdict, Violation};
use oracles::{Answer, Oracle};

use super::{Done, Search, words};
use crate::asked::Server;
use crate::errors::Advised;

/// A complaint.
pub struct Complaint<'a> {
    pub oracle: &'a dyn Oracle,
    pub guise: &'a Guise,
    pub violation: Violation,
}

/// The first complaint.
pub fn complaint<'a>(
    oracles: &'a [Box<dyn Oracle>],
    guise: &Guise,
    seen: &Answer,
    server: &mut Server,
) -> Option<(&'a dyn Oracle, Violation)> {
    oracles.iter().find_map(|oracle| {
        let judge = Judge { oracle: oracle.as_ref(), guise };
        match judge.verdict(seen, server) {
            Verdict::Violated(violation) => Some((oracle.as_ref(), violation)),
            Verdict::Holds { .. } | Verdict::Undecided { .. } => None,
        }
    })
}

/// Makes the case smaller.
pub fn smaller(
    search: &mut Search<'_>,
    server: &mut Server,
    complaint: &Complaint<'_>,
    seen: &Answer,
) -> anyhow::Result<Done> {
    let Complaint { oracle, guise, violation } = complaint;
    let times = search.args.confirm;
    let judge = Judge { oracle: *oracle, guise };
    let suspicion = Suspicion { seen, judge, violation, leftovers: None };
    let confirmed = confirm(server, &suspicion, times as u32).ok_or_else(|| Advised {
        message: format!("{} did not come back {times} times in a row", violation.fingerprint.rule),
        advice: vec!["what comes only now and then cannot be made smaller; try --confirm 1".into()],
    })?;
    let (line, time) = (&search.line, search.time);
    let over = || time.over();
    let how = How {
        candidates: search.args.candidates,
        strategy: search.strategy,
        over: &over,
        told: &mut |trial| super::told(line, trial),
    };
    let Smaller { confirmed, tried, finished, .. } = reducing::smaller(server, &suspicion, confirmed, how);
    Ok(Done {
        oracle: oracle.name().to_string(),
        keeps: words(&confirmed.violation),
        violation: Some(confirmed.violation),
        case: confirmed.answer.case,
        tried,
        finished,
    })
}
