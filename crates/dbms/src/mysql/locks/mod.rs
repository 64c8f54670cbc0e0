//! How it is known that a statement waits: [`proc`] watches the server's own threads, [`sql`] asks the
//! server. Both label a wait with its blockers in the same way ([`source`]). What is pure stands apart:
//! [`waits`], the graph and its cycles, and [`innodb_status`], the text that MariaDB shows.

pub mod innodb_status;
pub mod proc;
pub mod source;
pub mod sql;
pub mod waits;

/// Which monitor to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settle {
    /// Read the server's threads in /proc: the same machine, Linux, data in memory.
    Proc,
    /// Ask in SQL: everywhere else.
    Sql,
}
