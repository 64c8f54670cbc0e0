//! The hunt itself: starts the workers, hands their events on, and sums up in the end.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use execute::{LaunchError, Options, Placement, Runner};
use generate::{Generator, Profile};
use model::{
    Ending, Finding, Fingerprint, Product, Quality, RunSummary, ServerInfo, Tally, Target, Version,
    sync::lock,
};
use reduce::strategy::Kind;

use crate::{
    HuntError,
    deal::Deal,
    events::{Event, TimedEvent},
    fold::{Again, fold},
    known::Known,
    panel::Panel,
    record::{FORMAT, Recorded, RunReader, RunWriter},
    replay::{Tell, replay},
    settings::{HuntTarget, Settings, TargetId},
    summary::{Counted, of_target, summarize},
    triage::triage,
    worker::{Stop, TargetWorker},
};

/// Where servers come from.
pub trait Servers: Sync {
    /// Brings one up, in the thread that uses it.
    fn open(&self, target: &Target, options: Options, placement: Placement) -> Result<Runner, LaunchError>;

    /// Later versions of the same release line that are at hand without installing anything, oldest first.
    fn later(&self, _product: Product, _version: &Version) -> Vec<Version> {
        Vec::new()
    }
}

/// Whoever wants to see what happens while it happens.
pub type Hook<'a> = dyn FnMut(&TimedEvent) + 'a;

/// Everything that a hunt needs.
pub struct Campaign<'a> {
    pub settings: Settings,
    pub folder: RunWriter,
    pub known: Known,
    pub profile: Profile,
    pub panel: Panel,
    pub servers: &'a dyn Servers,
    /// Did the user ask to stop?
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Campaign<'_> {
    pub fn generator(&self, at: TargetId, info: &ServerInfo) -> Generator {
        let levels = &self.settings.targets[at].levels;
        Generator::with(self.settings.seed, info.product, &info.version, levels, self.profile.clone())
    }
}

/// How often those who look on hear of the progress.
const TICK: Duration = Duration::from_millis(200);

/// How often the progress is written to the log.
const LOGGED: u64 = 10_000;

/// What is counted of one fingerprint on one target.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    /// Names of those that are filed.
    pub filed: BTreeSet<String>,
    /// Names of those that are filed as something simpler that they turned out to be.
    pub turned: BTreeSet<String>,
    /// The sets of transactions that these are orders of: one example of a set is enough.
    pub sets: BTreeSet<u64>,
    /// Cases that looked the same and were not run again.
    pub again: u64,
}

impl Group {
    fn take(&mut self, finding: &Finding, set: u64) {
        self.sets.insert(set);
        let names = if finding.first_fingerprint.is_some() { &mut self.turned } else { &mut self.filed };
        names.insert(finding.id.clone());
    }

    /// Is one more of this name and set of transactions worth keeping, where so many are?
    fn has_room(&self, keep: u64, id: &str, set: u64) -> bool {
        let there = self.filed.contains(id) || self.turned.contains(id);
        // What turned out to be something else says little about the next one.
        let few = (self.filed.len() as u64) < keep && (self.turned.len() as u64) < keep * TURNED;
        there || (few && !self.sets.contains(&set))
    }
}

/// Keep up to this many times as many examples of fingerprints whose cases keep reducing to other bugs.
const TURNED: u64 = 10;

/// What the workers of one target share.
struct TargetState {
    /// None until a server has said how many cases share a schema.
    deal: Mutex<Option<Deal>>,
    tally: Mutex<Tally>,
    quality: Mutex<Quality>,
    server: Mutex<Option<ServerInfo>>,
    /// Why it was abandoned.
    lost: OnceLock<String>,
}

/// What all workers share.
pub(crate) struct Shared<'a> {
    pub campaign: &'a Campaign<'a>,
    targets: Vec<TargetState>,
    groups: Mutex<BTreeMap<(TargetId, Fingerprint), Group>>,
    learned: Mutex<reduce::Learned>,
    begun: OnceLock<Instant>,
    /// What the folder held when this began: all of it, if the run is resumed.
    before: RunReader,
    findings: Mutex<Vec<Recorded>>,
    failure: OnceLock<HuntError>,
    events: Mutex<Sender<TimedEvent>>,
    idle: AtomicU64,
}

