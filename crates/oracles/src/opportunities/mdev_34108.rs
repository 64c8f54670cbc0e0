//! MDEV-34108: as MySQL#104833, but the column that the waiting UPDATE's condition reads is changed only while it waits.

use model::sql::StatementKind;

use super::{Levels, Opportunity, Sort, Story, weak_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "mdev-34108",
    sort: Sort::Family,
    shape: "while an UPDATE waits, the other changes what its condition reads, and commits",
    exists: weak_levels,
    seen,
};

fn seen(story: &Story) -> Levels {
    let mut levels = Levels::NONE;
    for (mine, other) in story.meetings().filter(|(_, other)| other.committed) {
        for waiter in story
            .of(mine)
            .filter(|step| step.waited && step.is(StatementKind::Update) && (step.ok || step.refused))
        {
            let Some(deed) = &waiter.deed else { continue };
            let same_table = |step: &&super::Told| {
                step.change().is_some_and(|change| change.writes.iter().any(|t| deed.writes(t)))
            };
            let before = story.of(other).filter(same_table).any(|step| step.answered < waiter.sent);
            let during = story.of(other).filter(same_table).any(|step| {
                step.is(StatementKind::Update)
                    && step.sent > waiter.sent
                    && step.answered < waiter.answered
                    && step.change().is_some_and(|change| change.sets_any(&deed.looks_at))
            });
            if before && during {
                levels.add(mine.level);
            }
        }
    }
    levels
}
