//! A statement that waited does not come back to a row that was changed or inserted behind it meanwhile.

use model::Level::{ReadCommitted, ReadUncommitted};

use super::{
    super::twins::reorder, KnownDeviation, NO_HOOKS, Report, ScanDifference, Status, VendorAnswer, reported,
};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "changed-during-wait",
    status: Status::Reported,
    source: "MDEV-34106, MySQL#114952",
    reports: &[reported("MDEV-34106"), Report { number: "MySQL#114952", answer: VendorAnswer::Rejected }],
    levels: &[ReadUncommitted, ReadCommitted],
    resumed_scan: Some(ScanDifference::Changed),
    twin: Some(reorder::behind_its_blocker),
    ..NO_HOOKS
};
