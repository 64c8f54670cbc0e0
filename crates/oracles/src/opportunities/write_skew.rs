//! Write skew: each of two reads what the other is about to change, and changes something else.

use model::sql::StatementKind;

use super::{History, Opportunity, OpportunityKind, SetupData, StepInfo, Transaction, all_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "write-skew",
    sort: OpportunityKind::Phenomenon,
    shape: "two read what the other then changes, before either commits",
    exists: all_levels,
    seen,
};

fn seen(history: &History<'_>, _: &SetupData, mine: &Transaction, other: &Transaction) -> bool {
    let wanted = |one: &Transaction| one.committed() || history.steps_of(one).any(|step| step.refused());
    wanted(mine) && wanted(other) && misses(history, mine, other) && misses(history, other, mine)
}

/// Does one read plainly, before the other ends, what the other changes or tries to?
fn misses(history: &History<'_>, one: &Transaction, other: &Transaction) -> bool {
    history.steps_of(one).filter(|read| read.is(StatementKind::Select) && read.answered < other.end).any(
        |read| {
            let Some(access) = read.access() else { return false };
            let writes = |step: &&StepInfo<'_>| {
                step.answered > read.sent && (step.refused() || step.change().is_some())
            };
            history
                .steps_of(other)
                .filter(writes)
                .filter_map(|step| step.access())
                .any(|write| write.writes.iter().any(|table| access.reads(table)))
        },
    )
}
