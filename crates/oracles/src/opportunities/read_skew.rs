//! Read skew: I read one thing before and another thing after one commit that changed both.

use super::{
    Levels, Life, Opportunity, Sort, Story, Told, all_levels,
    non_repeatable_read::{around, changed, reads},
};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "read-skew",
    sort: Sort::Phenomenon,
    shape: "plain reads of two things before and after a commit that changed both",
    exists: all_levels,
    seen,
};

fn seen(story: &Story) -> Levels {
    let skews = |mine, other: &Life| {
        // Two tables, or several rows of one.
        let rows: u64 =
            story.of(other).filter(|step| step.change().is_some()).map(|step| step.affected).sum();
        rows >= 2
            && around(story, mine, other).any(|(first, second): (&Told, &Told)| {
                changed(story, other).any(|(_, table)| reads(first, table))
                    && changed(story, other).any(|(_, table)| reads(second, table))
            })
    };
    story
        .meetings()
        .filter(|(mine, other)| other.committed && skews(mine, other))
        .map(|(mine, _)| mine.level)
        .collect()
}
