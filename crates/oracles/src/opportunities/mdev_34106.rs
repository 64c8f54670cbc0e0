//! MDEV-34106, MySQL#114952: a statement that waits does not come back to what is changed or inserted behind it meanwhile.
//!
//! Shape: while my statement waits, another changes the table, and commits before it goes on.

use super::{
    History, Opportunity, OpportunityKind, SetupData, Transaction, changes_met, waiters, weak_levels,
};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "mdev-34106",
    sort: OpportunityKind::Family,
    shape: "while a statement waits, another changes its table, and commits",
    exists: weak_levels,
    seen,
};

fn seen(history: &History<'_>, schema: &SetupData, mine: &Transaction, other: &Transaction) -> bool {
    other.committed()
        && waiters(history, mine).any(|waiter| {
            changes_met(history, schema, waiter, other).any(|(step, _)| step.sent > waiter.sent)
        })
}
