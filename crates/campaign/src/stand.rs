//! One server from which clean runs are asked, outside the loop of a hunt.

use execute::{ConnectError, LaunchError, Looks, Reset, Runner};
use model::{Case, Level, Scene, ServerInfo, Shown, Target};
use oracles::Answer;

use crate::{confirm::Rerun, judge};

/// The server.
pub struct Stand {
    runner: Runner,
    looks: Looks,
    looking: bool,
    purges: bool,
}

impl Stand {
    /// With this runner, which brings the target up.
    pub fn new(runner: Runner, target: &Target) -> Stand {
        // A server that is not ours is not looked at more than the cases do.
        let ours = target.attached().is_none();
        let looks = if ours { Looks::ALWAYS } else { Looks::default() };
        let purges = ours && dialect::of(target.product).purge_left.is_some();
        Stand { runner, looks, looking: true, purges }
    }

    /// What it is.
    pub fn info(&mut self) -> Result<ServerInfo, LaunchError> {
        self.runner.info()
    }

    /// Runs a case.
    pub fn run(&mut self, case: &Case, level: Level, reset: Reset) -> Result<Answer, LaunchError> {
        self.runner.tune(reset, if self.looking { self.looks } else { Looks::default() });
        let run = self.runner.run(case, level)?;
        Ok(Answer { case: case.clone(), trace: run.trace, aftermath: run.aftermath })
    }
}

impl Rerun for Stand {
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
