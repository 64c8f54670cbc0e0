//! How it is known that a statement waits: [`proc`] watches the server's own threads, [`sql`] asks the
//! server. Both label a wait with its blockers in the same way ([`lock_waits`]). What is pure stands apart:
//! [`innodb_status`], the text that MariaDB shows, and [`thread_matcher`] for a server that does not name its threads.

pub mod innodb_status;
pub mod lock_waits;
pub mod proc;
pub mod sql;
mod thread_matcher;
