//! MDEV-32898, MySQL#113228: a moved key is a deleted row and a new one, and an old view shows the deleted half beside the new.
//!
//! Shape: my view is older than the commit of a changed primary key; I update the table; then I read it.

use model::{schema::KeyKind, sql::StatementKind};

use super::{Levels, Opportunity, Sort, Story, Told, mdev_26642::read_after, view_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "mdev-32898",
    sort: Sort::Family,
    shape: "under a view older than a committed change of a primary key, an UPDATE and then a read",
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
            let Some(deed) = write.deed.as_ref().filter(|_| write.refused || write.affected > 0) else {
                continue;
            };
            let moved = story
                .of(other)
                .filter(|step| step.is(StatementKind::Update))
                .filter_map(Told::change)
                .any(|change| {
                    change.writes.iter().any(|table| {
                        deed.writes(table)
                            && change.sets.iter().any(|(c, _)| story.is_key(table, c, &[KeyKind::Primary]))
                    })
                });
            if moved && read_after(story, mine, write) {
                levels.add(mine.level);
            }
        }
    }
    levels
}
