//! A search by a unique key waits at one of its entries, and misses its row, whose primary key has become smaller meanwhile.
//!
//! A search by any other index locks the gaps beside what it finds, so nothing can move across it above READ COMMITTED.

use model::Level::{RepeatableRead, Serializable};

use super::{
    super::twins::reorder, AffectedServers, KnownDeviation, NO_HOOKS, ScanDifference, Status, reported,
};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "unique-search-misses",
    status: Status::Reported,
    source: "MySQL#113751",
    reports: &[reported("MySQL#113751")],
    affects: AffectedServers { product: Some("mysql"), since: &[8], ..AffectedServers::ALL },
    levels: &[RepeatableRead, Serializable],
    resumed_scan: Some(ScanDifference::MovedInUniqueSearch),
    twin: Some(reorder::behind_its_blocker),
    ..NO_HOOKS
};
