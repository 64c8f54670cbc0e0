//! Write skew: each of two reads what the other is about to change, and changes something else.

use model::sql::StatementKind;

use super::{Levels, Life, Opportunity, Sort, Story, Told, all_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "write-skew",
    sort: Sort::Phenomenon,
    shape: "two read what the other then changes, before either commits",
    exists: all_levels,
    seen,
};

fn seen(story: &Story) -> Levels {
    let skews = |mine: &Life, other: &Life| {
        let wanted = |life: &Life| life.committed || story.of(life).any(|step| step.refused);
        wanted(mine) && wanted(other) && misses(story, mine, other) && misses(story, other, mine)
    };
    story.meetings().filter(|(mine, other)| skews(mine, other)).map(|(mine, _)| mine.level).collect()
}

/// Does one read plainly, before the other ends, what the other changes or tries to?
fn misses(story: &Story, one: &Life, other: &Life) -> bool {
    story.of(one).filter(|read| read.is(StatementKind::Select) && read.answered < other.to).any(|read| {
        let Some(deed) = &read.deed else { return false };
        let writes = |step: &&Told| step.answered > read.sent && (step.refused || step.change().is_some());
        story
            .of(other)
            .filter(writes)
            .filter_map(|step| step.deed.as_ref())
            .any(|write| write.writes.iter().any(|table| deed.reads(table)))
    })
}
