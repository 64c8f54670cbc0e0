//! A row moved across the place at which a statement waited, and is missed or met twice.

use model::{
    Level::{ReadCommitted, ReadUncommitted},
    Reason,
    sql::{InsertSource, Statement},
};

use super::{
    super::twins::reorder, Answered, KnownDeviation, NO_HOOKS, ScanDifference, Status, UnknownRows, reported,
};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "moved-across-scan",
    status: Status::Reported,
    source: "MDEV-27992",
    reports: &[reported("MDEV-27992")],
    levels: &[ReadUncommitted, ReadCommitted],
    resumed_scan: Some(ScanDifference::Moved),
    unknown_rows: Some(UnknownRows { why: more_than_one_cut, lasts: false }),
    twin: Some(reorder::behind_its_blocker),
    ..NO_HOOKS
};

/// Only one cut is tried, in the order of one index. What does not scan is judged all the same.
fn more_than_one_cut(answered: &Answered<'_>) -> Option<Reason> {
    let (replay, waited) = (answered.replay, answered.waited?);
    if let Statement::Insert(insert) = answered.statement
        && matches!(insert.source, InsertSource::Values { .. })
    {
        return None;
    }
    let target = replay.footprints[answered.step].target;
    let partitioned = target.is_some_and(|table| replay.schema.tables[table].partitions.is_some());
    match (waited.ends > 1, partitioned) {
        (true, _) => Some(Reason::WaitedMoreThanOnce),
        (false, true) => Some(Reason::PartitionedScan),
        (false, false) => None,
    }
}
