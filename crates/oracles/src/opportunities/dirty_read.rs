//! Dirty read: I read a table in which another one's changes are not committed yet.

use model::sql::StatementKind;

use super::{Levels, Life, Opportunity, Sort, Story, Told, all_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "dirty-read",
    sort: Sort::Phenomenon,
    shape: "a plain read of a table while another's change of it is open",
    exists: all_levels,
    seen,
};

fn seen(story: &Story) -> Levels {
    story
        .meetings()
        .filter(|(mine, other)| reads(story, mine, other).next().is_some())
        .map(|(m, _)| m.level)
        .collect()
}

/// My plain reads of a table in which the other has a change that is not committed, each with that table.
pub(super) fn reads<'a>(
    story: &'a Story,
    mine: &'a Life,
    other: &'a Life,
) -> impl Iterator<Item = (&'a Told, &'a str)> {
    story.of(mine).filter(|step| step.is(StatementKind::Select)).filter_map(move |read| {
        let deed = read.deed.as_ref()?;
        let open = |step: &&Told| step.answered < read.sent && read.sent < other.to;
        let table = story
            .of(other)
            .filter(open)
            .filter_map(Told::change)
            .flat_map(|change| &change.writes)
            .find(|table| deed.reads(table))?;
        Some((read, table.as_str()))
    })
}
