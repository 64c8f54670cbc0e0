//! An UPDATE judges a row that another has locked on its last committed version, and passes it by.
//!
//! The contract says at which levels it may (`LevelRules::semi_consistent`); a scan in `LockMode::SemiConsistent` then does, and what it
//! finds without such a row has this name.

use model::Level::{ReadCommitted, ReadUncommitted};

use super::{super::twins::reorder, KnownDeviation, NO_HOOKS, Status};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "semi-consistent-skip",
    status: Status::Documented,
    source: "MySQL Reference Manual, 17.7.2.1 Transaction Isolation Levels, READ COMMITTED: semi-consistent read",
    levels: &[ReadUncommitted, ReadCommitted],
    twin: Some(reorder::behind_the_others),
    ..NO_HOOKS
};
