//! MySQL#104833, MDEV-26643: a statement judges a row by its old version, passes it by, waits at the next and never comes back.
//!
//! Shape: others have changed at least two rows of the table; my UPDATE or DELETE waits; one of them commits before it goes on.

use model::sql::StatementKind;

use super::{
    History, Opportunity, OpportunityKind, SetupData, StepInfo, Transaction, changes_met, waiters,
    weak_levels,
};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "mysql-104833",
    sort: OpportunityKind::Family,
    shape: "an UPDATE or DELETE waits for the commit of one that has changed its table",
    exists: weak_levels,
    seen,
};

fn seen(history: &History<'_>, schema: &SetupData, mine: &Transaction, other: &Transaction) -> bool {
    other.committed()
        && waiters(history, mine)
            .filter(|step| step.is(StatementKind::Update) || step.is(StatementKind::Delete))
            .filter(|waiter| waiter.sent < other.end && other.end.round() <= waiter.answered.round())
            .any(|waiter| {
                let rows = |other: &Transaction| rows_before(history, schema, waiter, other);
                // One row is passed by, and another waited for; the two may be of different transactions.
                let all = history.transactions.iter().filter(|one| one.session != mine.session);
                rows(other) > 0 && all.map(rows).sum::<u64>() >= 2
            })
}

/// So many rows of its table has the other changed before this statement was sent.
fn rows_before(history: &History<'_>, schema: &SetupData, waiter: &StepInfo<'_>, other: &Transaction) -> u64 {
    let met = changes_met(history, schema, waiter, other);
    met.filter(|(step, _)| step.answered < waiter.sent).map(|(step, _)| step.affected()).sum()
}
