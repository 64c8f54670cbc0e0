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
pub mod vote;

use dialect::Execution;
use model::{Case, Level, Probe, ProbeResult, Reason, Verdict};

use mvcc::{Waits, deviations::KnownDeviation, twins::Use};

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
    /// Run this single statement, and show me.
    Probe(Box<Probe>),
    /// That is all.
    Done(Verdict),
}

/// What an oracle says of itself: help texts, default sets and summaries are made from this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OracleInfo {
    /// As `--oracle` knows it.
    pub name: &'static str,
    /// Is it undecided about every run of a product without a contract?
    pub needs_contract: bool,
    /// Does it ask for single statements, so that it cannot judge a stored trace?
    pub needs_server: bool,
    /// Does a hunt ask it if nobody says otherwise?
    pub default: bool,
    /// One line of help.
    pub help: &'static str,
}

/// A judge. A new one needs [`info`](Oracle::info), [`open`](Oracle::open) and a line in [`registry`].
pub trait Oracle: Send + Sync {
    fn info(&self) -> OracleInfo;

    /// Begins with the run that is to be judged.
    fn open<'a>(&self, seen: &'a Execution) -> Box<dyn Conversation + 'a>;

    fn name(&self) -> &'static str {
        self.info().name
    }

    /// A cheaper oracle that mostly says the same: it may judge the candidates of a reduction.
    fn quick_equivalent(&self) -> Option<Box<dyn Oracle>> {
        None
    }

    /// The same oracle, sparing nothing: what it says of a case does not depend on the cases before it.
    fn thorough_equivalent(&self) -> Option<Box<dyn Oracle>> {
        None
    }

    /// The known deviations that explain a run, each with the step that needs it.
    fn explained_by(&self, _seen: &Execution) -> Vec<Use> {
        Vec::new()
    }

    /// For each step the case in which that step lacks what a known deviation needs; `wrong` is the step that shows it.
    fn twins(
        &self,
        _seen: &Execution,
        _by: &'static KnownDeviation,
        _wrong: Option<usize>,
    ) -> Vec<(usize, Case)> {
        Vec::new()
    }

    /// How many waits of a run it can tell about, and how many of them nothing demands.
    fn waits(&self, _seen: &Execution) -> Option<Waits> {
        None
    }
}

/// An oracle at work on one run.
pub trait Conversation {
    /// What it says to the answers to what it asked for last; none the first time.
    fn next(&mut self, answers: &[Execution]) -> Ask;

    /// What it says to a probe that it asked for.
    fn probed(&mut self, _result: ProbeResult) -> Ask {
        Ask::Done(Verdict::Undecided { reason: Reason::NotAskedFor })
    }
}

/// Every oracle there is, in the order in which they are asked. No other list names them.
pub fn registry() -> Vec<Box<dyn Oracle>> {
    vec![
        Box::new(crash::Crash),
        Box::<invariants::Invariants>::default(),
        Box::<mvcc::Mvcc>::default(),
        Box::<decoupled::Decoupled>::default(),
        Box::<vote::Vote>::default(),
    ]
}

/// Those that judge a stored trace.
pub fn without_server() -> Vec<Box<dyn Oracle>> {
    registry().into_iter().filter(|oracle| !oracle.info().needs_server).collect()
}

/// Those that a hunt asks if nobody says otherwise.
pub fn default_set() -> Vec<Box<dyn Oracle>> {
    registry().into_iter().filter(|oracle| oracle.info().default).collect()
}

/// Those of these names, in the order of the registry; else the first name that no oracle has.
pub fn named(names: &[String]) -> Result<Vec<Box<dyn Oracle>>, String> {
    let mut all = registry();
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|oracle| oracle.name() != **name)) {
        return Err(unknown.clone());
    }
    all.retain(|oracle| names.iter().any(|name| name == oracle.name()));
    Ok(all)
}

/// What an oracle says that asks for no further run.
pub fn judge(oracle: &dyn Oracle, seen: &Execution) -> Verdict {
    let undecided = || Verdict::Undecided { reason: Reason::WantsMoreRuns };
    let mut conversation = oracle.open(seen);
    match conversation.next(&[]) {
        Ask::Done(verdict) => verdict,
        // Without an answer it may still say why it asked.
        Ask::Run(_) => match conversation.next(&[]) {
            Ask::Done(verdict) => verdict,
            Ask::Run(_) | Ask::Probe(_) => undecided(),
        },
        Ask::Probe(_) => undecided(),
    }
}
