//! The vendor's own client and test tool, as far as reports and scripts need to know them.

use crate::OwnCommands;

/// A command-line client that a script can drive. The name of a schema stands at `{schema}`.
pub struct Client {
    pub program: &'static str,
    /// Debian's package with it.
    pub package: &'static str,
    /// What it is told first, so that the user's own files do not count.
    pub no_defaults: &'static [&'static str],
    /// What stands before the socket.
    pub socket: &'static str,
    /// Does it want the socket's folder, and names the socket itself by the port?
    pub wants_folder: bool,
    /// What stands before the user.
    pub user: &'static str,
    /// The database that every server has, where one must be named.
    pub database: &'static [&'static str],
    /// How a script runs it, one statement after the other.
    pub options: &'static str,
    /// How it shows nothing but one number.
    pub plain: &'static str,
    /// The function `in_schema` of a shell script: the client in our own schema. With `run=exec` it takes the place of its shell.
    pub in_schema: &'static str,
    pub create_schema: &'static str,
    /// Gives up when somebody holds on to it.
    pub drop_schema: &'static str,
    /// A query whose rows are the statements that end every session in our own schema, also one that waits and does not see its client go; none where
    /// that cannot be told.
    pub end_sessions: Option<&'static str>,
    /// How many statements wait for others now.
    pub waiting: &'static str,
    /// A filter for the shell that leaves the rows of an answer.
    pub rows: &'static str,
    /// Does it draw lines around rows: `| 1 | a |`? Otherwise `1|a`.
    pub boxes: bool,
    /// The line that says so many rows were changed, as a pattern of grep.
    pub done: fn(affected: u64, matched: Option<u64>) -> String,
    /// The line of an error, as a pattern of grep.
    pub error: fn(code: u32, sqlstate: &str) -> String,
}

/// What people type statements into: the client, where there is one.
pub struct Terminal {
    pub name: &'static str,
    /// What it would not send to the server, but run.
    pub commands: OwnCommands,
    /// Makes a schema, at `{schema}`; none where a file is one.
    pub create_schema: Option<&'static str>,
    pub enter_schema: Option<&'static str>,
}

/// The vendor's own tool for tests with several sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestTool {
    /// With the files of mysql-test-run that bring the storage engine, where its servers run without.
    Mysqltest {
        includes: &'static [&'static str],
    },
    Isolationtester,
}
