//! MDEV-26642: an update that leaves a row as another has made it writes no version of its own, and the old view stays in sight.
//!
//! Shape: my view is older than the other's commit; I write to a table that it has changed, and leave a row as it is; then I read the table.

use model::sql::StatementKind;

use super::{
    History, Opportunity, OpportunityKind, SetupData, StepInfo, Transaction, changes_met, sees_older,
    view_levels,
};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "mdev-26642",
    sort: OpportunityKind::Family,
    shape: "under a view older than the other's commit, a write that leaves a row as it is, and then a read",
    exists: view_levels,
    seen,
};

fn seen(history: &History<'_>, schema: &SetupData, mine: &Transaction, other: &Transaction) -> bool {
    sees_older(mine, other)
        && writes_after(history, mine, other).filter(|write| left_as_it_was(write)).any(|write| {
            changes_met(history, schema, write, other).next().is_some() && read_after(history, mine, write)
        })
}

/// May it have left a row as it was? The server says so where it tells how many rows matched.
fn left_as_it_was(write: &StepInfo<'_>) -> bool {
    write.refused() || write.matched().is_none_or(|matched| matched > write.affected())
}

/// My statements that change rows, and that were done after the other had committed.
pub(super) fn writes_after<'a>(
    history: &'a History<'_>,
    mine: &'a Transaction,
    other: &'a Transaction,
) -> impl Iterator<Item = &'a StepInfo<'a>> {
    history
        .steps_of(mine)
        .filter(|step| step.is(StatementKind::Update) || step.is(StatementKind::Insert))
        .filter(|step| step.answered > other.end && (step.succeeded() || step.refused()))
}

/// Does the transaction read the table plainly after it wrote to it? That it was about to counts: the write may have been refused.
pub(super) fn read_after(history: &History<'_>, mine: &Transaction, write: &StepInfo<'_>) -> bool {
    let Some(access) = write.access() else { return false };
    let later = |step: &&StepInfo<'_>| {
        step.session == mine.session && step.sent > write.sent && step.is(StatementKind::Select)
    };
    history
        .steps
        .iter()
        .filter(later)
        .filter(|step| write.refused() || step.transaction == write.transaction)
        .any(|step| step.access().is_some_and(|read| access.writes.iter().any(|t| read.reads(t))))
}
