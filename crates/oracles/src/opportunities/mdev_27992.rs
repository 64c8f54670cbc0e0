//! MDEV-27992: a statement waits at a row that is moved twice, and goes on from where it slept: the row is behind it.
//!
//! Shape: the other changes a key, my statement waits, the other changes that key again and commits.

use model::{schema::KeyKind, sql::StatementKind};

use super::{History, LevelSet, Opportunity, OpportunityKind, SetupData, is_key, weak_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "mdev-27992",
    sort: OpportunityKind::Family,
    shape: "a key moves, a statement waits for it, the key moves on, commit",
    exists: weak_levels,
    seen,
};

fn seen(history: &History<'_>, schema: &SetupData) -> LevelSet {
    let mut levels = LevelSet::NONE;
    for (mine, other) in history.concurrent().filter(|(_, other)| other.committed()) {
        for waiter in
            history.steps_of(mine).filter(|step| step.waited && (step.succeeded() || step.refused()))
        {
            let Some(access) = waiter.access() else { continue };
            if !matches!(
                access.kind,
                StatementKind::Update | StatementKind::Delete | StatementKind::LockingSelect
            ) {
                continue;
            }
            // The key columns that the other's UPDATEs move, and when.
            let moves =
                history.steps_of(other).filter(|step| step.is(StatementKind::Update)).filter_map(|step| {
                    let change = step.change()?;
                    let table = change.writes.iter().find(|t| access.reads(t))?;
                    Some((step, table, change))
                });
            let keys = [KeyKind::Primary, KeyKind::Unique, KeyKind::Plain];
            let twice =
                moves.clone().filter(|(step, ..)| step.answered < waiter.sent).any(|(_, table, change)| {
                    change.assigns.iter().filter(|(column, _)| is_key(schema, table, column, &keys)).any(
                        |(column, _)| {
                            moves.clone().any(|(step, again, more)| {
                                step.sent > waiter.sent
                                    && step.answered < waiter.answered
                                    && again == table
                                    && more.assigns.iter().any(|(c, _)| c == column)
                            })
                        },
                    )
                });
            if twice {
                levels.extend(mine.level);
            }
        }
    }
    levels
}
