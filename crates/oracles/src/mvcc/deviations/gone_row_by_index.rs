//! A statement that goes by a secondary index does not come upon a row that another has deleted or taken out of the searched range since the
//! snapshot, and no write conflict is seen.

use model::Level::{RepeatableRead, Serializable};

use super::{
    super::twins::reorder, AffectedServers, KnownDeviation, MissedConflict, NO_HOOKS, Status, reported,
};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "gone-row-by-index",
    status: Status::Reported,
    source: "MDEV-40092",
    reports: &[reported("MDEV-40092")],
    affects: AffectedServers { refuses_stale_writes: Some(true), ..AffectedServers::ALL },
    levels: &[RepeatableRead, Serializable],
    misses_conflict: Some(MissedConflict::GoneRow),
    twin: Some(reorder::snapshot_behind_the_others),
    ..NO_HOOKS
};
