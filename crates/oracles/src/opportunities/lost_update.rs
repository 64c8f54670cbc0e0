//! Lost update: I read, another one commits a change of it, and I write it in the belief that it is as I read it.

use model::sql::StatementKind;

use super::{AccessSet, History, Opportunity, OpportunityKind, SetupData, StepInfo, Transaction, all_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "lost-update",
    sort: OpportunityKind::Phenomenon,
    shape: "a plain read, another's committed change of it, and an UPDATE of the same column",
    exists: all_levels,
    seen,
};

fn seen(history: &History<'_>, _: &SetupData, mine: &Transaction, other: &Transaction) -> bool {
    let loses = |write: &StepInfo<'_>| {
        let Some(access) = write.access() else { return false };
        let same = |change: &AccessSet| {
            change.writes.iter().any(|t| access.writes(t))
                && change.assigns.iter().any(|(column, _)| access.assigns.iter().any(|(c, _)| c == column))
        };
        let read = |step: &StepInfo<'_>| {
            step.is(StatementKind::Select)
                && step.answered < other.end
                && step.access().is_some_and(|read| access.writes.iter().any(|t| read.reads(t)))
        };
        write.is(StatementKind::Update)
            && (write.succeeded() || write.refused())
            && write.answered > other.end
            && history.steps_of(other).filter_map(StepInfo::change).any(same)
            && history.steps_of(mine).any(read)
    };
    other.committed() && history.steps_of(mine).any(loses)
}
