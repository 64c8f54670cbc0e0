//! How large a case is: fewer steps count most, then fewer sessions, then less setup, then shorter text.

use model::Case;

/// Sizes compare as what counts most comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    /// Statements of the sessions.
    pub steps: usize,
    /// Sessions.
    pub sessions: usize,
    /// Statements of the setup.
    pub setup: usize,
    /// Bytes of all statements.
    pub bytes: usize,
}

impl Size {
    /// The size of a case.
    pub fn of(case: &Case) -> Size {
        let steps = case.steps.iter().map(|step| step.sql.len());
        let setup = case.setup.statements.iter().map(String::len);
        Size {
            steps: case.steps.len(),
            sessions: case.sessions.len(),
            setup: case.setup.statements.len(),
            bytes: steps.chain(setup).sum(),
        }
    }
}
