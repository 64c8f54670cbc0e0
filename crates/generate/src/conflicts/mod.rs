//! How transactions are made to collide: one strategy per file, and their list.
//!
//! The first three are Fucci's (section 3.1): they make conditions meet. The others are ours, because theirs share filters but
//! never values or keys. A strategy that the schema has no room for (no foreign key, no row) lets another be drawn.
//!
//! * [`ground`]: what strategies stand on, and the plain statements that they put in;
//! * [`weave`]: how those get into the scripts;
//! * [`filtered`]: statements with a condition, and the 13 pairs of Fucci's Table 2.

mod cross_column;
mod ctc;
mod delete_reinsert;
mod filtered;
mod fsf;
mod gap_insert;
pub mod ground;
mod key_collision;
mod key_move;
mod parent_child;
mod psf;
mod rollback_insert;
mod shared_set;
mod weave;

use model::{Rng, sql::Statement};

pub use ground::Ground;

use crate::{orders::Pair, profile::weighted, statements::Statements};

/// What came of a strategy: who meets whom, and what is worth noting about it.
#[derive(Clone, Debug, Default)]
struct Met {
    pairs: Vec<Pair>,
    features: Vec<&'static str>,
}

/// A way to make transactions collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// None, for comparison.
    None,
    /// Fucci's fully shared filters: two statements with the same condition.
    Fsf,
    /// Fucci's partially shared filters: one condition contains the other.
    Psf,
    /// Fucci's conflict tuple containment: two statements are made to meet in one row.
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
    /// Applies it; none if the schema or the bodies have no room for it.
    fn collide(self, rng: &mut Rng, ground: &Ground, bodies: &mut [Body]) -> Option<Met> {
        let spines = match self {
            Strategy::None => return Some(Met::default()),
            Strategy::Fsf => return fsf::collide(rng, ground, bodies),
            Strategy::Psf => return psf::collide(rng, ground, bodies),
            Strategy::Ctc => return ctc::collide(rng, ground, bodies),
            Strategy::SharedSet => shared_set::plan(rng, ground),
            Strategy::CrossColumn => cross_column::plan(rng, ground),
            Strategy::KeyMove => key_move::plan(rng, ground),
            Strategy::KeyCollision => key_collision::plan(rng, ground),
            Strategy::DeleteReinsert => delete_reinsert::plan(rng, ground),
            Strategy::RollbackInsert => rollback_insert::plan(rng, ground),
            Strategy::GapInsert => gap_insert::plan(rng, ground),
            Strategy::ParentChild => parent_child::plan(rng, ground),
        }?;
        let pair = weave::weave(rng, bodies, spines)?;
        Some(Met { pairs: vec![pair], features: Vec::new() })
    }

    /// The strategy of this name.
    pub fn named(name: &str) -> Option<Strategy> {
        Strategy::ALL.into_iter().find(|strategy| strategy.name() == name)
    }

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
#[derive(Clone, Debug)]
pub struct Plan {
    /// How they were made to collide.
    pub strategy: Strategy,
    /// What is worth noting about it: which pair of Table 2.
    pub features: Vec<&'static str>,
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

/// Draws what the sessions do, and makes them collide by a strategy of the profile. One that has no room on this schema lets
/// another be drawn.
pub fn plan(rng: &mut Rng, statements: &Statements, sessions: usize) -> Plan {
    let count = |rng: &mut Rng| weighted(rng, &statements.profile.scripts.statements).unwrap_or(0) + 1;
    let body = |rng: &mut Rng| Body {
        statements: (0..count(rng)).map(|_| statements.any(rng)).collect(),
        ending: None,
    };
    let bodies: Vec<Body> = (0..sessions).map(|_| body(rng)).collect();
    let ground = Ground { schema: statements.schema, caps: statements.caps, profile: statements.profile };
    let weight = |one: Strategy| ground.profile.strategies.get(one.name()).copied().unwrap_or(0);
    let mut weights = Strategy::ALL.map(weight);
    while let Some(drawn) = weighted(rng, &weights) {
        // What does not fit may have begun to change the bodies.
        let mut bodies = bodies.clone();
        if let Some(met) = Strategy::ALL[drawn].collide(rng, &ground, &mut bodies) {
            return Plan { strategy: Strategy::ALL[drawn], bodies, pairs: met.pairs, features: met.features };
        }
        weights[drawn] = 0;
    }
    Plan { strategy: Strategy::None, bodies, pairs: Vec::new(), features: Vec::new() }
}
