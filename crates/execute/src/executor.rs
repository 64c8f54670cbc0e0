//! Runs cases on one server: prepare, submit step by step, end, read the final state.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use dialect::{Dialect, Execution, ParseCache, ParsedCase};
use model::{Aftermath, Case, Level, Open, Outcome, Reply, RowSet, SessionSpec, Trace};

use crate::{
    ask::{LIMIT, must, record, text},
    os,
    plan::{Plan, Planner},
    postchecks::{self, PostCheckInterval, PostChecks},
    prepare::{PreparedSchema, Reset},
    scheduler::Scheduler,
    scratch::ScratchSchemas,
    seams::{ConnectError, LockMonitor, Server, Session},
    slot::Slot,
};

/// How cases are run.
#[derive(Clone, Debug)]
pub struct Options {
    /// How tables are emptied between cases.
    pub reset: Reset,
    /// A statement that neither answers nor waits for this long is hung.
    pub hung_after: Duration,
    /// Ask for whom a statement waits, to show it.
    pub label: bool,
    /// After each decision that statements wait, watch this long whether one answers all the same.
    pub watch: Option<Duration>,
    /// How often a case is tried again when an answer came after "settled".
    pub tries: u32,
    /// Which cases are refused.
    pub guard: Guard,
    /// How often the server is looked at after a case.
    pub postchecks: PostCheckInterval,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            reset: Reset::Clean,
            hung_after: Duration::from_secs(10),
            label: false,
            watch: None,
            tries: 5,
            guard: Guard::Machine,
            postchecks: PostCheckInterval::default(),
        }
    }
}

/// Which cases are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// None: the user trusts them.
    Trusted,
    /// The server is ours: those that reach outside of the database, to files, programs and other servers.
    Machine,
    /// The server is somebody else's: those that reach outside of their schema.
    Schema,
}

/// What was counted over all cases.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Cases run, repeated ones included.
    pub cases: u64,
    pub statements: u64,
    /// Statements that were said to wait.
    pub waits: u64,
    /// Of these, how many answered all the same.
    pub false_decisions: u64,
}

/// How the last case was run, and how long that took. It stands beside the trace, never in it.
#[derive(Clone, Debug, Default)]
pub struct Timing {
    /// Emptying and filling the tables, preparing the sessions.
    pub reset: Duration,
    /// From the first step to the last answer.
    pub steps: Duration,
    /// For each statement that waits: from sending it to knowing it.
    pub waits: Vec<Duration>,
    /// All of the time that went into knowing that statements wait: those above, and whether they still do after each answer.
    pub proof: Duration,
    /// Why the setup had to be run anew as text, if it had to.
    pub opaque_setup: Option<String>,
}

/// No answer is awaited for longer than this before it is asked whether it can come at all.
const LONGEST: Duration = Duration::from_micros(200);

/// At most this many sessions are put aside.
const PARKED: usize = 32;

/// Runs cases on one server.
pub struct Executor {
    pub(crate) server: Box<dyn Server>,
    pub(crate) dialect: &'static Dialect,
    pub(crate) monitor: Box<dyn LockMonitor>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) options: Options,
    /// What was counted so far.
    pub counts: Counts,
    /// Of the case that ran last.
    pub timing: Timing,
    control: Box<dyn Session>,
    holder: Option<Box<dyn Session>>,
    schema: PreparedSchema,
    pub(crate) scratch: ScratchSchemas,
    postchecks: PostChecks,
    pub(crate) parsed: ParseCache,
    pub(crate) planner: Planner,
    /// How long a statement usually takes that does not wait.
    pace: Duration,
    /// Sessions at other levels than those of the last case: setting a level and reading it back takes two round trips.
    parked: Vec<Slot>,
    /// Is a session like a fresh one after a reset?
    resets: bool,
    dead: bool,
    spoiled: bool,
}

