//! Non-repeatable read: between two plain reads of mine another one commits a change of what I read.

use model::sql::StatementKind;

use super::{Levels, Life, Opportunity, Sort, Story, Told, all_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "non-repeatable-read",
    sort: Sort::Phenomenon,
    shape: "two plain reads of a table with another's committed UPDATE or DELETE between them",
    exists: all_levels,
    seen,
};

fn seen(story: &Story) -> Levels {
    let repeated = |mine, other| {
        around(story, mine, other).any(|(first, second)| {
            changed(story, other).any(|(kind, table)| {
                matches!(kind, StatementKind::Update | StatementKind::Delete)
                    && reads(first, table)
                    && reads(second, table)
            })
        })
    };
    story
        .meetings()
        .filter(|(mine, other)| other.committed && repeated(mine, other))
        .map(|(mine, _)| mine.level)
        .collect()
}

/// Every two plain reads of mine between which the other ends.
pub(super) fn around<'a>(
    story: &'a Story,
    mine: &'a Life,
    other: &'a Life,
) -> impl Iterator<Item = (&'a Told, &'a Told)> {
    let mine = story.of(mine).filter(|step| step.is(StatementKind::Select));
    let later = mine.clone();
    mine.filter(|first| first.answered < other.to).flat_map(move |first| {
        later.clone().filter(|second| second.sent > other.to).map(move |second| (first, second))
    })
}

/// The tables that the other has changed, and by which kind of statement.
pub(super) fn changed<'a>(
    story: &'a Story,
    other: &'a Life,
) -> impl Iterator<Item = (StatementKind, &'a str)> {
    story
        .of(other)
        .filter_map(Told::change)
        .flat_map(|change| change.writes.iter().map(|table| (change.kind, table.as_str())))
}

/// Does it read this table?
pub(super) fn reads(step: &Told, table: &str) -> bool {
    step.deed.as_ref().is_some_and(|deed| deed.reads(table))
}
