//! One sequence of hypotheses that explains as many rounds of a trace as any: each follows from the one before.
//!
//! Judging keeps all hypotheses of a round at once and forgets how each came about. To tell people what happened one sequence is enough: it is
//! searched depth first, hypotheses that need fewer deviations before others.

use smallvec::smallvec;

use super::{Hypothesis, Replay};

/// At most this many rounds are replayed; then the longest sequence so far has to do.
const TRIES: usize = 4_000;

pub struct ExplainingPath {
    /// The hypothesis after each round that it explains.
    pub hypotheses: Vec<Hypothesis>,
    /// Does it explain all of them, and the final state?
    pub whole: bool,
}

impl Replay<'_> {
    /// The sequence that goes furthest.
    pub fn explaining_path(&self) -> ExplainingPath {
        let mut best = Vec::new();
        let mut tries = TRIES;
        let mut path = Vec::new();
        let begin = self.beginning();
        let whole = self.descend(begin, &mut path, &mut best, &mut tries);
        ExplainingPath { hypotheses: if whole { path } else { best }, whole }
    }

    /// The hypothesis that a step of a round meets, where that is certain: what answered before it has had its effect.
    pub fn met_by(&self, before: &Hypothesis, round: usize, step: usize) -> Option<Hypothesis> {
        let round = self.seen.trace.rounds.get(round)?;
        let (first, rest) = self.order(round);
        let earlier = match first.iter().position(|of| *of == step) {
            Some(at) => &first[..at],
            None if rest == [step] => &first[..],
            None => return None,
        };
        let mut hypothesis = before.clone();
        self.begin(&mut hypothesis, round);
        let mut hypotheses = self.answers(hypothesis, earlier, &[]).ok()?;
        match hypotheses.len() {
            1 => hypotheses.pop(),
            _ => None,
        }
    }

    /// Goes on from a hypothesis; true if the end was reached.
    fn descend(
        &self,
        hypothesis: Hypothesis,
        path: &mut Vec<Hypothesis>,
        best: &mut Vec<Hypothesis>,
        tries: &mut usize,
    ) -> bool {
        let Some(round) = self.seen.trace.rounds.get(path.len()) else {
            return self.finals(smallvec![hypothesis]).is_ok();
        };
        if *tries == 0 {
            return false;
        }
        *tries -= 1;
        let mut next = self.round(smallvec![hypothesis], round).unwrap_or_default();
        next.sort_by_key(|hypothesis| hypothesis.used.len());
        for hypothesis in next {
            path.push(hypothesis.clone());
            if path.len() > best.len() {
                best.clone_from(path);
            }
            if self.descend(hypothesis, path, best, tries) {
                return true;
            }
            path.pop();
        }
        false
    }
}
