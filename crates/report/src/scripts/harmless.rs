//! Does a case hold what a client would run by itself? Cases are handed from one to the other, and a script is run by whoever trusts it to
//! talk to a server.

use std::fmt;

use dialect::OwnCommands;

use crate::bug_report::BugReport;

/// A script that is not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withheld {
    /// For this tool.
    pub tool: &'static str,
    /// What it would run.
    pub command: String,
    pub place: Place,
}

/// Where a statement of a script is from. Numbers count from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Setup(usize),
    Step(usize),
    /// The name of a table.
    Table,
}

impl fmt::Display for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Withheld { tool, command, place } = self;
        let command = crate::text::clean(command);
        match place {
            Place::Setup(at) => write!(f, "statement {at} of the setup")?,
            Place::Step(at) => write!(f, "step {at}")?,
            Place::Table => write!(f, "the name of a table")?,
        }
        write!(
            f,
            " holds `{command}`, which {tool} would not send to the server but might run on your machine"
        )
    }
}

/// Refuses a case that holds a command of the tool.
pub fn check(bug: &BugReport, commands: &OwnCommands) -> Result<(), Withheld> {
    let case = &bug.execution.case;
    let setup = case.setup.statements.iter().enumerate().map(|(at, sql)| (Place::Setup(at + 1), sql.clone()));
    let steps = case.steps.iter().enumerate().map(|(at, step)| (Place::Step(at + 1), step.sql.clone()));
    let tables = bug.execution.trace.final_state.as_deref().unwrap_or_default();
    let dialect = dialect::of(bug.product());
    let tables =
        tables.iter().map(|(table, _)| (Place::Table, format!("SELECT * FROM {}", dialect.quoted(table))));
    let found = |(place, sql): (Place, String)| {
        commands.first_in(&sql).map(|command| Withheld { tool: commands.tool, command, place })
    };
    setup.chain(steps).chain(tables).find_map(found).map_or(Ok(()), Err)
}
