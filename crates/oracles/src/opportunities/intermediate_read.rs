//! Intermediate read: I read a table between two changes that another one makes to it before it commits.

use super::{
    History, LevelSet, Opportunity, OpportunityKind, SetupData, StepInfo, all_levels, dirty_read::reads,
};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "intermediate-read",
    sort: OpportunityKind::Phenomenon,
    shape: "a plain read of a table between two changes of it by one that commits",
    exists: all_levels,
    seen,
};

fn seen(history: &History<'_>, _: &SetupData) -> LevelSet {
    let between = |mine, other| {
        reads(history, mine, other).any(|(read, table)| {
            history
                .steps_of(other)
                .filter(|step| step.sent > read.sent)
                .filter_map(StepInfo::change)
                .any(|change| change.writes(table))
        })
    };
    history
        .concurrent()
        .filter(|(mine, other)| other.committed() && between(mine, other))
        .filter_map(|(mine, _)| mine.level)
        .collect()
}
