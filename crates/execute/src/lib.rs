//! Runs a case on a server in exactly the submitted order, and writes down what happened.
//!
//! This crate knows nothing of wire protocols or products. It drives three small traits, and `dbms`
//! implements them once per family:
//!
//! * [`Server`]: opens sessions, kills statements, says whether it lives;
//! * [`Session`]: sends now, answers later; nothing blocks;
//! * [`LockMonitor`]: knows whether everything that has not answered provably waits.

pub mod ask;
pub mod os;
pub mod seams;

pub use ask::{ask, demand, demand_rows};
pub use seams::{Answer, ConnectError, LockMonitor, RawError, RawReply, Server, Session, SessionId, Settled};
