//! Non-repeatable read: between two plain reads of mine another one commits a change of what I read.

use model::sql::StatementKind;

use super::{History, Opportunity, OpportunityKind, SetupData, StepInfo, Transaction, all_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "non-repeatable-read",
    sort: OpportunityKind::Phenomenon,
    shape: "two plain reads of a table with another's committed UPDATE or DELETE between them",
    exists: all_levels,
    seen,
};

fn seen(history: &History<'_>, _: &SetupData, mine: &Transaction, other: &Transaction) -> bool {
    let repeated = |first: &StepInfo<'_>, second: &StepInfo<'_>| {
        changed(history, other).any(|(kind, table)| {
            matches!(kind, StatementKind::Update | StatementKind::Delete)
                && reads(first, table)
                && reads(second, table)
        })
    };
    other.committed() && around(history, mine, other).any(|(first, second)| repeated(first, second))
}

/// Every two plain reads of mine between which the other ends.
pub(super) fn around<'a>(
    history: &'a History<'_>,
    mine: &'a Transaction,
    other: &'a Transaction,
) -> impl Iterator<Item = (&'a StepInfo<'a>, &'a StepInfo<'a>)> {
    let mine = history.steps_of(mine).filter(|step| step.is(StatementKind::Select));
    let later = mine.clone();
    mine.filter(|first| first.answered < other.end).flat_map(move |first| {
        later.clone().filter(|second| second.sent > other.end).map(move |second| (first, second))
    })
}

/// The tables that the other has changed, and by which kind of statement.
pub(super) fn changed<'a>(
    history: &'a History<'_>,
    other: &'a Transaction,
) -> impl Iterator<Item = (StatementKind, &'a str)> {
    history
        .steps_of(other)
        .filter_map(StepInfo::change)
        .flat_map(|change| change.writes.iter().map(|table| (change.kind, table.as_str())))
}

/// Does it read this table?
pub(super) fn reads(step: &StepInfo<'_>, table: &str) -> bool {
    step.access().is_some_and(|access| access.reads(table))
}
