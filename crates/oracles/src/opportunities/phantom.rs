//! Phantom: between two reads of mine by the same condition another one commits rows that come to match it, or no longer do.

use model::sql::StatementKind;

use super::{
    History, Opportunity, OpportunityKind, SetupData, StepInfo, Transaction, all_levels,
    non_repeatable_read::around,
};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "phantom",
    sort: OpportunityKind::Phenomenon,
    shape: "two plain reads by the same columns with another's committed rows between them",
    exists: all_levels,
    seen,
};

fn seen(history: &History<'_>, _: &SetupData, mine: &Transaction, other: &Transaction) -> bool {
    let appears = |first: &StepInfo<'_>, second: &StepInfo<'_>| {
        let (Some(one), Some(two)) = (first.access(), second.access()) else { return false };
        one.reads == two.reads
            && one.filter_columns == two.filter_columns
            && history.steps_of(other).filter_map(StepInfo::change).any(|change| {
                change.writes.iter().any(|t| one.reads(t))
                    && match change.kind {
                        StatementKind::Insert | StatementKind::Delete => true,
                        StatementKind::Update => change.assigns_any(&one.filter_columns),
                        _ => false,
                    }
            })
    };
    other.committed() && around(history, mine, other).any(|(first, second)| appears(first, second))
}
