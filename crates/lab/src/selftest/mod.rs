//! Isopod tested on a real server: the same traces again, servers and hunts that are killed, the evaluator against the server, the
//! oracles against mutants, planted bugs and lies.

pub mod determinism;
pub mod differences;
pub mod expressions;
pub mod fuzz;
pub mod hostile;
mod hunts;
pub mod levels;
pub mod mutation;
pub mod oracles;
pub mod proxy;
pub mod recovery;
pub mod resume;
