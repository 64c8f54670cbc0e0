//! What products have in common: whose SQL they speak, whose values they compute, and where they run.

/// Whose SQL it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlFamily {
    Mysql,
    Postgres,
    Sqlite,
}

/// Whose rules give the value of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Mysql,
    Mariadb,
    Postgres,
    Sqlite,
}

/// Where it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hosting {
    /// A server that is installed, started and connected to, in the protocol of its family.
    Server,
    /// A library inside of Isopod, in a child process.
    Child,
    /// A part of Isopod, in our own thread.
    Thread,
}
