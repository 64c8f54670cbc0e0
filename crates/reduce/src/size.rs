//! How large a case is: fewer steps count most, then fewer sessions, less setup, less that is special about the sessions, shorter
//! text, an order that is easier to follow. Of two that are alike in all of that, the one whose text sorts first is the smaller
//! one: 1 before 7.

use dialect::sql;
use model::{
    Case, Product,
    sql::{InsertSource, Statement},
};

/// Sizes compare as what counts most comes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    /// Statements of the sessions; one without autocommit would need one more to say so.
    pub steps: usize,
    pub sessions: usize,
    /// Statements of the setup.
    pub setup: usize,
    /// Levels beyond the first, and sessions without autocommit.
    pub special: usize,
    /// Bytes of all statements.
    pub bytes: usize,
    /// How often the session changes from one step to the next.
    pub switches: usize,
    /// For each session the steps of others between its first and its last.
    pub between: usize,
    /// All statements.
    text: Vec<String>,
}

impl Size {
    pub fn of(case: &Case) -> Size {
        let steps = case.steps.iter().map(|step| &step.sql);
        let text: Vec<String> = steps.chain(&case.setup.statements).cloned().collect();
        let mut levels: Vec<_> = case.sessions.iter().map(|session| session.level).collect();
        levels.sort_unstable();
        levels.dedup();
        let off = case.sessions.iter().filter(|session| !session.autocommit).count();
        let between = |session: usize| {
            let own: Vec<usize> =
                (0..case.steps.len()).filter(|at| case.steps[*at].session == session).collect();
            own.windows(2).map(|pair| pair[1] - pair[0] - 1).sum::<usize>()
        };
        Size {
            steps: case.steps.len() + off,
            sessions: case.sessions.len(),
            setup: case.setup.statements.len(),
            special: levels.len().saturating_sub(1) + off,
            bytes: text.iter().map(String::len).sum(),
            switches: case.steps.windows(2).filter(|pair| pair[0].session != pair[1].session).count(),
            between: (0..case.sessions.len()).map(between).sum(),
            text,
        }
    }
}

/// How many rows the setup of a case inserts.
pub fn rows(product: Product, case: &Case) -> usize {
    let count = |text: &String| match sql::parse(product, text).tree() {
        Some(Statement::Insert(insert)) => match insert.source {
            InsertSource::Values { rows, .. } => rows.len(),
            InsertSource::Set(_) | InsertSource::DefaultValues => 1,
            InsertSource::Query(_) => 0,
        },
        Some(_) | None => 0,
    };
    case.setup.statements.iter().map(count).sum()
}
