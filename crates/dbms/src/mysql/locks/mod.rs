//! How it is known that a statement waits: [`proc`] watches the server's own threads, [`sql`] asks the
//! server. Both label a wait with its blockers in the same way ([`source`]). What is pure stands apart:
//! [`innodb_status`], the text that MariaDB shows, and [`newcomers`] for a server that does not name its threads.

pub mod innodb_status;
mod newcomers;
pub mod proc;
pub mod source;
pub mod sql;
