//! Phantom: between two reads of mine by the same condition another one commits rows that come to match it, or no longer do.

use model::sql::StatementKind;

use super::{Levels, Opportunity, Sort, Story, Told, all_levels, non_repeatable_read::around};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "phantom",
    sort: Sort::Phenomenon,
    shape: "two plain reads by the same columns with another's committed rows between them",
    exists: all_levels,
    seen,
};

fn seen(story: &Story) -> Levels {
    let appears = |mine, other| {
        around(story, mine, other).any(|(first, second)| {
            let (Some(one), Some(two)) = (&first.deed, &second.deed) else { return false };
            one.reads == two.reads
                && one.looks_at == two.looks_at
                && story.of(other).filter_map(Told::change).any(|change| {
                    change.writes.iter().any(|t| one.reads(t))
                        && match change.kind {
                            StatementKind::Insert | StatementKind::Delete => true,
                            StatementKind::Update => change.sets_any(&one.looks_at),
                            _ => false,
                        }
                })
        })
    };
    story
        .meetings()
        .filter(|(mine, other)| other.committed && appears(mine, other))
        .map(|(mine, _)| mine.level)
        .collect()
}
