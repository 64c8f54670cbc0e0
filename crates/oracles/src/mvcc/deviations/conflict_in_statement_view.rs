//! At READ COMMITTED a statement with a query inside opens a read view when it begins; if it waits, a row that is committed meanwhile is not in
//! that view, and to lock it is refused. A statement without a query inside is not: it opens no view.

use model::Level::ReadCommitted;

use super::{
    super::twins::reorder, AffectedServers, KnownDeviation, NO_HOOKS, Status,
    conflict_by_inner_read::since_it_waited,
};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "conflict-in-statement-view",
    status: Status::Documented,
    source: "MariaDB documentation, innodb_snapshot_isolation: \"a record that does not exist in the current read view\"; READ COMMITTED: \
             \"Each consistent read ... sets and reads its own fresh snapshot\"",
    affects: AffectedServers { refuses_stale_writes: Some(true), ..AffectedServers::ALL },
    levels: &[ReadCommitted],
    conflict_since: Some(since_it_waited),
    twin: Some(reorder::behind_its_blocker),
    ..NO_HOOKS
};
