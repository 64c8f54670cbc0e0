//! How it is known that a statement waits: [`proc`] watches the server's own processes and the notices that they send
//! ([`wait_notices`]), [`sql`] asks the server. Both label a wait with its blockers in the same way ([`lock_waits`]).

pub mod lock_waits;
pub mod proc;
pub mod sql;
pub mod wait_notices;
