//! How transactions are made to collide: one strategy per file, and their list.
//!
//! The first three are Fucci's (section 3.1): they make conditions meet. The others are ours, because theirs share filters but
//! never values or keys. A strategy that the schema has no room for (no foreign key, no row) lets another be drawn.
//!
//! * [`context`]: the schema and the capabilities that strategies work with, and the plain statements that they put in;
//! * [`interleave`]: how those get into the scripts;
//! * [`filtered`]: statements with a condition, and the 13 pairs of Fucci's Table 2.

mod cascade_triangle;
pub mod context;
mod cross_column;
mod ctc;
mod delete_reinsert;
mod filtered;
mod fsf;
mod gap_insert;
mod interleave;
mod key_collision;
mod key_move;
mod parent_child;
mod psf;
mod replace_two;
mod rollback_insert;
mod shared_set;
mod unique_search;

use model::{Rng, sql::Statement};

use context::ConflictContext;
use interleave::ScriptPair;

use crate::{orders::Pair, profile::weighted, statements::Statements};

/// What a strategy did: which statements collide, and what is worth noting about it.
#[derive(Clone, Debug, Default)]
struct Collision {
    pairs: Vec<Pair>,
    features: Vec<&'static str>,
}

/// How a strategy works.
#[derive(Clone, Copy)]
enum How {
    /// Not at all, for comparison.
    Nothing,
    /// It changes the conditions of statements that are there.
    Edit(fn(&mut Rng, &ConflictContext, &mut [Body]) -> Option<Collision>),
    /// It says what two sessions do beside their own statements.
    Plan(fn(&mut Rng, &ConflictContext) -> Option<ScriptPair>),
}

/// All strategies, with their names in cases, flags and profiles. Their order is part of what a seed means.
const STRATEGIES: [(&str, How); 15] = [
    ("none", How::Nothing),
    ("fsf", How::Edit(fsf::collide)),
    ("psf", How::Edit(psf::collide)),
    ("ctc", How::Edit(ctc::collide)),
    ("shared-set", How::Plan(shared_set::plan)),
    ("cross-column", How::Plan(cross_column::plan)),
    ("key-move", How::Plan(key_move::plan)),
    ("key-collision", How::Plan(key_collision::plan)),
    ("delete-reinsert", How::Plan(delete_reinsert::plan)),
    ("rollback-insert", How::Plan(rollback_insert::plan)),
    ("gap-insert", How::Plan(gap_insert::plan)),
    ("parent-child", How::Plan(parent_child::plan)),
    ("unique-search", How::Plan(unique_search::plan)),
    ("cascade-triangle", How::Plan(cascade_triangle::plan)),
    ("replace-two", How::Plan(replace_two::plan)),
];

/// A way to make transactions collide, by its number in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strategy(usize);

impl Strategy {
    pub const NONE: Strategy = Strategy(0);

    pub fn all() -> impl ExactSizeIterator<Item = Strategy> {
        (0..STRATEGIES.len()).map(Strategy)
    }

    pub fn named(name: &str) -> Option<Strategy> {
        Strategy::all().find(|strategy| strategy.name() == name)
    }

    pub fn name(self) -> &'static str {
        STRATEGIES[self.0].0
    }

    /// Applies it; none if the schema or the bodies have no room for it.
    fn collide(self, rng: &mut Rng, context: &ConflictContext, bodies: &mut [Body]) -> Option<Collision> {
        match STRATEGIES[self.0].1 {
            How::Nothing => Some(Collision::default()),
            How::Edit(collide) => collide(rng, context, bodies),
            How::Plan(plan) => {
                let scripts = plan(rng, context)?;
                let pair = interleave::interleave(rng, bodies, scripts)?;
                Some(Collision { pairs: vec![pair], features: Vec::new() })
            }
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
    Commit,
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
    let context = ConflictContext(*statements);
    let mut weights = STRATEGIES.map(|(name, _)| context.profile.strategies.get(name).copied().unwrap_or(0));
    while let Some(drawn) = weighted(rng, &weights) {
        // What does not fit may have begun to change the bodies.
        let mut bodies = bodies.clone();
        if let Some(Collision { pairs, features }) = Strategy(drawn).collide(rng, &context, &mut bodies) {
            return Plan { strategy: Strategy(drawn), bodies, pairs, features };
        }
        weights[drawn] = 0;
    }
    Plan { strategy: Strategy::NONE, bodies, pairs: Vec::new(), features: Vec::new() }
}
