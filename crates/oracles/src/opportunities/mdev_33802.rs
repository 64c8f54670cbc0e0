//! MDEV-33802: a read that waits for a row which is then taken back goes on from the wrong NULL of a UNIQUE index.
//!
//! Shape: the other has inserted into a table with a nullable UNIQUE key; my locking read meets it (and waits, where reads wait); the
//! other rolls back.

use model::{Level, Product, schema::KeyKind, sql::StatementKind};

use super::{History, Opportunity, OpportunityKind, SetupData, StepInfo, Transaction, all_levels, table_of};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "mdev-33802",
    sort: OpportunityKind::Family,
    shape: "a locking read of a nullable UNIQUE key meets an insert that is rolled back",
    exists,
    seen,
};

fn exists(product: Product) -> &'static [Level] {
    if dialect::of(product).has_locking_reads() { all_levels(product) } else { &[] }
}

fn seen(history: &History<'_>, schema: &SetupData, mine: &Transaction, other: &Transaction) -> bool {
    let waits = dialect::of(history.trace.server.product).semantics.waits_for_inserts;
    let locks = |read: &StepInfo<'_>| {
        read.is(StatementKind::LockingSelect)
            || (waits && read.is(StatementKind::Select) && mine.level == Some(Level::Serializable))
    };
    let met = |insert: &StepInfo<'_>, table: &str| {
        history.steps_of(mine).any(|read| {
            locks(read)
                && (read.waited || !waits)
                && read.sent > insert.answered
                && read.sent < other.end
                && read.access().is_some_and(|access| access.reads(table))
        })
    };
    other.undone()
        && history.steps_of(other).filter(|step| step.is(StatementKind::Insert)).any(|insert| {
            let table = insert.change().and_then(|change| change.writes.first());
            table.is_some_and(|table| has_nullable_unique(schema, table) && met(insert, table))
        })
}

fn has_nullable_unique(schema: &SetupData, table: &str) -> bool {
    table_of(schema, table).is_some_and(|table| {
        let nullable = |name: &String| table.columns.iter().any(|c| c.name == *name && c.nullable);
        table.keys.iter().any(|key| key.kind == KeyKind::Unique && key.columns.iter().any(nullable))
    })
}
