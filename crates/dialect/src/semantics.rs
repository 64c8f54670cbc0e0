//! How statements behave where products differ, beside what the contract says about isolation.

use model::Level;

use crate::contract::SnapshotPoint;

/// How statements behave.
pub struct Semantics {
    /// Which rows an UPDATE counts.
    pub counts: AffectedRows,
    pub assignments: Assignments,
    pub replaces: ReplaceMethod,
    /// Does BEGIN commit the transaction that is open? Elsewhere it is refused or does nothing.
    pub begin_commits_open: bool,
    /// Which statement of a transaction takes its snapshot, at `snapshot_levels`.
    pub snapshot_at: SnapshotPoint,
    /// Where all plain reads of a transaction show one snapshot, older than what others commit meanwhile.
    pub snapshot_levels: &'static [Level],
    /// Does a locking read wait for a row that another has inserted and not committed? Elsewhere it does not see it.
    pub waits_for_inserts: bool,
    /// Does NULL come before all values in ascending order? Elsewhere it comes behind them.
    pub nulls_first: bool,
    /// Does a value have the type of its column? Elsewhere it has one of its own.
    pub columns_have_types: bool,
    /// Does going back to a savepoint that was set before any table was touched end the whole transaction in the engine?
    pub early_savepoint_ends_all: bool,
    /// The first version in which foreign keys are the SQL layer's affair, not the engine's; none where that never changed.
    pub foreign_keys_in_sql: Option<&'static [u32]>,
    /// Are a row's unique values and its parents looked for index by index, in the order in which the indexes were made?
    pub checks_by_index: bool,
}

/// Which rows an UPDATE counts. REPLACE and upserts follow: one for each row, or one more for each row that was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffectedRows {
    /// Those that it found.
    Matched,
    /// Those that are different afterwards.
    Changed,
}

/// What the assignments of an UPDATE of one table see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assignments {
    /// The row as it was.
    AtOnce,
    /// What those before them have assigned.
    InOrder,
    /// The same, but in no order that could be relied on where the server materializes rows first: joins, and queries in WHERE.
    MostlyInOrder,
}

/// What REPLACE does with a row whose key is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplaceMethod {
    /// It deletes the old one and inserts the new one.
    Anew,
    /// It changes the old one where the primary key stays.
    InPlace,
    /// The same; without a primary key it may do either.
    InPlaceByKey,
}
