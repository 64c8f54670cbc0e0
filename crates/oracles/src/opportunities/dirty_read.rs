//! Dirty read: I read a table in which another one's changes are not committed yet.

use model::sql::StatementKind;

use super::{History, Opportunity, OpportunityKind, SetupData, StepInfo, Transaction, all_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "dirty-read",
    sort: OpportunityKind::Phenomenon,
    shape: "a plain read of a table while another's change of it is open",
    exists: all_levels,
    seen,
};

fn seen(history: &History<'_>, _: &SetupData, mine: &Transaction, other: &Transaction) -> bool {
    reads(history, mine, other).next().is_some()
}

/// My plain reads of a table in which the other has a change that is not committed, each with that table.
pub(super) fn reads<'a>(
    history: &'a History<'_>,
    mine: &'a Transaction,
    other: &'a Transaction,
) -> impl Iterator<Item = (&'a StepInfo<'a>, &'a str)> {
    history.steps_of(mine).filter(|step| step.is(StatementKind::Select)).filter_map(move |read| {
        let access = read.access()?;
        let open = |step: &&StepInfo<'_>| step.answered < read.sent && read.sent < other.end;
        let table = history
            .steps_of(other)
            .filter(open)
            .filter_map(StepInfo::change)
            .flat_map(|change| &change.writes)
            .find(|table| access.reads(table))?;
        Some((read, table.as_str()))
    })
}
