//! The access path of a statement: the case is run once more, with EXPLAIN of the statement just before it.
//!
//! A scan that went on after a wait is explained by a cut in the order of one index, and without more the model tries all of
//! them. Where the server says which index it was, only that one may explain it. The answer counts only if the run is otherwise
//! the same.

use dialect::Execution;
use model::{Case, Outcome, Reason, Reply, Round, RoundCause, RowSet, Step, Trace};

use super::twins::Use;
use crate::Request;

/// Why it is not known, in a few words that can be counted.
pub type Why = Reason;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Path {
    /// The table itself, in the order of its clustered key.
    Table,
    Index(String),
}

/// A run in which a plan is asked for.
pub struct Plan {
    pub request: Request,
    /// The step whose plan it is.
    pub step: usize,
}

/// Asks for the plan of the first step that is explained by a scan that went on; none if there is no such step.
pub fn plan(seen: &Execution, uses: &[Use]) -> Option<Plan> {
    let (_, step) = uses.iter().find(|(by, _)| by.resumed_scan.is_some()).copied()?;
    let explain = dialect::of(seen.trace.server.product).explain?;
    let Step { session, sql, .. } = &seen.case.steps[step];
    let mut steps = seen.case.steps.clone();
    steps.insert(step, Step { session: *session, sql: format!("{explain} {sql}"), expect: Vec::new() });
    let case = Case { steps, ..seen.case.case().clone() };
    Some(Plan { request: Request { case, level: seen.trace.level }, step })
}

impl Plan {
    /// The access path in the server's plan.
    pub fn path(&self, seen: &Execution, run: &Execution) -> Result<Path, Why> {
        let said = match &run.trace.outcomes.get(self.step).ok_or(Reason::PlanNotRun)?.reply {
            Reply::Rows(said) => said,
            _ => return Err(Reason::PlanRefused),
        };
        if !same(&seen.trace, &without(&run.trace, self.step)) {
            return Err(Reason::RunWithThePlanDiffers);
        }
        path(said)
    }
}

/// The trace as if this step had not been there.
fn without(trace: &Trace, step: usize) -> Trace {
    let back = |of: usize| if of > step { of - 1 } else { of };
    let round = |round: &Round| {
        let cause = match round.cause {
            RoundCause::Sent(of) if of == step => return None,
            RoundCause::Sent(of) => RoundCause::Sent(back(of)),
            other => other,
        };
        let answered = round.answered.iter().filter(|of| **of != step).map(|of| back(*of)).collect();
        let wait = |wait: &model::Wait| model::Wait { step: back(wait.step), ..wait.clone() };
        Some(Round { cause, answered, waiting: round.waiting.iter().map(wait).collect() })
    };
    let mut outcomes = trace.outcomes.clone();
    outcomes.remove(step);
    Trace { rounds: trace.rounds.iter().filter_map(round).collect(), outcomes, ..trace.clone() }
}

/// Did the same happen? For whom a statement waited is a label.
fn same(one: &Trace, other: &Trace) -> bool {
    let reply = |(one, other): (&Outcome, &Outcome)| match (&one.reply, &other.reply) {
        (Reply::Error(one), Reply::Error(other)) => one.code == other.code,
        (one, other) => one == other,
    };
    let round = |(one, other): (&Round, &Round)| {
        let waits = |round: &Round| round.waiting.iter().map(|wait| wait.step).collect::<Vec<_>>();
        one.cause == other.cause && one.answered == other.answered && waits(one) == waits(other)
    };
    one.rounds.len() == other.rounds.len()
        && one.outcomes.len() == other.outcomes.len()
        && one.outcomes.iter().zip(&other.outcomes).all(reply)
        && one.rounds.iter().zip(&other.rounds).all(round)
}

/// The way that a plan of one line names.
fn path(said: &RowSet) -> Result<Path, Why> {
    let column = |name: &str| {
        let at = said.columns().iter().position(|column| column.name.eq_ignore_ascii_case(name))?;
        said.cell(0, at).map(|cell| String::from_utf8_lossy(cell).into_owned())
    };
    match (said.len(), column("type").as_deref(), column("key")) {
        (1, Some("ALL"), None) => Ok(Path::Table),
        // MariaDB has no type for a DELETE without a condition: it goes through the table.
        (1, None, None) if column("Extra").as_deref() == Some("Deleting all rows") => Ok(Path::Table),
        (1, Some("index_merge"), _) => Err(Reason::SeveralIndexes),
        (1, Some(_), Some(key)) => Ok(Path::Index(key)),
        (1, _, _) => Err(Reason::NoPath),
        (_, _, _) => Err(Reason::SeveralTables),
    }
}

#[cfg(test)]
mod tests {
    use model::{rows::Column, value::Kind};

    use super::*;

    fn said<const N: usize>(rows: &[[Option<&str>; N]]) -> Result<Path, Why> {
        let column = |name: &str| Column { name: name.into(), kind: Kind::Text, type_name: String::new() };
        let mut set = RowSet::new(["type", "key", "Extra"][..N].iter().map(|name| column(name)).collect());
        rows.iter().flatten().for_each(|cell| set.push(cell.map(str::as_bytes)));
        path(&set)
    }

    #[test]
    fn a_plan_names_the_way() {
        assert_eq!(said(&[[Some("ALL"), None]]), Ok(Path::Table));
        assert_eq!(said(&[[Some("range"), Some("i")]]), Ok(Path::Index("i".into())));
        assert_eq!(said(&[[Some("index_merge"), Some("i,j")]]), Err(Reason::SeveralIndexes));
        assert_eq!(said(&[[None, None]]), Err(Reason::NoPath));
        assert_eq!(said(&[[None, None, Some("Deleting all rows")]]), Ok(Path::Table));
        assert_eq!(said(&[[None, None, Some("Impossible WHERE")]]), Err(Reason::NoPath));
        assert_eq!(said(&[[Some("ALL"), None], [Some("ref"), Some("i")]]), Err(Reason::SeveralTables));
    }
}
