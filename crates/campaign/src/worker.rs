//! A worker: one thread with one CPU and, for each of its targets, one server. It takes a schema, makes its cases, runs them from
//! fast resets, lets the oracles judge, and reduces and files what clean runs confirm.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use dialect::ParsedCase;
use execute::{LaunchError, Options, Placement, PostCheckInterval, Reset};
use generate::{Generator, Made};
use model::{Finding, Level, Reply, RowSet, Seed, ServerInfo, Tally, Target, Verdict, target::Settings};
use reduce::Trial;

use crate::{
    HuntError,
    clean_server::{ATTEMPTS, CleanServer, Rejected},
    confirm::{Reproduction, Suspicion, confirm},
    deal::Piece,
    events::{Event, Why},
    hunt::Shared,
    leftovers,
    quality::Counter,
    record::{Recorded, traces::TraceWriter},
    reducing::{How, Reduction, reduce_finding},
    settings::{HuntTarget, TargetId},
    swarm, usage,
};

/// A finding is reduced for at most this long: most take a second, but a server that dies or hangs costs much more.
const REDUCING: Duration = Duration::from_secs(30);

/// One that is known is only an example.
const REDUCING_KNOWN: Duration = Duration::from_secs(3);

/// Give up on a target after this many cases in a row that cannot be run, if it never ran one.
const REFUSALS: u64 = 50;

/// And after this many schemas in a row if it did: a single one may break a rule of its version.
const REFUSED_SCHEMAS: u64 = 3;

/// A server's size is looked at every this many cases.
const LOOK: u64 = 1000;

/// Every this many cases all tables are read through all of their indexes, and the server checks its data itself.
const INDEX_SCANS: u64 = 20;
const INTEGRITY: u64 = 500;

/// Why a worker cannot go on.
pub(crate) enum Stop {
    Target(String),
    Hunt(HuntError),
}

impl From<HuntError> for Stop {
    fn from(error: HuntError) -> Stop {
        Stop::Hunt(error)
    }
}

/// The tables at the end of a case, by name.
type FinalState = Vec<(String, RowSet)>;

/// A worker's place at one target.
pub(crate) struct TargetWorker<'a> {
    shared: &'a Shared<'a>,
    at: TargetId,
    worker: usize,
    server: CleanServer,
    options: Options,
    wish: Placement,
    /// Settings that were drawn for this server, beside those of the target.
    drawn: Settings,
    generator: Generator,
    counter: Counter,
    /// Writes down every run, if that was asked for.
    traces: Option<TraceWriter>,
    info: ServerInfo,
    level: Level,
    /// The case that ran last on this server, and what it ended with.
    past: Option<(Arc<ParsedCase>, FinalState)>,
    /// Cases since the server was new, and its size then.
    age: u64,
    size: u64,
    deaths: u64,
    refusals: u64,
    ran: bool,
}

