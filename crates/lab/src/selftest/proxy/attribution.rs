//! Which findings are the lie's doing. Nobody guesses: the case of a finding is run again through the proxy, which counts its lies before and
//! after, and once more on the server itself, where nobody lies. It is the lie's doing if a lie was told in the first run and the
//! oracle does not say the same of the second.

use std::sync::Arc;

use campaign::{CleanRuns, CleanServer, Servers, confirm::reset, record::Recorded};
use dialect::Execution;
use execute::Reset;
use model::{FindingGroup, Target};

use super::{Group, Plan, book::Book, servers::Attaching};
use crate::{Lab, Result, selftest::hunts::complaints};

/// A finding need not show in each run of the true server to be there.
const RUNS: u32 = 3;

/// Runs cases on both ways.
pub struct Attribution<'a> {
    lab: &'a Lab<'a>,
    plan: &'a Plan<'a>,
    through: (&'a Attaching, &'a Target),
    direct: &'a Target,
    book: &'a Arc<Book>,
    /// Brought up when there is something to be run.
    servers: Option<[CleanServer; 2]>,
}

impl<'a> Attribution<'a> {
    pub fn new(
        lab: &'a Lab<'a>,
        plan: &'a Plan<'a>,
        through: (&'a Attaching, &'a Target),
        direct: &'a Target,
        book: &'a Arc<Book>,
    ) -> Attribution<'a> {
        Attribution { lab, plan, through, direct, book, servers: None }
    }

    /// The group as far as it is the lie's doing; of the honest proxy, what is not there without it.
    pub fn of(&mut self, group: &FindingGroup, found: &[Recorded]) -> Result<Option<Group>> {
        let mut members: Vec<&Recorded> =
            found.iter().filter(|one| group.findings.contains(&one.finding.id)).collect();
        members.sort_by_key(|one| one.finding.case);
        let (mut first, mut looked, mut lies) = (None, 0, 0);
        for member in members {
            if self.lab.stopped() {
                break;
            }
            looked += 1;
            if let Some(lied_at) = self.lied(member)? {
                lies += 1;
                first.get_or_insert((member.finding.case + 1, lied_at));
            }
        }
        Ok(first.map(|(first, lied_at)| Group {
            known: group.known.clone(),
            signature: group.signature.to_string(),
            first,
            // Of those that were only counted as many as of those that are kept.
            cases: (group.cases * lies).div_ceil(looked.max(1)),
            lied_at,
        }))
    }

    /// Is a finding the lie's doing? Also says what was lied about.
    fn lied(&mut self, found: &Recorded) -> Result<Option<Option<String>>> {
        let honest = self.book.lie.is_honest();
        let book = self.book.clone();
        let before = book.told();
        let [through, direct] = self.servers()?;
        let (case, level) = (&found.execution.case, found.execution.trace.level);
        let how = reset(found.finding.condition);
        if !honest {
            let _ = through.rerun(case, level, how); // Its lies are counted, however it ends.
            if book.told() == before {
                return Ok(None);
            }
        }
        let at = book.log().into_iter().next().map(|lie| lie.sql);
        let shows = |seen: Execution| {
            complaints(&found.finding.oracle, &seen).contains(&found.finding.violation.fingerprint)
        };
        let there = (0..RUNS).any(|_| direct.rerun(case, level, how).is_some_and(shows));
        Ok((!there).then_some(at))
    }

    /// Through the proxy, and without it.
    fn servers(&mut self) -> Result<&mut [CleanServer; 2]> {
        if self.servers.is_none() {
            let (options, placement) = (self.lab.options(Reset::Clean), self.lab.placement);
            let (proxied, target) = self.through;
            let plainly = Attaching { exe: self.plan.exe.to_path_buf(), book: None };
            let through = CleanServer::new(proxied.open(target, options.clone(), placement)?, target);
            let direct = CleanServer::new(plainly.open(self.direct, options, placement)?, self.direct);
            self.servers = Some([through, direct]);
        }
        self.servers.as_mut().ok_or_else(|| "no server".into())
    }
}
