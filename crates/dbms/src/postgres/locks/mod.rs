//! How it is known that a statement waits: [`proc`] watches the server's own processes and the notices that they send
//! ([`board`]), [`sql`] asks the server. Both label a wait with its blockers in the same way ([`source`]).

pub mod board;
pub mod proc;
pub mod source;
pub mod sql;
