//! MDEV-32898, MySQL#113228: a moved key is a deleted row and a new one, and an old view shows the deleted half beside the new.
//!
//! Shape: my view is older than the commit of a changed primary key; I write to the table; then I read it.

use model::{schema::KeyKind, sql::StatementKind};

use super::{
    AccessSet, History, Opportunity, OpportunityKind, SetupData, Transaction, changes_met, is_key,
    mdev_26642::{read_after, writes_after},
    sees_older, table_of, view_levels,
};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "mdev-32898",
    sort: OpportunityKind::Family,
    shape: "under a view older than a committed change of a primary key, a write and then a read",
    exists: view_levels,
    seen,
};

fn seen(history: &History<'_>, schema: &SetupData, mine: &Transaction, other: &Transaction) -> bool {
    sees_older(mine, other)
        && writes_after(history, mine, other)
            .filter(|write| write.refused() || write.affected() > 0 || write.matched() > Some(0))
            .any(|write| {
                changes_met(history, schema, write, other).any(|(_, change)| moves(schema, change))
                    && read_after(history, mine, write)
            })
}

/// May it have given a row another primary key: by itself, or through a foreign key?
fn moves(schema: &SetupData, change: &AccessSet) -> bool {
    let writes = || change.writes.iter();
    let assigned = |table: &String| {
        change.assigns.iter().any(|(column, _)| is_key(schema, table, column, &[KeyKind::Primary]))
    };
    let tied = |table: &String| table_of(schema, table).is_some_and(|table| table.foreign_keys);
    matches!(change.kind, StatementKind::Update | StatementKind::Insert) && writes().any(assigned)
        || change.kind == StatementKind::Update && writes().any(tied)
}
