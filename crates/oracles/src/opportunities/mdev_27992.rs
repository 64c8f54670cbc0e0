//! MDEV-27992: a statement waits at a row that is moved twice, and goes on from where it slept: the row is behind it.
//!
//! Shape: the other changes a key, my statement waits, the other changes that key again and commits.

use model::{schema::KeyKind, sql::StatementKind};

use super::{Levels, Opportunity, Sort, Story, weak_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "mdev-27992",
    sort: Sort::Family,
    shape: "a key moves, a statement waits for it, the key moves on, commit",
    exists: weak_levels,
    seen,
};

fn seen(story: &Story) -> Levels {
    let mut levels = Levels::NONE;
    for (mine, other) in story.meetings().filter(|(_, other)| other.committed) {
        for waiter in story.of(mine).filter(|step| step.waited && (step.ok || step.refused)) {
            let Some(deed) = &waiter.deed else { continue };
            if !matches!(
                deed.kind,
                StatementKind::Update | StatementKind::Delete | StatementKind::LockingSelect
            ) {
                continue;
            }
            // The key columns that the other's UPDATEs move, and when.
            let moves = story.of(other).filter(|step| step.is(StatementKind::Update)).filter_map(|step| {
                let change = step.change()?;
                let table = change.writes.iter().find(|t| deed.reads(t))?;
                Some((step, table, change))
            });
            let keys = [KeyKind::Primary, KeyKind::Unique, KeyKind::Plain];
            let twice =
                moves.clone().filter(|(step, ..)| step.answered < waiter.sent).any(|(_, table, change)| {
                    change.sets.iter().filter(|(column, _)| story.is_key(table, column, &keys)).any(
                        |(column, _)| {
                            moves.clone().any(|(step, again, more)| {
                                step.sent > waiter.sent
                                    && step.answered < waiter.answered
                                    && again == table
                                    && more.sets.iter().any(|(c, _)| c == column)
                            })
                        },
                    )
                });
            if twice {
                levels.add(mine.level);
            }
        }
    }
    levels
}
