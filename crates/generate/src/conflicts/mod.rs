//! How transactions are made to collide: one strategy per file, and their list.

use model::{Rng, sql::Statement};

use crate::{orders::Pair, profile::weighted, statements::Statements};

/// A way to make transactions collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// None, for comparison.
    None,
    /// Fucci's full-shared filter: two statements with the same predicate.
    Fsf,
    /// Fucci's partially shared filter: predicates that share a part.
    Psf,
    /// Fucci's common tuple construction: two statements are made to meet in one row.
    Ctc,
    /// Two write the same constant.
    SharedSet,
    /// My WHERE reads what you SET.
    CrossColumn,
    /// Keys move up and down.
    KeyMove,
    /// Two go for one unique value.
    KeyCollision,
    /// A row goes and comes back.
    DeleteReinsert,
    /// A row comes and is rolled back.
    RollbackInsert,
    /// One reads a range, the other inserts into it.
    GapInsert,
    /// Rows and the rows that they refer to.
    ParentChild,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Strategy; 12] = [
        Strategy::None,
        Strategy::Fsf,
        Strategy::Psf,
        Strategy::Ctc,
        Strategy::SharedSet,
        Strategy::CrossColumn,
        Strategy::KeyMove,
        Strategy::KeyCollision,
        Strategy::DeleteReinsert,
        Strategy::RollbackInsert,
        Strategy::GapInsert,
        Strategy::ParentChild,
    ];

    /// Its name in cases, flags and profiles.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::None => "none",
            Strategy::Fsf => "fsf",
            Strategy::Psf => "psf",
            Strategy::Ctc => "ctc",
            Strategy::SharedSet => "shared-set",
            Strategy::CrossColumn => "cross-column",
            Strategy::KeyMove => "key-move",
            Strategy::KeyCollision => "key-collision",
            Strategy::DeleteReinsert => "delete-reinsert",
            Strategy::RollbackInsert => "rollback-insert",
            Strategy::GapInsert => "gap-insert",
            Strategy::ParentChild => "parent-child",
        }
    }
}

/// What the sessions do to collide, before each is made a transaction: see [`crate::scripts`].
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// One for each session.
    pub bodies: Vec<Body>,
    /// Statements that were made to collide; their places count within the bodies.
    pub pairs: Vec<Pair>,
}

/// What one session does.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Its statements, without BEGIN and COMMIT.
    pub statements: Vec<Statement>,
    /// How it must end; drawn if nothing is said.
    pub ending: Option<Ending>,
}

/// How a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// COMMIT
    Commit,
    /// ROLLBACK
    Rollback,
}

/// Draws what the sessions do.
pub fn plan(_strategy: Strategy, rng: &mut Rng, statements: &Statements, sessions: usize) -> Plan {
    let count = |rng: &mut Rng| weighted(rng, &statements.profile.scripts.statements).unwrap_or(0) + 1;
    let body = |rng: &mut Rng| Body {
        statements: (0..count(rng)).map(|_| statements.any(rng)).collect(),
        ending: None,
    };
    Plan { bodies: (0..sessions).map(|_| body(rng)).collect(), pairs: Vec::new() }
}
