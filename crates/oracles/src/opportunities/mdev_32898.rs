//! MDEV-32898, MySQL#113228: a moved key is a deleted row and a new one, and an old view shows the deleted half beside the new.
//!
//! Shape: my view is older than the commit of a changed primary key; I update the table; then I read it.

use model::{schema::KeyKind, sql::StatementKind};

use super::{
    History, LevelSet, Opportunity, OpportunityKind, SetupData, StepInfo, is_key, mdev_26642::read_after,
    view_levels,
};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "mdev-32898",
    sort: OpportunityKind::Family,
    shape: "under a view older than a committed change of a primary key, an UPDATE and then a read",
    exists: view_levels,
    seen,
};

fn seen(history: &History<'_>, schema: &SetupData) -> LevelSet {
    let mut levels = LevelSet::NONE;
    for (mine, other) in history.concurrent().filter(|(_, other)| other.committed()) {
        let Some(view) = mine.snapshot.filter(|view| *view < other.end) else { continue };
        for write in history
            .steps_of(mine)
            .filter(|step| step.is(StatementKind::Update) && step.sent > other.end.max(view))
        {
            let Some(access) = write.access().filter(|_| write.refused() || write.affected() > 0) else {
                continue;
            };
            let moved = history
                .steps_of(other)
                .filter(|step| step.is(StatementKind::Update))
                .filter_map(StepInfo::change)
                .any(|change| {
                    change.writes.iter().any(|table| {
                        access.writes(table)
                            && change
                                .assigns
                                .iter()
                                .any(|(c, _)| is_key(schema, table, c, &[KeyKind::Primary]))
                    })
                });
            if moved && read_after(history, mine, write) {
                levels.extend(mine.level);
            }
        }
    }
    levels
}
