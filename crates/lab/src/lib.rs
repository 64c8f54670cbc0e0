//! The laboratory: [`bench`] measures Isopod against the bare server, [`selftest`] tests it on a real one, [`corpus`] runs cases with
//! expectations, and [`generated`] says how good generated cases are.
//!
//! Every experiment takes a plan and gives back its figures as a type with `Serialize`. Nothing here prints: how far a long one has
//! come is an [`Event`], and whoever shows it gives the hook.

pub mod bench;
pub mod corpus;
pub mod examples;
pub mod generated;
pub mod places;
pub mod ready;
pub mod selftest;

use std::time::Duration;

use campaign::{CleanServer, Servers};
use dialect::Execution;
use execute::{LaunchError, Options, Placement, Reset, Runner};
use model::{Case, Level, Product, Target};
use oracles::Oracle;

/// Why an experiment cannot be done. What a server answers is never one of these.
pub type LabError = Box<dyn std::error::Error + Send + Sync>;

pub type Result<T> = std::result::Result<T, LabError>;

/// The places where a case can run.
pub type Everywhere<'a> = dyn Fn(&Case) -> Result<Vec<Target>> + 'a;

/// Did the user ask to stop?
pub type Stop = dyn Fn() -> bool + Sync;

/// What every experiment works with.
pub struct Lab<'a> {
    pub servers: &'a dyn Servers,
    /// Where worker and server run.
    pub placement: Placement,
    /// A statement that neither answers nor waits for so long is hung.
    pub hung_after: Duration,
    pub stop: &'a Stop,
    /// Is told how far it has come.
    pub hook: &'a (dyn Fn(Event) + Sync),
}

/// How far a long experiment has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Begun {
        what: String,
        units: u64,
    },
    /// What it is busy with now.
    Now(String),
    /// What the user should know of a server.
    Note(String),
    Reached(u64),
    Ended,
}

impl Lab<'_> {
    fn options(&self, reset: Reset) -> Options {
        Options { reset, hung_after: self.hung_after, ..Options::default() }
    }

    fn runner(&self, target: &Target, options: Options) -> Result<Runner> {
        Ok(self.servers.open(target, options, self.placement)?)
    }

    /// Of which neither client nor server is pinned: each gets a CPU of its own.
    fn unpinned(&self, target: &Target, reset: Reset) -> Result<Runner> {
        let free = Placement { pin: false, realtime: false, cpu: None };
        Ok(self.servers.open(target, self.options(reset), free)?)
    }

    fn clean_server(&self, target: &Target) -> Result<CleanServer> {
        Ok(CleanServer::new(self.runner(target, self.options(Reset::Clean))?, target))
    }

    /// What may show only while cases run.
    fn notes(&self, runner: &Runner) {
        runner.notes().into_iter().for_each(|note| (self.hook)(Event::Note(note)));
    }

    fn stopped(&self) -> bool {
        (self.stop)()
    }

    fn job(&self, what: impl Into<String>, units: u64) -> Job<'_> {
        (self.hook)(Event::Begun { what: what.into(), units });
        Job { hook: self.hook, done: 0 }
    }
}

/// A job of so many units; it ends when it is dropped.
struct Job<'a> {
    hook: &'a (dyn Fn(Event) + Sync),
    done: u64,
}

impl Job<'_> {
    fn step(&mut self) {
        self.reached(self.done + 1);
    }

    fn now(&mut self, what: String) {
        (self.hook)(Event::Now(what));
    }

    fn reached(&mut self, units: u64) {
        self.done = units;
        (self.hook)(Event::Reached(units));
    }
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        (self.hook)(Event::Ended);
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{name} could not be run")]
pub struct CaseFailed {
    pub name: String,
    pub case: Case,
    #[source]
    pub error: LaunchError,
}

impl CaseFailed {
    fn boxed(name: impl Into<String>, case: &Case, error: LaunchError) -> LabError {
        Box::new(CaseFailed { name: name.into(), case: case.clone(), error })
    }
}

/// Runs a generated case.
fn run_numbered(runner: &mut Runner, number: u64, case: &Case, level: Level) -> Result<Execution> {
    runner.run(case, level).map_err(|error| CaseFailed::boxed(format!("case {number}"), case, error))
}

/// There is nothing to measure.
#[derive(Debug, thiserror::Error)]
pub enum Nothing {
    #[error("there is no finding in these folders")]
    Findings,
    #[error("no run was kept in {0}")]
    Traces(String),
    #[error("{0}")]
    RunFolder(LabError),
    #[error("{0}")]
    TraceFile(LabError),
}

#[derive(Debug, thiserror::Error)]
#[error("{target} was abandoned: {reason}")]
pub struct Abandoned {
    pub target: String,
    pub reason: String,
}

/// The oracles of these names; without any all that judge a stored trace.
fn oracles(names: &[String]) -> Result<Vec<Box<dyn Oracle>>> {
    match names {
        [] => Ok(oracles::without_server()),
        names => oracles::named(names).map_err(|unknown| format!("`{unknown}` is not an oracle").into()),
    }
}

fn oracle(name: &str) -> Result<Box<dyn Oracle>> {
    Ok(oracles(&[name.to_string()])?.remove(0))
}

fn levels(product: Product) -> &'static [Level] {
    dialect::of(product).levels
}
