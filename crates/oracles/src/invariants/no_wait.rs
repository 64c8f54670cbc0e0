//! A locking read that was asked not to wait (NOWAIT, SKIP LOCKED) does not wait for a row.
//!
//! The manuals promise that for row locks only. So nothing is said beside statements that lock whole tables or change them, of a read that names some of
//! its tables (OF), and of one with a query inside: at SERIALIZABLE its plain reads lock, and nobody asked them not to wait.

use history::{History, StepInfo};
use model::{
    Symptom,
    sql::{LockWait, Query, QueryPart, StatementKind, TableFactor},
    verdict::evidence::Sighting,
};

use super::{InvariantViolation, exemptions};

pub fn check(history: &History<'_>, found: &mut Vec<InvariantViolation>) {
    for (number, step) in history.steps.iter().enumerate() {
        if !step.waited || !step.query().is_some_and(|query| never_waits(step, query)) {
            continue;
        }
        let locks_tables = |other: &StepInfo<'_>| {
            let kind = other.kind();
            matches!(kind, None | Some(StatementKind::Ddl | StatementKind::LockTable))
                && other.session != step.session
        };
        let by = exemptions::row_locks_only(history.trace.server.product);
        found.push(InvariantViolation {
            symptom: Symptom::NeedlessWait,
            step: Some(number),
            sighting: Sighting::AskedNotToWait,
            by: by.filter(|_| history.steps.iter().any(locks_tables)),
        });
    }
}

/// Does it ask for every lock that it takes not to be waited for?
fn never_waits(step: &StepInfo<'_>, query: &Query) -> bool {
    let asks = |wait: &Option<LockWait>| matches!(wait, Some(LockWait::Nowait | LockWait::SkipLocked));
    let [lock] = &query.locks[..] else { return false };
    let QueryPart::Select(select) = &query.first else { return false };
    let tables = select
        .from
        .iter()
        .flat_map(|from| std::iter::once(&from.first).chain(from.joins.iter().map(|join| &join.table)));
    asks(&lock.wait)
        && lock.of.is_empty()
        && query.rest.is_empty()
        && step.statement().is_some_and(|statement| statement.footprint().inner.is_empty())
        && tables.into_iter().all(|table| matches!(table, TableFactor::Table { .. }))
}
