//! A statement that waited does not come back to a row that it passed by on its last committed version.

use model::Level::{ReadCommitted, ReadUncommitted};

use super::{
    super::twins::reorder, AffectedServers, KnownDeviation, NO_HOOKS, Report, ScanDifference, Status,
    VendorAnswer, reported,
};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "skipped-before-wait",
    status: Status::Reported,
    source: "MySQL#104833, MDEV-26643, MDEV-34108",
    reports: &[
        reported("MySQL#104833"),
        reported("MDEV-26643"),
        // With snapshot isolation READ COMMITTED has no semi-consistent reads any more.
        Report { number: "MDEV-34108", answer: VendorAnswer::FixedIn("10.6.19") },
    ],
    // With snapshot isolation nothing is passed by.
    affects: AffectedServers { refuses_stale_writes: Some(false), ..AffectedServers::ALL },
    levels: &[ReadUncommitted, ReadCommitted],
    resumed_scan: Some(ScanDifference::Skipped),
    twin: Some(reorder::behind_its_blocker),
    ..NO_HOOKS
};
