//! Intermediate read: I read a table between two changes that another one makes to it before it commits.

use super::{
    History, Opportunity, OpportunityKind, SetupData, StepInfo, Transaction, all_levels, dirty_read::reads,
};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "intermediate-read",
    sort: OpportunityKind::Phenomenon,
    shape: "a plain read of a table between two changes of it by one that commits",
    exists: all_levels,
    seen,
};

fn seen(history: &History<'_>, _: &SetupData, mine: &Transaction, other: &Transaction) -> bool {
    let again = |read: &StepInfo<'_>, table: &str| {
        history
            .steps_of(other)
            .filter(|step| step.sent > read.sent)
            .filter_map(StepInfo::change)
            .any(|change| change.writes(table))
    };
    other.committed() && reads(history, mine, other).any(|(read, table)| again(read, table))
}
