//! Before the summary: each group of findings once more, on a server on which nothing else has run.
//!
//! A hunt confirms what it finds on the server that found it, which has run thousands of cases and reuses its sessions. What only such a
//! server shows is no finding that anybody could replay, so until here all of it is suspected. A group is replayed by the finding that stands
//! for it; of a group that is new, if that one does not come back, by the next ones. On a server that is not ours only the sessions are fresh.
//!
//! What comes back is also run on later versions of its release line, as far as they are installed: a bug that one of them does not show
//! has been repaired there.

use std::time::{Duration, Instant};

use model::{Finding, FindingGroup, Fresh, FreshReplay, Target, Verdict, Version};

use crate::{
    clean_server::CleanRuns,
    confirm::{is_lost_to, reset},
    events::{Event, TimedEvent},
    hunt::{Campaign, Hook},
    panel::Judge,
    record::Recorded,
    triage::{RUNS, Triage, start},
};

/// No further run is begun for a group after so long.
const LIMIT: Duration = Duration::from_secs(20);

/// At most so many findings of a new group are tried.
const EXAMPLES: usize = 3;

/// Replays what stands for each group, and notes what came of it.
pub(crate) fn replay(
    campaign: &Campaign<'_>,
    groups: &[FindingGroup],
    found: &[Recorded],
    triage: &mut Triage,
    tell: &mut Tell<'_, '_>,
) {
    let all = groups.len() as u64;
    for (done, group) in groups.iter().enumerate() {
        if (campaign.stop)() {
            return;
        }
        let target = group.smallest.effective_target();
        tell.only(Event::Replaying { target, done: done as u64, all });
        let begun = Instant::now();
        let mut over = || (campaign.stop)() || begun.elapsed() > LIMIT;
        let mut shown = None;
        for recorded in examples(group, found) {
            if over() {
                break;
            }
            let finding = &recorded.finding;
            let Some(came) = come_back(campaign, recorded, &finding.effective_target()) else { continue };
            let on = if finding.target.attached().is_some() { Fresh::Sessions } else { Fresh::Server };
            let replay = FreshReplay { on, shown: came };
            triage.replays.insert(finding.id.clone(), replay);
            let (id, target) = (finding.id.clone(), finding.target.clone());
            tell.and_log(campaign, Event::Replayed { id, target, replay });
            if came {
                shown = Some(recorded);
                break;
            }
        }
        if let Some(recorded) = shown
            && let Some(version) = gone_in(campaign, recorded, &mut over)
        {
            triage.gone_in.insert(recorded.finding.id.clone(), version);
        }
    }
}

/// Those who look on and the log, at the end of the hunt.
pub(crate) struct Tell<'a, 'h> {
    pub hook: &'a mut Hook<'h>,
    pub at: u64,
}

impl Tell<'_, '_> {
    fn only(&mut self, event: Event) {
        (self.hook)(&TimedEvent { at: self.at, event });
    }

    fn and_log(&mut self, campaign: &Campaign<'_>, event: Event) {
        // What came of it is in triage.json; the log only repeats it.
        let said = TimedEvent { at: self.at, event };
        let _ = campaign.folder.log(&said);
        (self.hook)(&said);
    }
}

/// The finding that stands for a group, and of a new one some more.
fn examples<'a>(group: &FindingGroup, found: &'a [Recorded]) -> Vec<&'a Recorded> {
    let others = group.findings.iter().filter(|id| **id != group.id);
    let count = if group.known.is_none() { EXAMPLES } else { 1 };
    let ids = std::iter::once(&group.id).chain(others).take(count);
    ids.filter_map(|id| found.iter().find(|recorded| recorded.finding.id == *id)).collect()
}

/// Does a finding come back on a server of this target that is started for it? None if that could not be tried.
fn come_back(campaign: &Campaign<'_>, recorded: &Recorded, target: &Target) -> Option<bool> {
    let mut server = start(campaign, target).ok()?;
    match run(campaign, recorded, &mut server)? {
        Came::Back => Some(true),
        Came::Otherwise => Some(false),
        Came::Unsure => None,
    }
}

/// What came of one more run of a finding.
enum Came {
    Back,
    /// Nothing is wrong, or something else.
    Otherwise,
    /// The oracle cannot tell.
    Unsure,
}

fn run(campaign: &Campaign<'_>, recorded: &Recorded, runs: &mut dyn CleanRuns) -> Option<Came> {
    let finding = &recorded.finding;
    let execution = runs.rerun(&recorded.execution.case, finding.level, reset(finding.condition))?;
    let judge = campaign.panel.judges().find(|judge| judge.oracle.name() == finding.oracle)?;
    // What the oracle spares itself depends on the cases before.
    let thorough = judge.oracle.thorough_equivalent();
    let judges = thorough.as_deref().map(|oracle| judge.with(oracle)).into_iter().chain([judge]);
    let verdicts: Vec<Verdict> = judges.map(|judge: Judge<'_>| judge.verdict(&execution, runs)).collect();
    if verdicts.iter().any(|verdict| shows(finding, verdict)) {
        return Some(Came::Back);
    }
    if verdicts.iter().any(|verdict| is_lost_to(&finding.violation, &execution, verdict)) {
        return None;
    }
    let unsure = verdicts.iter().any(|verdict| matches!(verdict, Verdict::Undecided { .. }));
    Some(if unsure { Came::Unsure } else { Came::Otherwise })
}

fn shows(finding: &Finding, verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Violated(violation) if violation.fingerprint == finding.violation.fingerprint)
}

/// The first later version of the same release line, of those that are installed, that does not show a finding in some runs.
fn gone_in(campaign: &Campaign<'_>, recorded: &Recorded, over: &mut dyn FnMut() -> bool) -> Option<Version> {
    let finding = &recorded.finding;
    if finding.target.attached().is_some() {
        return None;
    }
    let here = &recorded.execution.trace.server.version;
    for version in campaign.servers.later(finding.target.product, here) {
        if over() {
            return None;
        }
        let later = Target { version: Some(version.clone()), ..finding.effective_target() };
        let Ok(mut server) = start(campaign, &later) else { continue };
        let gone = (0..RUNS)
            .all(|_| !over() && matches!(run(campaign, recorded, &mut server), Some(Came::Otherwise)));
        if gone {
            return Some(version);
        }
    }
    None
}
