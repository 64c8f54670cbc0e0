//! MDEV-33802: a read that waits for a row which is then taken back goes on from the wrong NULL of a UNIQUE index.
//!
//! Shape: the other has inserted into a table with a nullable UNIQUE key; my locking read meets it (and waits, where reads wait); the
//! other rolls back.

use model::{Level, Product, schema::KeyKind, sql::StatementKind};

use super::{Levels, Opportunity, Sort, Story, all_levels};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "mdev-33802",
    sort: Sort::Family,
    shape: "a locking read of a nullable UNIQUE key meets an insert that is rolled back",
    exists,
    seen,
};

fn exists(product: Product) -> &'static [Level] {
    if dialect::of(product).has_locking_reads() { all_levels(product) } else { &[] }
}

fn seen(story: &Story) -> Levels {
    let waits = dialect::of(story.product).semantics.waits_for_inserts;
    let mut levels = Levels::NONE;
    for (mine, other) in story.meetings().filter(|(_, other)| !other.committed) {
        for insert in story.of(other).filter(|step| step.is(StatementKind::Insert)) {
            let Some(table) = insert.change().and_then(|change| change.writes.first()) else { continue };
            if !has_nullable_unique(story, table) {
                continue;
            }
            let met = story.of(mine).any(|read| {
                let locks = read.is(StatementKind::LockingSelect)
                    || (waits && read.is(StatementKind::Select) && mine.level == Level::Serializable);
                locks
                    && (read.waited || !waits)
                    && read.sent > insert.answered
                    && read.sent < other.to
                    && read.deed.as_ref().is_some_and(|deed| deed.reads(table))
            });
            if met {
                levels.add(mine.level);
            }
        }
    }
    levels
}

fn has_nullable_unique(story: &Story, table: &str) -> bool {
    story.table(table).is_some_and(|table| {
        let nullable = |name: &String| table.columns.iter().any(|c| c.name == *name && c.nullable);
        table.keys.iter().any(|key| key.kind == KeyKind::Unique && key.columns.iter().any(nullable))
    })
}
