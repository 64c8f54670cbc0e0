//! A read whose condition can hold for no row is answered before the engine is asked, and does not take the snapshot.
//!
//! Which conditions those are stands in `super::super::satisfiable`. It has no twin: it is listed apart, and neither known nor new.

use super::{KnownDeviation, NO_HOOKS, Status};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "impossible-condition-takes-no-snapshot",
    status: Status::Observed,
    source: "measured on MySQL 5.6 to 9.7 and MariaDB; EXPLAIN says Impossible WHERE",
    levels: &[model::Level::RepeatableRead],
    ..NO_HOOKS
};
