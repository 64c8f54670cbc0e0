//! A server handle for clean re-runs: of suspicions, of the candidates of a reduction, and of what oracles ask for.

use dialect::Execution;
use execute::{ConnectError, LaunchError, PostCheckInterval, Reset, Runner};
use model::{Case, Level, Probe, ProbeResult, Product, ServerInfo, Target};

use crate::panel::admissible;

/// A server that fails this often in a row is given up.
pub const ATTEMPTS: usize = 3;

/// Runs cases again, each from its own reset; none if that could not be done.
pub trait CleanRuns {
    fn rerun(&mut self, case: &Case, level: Level, reset: Reset) -> Option<Execution>;

    /// Plays a single statement.
    fn probe(&mut self, probe: &Probe) -> Option<ProbeResult>;

    /// Does this server have a purge that can be held back?
    fn purges(&self) -> bool;

    /// Is the server checked after each case from now on: its log, its own checks, its indexes?
    fn set_postchecks(&mut self, _on: bool) {}
}

/// Why a case was not run.
#[derive(Debug, thiserror::Error)]
pub enum Rejected {
    /// The server refuses a statement of its setup: a candidate of a reduction may have one that no server takes.
    #[error("{0}")]
    BySetup(LaunchError),
    /// It reaches outside of its schema, on a server that is not ours.
    #[error("{0}")]
    Untrusted(LaunchError),
    /// The server refuses what is ours, or says nothing: it is not one to go on with.
    #[error("{0}")]
    Server(LaunchError),
}

impl Rejected {
    fn new(case: &Case, error: LaunchError) -> Rejected {
        match &error {
            LaunchError::Connect(ConnectError::Own { statement, .. })
                if case.setup.statements.contains(statement) =>
            {
                Rejected::BySetup(error)
            }
            LaunchError::Connect(ConnectError::Untrusted(_)) => Rejected::Untrusted(error),
            LaunchError::NotStarted { .. } | LaunchError::Connect(_) => Rejected::Server(error),
        }
    }
}

/// The server, which is replaced when it fails.
pub struct CleanServer {
    pub(crate) runner: Runner,
    postchecks: PostCheckInterval,
    checking: bool,
    purges: bool,
}

impl CleanServer {
    /// Of a target outside a hunt: a server that is not ours is not checked more often than the cases ask for.
    pub fn new(runner: Runner, target: &Target) -> CleanServer {
        let ours = target.attached().is_none();
        let server = CleanServer::of_hunt(runner, target.product);
        let postchecks = if ours { server.postchecks } else { PostCheckInterval::default() };
        CleanServer { postchecks, purges: ours && server.purges, ..server }
    }

    pub(crate) fn of_hunt(runner: Runner, product: Product) -> CleanServer {
        let purges = dialect::of(product).purge_left.is_some();
        CleanServer { runner, postchecks: PostCheckInterval::ALWAYS, checking: true, purges }
    }

    pub fn runner(&self) -> &Runner {
        &self.runner
    }

    pub fn info(&mut self) -> Result<ServerInfo, LaunchError> {
        self.runner.info()
    }

    /// Runs a case once, and says why it could not be run.
    pub fn run(&mut self, case: &Case, level: Level, reset: Reset) -> Result<Execution, LaunchError> {
        self.tune(reset);
        self.runner.run(case, level)
    }

    /// Runs a case, on a new server where one fails.
    pub fn try_run(&mut self, case: &Case, level: Level, reset: Reset) -> Result<Execution, Rejected> {
        self.tune(reset);
        self.attempt(case, level)
    }

    fn tune(&mut self, reset: Reset) {
        self.runner.tune(reset, if self.checking { self.postchecks } else { PostCheckInterval::default() });
    }

    /// Runs a case as the runner is tuned, on a new server where one fails.
    pub(crate) fn attempt(&mut self, case: &Case, level: Level) -> Result<Execution, Rejected> {
        let mut attempts = 1;
        loop {
            match self.runner.run(case, level).map_err(|error| Rejected::new(case, error)) {
                Ok(execution) => return Ok(execution),
                Err(Rejected::Server(error)) => {
                    self.runner.renew();
                    if attempts == ATTEMPTS {
                        return Err(Rejected::Server(error));
                    }
                    attempts += 1;
                }
                Err(rejected) => return Err(rejected),
            }
        }
    }
}

impl CleanRuns for CleanServer {
    fn rerun(&mut self, case: &Case, level: Level, reset: Reset) -> Option<Execution> {
        self.try_run(case, level, reset).ok().filter(admissible)
    }

    fn probe(&mut self, probe: &Probe) -> Option<ProbeResult> {
        let run = self.runner.probe(probe);
        if run.is_err() {
            self.runner.renew();
        }
        run.ok()
    }

    fn purges(&self) -> bool {
        self.purges
    }

    fn set_postchecks(&mut self, on: bool) {
        self.checking = on;
    }
}
