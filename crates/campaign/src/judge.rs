//! Lets the oracles judge a run. What an oracle asks for is run from clean resets, on the same server.

use execute::Reset;
use model::{Case, Level, Reason, Scene, Shown, Verdict};
use oracles::{Answer, Ask, Oracle};

use crate::{confirm::Rerun, guise::Guise};

/// An oracle that asks for more than this is not answered any more.
const QUESTIONS: usize = 64;

/// Nor one that wants to see more scenes than this: a case has some dozens of statements.
const SCENES: usize = 2_000;

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
    pub fn verdict(&self, seen: &Answer, on: &mut dyn Rerun) -> Verdict {
        if !admissible(seen) {
            return undecided(Reason::LateAnswer);
        }
        let mut on = Undressed { on, seen, guise: self.guise };
        verdict(self.oracle, &self.guise.over(seen), &mut on)
    }
}

/// Runs what an oracle asks for as it is in truth, and shows it as the oracle is told.
struct Undressed<'a> {
    on: &'a mut dyn Rerun,
    seen: &'a Answer,
    guise: &'a Guise,
}

impl Rerun for Undressed<'_> {
    fn rerun(&mut self, case: &Case, level: Level, reset: Reset) -> Option<Answer> {
        if self.guise.is_none() {
            return self.on.rerun(case, level, reset);
        }
        let case = Case { sessions: self.seen.case.sessions.clone(), ..case.clone() };
        let answer = self.on.rerun(&case, self.seen.trace.level, reset)?;
        Some(self.guise.over(&answer).into_owned())
    }

    fn play(&mut self, scene: &Scene) -> Option<Shown> {
        self.on.play(scene)
    }

    fn purges(&self) -> bool {
        self.on.purges()
    }

    fn look(&mut self, look: bool) {
        self.on.look(look);
    }
}

/// What one oracle says of a run.
pub fn verdict(oracle: &dyn Oracle, seen: &Answer, on: &mut dyn Rerun) -> Verdict {
    let mut conversation = oracle.open(seen);
    let mut ask = conversation.next(&[]);
    let (mut questions, mut scenes) = (0, 0);
    while questions < QUESTIONS && scenes < SCENES {
        ask = match ask {
            Ask::Done(verdict) => return verdict,
            Ask::Run(requests) => {
                questions += 1;
                let run = |request: &oracles::Request| on.rerun(&request.case, request.level, Reset::Clean);
                // What could not be run is missing among the answers.
                let answers: Vec<Answer> = requests.iter().filter_map(run).collect();
                conversation.next(&answers)
            }
            Ask::Play(scene) => {
                scenes += 1;
                match on.play(&scene) {
                    Some(shown) => conversation.shown(shown),
                    None => return undecided(Reason::NotPlayed),
                }
            }
        };
    }
    undecided(Reason::TooManyQuestions)
}

fn undecided(reason: Reason) -> Verdict {
    Verdict::Undecided { reason }
}

/// A run that is not evidence says nothing, whatever it looks like.
pub fn admissible(answer: &Answer) -> bool {
    answer.trace.false_decisions == 0
}

/// The level that a finding is shown at: that of the run.
pub fn level(answer: &Answer) -> Level {
    answer.trace.level
}
