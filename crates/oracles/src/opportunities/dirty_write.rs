//! Dirty write: I write to a table in which another one's changes are not committed yet.

use super::{History, Opportunity, OpportunityKind, SetupData, StepInfo, Transaction, all_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "dirty-write",
    sort: OpportunityKind::Phenomenon,
    shape: "a write to a table while another's change of it is open",
    exists: all_levels,
    seen,
};

fn seen(history: &History<'_>, _: &SetupData, mine: &Transaction, other: &Transaction) -> bool {
    history.steps_of(mine).any(|write| {
        let Some(access) = write.access().filter(|access| !access.writes.is_empty()) else {
            return false;
        };
        let open = |step: &StepInfo<'_>| step.answered < write.sent && write.sent < other.end;
        history
            .steps_of(other)
            .filter(|step| open(step))
            .filter_map(StepInfo::change)
            .any(|change| change.writes.iter().any(|t| access.writes(t)))
    })
}
