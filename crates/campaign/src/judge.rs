//! Lets the oracles judge a run. What an oracle asks for is run from clean resets, on the same server.

use model::{Level, Verdict};
use oracles::{Answer, Ask, Oracle, Request};

use crate::guise::Guise;

/// Runs what an oracle asks for; none if that could not be run.
pub type Runs<'a> = dyn FnMut(&Request) -> Option<Answer> + 'a;

/// An oracle that asks for more than this is not answered any more.
const QUESTIONS: usize = 64;

/// An oracle, and what it is told instead of what is true.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    /// The oracle.
    pub oracle: &'a dyn Oracle,
    /// What it is told.
    pub guise: &'a Guise,
}

impl Judge<'_> {
    /// What it says of a run.
    pub fn verdict(&self, seen: &Answer, runs: &mut Runs<'_>) -> Verdict {
        if !admissible(seen) {
            return undecided("false-decision");
        }
        verdict(self.oracle, &self.guise.over(seen), runs)
    }
}

/// What one oracle says of a run.
pub fn verdict(oracle: &dyn Oracle, seen: &Answer, runs: &mut Runs<'_>) -> Verdict {
    let mut conversation = oracle.open(seen);
    let mut answers = Vec::new();
    for _ in 0..QUESTIONS {
        match conversation.next(&answers) {
            Ask::Done(verdict) => return verdict,
            Ask::Run(requests) => {
                answers.clear();
                for request in &requests {
                    match runs(request) {
                        Some(answer) => answers.push(answer),
                        None => return undecided("not-run"),
                    }
                }
            }
        }
    }
    undecided("too-many-questions")
}

fn undecided(reason: &str) -> Verdict {
    Verdict::Undecided { reason: reason.into() }
}

/// A run that is not evidence says nothing, whatever it looks like.
pub fn admissible(answer: &Answer) -> bool {
    answer.trace.false_decisions == 0
}

/// The level that a finding is shown at: that of the run.
pub fn level(answer: &Answer) -> Level {
    answer.trace.level
}
