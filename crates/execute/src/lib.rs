//! Runs a case on a server in exactly the submitted order, and writes down what happened.
//!
//! This crate knows nothing of wire protocols or products. It drives three small traits, and `dbms`
//! implements them once per family:
//!
//! * [`Server`]: opens sessions, kills statements, says whether it lives;
//! * [`Session`]: sends now, answers later; nothing blocks;
//! * [`LockMonitor`]: knows whether everything that has not answered provably waits.
//!
//! [`Executor`] runs cases on one server; [`Runner`] also brings up a new server when one has died.

pub mod ask;
mod bare;
mod end;
mod executor;
pub mod os;
pub mod placement;
mod plan;
mod postchecks;
mod prepare;
mod runner;
mod scheduler;
mod scratch;
pub mod seams;
mod slot;
mod watchdog;

pub use bare::Bare;
pub use executor::{Counts, Executor, Guard, Options, Timing};
pub use placement::{Placed, Placement};
pub use plan::Plan;
pub use postchecks::PostCheckInterval;
pub use prepare::Reset;
pub use runner::{Launch, LaunchError, Runner};
pub use seams::{
    ConnectError, LockMonitor, RawError, RawReply, Server, Session, SessionId, Settled, WireReply,
};
