//! The loop that hunts: workers, budgets, the run folder, resuming, and what is known already.
//!
//! ```text
//! deal --> worker: generate --> execute --> judge --> confirm --> reduce --> file      (one thread, one CPU, one server)
//!            |                                                                  |
//!            +---- progress, a line per schema                       findings/, events.jsonl
//! ```
//!
//! Whatever happened is an [`Event`]; the one stream of them feeds the log, the progress lines and the summary. A case counts
//! as done when its line of progress is written, and that is the last thing that is written about it. So a process that is
//! killed at any moment has lost nothing: what was found in a case that is not done is found again, under the same name.

pub mod attribution;
pub mod clean_server;
pub mod confirm;
pub mod deal;
pub mod events;
pub mod fold;
pub mod hunt;
pub mod known;
pub mod leftovers;
pub mod matrix;
pub mod mutate;
pub mod overrides;
pub mod panel;
pub mod quality;
pub mod record;
pub mod reducing;
mod replay;
pub mod sample;
pub mod settings;
mod summary;
pub mod swarm;
pub mod symptoms;
pub mod triage;
mod usage;
mod worker;

pub use clean_server::{CleanRuns, CleanServer};
pub use events::{Event, TimedEvent};
pub use hunt::{Campaign, Hook, Servers, hunt};
pub use known::Known;
pub use panel::{Judge, Panel};
pub use quality::Counter;
pub use record::{RunReader, RunWriter};
pub use sample::Sample;
pub use settings::{Budget, HuntTarget, Learned, Settings};
pub use triage::Triage;

/// Why the hunt cannot be done. What a server does is never one of these.
#[derive(Debug, thiserror::Error)]
pub enum HuntError {
    /// The run folder cannot be written or read.
    #[error("{path}: {reason}")]
    Folder { path: String, reason: String },
    /// The folder is not one to go on with.
    #[error("{0}")]
    Unfit(String),
}

impl HuntError {
    pub(crate) fn at(path: &std::path::Path, reason: impl std::fmt::Display) -> HuntError {
        HuntError::Folder { path: path.display().to_string(), reason: reason.to_string() }
    }
}