impl<'a> TargetWorker<'a> {
    pub fn open(shared: &'a Shared<'a>, at: TargetId, worker: usize) -> Result<TargetWorker<'a>, Stop> {
        let campaign = shared.campaign;
        let HuntTarget { target, levels } = &campaign.settings.targets[at];
        let options = Options {
            reset: Reset::Fast,
            hung_after: Duration::from_secs(campaign.settings.hung_after),
            ..Options::default()
        };
        let cpus = execute::os::cpus();
        let cpu = cpus.get(worker % cpus.len().max(1)).copied();
        let wish = Placement { pin: campaign.settings.pin, realtime: false, cpu };
        let mut runner = attempt(|| campaign.servers.open(target, options.clone(), wish))?;
        let info = runner.info().map_err(|error| Stop::Target(error.to_string()))?;
        shared.met(at, &info)?;
        let generator = campaign.generator(at, &info);
        let traces =
            campaign.settings.keep_traces.then(|| TraceWriter::open(campaign.folder.path(), at, worker));
        let level = levels[0];
        let mut opened = TargetWorker {
            shared,
            at,
            worker,
            server: CleanServer::of_hunt(runner, info.product),
            options,
            wish,
            drawn: Settings::new(),
            generator,
            counter: Counter::default(),
            traces: traces.transpose()?,
            info,
            level,
            past: None,
            age: 0,
            size: 0,
            deaths: 0,
            refusals: 0,
            ran: false,
        };
        opened.is_up(Why::First)?;
        Ok(opened)
    }

    /// How many cases share a schema.
    pub fn per_schema(&self) -> u64 {
        self.generator.cases_per_schema()
    }

    fn target(&self) -> &'a Target {
        &self.shared.campaign.settings.targets[self.at].target
    }

    /// The target with what was drawn for it.
    fn effective_target(&self) -> Target {
        let mut target = self.target().clone();
        target.settings.extend(self.drawn.clone());
        target
    }

    /// Brings up a server with other settings, if others are drawn for this schema.
    fn dress(&mut self, schema: u64) -> Result<(), Stop> {
        let campaign = self.shared.campaign;
        if !campaign.settings.settings_swarm {
            return Ok(());
        }
        let drawn = swarm::draw(campaign.settings.seed, self.target(), schema);
        if drawn == self.drawn {
            return Ok(());
        }
        self.drawn = drawn;
        self.server.runner.renew();
        let target = self.effective_target();
        self.server.runner = attempt(|| campaign.servers.open(&target, self.options.clone(), self.wish))?;
        self.is_up(Why::Renewed)
    }

    fn is_up(&mut self, why: Why) -> Result<(), Stop> {
        self.age = 0;
        self.past = None;
        self.deaths = self.server.runner.deaths();
        self.size = self.bytes();
        self.shared.say(Event::Up {
            worker: self.worker,
            target: self.effective_target(),
            version: self.info.version.to_string(),
            cpu: self.server.runner.placed().cpu,
            why,
        })?;
        Ok(())
    }

    fn bytes(&mut self) -> u64 {
        let pid = self.server.runner.executor().ok().and_then(|executor| executor.server().pid());
        pid.map_or(0, |pid| usage::bytes(self.info.product, pid))
    }

    /// Does a piece of work, as far as the hunt lasts.
    pub fn work(&mut self, piece: Piece) -> Result<(), Stop> {
        self.dress(piece.schema)?;
        let done = self.cases(piece);
        self.shared.counted(self.at, &std::mem::take(&mut self.counter.quality));
        done
    }

    fn cases(&mut self, piece: Piece) -> Result<(), Stop> {
        let mut written = piece.before;
        let mut tally = Tally { schemas: 1, ..written };
        let mut set =
            (piece.from > piece.schema * self.per_schema()).then(|| self.generator.case(piece.from - 1).set);
        for number in piece.from..piece.until {
            if self.shared.over() {
                return Ok(());
            }
            self.renew_if_due()?;
            let made = self.generator.case(number);
            tally.sets += u64::from(set.replace(made.set) != Some(made.set));
            self.case(number, &made, &mut tally)?;
            tally.cases += 1;
            self.shared.done(self.at, piece.schema, &written, &tally)?;
            written = tally;
        }
        Ok(())
    }

    fn renew_if_due(&mut self) -> Result<(), Stop> {
        let settings = &self.shared.campaign.settings;
        self.age += 1;
        let grown =
            self.age.is_multiple_of(LOOK) && self.bytes().saturating_sub(self.size) > settings.renew_bytes;
        if self.age > settings.renew_cases || grown {
            self.server.runner.renew();
            let runner = &mut self.server.runner;
            attempt(|| runner.executor().map(|_| ()))?;
            self.is_up(Why::Renewed)?;
        }
        Ok(())
    }

    /// One case from a fast reset, and whatever follows from it.
    fn case(&mut self, number: u64, made: &Made, tally: &mut Tally) -> Result<(), Stop> {
        let past = self.past.take();
        self.server.runner.tune(Reset::Fast, postcheck_interval(number));
        let seen = match self.server.attempt(&made.case, self.level) {
            Ok(seen) => seen,
            Err(Rejected::Server(error)) => return Err(Stop::Target(error.to_string())),
            Err(rejected @ (Rejected::BySetup(_) | Rejected::Untrusted(_))) => {
                return self.refused(number, rejected.to_string(), tally);
            }
        };
        self.note_deaths()?;
        (self.refusals, self.ran) = (0, true);
        tally.trace(&seen.trace);
        self.counter.add(made, &seen.case, &seen.trace);
        let ended = seen.trace.final_state.clone().unwrap_or_default();
        if let Some(traces) = &mut self.traces {
            traces.keep(number, &seen)?;
        }
        self.counter.waits(number, &seen);
        let shared = self.shared;
        let mut undecided = false;
        let mut objected = Vec::new();
        for judge in shared.campaign.panel.judges() {
            let verdict = judge.verdict(&seen, &mut self.server);
            self.counter.said(judge.oracle.name(), &verdict);
            match verdict {
                Verdict::Holds { .. } => {}
                Verdict::Undecided { .. } => undecided = true,
                // What an oracle before it has said of the same step is one finding.
                Verdict::Violated(violation)
                    if objected.contains(&(violation.step, violation.fingerprint.symptom)) => {}
                Verdict::Violated(violation) => {
                    objected.push((violation.step, violation.fingerprint.symptom));
                    let dialect = dialect::of(self.info.product);
                    let leftovers = past
                        .as_ref()
                        .and_then(|(case, ended)| leftovers::with(&seen.case, case, ended, dialect));
                    let suspicion = Suspicion { seen: &seen, judge, violation: &violation, leftovers };
                    self.suspect(number, made, &suspicion, tally)?;
                }
            }
        }
        tally.undecided += u64::from(undecided);
        self.note_deaths()?;
        // A server that hung once may do so for ever.
        if seen.trace.outcomes.iter().any(|outcome| outcome.reply == Reply::Hung) {
            self.server.runner.renew();
        }
        self.past = Some((seen.case, ended));
        Ok(())
    }

    fn refused(&mut self, number: u64, reason: String, tally: &mut Tally) -> Result<(), Stop> {
        tally.refused += 1;
        self.refusals += 1;
        let limit = if self.ran { REFUSED_SCHEMAS * self.per_schema() } else { REFUSALS };
        if self.refusals >= limit {
            return Err(Stop::Target(format!("{limit} cases in a row could not be run; the last: {reason}")));
        }
        self.shared.say(Event::Refused { target: self.target().clone(), case: number, reason })?;
        Ok(())
    }

    /// Something looks wrong: enough of its kind are filed already, or it is run again and filed, or it is flaky.
    fn suspect(
        &mut self,
        number: u64,
        made: &Made,
        suspicion: &Suspicion<'_>,
        tally: &mut Tally,
    ) -> Result<(), Stop> {
        let (shared, target) = (self.shared, self.target().clone());
        let settings = &shared.campaign.settings;
        let fingerprint = suspicion.violation.fingerprint.clone();
        let id = Finding::id_of(settings.seed, &target, number, suspicion.violation);
        if !shared.wanted(self.at, &fingerprint, number, &id) {
            return Ok(shared.again(self.at, number, fingerprint)?);
        }
        let Some(reproduction) = confirm(&mut self.server, suspicion, settings.confirm) else {
            tally.flaky += 1;
            let violation = suspicion.violation.clone();
            shared.say(Event::Flaky { target, case: number, violation })?;
            return Ok(());
        };
        let begun = Instant::now();
        let looks_known = oracles::mvcc::known(&fingerprint).is_some();
        let limit = if looks_known { REDUCING_KNOWN } else { REDUCING };
        let over = || shared.over() || begun.elapsed() > limit;
        let Reduction { reproduction, original, tried, first_fingerprint, resembles, .. } =
            self.reduce(number, suspicion, reproduction, &over)?;
        let Reproduction { execution, violation, condition, runs } = reproduction;
        let signature = match &original {
            Some(_) => oracles::signature::signature(self.info.product, &execution.case, &violation),
            None => oracles::signature::of_unreduced(self.info.product, &execution.case, &violation),
        };
        let known = shared.campaign.known.name(&signature);
        let statements = execution.case.steps.len();
        if let Some(original) = &original {
            let (target, from) = (target.clone(), original.steps.len());
            shared.say(Event::Reduced { target, case: number, from, to: statements, tried })?;
        }
        let finding = Finding {
            id,
            seed: settings.seed,
            target,
            drawn: self.drawn.clone(),
            case: number,
            level: execution.trace.level,
            server: format!("{} {}", execution.trace.server.product, execution.trace.server.version),
            oracle: suspicion.judge.oracle.name().to_string(),
            known,
            violation,
            signature: Some(signature),
            first_fingerprint,
            resembles,
            judged_as: settings.judge_as.clone(),
            condition,
            runs,
            statements,
            reduced_from: original.as_ref().map(|case| case.steps.len()),
            strategy: made.strategy.name().to_string(),
            found_after_ms: shared.elapsed(),
        };
        if !shared.file(self.at, Recorded { finding, execution, original })? {
            shared.again(self.at, number, fingerprint)?;
        }
        Ok(())
    }

    /// Reduces the case of a finding. How does not depend on what else was found.
    fn reduce(
        &mut self,
        number: u64,
        suspicion: &Suspicion<'_>,
        reproduction: Reproduction,
        over: &dyn Fn() -> bool,
    ) -> Result<Reduction, Stop> {
        let shared = self.shared;
        let settings = &shared.campaign.settings;
        let learned = settings.learned.as_ref().map(|learned| learned.counts.clone()).unwrap_or_default();
        let seed = Seed(settings.seed.sub("reducing", number));
        let mut strategy = settings.strategy().begin(seed, learned);
        let mut trials: Vec<(&'static str, bool)> = Vec::new();
        let mut told = |trial: &Trial<'_>| {
            // Names are given without asking the strategy.
            if trial.layer != "names" {
                trials.push((trial.operation, trial.worked));
            }
        };
        let how = How { candidates: settings.reduce, strategy: strategy.as_mut(), over, told: &mut told };
        let done = reduce_finding(&mut self.server, suspicion, reproduction, how);
        shared.learned(&trials)?;
        Ok(done)
    }

    /// Says so if the server was replaced because it had died.
    fn note_deaths(&mut self) -> Result<(), Stop> {
        if self.server.runner.deaths() > self.deaths { self.is_up(Why::Died) } else { Ok(()) }
    }
}

/// The server is looked at by the number of the case, so that a hunt that was resumed sees what another one saw.
fn postcheck_interval(number: u64) -> PostCheckInterval {
    let due = |every: u64| u64::from(number.is_multiple_of(every));
    PostCheckInterval { integrity: due(INTEGRITY), index_scans: due(INDEX_SCANS) }
}

/// Tries to bring up a server; one that does not come up may the next time.
fn attempt<T>(mut launch: impl FnMut() -> Result<T, LaunchError>) -> Result<T, Stop> {
    let mut last = String::new();
    for _ in 0..ATTEMPTS {
        match launch() {
            Ok(value) => return Ok(value),
            Err(error) => last = error.in_one_line(),
        }
    }
    Err(Stop::Target(last))
}
