//! MySQL#104833, MDEV-26643: an UPDATE judges a row by its old version, passes it by, waits at the next and never comes back.
//!
//! Shape: the other has changed, in at least two rows, a column that my UPDATE's condition reads; my UPDATE waits; the other commits.

use model::sql::StatementKind;

use super::{Levels, Opportunity, Sort, Story, weak_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "mysql-104833",
    sort: Sort::Family,
    shape: "an UPDATE waits for a commit that changes what its condition reads",
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
            let rows: u64 = story
                .of(other)
                .filter(|step| step.is(StatementKind::Update) && step.answered < waiter.sent)
                .filter_map(|step| step.change().map(|change| (step, change)))
                .filter(|(_, change)| {
                    change.writes.iter().any(|t| deed.writes(t)) && change.sets_any(&deed.looks_at)
                })
                .map(|(step, _)| step.affected)
                .sum();
            if rows >= 2 && waiter.sent < other.to && other.to < waiter.answered.saturating_add(64) {
                levels.add(mine.level);
            }
        }
    }
    levels
}
