//! Runs case after case, and brings up a new server when one has died.

use dialect::Execution;
use model::{Case, Level, Probe, ProbeResult, ServerInfo};

use crate::{
    executor::{Counts, Executor, Options, Timing},
    os,
    placement::{self, Placed, Placement},
    postchecks::PostCheckInterval,
    prepare::Reset,
    seams::{ConnectError, Server},
    watchdog::Watchdog,
};

/// Why there is no server, or why it did not run a case.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("{message}")]
    NotStarted {
        message: String,
        /// What to do about it, a line each.
        advice: Vec<String>,
    },
    #[error(transparent)]
    Connect(#[from] ConnectError),
}

impl LaunchError {
    pub fn not_started(error: impl std::fmt::Display, advice: Vec<String>) -> LaunchError {
        LaunchError::NotStarted { message: error.to_string(), advice }
    }

    /// With its advice, in one line.
    pub fn in_one_line(&self) -> String {
        match self {
            LaunchError::NotStarted { message, advice } if !advice.is_empty() => {
                format!("{message} ({})", advice.join("; "))
            }
            LaunchError::NotStarted { .. } | LaunchError::Connect(_) => self.to_string(),
        }
    }
}

/// Brings up servers of one target, as often as one is needed.
pub trait Launch {
    fn launch(&mut self) -> Result<Box<dyn Server>, LaunchError>;

    /// What the user should know of the server that was brought up last, a line each.
    fn notes(&self) -> &[String] {
        &[]
    }
}

impl<F: FnMut() -> Result<Box<dyn Server>, LaunchError>> Launch for F {
    fn launch(&mut self) -> Result<Box<dyn Server>, LaunchError> {
        self()
    }
}

/// Runs cases on a server that is replaced when it dies.
pub struct Runner {
    launch: Box<dyn Launch>,
    options: Options,
    wish: Placement,
    cpus: Vec<usize>,
    placed: Placed,
    watchdog: Option<Watchdog>,
    executor: Option<Executor>,
    counts: Counts,
    deaths: u64,
}

impl Runner {
    /// Brings up the first server.
    pub fn new(launch: Box<dyn Launch>, options: Options, wish: Placement) -> Result<Runner, LaunchError> {
        let cpus = os::cpus();
        let mut runner = Runner {
            launch,
            options,
            wish,
            cpus,
            placed: Placed::default(),
            watchdog: None,
            executor: None,
            counts: Counts::default(),
            deaths: 0,
        };
        runner.executor()?;
        Ok(runner)
    }

    /// The executor on a server that lives.
    pub fn executor(&mut self) -> Result<&mut Executor, LaunchError> {
        if self.executor.as_ref().is_some_and(Executor::dead) {
            self.deaths += 1;
            self.retire();
        }
        if self.executor.as_ref().is_some_and(Executor::spoiled) {
            self.retire();
        }
        if self.executor.is_none() {
            // What a pinned real-time thread starts would inherit its place, and MySQL does not survive that.
            placement::release(&self.cpus);
            let server = self.launch.launch()?;
            let pid = server.pid();
            let executor = Executor::new(server, self.options.clone())?;
            let watchdog = pid.filter(|_| self.wish.realtime).map(Watchdog::start);
            self.placed = placement::place(self.wish, pid);
            // Without priority nobody starves for it, however long a loaded machine lets the worker wait.
            self.watchdog = watchdog.filter(|_| self.placed.realtime);
            self.executor = Some(executor);
        }
        self.executor.as_mut().ok_or_else(|| LaunchError::not_started("no server", Vec::new()))
    }

    /// Runs a case. A server that died in an earlier case has been replaced.
    pub fn run(&mut self, case: &Case, level: Level) -> Result<Execution, LaunchError> {
        let executor = self.executor()?;
        match executor.run(case, level) {
            Ok(run) => Ok(run),
            // It died between two cases: that is nobody's outcome, so the case runs on a new one. A server whose first
            // process died may still have the time to say so, in answer to a statement of our own.
            Err(ConnectError::Gone | ConnectError::Refused { .. } | ConnectError::Own { .. })
                if !executor.server().alive() =>
            {
                self.deaths += 1;
                self.retire();
                Ok(self.executor()?.run(case, level)?)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Of the case that ran last on the server that is up.
    pub fn timing(&self) -> Timing {
        self.executor.as_ref().map(|executor| executor.timing.clone()).unwrap_or_default()
    }

    /// Runs a probe. A server that cannot be asked is replaced before the next case.
    pub fn probe(&mut self, probe: &Probe) -> Result<ProbeResult, LaunchError> {
        Ok(self.executor()?.probe(probe)?)
    }

    /// From now on tables are emptied in this way, and the server is looked at so often.
    pub fn tune(&mut self, reset: Reset, every: PostCheckInterval) {
        (self.options.reset, self.options.postchecks) = (reset, every);
        if let Some(executor) = &mut self.executor {
            (executor.options.reset, executor.options.postchecks) = (reset, every);
        }
    }

    /// Ends the server; the next case runs on a new one.
    pub fn renew(&mut self) {
        self.retire();
    }

    /// What the user should know of server and place, a line each. Some of it shows only while cases run.
    pub fn notes(&self) -> Vec<String> {
        self.launch.notes().iter().cloned().chain(self.placed().note).collect()
    }

    /// Where worker and server run.
    pub fn placed(&self) -> Placed {
        let mut placed = self.placed.clone();
        if self.watchdog.as_ref().is_some_and(Watchdog::barked) {
            placed.realtime = false;
            placed.note = Some(
                "the server's threads spin under real-time priority, so it runs without: where several sessions wake together, replays may differ"
                    .into(),
            );
        }
        placed
    }

    pub fn info(&mut self) -> Result<ServerInfo, LaunchError> {
        Ok(self.executor()?.server().info().clone())
    }

    pub fn deaths(&self) -> u64 {
        self.deaths
    }

    /// What was counted, over all servers.
    pub fn counts(&self) -> Counts {
        let mut sum = self.counts.clone();
        if let Some(executor) = &self.executor {
            add(&mut sum, &executor.counts);
        }
        sum
    }

    fn retire(&mut self) {
        if let Some(executor) = self.executor.take() {
            add(&mut self.counts, &executor.counts);
        }
        self.watchdog = None;
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        placement::release(&self.cpus);
    }
}

fn add(sum: &mut Counts, more: &Counts) {
    sum.cases += more.cases;
    sum.statements += more.statements;
    sum.waits += more.waits;
    sum.false_decisions += more.false_decisions;
}
