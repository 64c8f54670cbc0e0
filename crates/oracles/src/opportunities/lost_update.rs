//! Lost update: I read, another one commits a change of it, and I write it in the belief that it is as I read it.

use model::sql::StatementKind;

use super::{Levels, Opportunity, Sort, Story, Told, all_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "lost-update",
    sort: Sort::Phenomenon,
    shape: "a plain read, another's committed change of it, and an UPDATE of the same column",
    exists: all_levels,
    seen,
};

fn seen(story: &Story) -> Levels {
    let loses = |mine, other: &super::Life| {
        story.of(mine).filter(|step| step.is(StatementKind::Update) && (step.ok || step.refused)).any(
            |write| {
                let Some(deed) = &write.deed else { return false };
                let same = |change: &super::Deed| {
                    change.writes.iter().any(|t| deed.writes(t))
                        && change.sets.iter().any(|(column, _)| deed.sets.iter().any(|(c, _)| c == column))
                };
                write.answered > other.to
                    && story.of(other).filter_map(Told::change).any(same)
                    && story
                        .of(mine)
                        .filter(|read| read.is(StatementKind::Select) && read.answered < other.to)
                        .any(|read| {
                            read.deed.as_ref().is_some_and(|read| deed.writes.iter().any(|t| read.reads(t)))
                        })
            },
        )
    };
    story
        .meetings()
        .filter(|(mine, other)| other.committed && loses(mine, other))
        .map(|(mine, _)| mine.level)
        .collect()
}