impl Executor {
    /// Takes over a server that has come up.
    pub fn new(mut server: Box<dyn Server>, options: Options) -> Result<Executor, ConnectError> {
        os::exact_timers();
        let dialect = dialect::of(server.info().product);
        let monitor = server.monitor()?;
        let control = server.connect()?;
        let mut holder = None;
        if dialect.hold_view.is_some() {
            let mut session = server.connect()?;
            set_level(session.as_mut(), dialect, &server.info().version, Level::RepeatableRead)?;
            holder = Some(session);
        }
        let postchecks = PostChecks::new(server.logs(), server.guest());
        let resets = (dialect.resets_sessions)(&server.info().version);
        Ok(Executor {
            server,
            dialect,
            monitor,
            control,
            holder,
            slots: Vec::new(),
            schema: PreparedSchema::default(),
            scratch: ScratchSchemas::default(),
            postchecks,
            parsed: ParseCache::new(dialect.product),
            planner: Planner::default(),
            pace: Duration::ZERO,
            parked: Vec::new(),
            resets,
            options,
            counts: Counts::default(),
            timing: Timing::default(),
            dead: false,
            spoiled: false,
        })
    }

    pub fn server(&mut self) -> &mut dyn Server {
        self.server.as_mut()
    }

    /// How waits are known.
    pub fn settles_by(&self) -> &'static str {
        self.monitor.how()
    }

    pub fn dead(&self) -> bool {
        self.dead
    }

    /// Did a step change the server for everybody (SET GLOBAL)? Then no other case should run on it.
    pub fn spoiled(&self) -> bool {
        self.spoiled
    }

    /// Runs a case; again if an answer came after the server had been called settled.
    pub fn run(&mut self, case: &Case, level: Level) -> Result<Execution, ConnectError> {
        if self.options.guard == Guard::Schema
            && let Some(found) = dialect::guard::objections(self.dialect.product, case).first()
        {
            return Err(ConnectError::Untrusted(format!("{}: {}", found.place, found.why)));
        }
        let case = self.parsed.case(case.clone());
        if self.options.guard == Guard::Machine
            && let Some((place, why)) = case.outside()
        {
            return Err(ConnectError::Untrusted(format!("{place}: {why}")));
        }
        let plan = self.planner.plan(&case, self.dialect);
        self.spoiled |= plan.changes_server;
        for _ in 1..self.options.tries {
            let run = self.run_once(&case, &plan, level)?;
            if run.trace.false_decisions == 0 {
                return Ok(run);
            }
        }
        self.run_once(&case, &plan, level)
    }

    fn run_once(
        &mut self,
        case: &Arc<ParsedCase>,
        plan: &Plan,
        level: Level,
    ) -> Result<Execution, ConnectError> {
        let start = Instant::now();
        self.prepare(case, plan, level).inspect_err(|_| self.schema.forget())?;
        let ready = Instant::now();
        let mut run = Scheduler::new(self, case);
        let ran = run.all();
        let Scheduler { rounds, outcomes, stalled, circle, false_decisions, waits, proof, dead, .. } = run;
        if let Err(error) = ran {
            // Nobody knows what the sessions are in the middle of.
            for slot in self.slots.drain(..) {
                self.monitor.forget(slot.id);
            }
            self.schema.forget();
            return Err(error);
        }
        let done = Instant::now();
        self.dead = dead;
        if !dead {
            // At once: what such a session holds (LOCK TABLES, GET_LOCK) would be in the way of our own statements.
            for &session in &plan.changes_session {
                self.slots[session].dirty = true;
                self.slots[session].clean(self.resets);
            }
        }
        self.counts.cases += 1;
        self.counts.waits += waits.len() as u64;
        self.counts.false_decisions += u64::from(false_decisions);
        let final_state = if dead { None } else { self.final_state(case, plan)? };
        let trace = Trace {
            server: self.server.info().clone(),
            level,
            rounds,
            outcomes: outcomes.into_iter().map(|o| o.unwrap_or(Outcome::bare(Reply::NotSent))).collect(),
            stalled,
            false_decisions,
            final_state,
        };
        let opaque_setup = plan.opaque.clone();
        self.timing = Timing { reset: ready - start, steps: done - ready, waits, proof, opaque_setup };
        let aftermath = Aftermath { circle, ..self.aftermath(case, plan, &trace) };
        Ok(Execution { case: case.clone(), trace, aftermath })
    }

    /// PostCheckInterval at the server after a case.
    fn aftermath(&mut self, case: &Case, plan: &Plan, trace: &Trace) -> Aftermath {
        let log = self.postchecks.log(&self.dialect.checks, postchecks::wrong(trace));
        let mut seen = Aftermath { stack: postchecks::stack(&log), log, ..Aftermath::default() };
        if let Some(tables) = &trace.final_state {
            let what = (case, &tables[..], plan.tables().is_some());
            self.postchecks.run_due(
                self.control.as_mut(),
                self.dialect,
                self.options.postchecks,
                what,
                &mut seen,
            );
        }
        seen
    }

    fn prepare(&mut self, case: &Case, plan: &Plan, level: Level) -> Result<(), ConnectError> {
        let set = self.schema.set(self.control.as_mut(), self.dialect, case, plan, self.options.reset);
        // A setup that we cannot read may have done anything to its session, and so may one that failed.
        if (set.is_err() || plan.setup.is_none()) && !(self.resets && self.control.reset()) {
            match (self.server.connect(), &set) {
                (Ok(control), _) => self.control = control,
                (Err(_), Err(_)) => {} // What failed first says more.
                (Err(error), Ok(_)) => return Err(error),
            }
        }
        if set? {
            // An idle SQLite session can still refuse a statement by the tables it knew before.
            self.slots.iter_mut().for_each(|slot| slot.dirty = true);
        }
        for (i, spec) in case.sessions.iter().enumerate() {
            self.prepare_session(i, spec, spec.level.unwrap_or(level))?;
        }
        match (&mut self.holder, self.dialect.hold_view, self.options.reset) {
            (Some(holder), Some(hold), Reset::Clean | Reset::Truncated | Reset::Rebuilt) => {
                must(holder.as_mut(), hold).map(|_| ())
            }
            (_, _, Reset::Purged) => self.await_purge(),
            _ => Ok(()),
        }
    }

    /// Lets the server purge what it can before the case begins; not for ever, since some keep a rest.
    fn await_purge(&mut self) -> Result<(), ConnectError> {
        let Some(left) = self.dialect.purge_left else { return Ok(()) };
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(500) {
            let [left] = record(self.control.as_mut(), left, LIMIT)?;
            if left == "0" {
                break;
            }
            os::wait_readable(&[], Duration::from_millis(1));
        }
        Ok(())
    }

    fn prepare_session(&mut self, i: usize, spec: &SessionSpec, level: Level) -> Result<(), ConnectError> {
        if let Some(slot) = self.slots.get_mut(i) {
            slot.clean(self.resets);
        }
        if self.options.reset == Reset::Fast {
            self.exchange(i, spec.autocommit, level)?;
        }
        if self.slots.get(i).is_none_or(|slot| slot.session.is_none()) {
            let session = self.server.connect()?;
            self.monitor.watch(session.id())?;
            match self.slots.get_mut(i) {
                Some(slot) => {
                    self.monitor.forget(slot.id);
                    *slot = Slot::new(session);
                }
                None => self.slots.push(Slot::new(session)),
            }
        }
        let slot = &mut self.slots[i];
        let Some(session) = slot.session.as_mut() else { return Err(ConnectError::Gone) };
        if slot.level != Some(level) {
            set_level(session.as_mut(), self.dialect, &self.server.info().version, level)?;
            slot.level = Some(level);
        }
        if slot.autocommit != spec.autocommit {
            let Some(off) = self.dialect.autocommit_off else {
                let reason = format!("{} has no sessions without autocommit", self.dialect.product);
                return Err(ConnectError::Own { statement: "autocommit off".into(), reason });
            };
            must(session.as_mut(), if spec.autocommit { "SET autocommit = 1" } else { off })?;
            slot.autocommit = spec.autocommit;
        }
        slot.open = Open::No;
        slot.waits = false;
        Ok(())
    }

    /// Puts a session that is set otherwise aside, and takes one that is as it should be; without one a new one is opened.
    fn exchange(&mut self, i: usize, autocommit: bool, level: Level) -> Result<(), ConnectError> {
        let Some(slot) = self.slots.get_mut(i) else { return Ok(()) };
        let fits = |slot: &Slot| slot.level == Some(level) && slot.autocommit == autocommit;
        if self.dialect.set_level.is_none() || slot.level.is_none() || slot.session.is_none() || fits(slot) {
            return Ok(());
        }
        match self.parked.iter().position(fits) {
            Some(at) => std::mem::swap(slot, &mut self.parked[at]),
            None if self.parked.len() < PARKED => {
                let session = self.server.connect()?;
                self.monitor.watch(session.id())?;
                self.parked.push(std::mem::replace(slot, Slot::new(session)));
            }
            None => {}
        }
        Ok(())
    }

    /// Every table that is there, read by a session that took no part; none if the server cannot be asked. What it says and
    /// nobody can read is an error here, too.
    fn final_state(
        &mut self,
        case: &Case,
        plan: &Plan,
    ) -> Result<Option<Vec<(String, RowSet)>>, ConnectError> {
        match self.read_tables(case, plan) {
            Ok(tables) => Ok(Some(tables)),
            Err(error @ ConnectError::Unreadable { .. }) => Err(error),
            Err(_) => Ok(None),
        }
    }

    fn read_tables(&mut self, case: &Case, plan: &Plan) -> Result<Vec<(String, RowSet)>, ConnectError> {
        if let (Some(holder), Reset::Clean) = (&mut self.holder, self.options.reset) {
            must(holder.as_mut(), "COMMIT")?;
        }
        let control = self.control.as_mut();
        let tables = match plan.tables() {
            Some(tables) => tables,
            // Something unknown may have made or dropped some: whatever is there, and the views that are asked for.
            None => {
                let found = must(control, self.dialect.tables.list)?;
                let there = (0..found.len()).filter(|&row| {
                    let name = text(&found, row, 0);
                    text(&found, row, 1) != "VIEW"
                        || case.final_state.iter().any(|state| state.table.eq_ignore_ascii_case(&name))
                });
                let mut names: Vec<String> = there.map(|row| text(&found, row, 0)).collect();
                names.sort_unstable();
                let query = |name: &String| format!("SELECT * FROM {}", self.dialect.quoted(name));
                names.into_iter().map(|name| (name.clone(), query(&name))).collect()
            }
        };
        let mut read = Vec::new();
        for (table, query) in tables {
            match must(control, &query) {
                Ok(rows) => read.push((table, rows)),
                // A step dropped it, or never made it.
                Err(ConnectError::Own { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }
}

impl Executor {
    /// How long an answer is awaited before the monitor is asked. At ordinary priority asking takes the CPU from the server that
    /// it asks about, so a hunt waits for as long as statements usually take; never for long, since some really wait.
    pub(crate) fn patience(&self) -> Duration {
        let least = self.monitor.patience();
        match self.options.reset {
            // What does not answer at once there waits.
            _ if least.is_zero() => least,
            Reset::Fast => least.max((self.pace * 2).min(LONGEST)),
            Reset::Clean | Reset::Purged | Reset::Truncated | Reset::Rebuilt => least,
        }
    }

    /// Notes how long a statement took that did not wait.
    pub(crate) fn answered_after(&mut self, time: Duration) {
        self.pace = (self.pace * 15 + time.min(LONGEST)) / 16;
    }
}

/// Sets a session's level and reads it back.
pub(crate) fn set_level(
    session: &mut dyn Session,
    dialect: &Dialect,
    version: &model::Version,
    level: Level,
) -> Result<(), ConnectError> {
    let Some(rules) = &dialect.set_level else { return Ok(()) };
    must(session, &(rules.set)(level))?;
    let [found] = record(session, (rules.read)(version), LIMIT)?;
    if found != (rules.answer)(level) {
        return Err(ConnectError::Level { asked: level, found });
    }
    Ok(())
}
