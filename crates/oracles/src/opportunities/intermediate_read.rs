//! Intermediate read: I read a table between two changes that another one makes to it before it commits.

use super::{Levels, Opportunity, Sort, Story, Told, all_levels, dirty_read::reads};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "intermediate-read",
    sort: Sort::Phenomenon,
    shape: "a plain read of a table between two changes of it by one that commits",
    exists: all_levels,
    seen,
};

fn seen(story: &Story) -> Levels {
    let between = |mine, other| {
        reads(story, mine, other).any(|(read, table)| {
            story
                .of(other)
                .filter(|step| step.sent > read.sent)
                .filter_map(Told::change)
                .any(|change| change.writes(table))
        })
    };
    story
        .meetings()
        .filter(|(mine, other)| other.committed && between(mine, other))
        .map(|(mine, _)| mine.level)
        .collect()
}
