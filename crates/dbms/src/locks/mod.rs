//! What the monitors of all families share: [`threads`] reads a server's threads in /proc, [`waits`] is the graph of who
//! waits for whom, with its cycles.

pub mod threads;
pub mod waits;

/// Which monitor to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settle {
    /// Read the server's threads in /proc: the same machine, Linux, data in memory.
    Proc,
    /// Ask in SQL: everywhere else.
    Sql,
}
