//! Dirty write: I write to a table in which another one's changes are not committed yet.

use super::{Levels, Opportunity, Sort, Story, Told, all_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "dirty-write",
    sort: Sort::Phenomenon,
    shape: "a write to a table while another's change of it is open",
    exists: all_levels,
    seen,
};

fn seen(story: &Story) -> Levels {
    let beside_open = |mine: &super::Life, other: &super::Life| {
        story.of(mine).any(|write| {
            let Some(deed) = write.deed.as_ref().filter(|deed| !deed.writes.is_empty()) else { return false };
            let open = |step: &Told| step.answered < write.sent && write.sent < other.to;
            story
                .of(other)
                .filter(|step| open(step))
                .filter_map(Told::change)
                .any(|change| change.writes.iter().any(|t| deed.writes(t)))
        })
    };
    story.meetings().filter(|(mine, other)| beside_open(mine, other)).map(|(mine, _)| mine.level).collect()
}
