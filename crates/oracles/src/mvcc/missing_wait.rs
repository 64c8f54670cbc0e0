//! A wait that was due and did not come: is anything damaged by it?
//!
//! A statement that did not wait may still have done what it would have done after waiting, and then nobody can tell. So the trace is
//! replayed as if it had waited: its answer, and whatever its session did next, come after the end of the transaction that it
//! should have waited for. What the model says to that is the damage: rows, a count or a final state that are not
//! what waiting would have given.
//!
//! ```text
//! T1: UPDATE t SET b = b + 1      1 row                T1: UPDATE t SET b = b + 1      1 row
//! T2: UPDATE t SET b = b + 1      1 row                T2: UPDATE t SET b = b + 1      waits
//! T1: COMMIT                                   as if   T1: COMMIT                      T2: 1 row
//! in the end b = 1                                     in the end b = 1, and it should be 2
//! ```
//!
//! If two should have waited for each other, one of them had to give way: that is damage, too. If nothing shows, the case is run further: the one who should have waited writes and both read, and the other one commits or
//! rolls back. If nothing shows then, the verdict is undecided: `lock-suspect`.

use dialect::{Execution, sql::print_expr};
use history::History;
use model::{
    Case, Reason, Round, RoundCause, Step, Symptom, Trace, Verdict, Violation, Wait, sql::Statement,
    verdict::evidence::Damage,
};

use super::{
    KnownDeviation, Mvcc,
    judgement::Judgement,
    schema::{Schema, Table},
};
use crate::{Ask, Conversation, Request};

pub const SUSPECT: Reason = Reason::LockSuspect;

/// At most this many missing waits of one trace are replayed as if they had come.
const MAX_MISSING: usize = 4;

/// A wait that was due and did not come.
#[derive(Clone, Debug)]
pub struct MissingWait {
    /// What would be said if that alone were wrong.
    pub violation: Violation,
    /// The step that did not wait.
    pub step: usize,
    /// The session that it should have waited for.
    pub other: usize,
}

