//! MDEV-34106, MySQL#114952: a statement that waits does not come back to what is changed or inserted behind it meanwhile.
//!
//! Shape: while my statement waits, another changes the table, and commits before it goes on. It is kept under its first name.

use super::{History, LevelSet, Opportunity, OpportunityKind, SetupData, changes_met, waiters, weak_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "mdev-34108",
    sort: OpportunityKind::Family,
    shape: "while a statement waits, another changes its table, and commits",
    exists: weak_levels,
    seen,
};

fn seen(history: &History<'_>, schema: &SetupData) -> LevelSet {
    let mut levels = LevelSet::NONE;
    for (mine, other) in history.concurrent().filter(|(_, other)| other.committed()) {
        let found = waiters(history, mine).any(|waiter| {
            changes_met(history, schema, waiter, other).any(|(step, _)| step.sent > waiter.sent)
        });
        if found {
            levels.extend(mine.level);
        }
    }
    levels
}
