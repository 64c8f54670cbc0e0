//! The judges: each is given a case and what happened, and says whether that may be. Pure: no I/O, no clock.
//!
//! An oracle never holds a connection. It is opened as a [`Conversation`] for one run of one case; it may ask for more runs as
//! data, and in the end it gives a verdict.

mod assignments;
pub mod crash;
pub mod decoupled;
pub mod expectations;
pub mod invariants;
pub mod mvcc;
pub mod opportunities;
pub mod signature;
pub mod story;
pub mod vote;

use model::{Aftermath, Case, Level, Reason, Scene, Shown, Trace, Verdict};

/// A run that an oracle is shown.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What was run.
    pub case: Case,
    /// What happened.
    pub trace: Trace,
    /// What was seen beside it.
    pub aftermath: Aftermath,
}

/// A run that an oracle asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What to run, from a clean reset.
    pub case: Case,
    /// The level of sessions without one of their own.
    pub level: Level,
}

/// What an oracle wants next.
#[derive(Clone, Debug)]
pub enum Ask {
    /// Run these, and show me.
    Run(Vec<Request>),
    /// Play this single statement, and show me.
    Play(Box<Scene>),
    /// That is all.
    Done(Verdict),
}

/// A judge.
pub trait Oracle: Send + Sync {
    /// Its name, as `--oracle` knows it.
    fn name(&self) -> &'static str;

    /// Begins with the run that is to be judged.
    fn open<'a>(&self, seen: &'a Answer) -> Box<dyn Conversation + 'a>;
}

/// An oracle at work on one run.
pub trait Conversation {
    /// What it says to the answers to what it asked for last; none the first time.
    fn next(&mut self, answers: &[Answer]) -> Ask;

    /// What it says to a scene that it asked for.
    fn shown(&mut self, _shown: Shown) -> Ask {
        Ask::Done(Verdict::Undecided { reason: Reason::NotAskedFor })
    }
}

/// Every oracle that judges a run by itself, in the order in which they are asked.
pub fn all() -> Vec<Box<dyn Oracle>> {
    vec![Box::new(crash::Crash), Box::<invariants::Invariants>::default(), Box::<mvcc::Mvcc>::default()]
}

/// Those that play single statements, and so need a server.
pub fn playing() -> Vec<Box<dyn Oracle>> {
    vec![Box::<decoupled::Decoupled>::default(), Box::<vote::Vote>::default()]
}

/// Those whom a hunt asks if nobody says otherwise.
pub const HUNTING: [&str; 3] = ["crash", "invariants", vote::NAME];

/// What an oracle says that asks for no further run.
pub fn judge(oracle: &dyn Oracle, seen: &Answer) -> Verdict {
    let undecided = || Verdict::Undecided { reason: Reason::WantsMoreRuns };
    let mut conversation = oracle.open(seen);
    match conversation.next(&[]) {
        Ask::Done(verdict) => verdict,
        // Without an answer it may still say why it asked.
        Ask::Run(_) => match conversation.next(&[]) {
            Ask::Done(verdict) => verdict,
            Ask::Run(_) | Ask::Play(_) => undecided(),
        },
        Ask::Play(_) => undecided(),
    }
}
