//! Isopod measured: against the bare server, its oracles against each other, its strategies, its folding and its reductions.

pub mod execute;
pub mod fold;
pub mod hunt;
pub mod judge;
pub mod oracles;
pub mod reduce;
pub mod strategies;

use std::time::Duration;

fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
