//! A statement that waited does not come back to a row that was changed behind it meanwhile.

use model::Level::{ReadCommitted, ReadUncommitted};

use super::{super::twins::reorder, KnownDeviation, NO_HOOKS, ScanDifference, Status};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "changed-during-wait",
    status: Status::Reported,
    source: "MDEV-34108",
    levels: &[ReadUncommitted, ReadCommitted],
    resumed_scan: Some(ScanDifference::Changed),
    twin: Some(reorder::behind_its_blocker),
    ..NO_HOOKS
};
