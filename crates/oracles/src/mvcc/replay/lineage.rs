//! One account of a trace that goes as far as any does: the world after each round, each following from the one before.
//!
//! Judging keeps all accounts at once and forgets how each came about. To tell people what happened one of them is enough, but it
//! must be one: so it is searched for in depth, those that need fewer concessions first.

use smallvec::smallvec;

use super::{Replay, World};

/// So many rounds are gone through before the longest account so far has to do.
const TRIES: usize = 4_000;

/// An account, round by round.
pub struct Lineage {
    /// The world after each round that it explains.
    pub worlds: Vec<World>,
    /// Does it explain all of them, and the final state?
    pub whole: bool,
}

impl Replay<'_> {
    /// The account that goes furthest.
    pub fn lineage(&self) -> Lineage {
        let mut best = Vec::new();
        let mut tries = TRIES;
        let mut path = Vec::new();
        let begin = World::new(self.schema, self.seen.case.sessions.len());
        let whole = self.descend(begin, &mut path, &mut best, &mut tries);
        Lineage { worlds: if whole { path } else { best }, whole }
    }

    /// The world that a step of a round meets, where that is certain: what answered before it has had its effect.
    pub fn met_by(&self, before: &World, round: usize, step: usize) -> Option<World> {
        let round = self.seen.trace.rounds.get(round)?;
        let (first, rest) = self.order(round);
        let earlier = match first.iter().position(|of| *of == step) {
            Some(at) => &first[..at],
            None if rest == [step] => &first[..],
            None => return None,
        };
        let mut world = before.clone();
        self.begin(&mut world, round);
        let mut worlds = self.answers(world, earlier, &[]).ok()?;
        match worlds.len() {
            1 => worlds.pop(),
            _ => None,
        }
    }

    /// Goes on from a world; true if the end was reached.
    fn descend(&self, world: World, path: &mut Vec<World>, best: &mut Vec<World>, tries: &mut usize) -> bool {
        let Some(round) = self.seen.trace.rounds.get(path.len()) else {
            return self.finals(smallvec![world]).is_ok();
        };
        if *tries == 0 {
            return false;
        }
        *tries -= 1;
        let mut next = self.round(smallvec![world], round).unwrap_or_default();
        next.sort_by_key(|world| world.used.len());
        for world in next {
            path.push(world.clone());
            if path.len() > best.len() {
                best.clone_from(path);
            }
            if self.descend(world, path, best, tries) {
                return true;
            }
            path.pop();
        }
        false
    }
}
