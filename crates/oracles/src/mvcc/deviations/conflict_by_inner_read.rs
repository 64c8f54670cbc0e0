//! At READ UNCOMMITTED a statement with a query inside that waited is refused as if it had a snapshot, and its whole transaction is
//! undone. At READ COMMITTED that follows from the manual (`conflict_in_statement_view`).

use model::Level::ReadUncommitted;

use super::{
    super::{hypothesis::Waiting, table_footprint::TableFootprint, twins::reorder},
    AffectedServers, KnownDeviation, NO_HOOKS, Status,
};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "conflict-by-inner-read",
    status: Status::Found,
    source: "not reported; MariaDB with snapshot isolation, at a level whose reads need no read view",
    affects: AffectedServers { refuses_stale_writes: Some(true), ..AffectedServers::ALL },
    levels: &[ReadUncommitted],
    conflict_since: Some(since_it_waited),
    twin: Some(reorder::behind_its_blocker),
    ..NO_HOOKS
};

/// The query inside takes a snapshot of its own when the statement begins to wait.
pub(super) fn since_it_waited(footprint: &TableFootprint, waited: &Waiting) -> Option<u32> {
    footprint.inner.then_some(waited.clock)
}
