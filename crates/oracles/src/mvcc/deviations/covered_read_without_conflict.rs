//! A shared locking read through an index that holds all that it reads locks no row itself, so that no write conflict is seen, and it shows what
//! was committed after the snapshot.

use model::Level::{RepeatableRead, Serializable};

use super::{super::twins::reorder, AffectedServers, KnownDeviation, MissedConflict, NO_HOOKS, Status};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "covered-read-without-conflict",
    status: Status::Found,
    source: "not reported; MariaDB with snapshot isolation, corpus/found/covered-read-without-conflict.iso",
    affects: AffectedServers { refuses_stale_writes: Some(true), ..AffectedServers::ALL },
    levels: &[RepeatableRead, Serializable],
    misses_conflict: Some(MissedConflict::CoveredRead),
    twin: Some(reorder::snapshot_behind_the_others),
    ..NO_HOOKS
};
