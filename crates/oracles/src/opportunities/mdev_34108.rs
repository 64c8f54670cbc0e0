//! MDEV-34108: as MySQL#104833, but the column that the waiting UPDATE's condition reads is changed only while it waits.

use model::sql::StatementKind;

use super::{History, LevelSet, Opportunity, OpportunityKind, SetupData, StepInfo, weak_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "mdev-34108",
    sort: OpportunityKind::Family,
    shape: "while an UPDATE waits, the other changes what its condition reads, and commits",
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
            let same_table = |step: &&StepInfo<'_>| {
                step.change().is_some_and(|change| change.writes.iter().any(|t| access.writes(t)))
            };
            let before = history.steps_of(other).filter(same_table).any(|step| step.answered < waiter.sent);
            let during = history.steps_of(other).filter(same_table).any(|step| {
                step.is(StatementKind::Update)
                    && step.sent > waiter.sent
                    && step.answered < waiter.answered
                    && step.change().is_some_and(|change| change.assigns_any(&access.filter_columns))
            });
            if before && during {
                levels.extend(mine.level);
            }
        }
    }
    levels
}