impl Mvcc {
    /// What it says of a run in which these deviations explain nothing; of a missing wait, what that damages.
    pub(super) fn with_damage(&self, seen: &Execution, without: &[&'static KnownDeviation]) -> Judgement {
        self.as_if_waited(seen, without, &mut Vec::new())
    }

    /// `others`: who should have waited for whom in the trace from which this one was made.
    fn as_if_waited(
        &self,
        seen: &Execution,
        without: &[&'static KnownDeviation],
        others: &mut Vec<(usize, usize)>,
    ) -> Judgement {
        let judgement = self.judgement(seen, without);
        let Some(mut missing) = judgement.missing_wait else { return judgement };
        let session = seen.case.steps[missing.step].session;
        if circle(others, session, missing.other) {
            missing.violation.evidence.damage = Some(Damage::Circle);
            return Judgement::violated(missing.violation);
        }
        let again = match others.len() < MAX_MISSING {
            true => {
                let history = History::new(&seen.case, &seen.trace);
                trace_as_if_waited(&history, missing.step, missing.other)
            }
            false => None,
        };
        if let Some(trace) = again {
            others.push((session, missing.other));
            let again = seen.with_trace(trace);
            if let Verdict::Violated(damage) = self.as_if_waited(&again, without, others).verdict
                && damage.fingerprint.deviations().is_none()
                && damage.fingerprint.symptom != Symptom::NeedlessWait
            {
                missing.violation.evidence.damage = Some(Damage::AsIfWaited(Box::new(damage)));
                return Judgement::violated(missing.violation);
            }
        }
        Judgement { missing_wait: Some(missing), ..Judgement::undecided(SUSPECT) }
    }

    /// The runs that may show what a missing wait damages.
    pub(super) fn continuations(&self, seen: &Execution, missing: &MissingWait) -> Vec<Request> {
        let server = &seen.trace.server;
        let setup = self.schemas.get(server, &seen.case.parsed_setup);
        match setup.schema.as_ref() {
            Ok(schema) => continuations(seen, schema, missing.step, missing.other),
            Err(_) => Vec::new(),
        }
    }
}

/// Does a wait of this session for the other one close a circle?
fn circle(missing: &[(usize, usize)], session: usize, other: usize) -> bool {
    let mut at = vec![other];
    for _ in 0..=missing.len() {
        let next = missing.iter().filter(|(waiter, _)| at.contains(waiter)).map(|(_, holder)| *holder);
        at.extend(next.collect::<Vec<_>>());
    }
    at.contains(&session)
}

/// Is it only suspected that a lock is missing?
pub fn suspects(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Undecided { reason } if *reason == SUSPECT)
}

/// Asks for runs that go on where a wait is missing.
pub struct Talk {
    asks: Option<Vec<Request>>,
    missing: MissingWait,
}

impl Talk {
    /// With these runs in mind.
    pub fn new(asks: Vec<Request>, missing: MissingWait) -> Talk {
        Talk { asks: Some(asks).filter(|asks| !asks.is_empty()), missing }
    }
}

impl Conversation for Talk {
    fn next(&mut self, answers: &[Execution]) -> Ask {
        if let Some(asks) = self.asks.take() {
            return Ask::Run(asks);
        }
        let model = Mvcc::default();
        for answer in answers.iter().filter(|answer| answer.trace.false_decisions == 0) {
            let MissingWait { violation, step, .. } = &self.missing;
            // It must be the same statement that does not wait, and something must be damaged by it.
            if let Verdict::Violated(damage) = model.with_damage(answer, &[]).verdict
                && damage.fingerprint.symptom == violation.fingerprint.symptom
                && damage.step == Some(*step)
            {
                let steps = answer.case.steps[step + 1..].iter().map(|step| step.sql.clone()).collect();
                let mut violation = violation.clone();
                let then = damage.evidence.damage.map(Box::new);
                violation.evidence.damage = Some(Damage::RunOn { steps, then });
                return Ask::Done(Verdict::Violated(violation));
            }
        }
        Ask::Done(Verdict::Undecided { reason: SUSPECT })
    }
}

/// The trace as if a step had waited until a session's transaction ended; none if that did not end.
fn trace_as_if_waited(history: &History<'_>, step: usize, other: usize) -> Option<Trace> {
    let (case, trace) = (history.case, history.trace);
    let session = case.steps[step].session;
    let answered = history.steps[step].answered;
    let (began, ended) = (answered.round(), history.open_at(other, answered)?.end.round());
    if ended <= began || ended >= trace.rounds.len() {
        return None;
    }
    let mut moved = trace.clone();
    moved.rounds[began].answered.retain(|answered| *answered != step);
    moved.rounds[began].waiting.push(Wait { step, blockers: vec![other] });
    moved.rounds[ended].answered.push(step);
    let own = |round: &Round| match round.cause {
        RoundCause::Sent(step) => case.steps[step].session == session,
        RoundCause::RolledBack(of) | RoundCause::Killed(of) => of == session,
        RoundCause::Timeout => false,
    };
    let (own, others): (Vec<Round>, Vec<Round>) =
        moved.rounds.drain(began + 1..=ended).partition(|round| own(round));
    let rest = moved.rounds.split_off(began + 1);
    moved.rounds.extend(others);
    moved.rounds.extend(own);
    moved.rounds.extend(rest);
    Some(moved)
}

/// Runs that go on from there: the other one commits in one and rolls back in the other.
pub fn continuations(seen: &Execution, schema: &Schema, step: usize, other: usize) -> Vec<Request> {
    let session = seen.case.steps[step].session;
    let product = seen.trace.server.product;
    let Some(tree) = seen.case.tree(step) else { return Vec::new() };
    let filter = match tree {
        Statement::Update(update) => update.filter.as_ref(),
        Statement::Delete(delete) => delete.filter.as_ref(),
        Statement::Query(query) => match &query.first {
            model::sql::QueryPart::Select(select) => select.filter.as_ref(),
            model::sql::QueryPart::Paren(_) => None,
        },
        _ => None,
    };
    let target = super::table_footprint::footprint(schema, tree).target;
    let Some(table) = target.and_then(|table| schema.tables.get(table)) else { return Vec::new() };
    let step_of = |session: usize, sql: String| Step { session, sql, expect: Vec::new() };
    let one = |end: &str| {
        let mut case = Case { steps: seen.case.steps[..=step].to_vec(), ..seen.case.case().clone() };
        case.final_state.clear();
        case.fails.clear();
        case.steps.extend(writing(table).map(|column| {
            let filter =
                filter.map_or(String::new(), |filter| format!(" WHERE {}", print_expr(product, filter)));
            step_of(session, format!("UPDATE {} SET {column} = {column} + 1{filter}", table.name))
        }));
        for of in [other, session] {
            case.steps.push(step_of(of, format!("SELECT * FROM {}", table.name)));
        }
        case.steps.push(step_of(other, end.to_string()));
        case.steps.push(step_of(session, format!("SELECT * FROM {}", table.name)));
        case.steps.push(step_of(session, "COMMIT".to_string()));
        Request { case, level: seen.trace.level }
    };
    vec![one("COMMIT"), one("ROLLBACK")]
}

/// A column that can be counted up without touching a key.
fn writing(table: &Table) -> Option<&str> {
    let keys: Vec<usize> = table.uniques.iter().flatten().copied().collect();
    let refers: Vec<usize> =
        table.parents.iter().flat_map(|foreign| foreign.columns.iter().copied()).collect();
    let plain = |&at: &usize| {
        matches!(table.columns[at].ty, model::SqlType::Int { .. })
            && table.traits[at].generated.is_none()
            && !keys.contains(&at)
            && !refers.contains(&at)
    };
    (0..table.columns.len()).find(plain).map(|at| table.columns[at].name.as_str())
}
