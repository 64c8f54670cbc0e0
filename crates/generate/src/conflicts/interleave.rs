//! Puts what a strategy wants into the bodies of two sessions: in its order, among what is there already, so that no two cases look
//! alike.

use model::{Rng, sql::Statement};

use super::{Body, Ending};
use crate::orders::{OrderKind, Pair, Place};

/// What a strategy wants two sessions to do.
pub struct ScriptPair {
    /// The statements of the one that acts first, in order.
    pub first: Vec<Statement>,
    /// The statements of the other.
    pub second: Vec<Statement>,
    /// Which of each collide.
    pub meet: (usize, usize),
    /// The shape of order that suits them.
    pub shape: Option<OrderKind>,
    /// How the first one ends, where that matters.
    pub ending: Option<Ending>,
}

/// How often a statement of a body that does not belong to the strategy is kept.
const KEPT: (usize, usize) = (1, 2);

/// Puts both scripts into bodies.
pub fn interleave(rng: &mut Rng, bodies: &mut [Body], scripts: ScriptPair) -> Option<Pair> {
    let (one, two) = sessions(rng, bodies)?;
    let first =
        Place { session: one, index: insert_into(rng, &mut bodies[one], scripts.first, scripts.meet.0) };
    let second =
        Place { session: two, index: insert_into(rng, &mut bodies[two], scripts.second, scripts.meet.1) };
    // Most of the time: the other end is a case too.
    if rng.ratio(9, 10) {
        bodies[one].ending = scripts.ending;
    }
    Some(Pair { first, second, shape: scripts.shape })
}

/// Two sessions by chance.
pub fn sessions(rng: &mut Rng, bodies: &[Body]) -> Option<(usize, usize)> {
    let mut all: Vec<usize> = (0..bodies.len()).collect();
    rng.shuffle(&mut all);
    match all[..] {
        [one, two, ..] => Some((one, two)),
        [] | [_] => None,
    }
}

/// Interleaves statements into a body; gives the place of the one that is to meet another.
fn insert_into(rng: &mut Rng, body: &mut Body, script: Vec<Statement>, meet: usize) -> usize {
    let rest = std::mem::take(&mut body.statements);
    let kept: Vec<Statement> = rest.into_iter().filter(|_| rng.ratio(KEPT.0, KEPT.1)).collect();
    let (mut kept, total, mut place) = (kept.into_iter(), script.len(), 0);
    let mixed = &mut body.statements;
    for (number, statement) in script.into_iter().enumerate() {
        while kept.len() > 0 && !rng.ratio(total - number, total - number + kept.len()) {
            mixed.extend(kept.next());
        }
        if number == meet {
            place = mixed.len();
        }
        mixed.push(statement);
    }
    mixed.extend(kept);
    place
}
