//! One server, on which cases are run and whatever the oracles ask for beside them.

use campaign::{confirm::Rerun, judge};
use execute::{ConnectError, LaunchError, Looks, Reset, Runner};
use model::{Case, Level, Scene, ServerInfo, Shown, Target};
use oracles::Answer;

use crate::{arguments::How, targets};

/// The server.
pub struct Server {
    runner: Runner,
    looks: Looks,
    looking: bool,
    purges: bool,
}

impl Server {
    /// Brings it up.
    pub fn open(target: &Target, how: &How) -> anyhow::Result<Server> {
        let runner = targets::runner(target, how, how.options(Reset::Clean))?;
        // A server that is not ours is not looked at more than the cases do.
        let looks = if target.attached().is_none() { Looks::ALWAYS } else { Looks::default() };
        let purges = target.attached().is_none() && dialect::of(target.product).purge_left.is_some();
        Ok(Server { runner, looks, looking: true, purges })
    }

    /// What it is.
    pub fn info(&mut self) -> anyhow::Result<ServerInfo> {
        self.runner.info().map_err(|error| anyhow::anyhow!(error))
    }

    /// Runs a case.
    pub fn run(&mut self, case: &Case, level: Level, reset: Reset) -> Result<Answer, LaunchError> {
        self.runner.tune(reset, if self.looking { self.looks } else { Looks::default() });
        let run = self.runner.run(case, level)?;
        Ok(Answer { case: case.clone(), trace: run.trace, aftermath: run.aftermath })
    }
}

impl Rerun for Server {
    fn rerun(&mut self, case: &Case, level: Level, reset: Reset) -> Option<Answer> {
        match self.run(case, level, reset) {
            Ok(answer) => Some(answer).filter(judge::admissible),
            Err(error) => {
                // A candidate may have a setup that no server takes. One that refuses what is ours is not gone on with.
                let refused = match error.downcast_ref::<ConnectError>() {
                    Some(ConnectError::Own { statement, .. }) => case.setup.statements.contains(statement),
                    Some(ConnectError::Untrusted(_)) => true,
                    Some(_) | None => false,
                };
                if !refused {
                    self.runner.renew();
                }
                None
            }
        }
    }

    fn play(&mut self, scene: &Scene) -> Option<Shown> {
        let played = self.runner.play(scene);
        if played.is_err() {
            self.runner.renew();
        }
        played.ok()
    }

    fn purges(&self) -> bool {
        self.purges
    }

    fn look(&mut self, look: bool) {
        self.looking = look;
    }
}
