//! A statement that goes by a secondary index does not come upon a row that another has deleted or taken out of the searched range since the
//! snapshot, and no write conflict is seen.

use model::Level::{RepeatableRead, Serializable};

use super::{super::twins::reorder, KnownDeviation, MissedConflict, NO_HOOKS, Presence, Status, reported};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "gone-row-by-index",
    status: Status::Reported,
    source: "MDEV-40092",
    reports: &[reported("MDEV-40092")],
    exists: Presence { refuses_stale_writes: Some(true), ..Presence::EVERYWHERE },
    levels: &[RepeatableRead, Serializable],
    misses_conflict: Some(MissedConflict::GoneRow),
    twin: Some(reorder::snapshot_behind_the_others),
    ..NO_HOOKS
};
