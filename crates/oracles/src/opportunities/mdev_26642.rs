//! MDEV-26642: an update that leaves a row as another has made it writes no version of its own, and the old view stays in sight.
//!
//! Shape: my view is older than the other's commit; I write the same constant to the same column; then I read the table.

use model::sql::StatementKind;

use super::{Levels, Opportunity, Sort, Story, Told, view_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "mdev-26642",
    sort: Sort::Family,
    shape: "under a view older than the other's commit, an equal write and then a read",
    exists: view_levels,
    seen,
};

fn seen(story: &Story) -> Levels {
    let mut levels = Levels::NONE;
    for (mine, other) in story.meetings().filter(|(_, other)| other.committed) {
        let Some(view) = mine.view.filter(|view| *view < other.to) else { continue };
        for write in
            story.of(mine).filter(|step| step.is(StatementKind::Update) && step.sent > other.to.max(view))
        {
            if equal(story, write, other) && read_after(story, mine, write) {
                levels.add(mine.level);
            }
        }
    }
    levels
}

/// Does it write what the other has written, and leave a row as it was where the server tells?
fn equal(story: &Story, write: &Told, other: &super::Life) -> bool {
    let Some(deed) = &write.deed else { return false };
    let left_as_it_was = match write.matched {
        Some(matched) => matched > write.affected,
        None => write.refused || write.affected > 0,
    };
    left_as_it_was
        && story.of(other).filter_map(Told::change).any(|change| {
            change.writes.iter().any(|t| deed.writes(t))
                && change.sets.iter().any(|set| set.1.is_some() && deed.sets.contains(set))
        })
}

/// Does the transaction read the table plainly after it wrote to it? That it was about to counts: the write may have been refused.
pub(super) fn read_after(story: &Story, mine: &super::Life, write: &Told) -> bool {
    let Some(deed) = &write.deed else { return false };
    let later = |step: &&Told| {
        step.session == mine.session && step.sent > write.sent && step.is(StatementKind::Select)
    };
    story
        .steps
        .iter()
        .filter(later)
        .filter(|step| write.refused || step.life == write.life)
        .any(|step| step.deed.as_ref().is_some_and(|read| deed.writes.iter().any(|t| read.reads(t))))
}
