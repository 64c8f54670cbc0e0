//! Isopod measured: against the bare server, its oracles against each other, its strategies, its folding and its reductions.

pub mod execute;
pub mod fold;
pub mod hunt;
pub mod judge;
pub mod oracles;
pub mod reduce;
pub mod strategies;

use std::time::Duration;

use campaign::{CleanRuns, CleanServer, Panel, confirm::reset};
use dialect::Execution;
use model::{Case, Finding, Target, Verdict};

use crate::Lab;

/// Servers on which the cases of findings are run and judged afresh.
struct FreshServers<'a> {
    lab: &'a Lab<'a>,
    /// At most so many are up at once.
    most: usize,
    up: Vec<(Target, CleanServer)>,
}

impl<'a> FreshServers<'a> {
    fn new(lab: &'a Lab<'a>, most: usize) -> FreshServers<'a> {
        FreshServers { lab, most, up: Vec::new() }
    }

    fn server(&mut self, target: &Target) -> crate::Result<&mut CleanServer> {
        let at = match self.up.iter().position(|(known, _)| known == target) {
            Some(at) => at,
            None => {
                self.up.truncate(self.most - 1);
                self.up.push((target.clone(), self.lab.clean_server(target)?));
                self.up.len() - 1
            }
        };
        Ok(&mut self.up[at].1)
    }

    /// What the oracle of a finding, one that remembers nothing, says of a case under the condition of the finding; none if it
    /// cannot be run.
    fn judge(&mut self, finding: &Finding, case: &Case) -> crate::Result<Option<(Execution, Verdict)>> {
        let panel = Panel::of_one(&finding.oracle, finding.judged_as.clone());
        let Some(judge) = panel.as_ref().and_then(Panel::first) else { return Ok(None) };
        let server = self.server(&finding.effective_target())?;
        let seen = server.rerun(case, finding.level, reset(finding.condition));
        Ok(seen.map(|seen| {
            let verdict = judge.verdict(&seen, server);
            (seen, verdict)
        }))
    }
}

fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
