//! MDEV-27992: a statement waits at a row that is moved, and goes on from where it slept: the row is behind it, or comes once more.
//!
//! Shape: my statement waits, and before it goes on the other changes a key of the table, and ends.

use model::{schema::KeyKind, sql::StatementKind};

use super::{
    AccessSet, History, Opportunity, OpportunityKind, SetupData, Transaction, changes_met, is_key, table_of,
    waiters, weak_levels,
};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "mdev-27992",
    sort: OpportunityKind::Family,
    shape: "a statement waits, and before it goes on the other moves a key, and commits",
    exists: weak_levels,
    seen,
};

fn seen(history: &History<'_>, schema: &SetupData, mine: &Transaction, other: &Transaction) -> bool {
    other.committed()
        && waiters(history, mine).any(|waiter| {
            changes_met(history, schema, waiter, other).any(|(_, change)| moves(schema, change))
        })
}

/// May it have moved a row in an index: by another key, by a delete and an insert, or through a foreign key?
fn moves(schema: &SetupData, change: &AccessSet) -> bool {
    let keys = [KeyKind::Primary, KeyKind::Unique, KeyKind::Plain];
    let table = |name: &String| {
        let tied = table_of(schema, name).is_none_or(|table| table.foreign_keys);
        tied || change.assigns.iter().any(|(column, _)| is_key(schema, name, column, &keys))
    };
    match change.kind {
        StatementKind::Insert | StatementKind::Delete => true,
        _ => change.writes.iter().any(table),
    }
}
