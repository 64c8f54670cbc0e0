//! MySQL#104833, MDEV-26643: an UPDATE judges a row by its old version, passes it by, waits at the next and never comes back.
//!
//! Shape: the other has changed, in at least two rows, a column that my UPDATE's condition reads; my UPDATE waits; the other commits.

use model::sql::StatementKind;

use super::{History, LevelSet, Opportunity, OpportunityKind, SetupData, weak_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "mysql-104833",
    sort: OpportunityKind::Family,
    shape: "an UPDATE waits for a commit that changes what its condition reads",
    exists: weak_levels,
    seen,
};

fn seen(history: &History<'_>, _: &SetupData) -> LevelSet {
    let mut levels = LevelSet::NONE;
    for (mine, other) in history.concurrent().filter(|(_, other)| other.committed()) {
        for waiter in history.steps_of(mine).filter(|step| {
            step.waited && step.is(StatementKind::Update) && (step.succeeded() || step.refused())
        }) {
            let Some(access) = waiter.access() else { continue };
            let rows: u64 = history
                .steps_of(other)
                .filter(|step| step.is(StatementKind::Update) && step.answered < waiter.sent)
                .filter_map(|step| step.change().map(|change| (step, change)))
                .filter(|(_, change)| {
                    change.writes.iter().any(|t| access.writes(t))
                        && change.assigns_any(&access.filter_columns)
                })
                .map(|(step, _)| step.affected())
                .sum();
            if rows >= 2 && waiter.sent < other.end && other.end.round() <= waiter.answered.round() {
                levels.extend(mine.level);
            }
        }
    }
    levels
}
