//! Read skew: I read one thing before and another thing after one commit that changed both.

use super::{
    History, Opportunity, OpportunityKind, SetupData, Transaction, all_levels,
    non_repeatable_read::{around, changed, reads},
};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "read-skew",
    sort: OpportunityKind::Phenomenon,
    shape: "plain reads of two things before and after a commit that changed both",
    exists: all_levels,
    seen,
};

fn seen(history: &History<'_>, _: &SetupData, mine: &Transaction, other: &Transaction) -> bool {
    // Two tables, or several rows of one.
    let rows: u64 =
        history.steps_of(other).filter(|step| step.change().is_some()).map(|step| step.affected()).sum();
    other.committed()
        && rows >= 2
        && around(history, mine, other).any(|(first, second)| {
            changed(history, other).any(|(_, table)| reads(first, table))
                && changed(history, other).any(|(_, table)| reads(second, table))
        })
}
