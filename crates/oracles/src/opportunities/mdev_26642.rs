//! MDEV-26642: an update that leaves a row as another has made it writes no version of its own, and the old view stays in sight.
//!
//! Shape: my view is older than the other's commit; I write the same constant to the same column; then I read the table.

use model::sql::StatementKind;

use super::{History, LevelSet, Opportunity, OpportunityKind, SetupData, StepInfo, Transaction, view_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "mdev-26642",
    sort: OpportunityKind::Family,
    shape: "under a view older than the other's commit, an equal write and then a read",
    exists: view_levels,
    seen,
};

fn seen(history: &History<'_>, _: &SetupData) -> LevelSet {
    let mut levels = LevelSet::NONE;
    for (mine, other) in history.concurrent().filter(|(_, other)| other.committed()) {
        let Some(view) = mine.snapshot.filter(|view| *view < other.end) else { continue };
        for write in history
            .steps_of(mine)
            .filter(|step| step.is(StatementKind::Update) && step.sent > other.end.max(view))
        {
            if equal(history, write, other) && read_after(history, mine, write) {
                levels.extend(mine.level);
            }
        }
    }
    levels
}

/// Does it write what the other has written, and leave a row as it was where the server tells?
fn equal(history: &History<'_>, write: &StepInfo<'_>, other: &Transaction) -> bool {
    let Some(access) = write.access() else { return false };
    let left_as_it_was = match write.matched() {
        Some(matched) => matched > write.affected(),
        None => write.refused() || write.affected() > 0,
    };
    left_as_it_was
        && history.steps_of(other).filter_map(StepInfo::change).any(|change| {
            change.writes.iter().any(|t| access.writes(t))
                && change.assigns.iter().any(|set| set.1.is_some() && access.assigns.contains(set))
        })
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
