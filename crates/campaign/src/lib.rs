//! The loop that hunts: workers, budgets, the run folder, resuming, and what is known already.

pub mod quality;
pub mod sample;

pub use quality::{Counter, Quality};
pub use sample::Sample;
