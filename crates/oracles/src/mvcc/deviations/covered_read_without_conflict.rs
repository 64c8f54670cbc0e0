//! A shared locking read through an index that holds all that it reads locks no row itself, so that no write conflict is seen, and it shows what
//! was committed after the snapshot.

use model::Level::{RepeatableRead, Serializable};

use super::{super::twins::reorder, KnownDeviation, MissedConflict, NO_HOOKS, Presence, Status};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "covered-read-without-conflict",
    status: Status::Found,
    source: "not reported; MariaDB with snapshot isolation, docs/found/covered-read-without-conflict.iso",
    exists: Presence { refuses_stale_writes: Some(true), ..Presence::EVERYWHERE },
    levels: &[RepeatableRead, Serializable],
    misses_conflict: Some(MissedConflict::CoveredRead),
    twin: Some(reorder::snapshot_behind_the_others),
    ..NO_HOOKS
};