impl<'a> Shared<'a> {
    fn new(campaign: &'a Campaign<'a>, events: Sender<TimedEvent>) -> Result<Shared<'a>, HuntError> {
        let before = RunReader::read(campaign.folder.path())?;
        let target = |at: TargetId| TargetState {
            deal: Mutex::new(None),
            tally: Mutex::new(before.tally(at)),
            quality: Mutex::new(before.qualities[at].clone()),
            server: Mutex::new(before.servers[at].clone()),
            lost: OnceLock::new(),
        };
        Ok(Shared {
            campaign,
            targets: (0..campaign.settings.targets.len()).map(target).collect(),
            groups: Mutex::new(BTreeMap::new()),
            learned: Mutex::new(before.learned.clone().unwrap_or_else(|| begun_with(campaign))),
            begun: OnceLock::new(),
            findings: Mutex::new(before.findings.clone()),
            before,
            failure: OnceLock::new(),
            events: Mutex::new(events),
            idle: AtomicU64::new(0),
        })
    }

    /// What was found and counted before a resume. Only cases that are done count: the others come again.
    fn remember(&self) {
        let targets = &self.campaign.settings.targets;
        let place = |target: &Target| targets.iter().position(|hunted| hunted.target == *target);
        let mut groups = lock(&self.groups);
        for Recorded { finding, .. } in &self.before.findings {
            let Some(at) = place(&finding.target) else { continue };
            groups
                .entry((at, finding.suspected().clone()))
                .or_default()
                .take(finding, self.set_of(finding.case));
        }
        for (target, case, fingerprint) in self.before.again() {
            let Some(at) = place(target) else { continue };
            if is_done(&self.before.progress[at], self.per_schema(at), case) {
                groups.entry((at, fingerprint.clone())).or_default().again += 1;
            }
        }
    }

    /// Known without a server if there was one before the resume.
    fn per_schema(&self, at: TargetId) -> u64 {
        let info = self.before.servers[at].as_ref();
        info.map_or(1, |info| self.campaign.generator(at, info).cases_per_schema())
    }

    /// A target has answered: it must be what it was before a resume, for its cases depend on its version.
    pub fn met(&self, at: TargetId, info: &ServerInfo) -> Result<(), Stop> {
        self.begun.get_or_init(Instant::now);
        // Two workers of one target come here at the same time.
        let mut server = lock(&self.targets[at].server);
        match &*server {
            None => {
                *server = Some(info.clone());
                Ok(self.campaign.folder.set_server(at, info)?)
            }
            Some(before) if before.version == info.version => Ok(()),
            Some(before) => Err(Stop::Target(format!(
                "it was version {} when the run began and is {} now, which makes other cases; begin a new run",
                before.version, info.version
            ))),
        }
    }

    /// Milliseconds of hunting, across resumes.
    pub fn elapsed(&self) -> u64 {
        self.before.elapsed_ms + self.begun.get().map_or(0, |begun| begun.elapsed().as_millis() as u64)
    }

    /// Is it time to stop?
    pub fn over(&self) -> bool {
        let time = self.campaign.settings.budget.time();
        (self.campaign.stop)()
            || self.failure.get().is_some()
            || time.is_some_and(|time| self.elapsed() >= time.as_millis() as u64)
    }

    /// Tells the log and those who look on.
    pub fn say(&self, event: Event) -> Result<(), HuntError> {
        let said = TimedEvent { at: self.elapsed(), event };
        self.campaign.folder.log(&said)?;
        // Nobody listens any more only when all is over.
        let _ = lock(&self.events).send(said);
        Ok(())
    }

    /// Is a suspicion of this kind still worth clean runs?
    pub fn wanted(&self, at: TargetId, fingerprint: &Fingerprint, number: u64, id: &str) -> bool {
        let (groups, keep) = (lock(&self.groups), self.campaign.settings.keep);
        let group = groups.get(&(at, fingerprint.clone()));
        group.is_none_or(|group| group.has_room(keep, id, self.set_of(number)))
    }

    /// Which set of transactions a case is an order of.
    fn set_of(&self, number: u64) -> u64 {
        number / self.campaign.profile.cases.orders_per_set
    }

    /// One more that is only counted.
    pub fn again(&self, at: TargetId, case: u64, fingerprint: Fingerprint) -> Result<(), HuntError> {
        lock(&self.groups).entry((at, fingerprint.clone())).or_default().again += 1;
        let target = self.campaign.settings.targets[at].target.clone();
        self.say(Event::Again { target, case, fingerprint })
    }

    /// Files one more, and says whether it did. A case that was not done when the process was killed finds again what is there. While
    /// this one was confirmed and reduced, other workers may have filed as many as are kept.
    pub fn file(&self, at: TargetId, recorded: Recorded) -> Result<bool, HuntError> {
        let finding = &recorded.finding;
        let mut groups = lock(&self.groups);
        let group = groups.entry((at, finding.suspected().clone())).or_default();
        let set = self.set_of(finding.case);
        if !group.has_room(self.campaign.settings.keep, &finding.id, set) {
            return Ok(false);
        }
        group.take(finding, set);
        drop(groups);
        self.campaign.folder.file(&recorded)?;
        let event = Event::Finding(Box::new(finding.into()));
        let mut findings = lock(&self.findings);
        if findings.iter().all(|one| one.finding.id != finding.id) {
            findings.push(recorded);
        }
        drop(findings);
        self.say(event)?;
        Ok(true)
    }

    /// What a strategy has seen work and fail. It is kept for a later hunt; this one goes on as it began.
    pub fn learned(&self, trials: &[(&'static str, bool)]) -> Result<(), HuntError> {
        let learns = match self.campaign.settings.strategy() {
            Kind::Table | Kind::Bandit => true,
            Kind::InOrder | Kind::Random => false,
        };
        if !learns || trials.is_empty() {
            return Ok(());
        }
        let mut learned = lock(&self.learned);
        trials.iter().for_each(|(operation, worked)| learned.add(operation, *worked));
        self.campaign.folder.set_learned(&learned)
    }

    pub fn done(&self, at: TargetId, schema: u64, before: &Tally, after: &Tally) -> Result<(), HuntError> {
        self.campaign.folder.set_progress(at, schema, after)?;
        lock(&self.targets[at].tally).replace(before, after);
        Ok(())
    }

    /// Takes over what a worker has counted of the quality of its cases.
    pub fn counted(&self, at: TargetId, quality: &Quality) {
        lock(&self.targets[at].quality).merge(quality);
    }

    /// Keeps what was counted so far. What a killed process had not kept is missing from the opportunities, which then
    /// promise less than they could.
    fn keep(&self) -> Result<(), HuntError> {
        let mut targets = self.targets.iter().enumerate();
        targets
            .try_for_each(|(at, state)| self.campaign.folder.set_quality(at, &lock(&state.quality).clone()))
    }

    /// Works until nothing is left to do.
    fn work(&self, worker: usize) {
        let (workers, targets) = (self.campaign.settings.workers.max(1), self.targets.len());
        // As many workers as targets or more: each serves one. Fewer: each takes turns at several.
        let own: Vec<TargetId> = if workers >= targets {
            vec![worker % targets]
        } else {
            (0..targets).filter(|at| at % workers == worker).collect()
        };
        let mut opened: BTreeMap<TargetId, TargetWorker<'_>> = BTreeMap::new();
        let mut left = own;
        while !left.is_empty() && !self.over() {
            left.retain(|&at| {
                !self.over() && self.targets[at].lost.get().is_none() && {
                    match self.turn(at, worker, &mut opened) {
                        Ok(more) => more,
                        Err(stop) => {
                            opened.remove(&at);
                            self.give_up(at, stop);
                            false
                        }
                    }
                }
            });
        }
        // Ends the servers before anybody is told that the work is over.
        drop(opened);
        self.idle.fetch_add(1, Ordering::Relaxed);
    }

    /// One schema of one target; false if there is nothing left to do there.
    fn turn<'b>(
        &'b self,
        at: TargetId,
        worker: usize,
        opened: &mut BTreeMap<TargetId, TargetWorker<'b>>,
    ) -> Result<bool, Stop> {
        let worker_here = match opened.entry(at) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(TargetWorker::open(self, at, worker)?),
        };
        let piece = {
            let mut deal = lock(&self.targets[at].deal);
            if deal.is_none() {
                let (cases, done) = (self.campaign.settings.budget.cases(), &self.before.progress[at]);
                *deal = Some(Deal::new(worker_here.per_schema(), cases, done));
            }
            deal.as_mut().and_then(Deal::take)
        };
        let Some(piece) = piece else { return Ok(false) };
        worker_here.work(piece)?;
        Ok(true)
    }

    fn give_up(&self, at: TargetId, stop: Stop) {
        match stop {
            Stop::Target(reason) => {
                if self.targets[at].lost.set(reason.clone()).is_err() {
                    return;
                }
                let target = self.campaign.settings.targets[at].target.clone();
                if let Err(error) = self.say(Event::Lost { target, reason }) {
                    self.fail(error);
                }
            }
            Stop::Hunt(error) => self.fail(error),
        }
    }

    fn fail(&self, error: HuntError) {
        // The first one is told.
        let _ = self.failure.set(error);
    }

    fn tallies(&self) -> impl Iterator<Item = Tally> {
        self.targets.iter().map(|state| *lock(&state.tally))
    }

    /// Cases done, over all targets.
    fn cases(&self) -> u64 {
        self.tallies().map(|tally| tally.cases).sum()
    }

    fn progress(&self) -> Vec<TimedEvent> {
        let at = self.elapsed();
        let targets = self.campaign.settings.targets.iter().zip(self.tallies());
        targets
            .map(|(hunted, tally)| TimedEvent {
                at,
                event: Event::Progress { target: hunted.target.clone(), tally },
            })
            .collect()
    }
}

fn begun_with(campaign: &Campaign<'_>) -> reduce::Learned {
    campaign.settings.learned.as_ref().map(|learned| learned.counts.clone()).unwrap_or_default()
}

/// Was this case done, by these counts of its target?
fn is_done(done: &[Tally], per_schema: u64, case: u64) -> bool {
    done.get((case / per_schema) as usize).is_some_and(|tally| case % per_schema < tally.cases)
}

/// Hunts until the budget is used up or the user asks to stop.
pub fn hunt(campaign: &Campaign<'_>, hook: &mut Hook<'_>) -> Result<RunSummary, HuntError> {
    let (sender, events) = mpsc::channel();
    let mut shared = Shared::new(campaign, sender)?;
    shared.remember();
    let settings = &campaign.settings;
    let before = shared.cases();
    shared.say(Event::Begun { format: FORMAT, seed: settings.seed, workers: settings.workers, before })?;
    thread::scope(|scope| {
        for worker in 0..settings.workers {
            let shared = &shared;
            scope.spawn(move || shared.work(worker));
        }
        let mut logged = shared.elapsed();
        let mut ticked = Instant::now();
        while (shared.idle.load(Ordering::Relaxed) as usize) < settings.workers {
            match events.recv_timeout(TICK) {
                Ok(said) => hook(&said),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if ticked.elapsed() < TICK {
                continue;
            }
            ticked = Instant::now();
            let clocked = campaign.folder.set_clock(shared.elapsed());
            let progress = shared.progress();
            progress.iter().for_each(&mut *hook);
            let written = if shared.elapsed() >= logged + LOGGED {
                logged = shared.elapsed();
                progress.iter().try_for_each(|said| campaign.folder.log(said)).and(shared.keep())
            } else {
                Ok(())
            };
            if let Err(error) = clocked.and(written) {
                shared.fail(error);
            }
        }
    });
    if let Some(error) = shared.failure.take() {
        return Err(error);
    }
    let why = if (campaign.stop)() {
        Ending::Asked
    } else if shared.targets.iter().all(|state| state.lost.get().is_some()) {
        Ending::Nothing
    } else {
        Ending::Budget
    };
    shared.say(Event::Ended { why, cases: shared.cases() })?;
    campaign.folder.set_clock(shared.elapsed())?;
    events.try_iter().for_each(|said| hook(&said));
    for said in shared.progress() {
        campaign.folder.log(&said)?;
        hook(&said);
    }
    shared.keep()?;
    let mut findings = std::mem::take(&mut *lock(&shared.findings));
    findings.sort_by(Recorded::by_time);
    let mut triage = triage(campaign, &findings, hook)?;
    // Kept before and after: what is replayed may take a while.
    campaign.folder.set_triage(&triage)?;
    let found = findings.iter().map(|recorded| &recorded.finding);
    let suspected = fold(found, &Again::new(), &|one| triage.name(one));
    let mut tell = Tell { hook, at: shared.elapsed() };
    replay(campaign, &suspected, &findings, &mut triage, &mut tell);
    campaign.folder.set_triage(&triage)?;
    let groups = lock(&shared.groups);
    let counted = groups.iter().filter(|(_, group)| group.again > 0);
    let target = |at: &TargetId| settings.targets[*at].target.clone();
    let again: Again =
        counted.map(|((at, print), group)| ((target(at), print.clone()), group.again)).collect();
    let targets = settings.targets.iter().zip(&shared.targets).map(|(HuntTarget { target, .. }, state)| {
        let (tally, quality) = (*lock(&state.tally), lock(&state.quality).clone());
        of_target(target, lock(&state.server).as_ref(), tally, quality, state.lost.get().cloned())
    });
    Ok(summarize(Counted {
        settings,
        folder: campaign.folder.path(),
        elapsed_ms: shared.elapsed(),
        ending: Some(why),
        targets: targets.collect(),
        findings: &findings,
        again: &again,
        triage: &triage,
    }))
}
