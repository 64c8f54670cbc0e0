//! One case being run: one statement is sent at a time, and the next goes out when the server has settled.
//!
//! A worked example, T2 waiting for T1 and with a second statement behind it:
//!
//! ```text
//! submitted          what happens                                       round
//! T1: UPDATE t ..    sent, answers                                      Sent(0) answered 0
//! T2: UPDATE t ..    sent, no answer; the monitor says: it waits        Sent(1) waiting 1
//! T2: SELECT ..      T2 is busy: queued behind step 1                   -
//! T1: COMMIT         sent; T1 answers, T2 wakes and answers             Sent(3) answered 3, 1
//!                    T2 is free: its queued SELECT goes out now         Sent(2) answered 2
//! ```
//!
//! Settling never sleeps for a fixed time. Sockets are read; if nothing is outstanding, that is all. Otherwise the
//! monitor is asked whether everything outstanding provably waits; if so, the sockets are read once more, and only
//! if nothing came is the server settled. An answer that comes later without a new cause is a false decision.

use std::{
    os::fd::RawFd,
    time::{Duration, Instant},
};

use model::{Case, DbError, Ends, ErrorClass, Open, Outcome, Reply, Round, RoundCause, Wait, Warning};

use crate::{
    ask::{LIMIT, ask, text},
    executor::Executor,
    os,
    seams::{ConnectError, RawError, RawReply, SessionId, Settled, WireReply},
    slot::Outstanding,
};

/// How long the rest of an answer may take that has begun to come by itself.
const REST: Duration = Duration::from_millis(100);

/// How long a server is watched after one of its connections was lost.
const AFTERMATH: Duration = Duration::from_millis(50);

/// How long a hung statement may still take when it was killed, and then again when its connection was. After that it is
/// given up; and so is its session, so a case ends, however long the network stalls.
const AFTER_KILL: Duration = Duration::from_secs(2);

/// The state of a case that is being run.
pub(crate) struct Scheduler<'a> {
    pub on: &'a mut Executor,
    pub case: &'a Case,
    pub rounds: Vec<Round>,
    pub outcomes: Vec<Option<Outcome>>,
    pub stalled: bool,
    /// Steps that wait for each other, although the server had time to notice.
    pub circle: Vec<usize>,
    pub false_decisions: u32,
    /// From sending to knowing, for each wait.
    pub waits: Vec<Duration>,
    /// From the last answer of a round, or its beginning, to knowing that the rest waits.
    pub proof: Duration,
    pub dead: bool,
    /// Sessions whose statement we killed, and what that makes of it.
    pub killed: Vec<(usize, Reply)>,
}

impl<'a> Scheduler<'a> {
    pub fn new(on: &'a mut Executor, case: &'a Case) -> Scheduler<'a> {
        Scheduler {
            on,
            case,
            rounds: Vec::with_capacity(case.steps.len()),
            outcomes: vec![None; case.steps.len()],
            stalled: false,
            circle: Vec::new(),
            false_decisions: 0,
            waits: Vec::new(),
            proof: Duration::ZERO,
            dead: false,
            killed: Vec::new(),
        }
    }

    /// From the first step to the end.
    pub fn all(&mut self) -> Result<(), ConnectError> {
        for step in 0..self.case.steps.len() {
            // A wait that has ended by its own time limit frees its session before this step, not after it.
            self.late()?;
            self.flush()?;
            if self.dead {
                break;
            }
            let slot = &mut self.on.slots[self.case.steps[step].session];
            if slot.outstanding.is_some() {
                slot.queue.push_back(step);
            } else {
                self.submit(step)?;
            }
            self.flush()?;
        }
        self.end()
    }

    /// Sends a step and settles.
    fn submit(&mut self, step: usize) -> Result<(), ConnectError> {
        self.late()?;
        let session = self.case.steps[step].session;
        let slot = &mut self.on.slots[session];
        let Some(connection) = slot.session.as_mut() else {
            self.outcomes[step] = Some(Outcome::bare(Reply::NotSent));
            return Ok(());
        };
        connection.send(&self.case.steps[step].sql);
        slot.outstanding = Some(Outstanding::Step(step));
        slot.waits = false;
        self.on.counts.statements += 1;
        self.settle(RoundCause::Sent(step))
    }

    /// Sends what was queued behind sessions that are free again, in submitted order.
    pub fn flush(&mut self) -> Result<(), ConnectError> {
        while !self.dead {
            let free = self.on.slots.iter().enumerate().filter(|(_, slot)| slot.outstanding.is_none());
            let Some((step, i)) = free.filter_map(|(i, slot)| Some((*slot.queue.front()?, i))).min() else {
                break;
            };
            self.on.slots[i].queue.pop_front();
            self.submit(step)?;
        }
        Ok(())
    }

    /// Reads answers until everything outstanding provably waits, and writes down the round.
    pub fn settle(&mut self, cause: RoundCause) -> Result<(), ConnectError> {
        let begun = Instant::now();
        let mut moved = begun;
        let mut hung_after = self.on.options.hung_after;
        let mut round = Round { cause, answered: Vec::new(), waiting: Vec::new() };
        let mut answers: Vec<(usize, WireReply)> = Vec::new();
        let mut patience = self.on.patience();
        // What was spent on asking too early.
        let mut asking = Duration::ZERO;
        let mut came = false;
        let mut fresh = true;
        loop {
            let (fds, ids) = self.outstanding();
            if fds.is_empty() {
                break;
            }
            // On one CPU with the server: it goes on until it has answered or waits, so mostly the answer is there when this
            // thread's turn comes again. No timer is set for it; a virtual machine pays as much for one as for a statement.
            let yielded = std::mem::take(&mut fresh) && !patience.is_zero() && {
                std::thread::yield_now();
                self.collect(&mut round, &mut answers)?
            };
            // After an answer the rest is asked about at once: they either woke with it or still wait.
            let time = if came { Duration::ZERO } else { patience };
            came = yielded || self.readable(&fds, time) && self.collect(&mut round, &mut answers)?;
            if came {
                if moved == begun {
                    self.on.answered_after(begun.elapsed());
                }
                self.proof += std::mem::take(&mut asking);
                moved = Instant::now();
                patience = self.on.monitor.patience();
                continue;
            }
            let asked = Instant::now();
            match self.on.monitor.check(&ids) {
                Ok(Settled::AllWait) => {
                    if !self.readable(&fds, Duration::ZERO) {
                        self.proof += moved.elapsed();
                        break;
                    }
                }
                Ok(Settled::Working) => {
                    asking += asked.elapsed();
                    patience = (patience * 2).min(Duration::from_millis(1));
                }
                // It lives and refuses, or it says nothing: then its sessions would say nothing for ever.
                Err(error @ ConnectError::Own { .. }) => return Err(error),
                Err(error) => self.monitor_failed(error)?,
            }
            // Half of an answer is none: whoever sends one byte a second is hung, too.
            if moved.elapsed() > hung_after {
                self.hung()?;
                moved = Instant::now();
                hung_after = hung_after.min(AFTER_KILL);
            }
        }
        self.note_waits(&mut round, begun);
        self.finish(answers)?;
        self.rounds.push(round);
        self.watch()
    }

    /// If asked to: watches for a while whether something answers that was said to wait.
    fn watch(&mut self) -> Result<(), ConnectError> {
        let Some(time) = self.on.options.watch else { return Ok(()) };
        let (begun, (fds, _)) = (Instant::now(), self.outstanding());
        while !fds.is_empty()
            && os::wait_readable(&fds, time.saturating_sub(begun.elapsed()))
            && !self.late()?
            && begun.elapsed() < time
        {}
        Ok(())
    }

    /// Did something answer although nothing was sent? A statement whose time is over may, be it the time for a lock or
    /// for all of it; anything else is a false decision.
    pub fn late(&mut self) -> Result<bool, ConnectError> {
        let mut round = Round { cause: RoundCause::Timeout, answered: Vec::new(), waiting: Vec::new() };
        let mut answers = Vec::new();
        let (begun, (fds, _)) = (Instant::now(), self.outstanding());
        let mut patience = Duration::ZERO;
        while !fds.is_empty() && begun.elapsed() < REST && self.readable(&fds, patience) {
            if self.collect(&mut round, &mut answers)? {
                for (_, answer) in &answers {
                    self.false_decisions += u32::from(!self.timed_out(answer) && !self.dead);
                }
                self.finish(answers)?;
                self.rounds.push(round);
                return Ok(true);
            }
            // Half of one: the rest is on its way, and belongs to nothing that is sent from here on.
            patience = REST;
        }
        Ok(false)
    }

    /// Is it the error of a statement whose time was over?
    fn timed_out(&self, answer: &WireReply) -> bool {
        match &answer.reply {
            RawReply::Error(error) => matches!(
                (self.on.dialect.classify)(error.code, &error.sqlstate).0,
                ErrorClass::LockTimeout | ErrorClass::Interrupted
            ),
            RawReply::Rows(_)
            | RawReply::Done { .. }
            | RawReply::RolledBack
            | RawReply::Unreadable(_)
            | RawReply::Lost => false,
        }
    }

    /// Is there something to read, now or within this time?
    pub fn readable(&self, fds: &[RawFd], time: Duration) -> bool {
        // Where an answer is there at once or not at all, the system need not be asked.
        match self.on.monitor.patience().is_zero() {
            true => fds.iter().any(|fd| *fd < 0),
            false => os::wait_readable(fds, time),
        }
    }

    pub fn outstanding(&self) -> (Vec<RawFd>, Vec<SessionId>) {
        let busy = self.on.slots.iter().filter(|slot| slot.outstanding.is_some());
        busy.filter_map(|slot| Some((slot.session.as_ref()?.fd(), slot.id))).unzip()
    }

    /// Takes every complete answer off the sockets. True if there was one.
    fn collect(
        &mut self,
        round: &mut Round,
        answers: &mut Vec<(usize, WireReply)>,
    ) -> Result<bool, ConnectError> {
        let mut came = false;
        for i in 0..self.on.slots.len() {
            let slot = &mut self.on.slots[i];
            let (Some(outstanding), Some(session)) = (slot.outstanding, slot.session.as_mut()) else {
                continue;
            };
            let Some(answer) = session.receive() else { continue };
            came = true;
            slot.outstanding = None;
            slot.waits = false;
            if answer.transaction != Open::Unknown {
                slot.open = answer.transaction;
            }
            if let RawReply::Unreadable(reason) = answer.reply {
                let statement = match outstanding {
                    Outstanding::Step(step) => self.case.steps[step].sql.clone(),
                    Outstanding::Rollback => "ROLLBACK".to_string(),
                };
                return Err(ConnectError::Unreadable { statement, reason });
            }
            if answer.reply == RawReply::Lost {
                slot.session = None;
                slot.open = Open::No;
                self.lost()?;
            }
            match outstanding {
                Outstanding::Step(step) => {
                    round.answered.push(step);
                    answers.push((step, answer));
                }
                Outstanding::Rollback => self.on.slots[i].open = Open::No,
            }
        }
        Ok(came)
    }

    /// A connection ended: is it only that one, or the whole server?
    pub fn lost(&mut self) -> Result<(), ConnectError> {
        let begun = Instant::now();
        while self.on.server.alive() && begun.elapsed() < Duration::from_secs(3) {
            if self.on.server.connect().is_ok() && self.lives_on() {
                return Ok(());
            }
        }
        self.dead = true;
        for slot in &mut self.on.slots {
            slot.queue.clear();
        }
        Ok(())
    }

    /// A process that crashes closes its connections before the server knows of it, so the server may take one more
    /// connection and go down all the same. Connections are lost rarely: worth a look that lasts.
    fn lives_on(&mut self) -> bool {
        let begun = Instant::now();
        while self.on.server.alive() {
            if begun.elapsed() > AFTERMATH {
                return true;
            }
            os::wait_readable(&[], Duration::from_millis(1));
        }
        false
    }

    fn note_waits(&mut self, round: &mut Round, begun: Instant) {
        let known = begun.elapsed();
        let mut new = Vec::new();
        for slot in self.on.slots.iter_mut().filter(|slot| !slot.waits) {
            if let Some(Outstanding::Step(step)) = slot.outstanding {
                slot.waits = true;
                self.waits.push(known);
                round.waiting.push(Wait { step, blockers: Vec::new() });
                new.push(slot.id);
            }
        }
        if self.on.options.label && !new.is_empty() {
            let blockers = self.on.monitor.blockers(&new);
            let slots = &self.on.slots;
            let index =
                |id: &SessionId| slots.iter().position(|slot| slot.id == *id && slot.session.is_some());
            for (wait, ids) in round.waiting.iter_mut().zip(blockers) {
                wait.blockers = ids.iter().filter_map(index).collect();
                wait.blockers.sort_unstable();
                wait.blockers.dedup();
            }
        }
    }

    /// Says what the answers mean, and fetches the warnings that they left.
    fn finish(&mut self, answers: Vec<(usize, WireReply)>) -> Result<(), ConnectError> {
        for (step, answer) in answers {
            let session = self.case.steps[step].session;
            let killed = self.killed.iter().find(|(i, _)| *i == session).map(|(_, reply)| reply.clone());
            self.killed.retain(|(i, _)| *i != session);
            let mut warnings = Vec::new();
            if answer.warnings > 0 && !matches!(answer.reply, RawReply::Error(_) | RawReply::Lost) {
                warnings = self.warnings(session)?;
            }
            let reply = match answer.reply {
                // Some statements answer a kill as if nothing had happened: GET_LOCK with NULL, BENCHMARK with 0.
                RawReply::Rows(rows) => killed.unwrap_or(Reply::Rows(rows)),
                RawReply::Done { affected, matched } => killed.unwrap_or(Reply::Done { affected, matched }),
                RawReply::RolledBack => killed.unwrap_or(Reply::RolledBack),
                RawReply::Lost | RawReply::Unreadable(_) if self.dead => Reply::ServerDied,
                RawReply::Lost | RawReply::Unreadable(_) => killed.unwrap_or(Reply::ConnectionLost),
                RawReply::Error(error) => {
                    let error = self.meaning(session, error, answer.transaction != Open::Unknown)?;
                    if error.ends == Ends::Session && !self.dead {
                        self.lost()?; // A server that goes down may find the time to say so.
                    }
                    match (error.class, killed) {
                        _ if error.ends == Ends::Session && self.dead => Reply::ServerDied,
                        // The end of the statement, or of the whole session where nothing less helped.
                        (ErrorClass::Interrupted | ErrorClass::GoneAway, Some(reply)) => reply,
                        _ => Reply::Error(error),
                    }
                }
            };
            let transaction = self.on.slots[session].open;
            self.outcomes[step] = Some(Outcome { reply, warnings, transaction });
        }
        Ok(())
    }

    fn meaning(&mut self, session: usize, error: RawError, told: bool) -> Result<DbError, ConnectError> {
        let (class, mut ends) = (self.on.dialect.classify)(error.code, &error.sqlstate);
        let slot = &mut self.on.slots[session];
        match ends {
            // Without autocommit what failed may have begun a transaction all the same.
            Ends::Statement if !told && slot.open == Open::No && !slot.autocommit => {
                if let Some(answer) = self.show_warnings(session)?
                    && answer.transaction == Open::Yes
                {
                    self.on.slots[session].open = Open::Yes;
                }
            }
            // A DDL statement commits before it fails, and a setting may make a timeout roll back everything.
            Ends::Statement if !told && slot.open == Open::Yes => {
                if let Some(answer) = self.show_warnings(session)?
                    && answer.transaction == Open::No
                {
                    self.on.slots[session].open = Open::No;
                    if class == ErrorClass::LockTimeout {
                        ends = Ends::Transaction;
                    }
                }
            }
            Ends::Statement => {}
            // Where the protocol is silent after an error, the dialect knows what the session is in.
            Ends::Transaction if !told => {
                let begun = slot.open == Open::Yes;
                let reopens =
                    !slot.autocommit || begun && (self.on.dialect.reopens)(&self.on.server.info().version);
                slot.open = if reopens { Open::Yes } else { Open::No };
            }
            Ends::Transaction => {}
            Ends::Session => (slot.session, slot.open) = (None, Open::No),
        }
        Ok(DbError { code: error.code, sqlstate: error.sqlstate, class, ends, message: error.message })
    }

    fn warnings(&mut self, session: usize) -> Result<Vec<Warning>, ConnectError> {
        match self.show_warnings(session)?.map(|answer| answer.reply) {
            Some(RawReply::Rows(rows)) => Ok((0..rows.len())
                .map(|row| Warning {
                    code: text(&rows, row, 1).parse().unwrap_or(0),
                    message: text(&rows, row, 2),
                })
                .collect()),
            Some(_) | None => Ok(Vec::new()),
        }
    }

    /// The one statement that a session can be asked between two steps without losing what the first one left.
    fn show_warnings(&mut self, session: usize) -> Result<Option<WireReply>, ConnectError> {
        let slot = &mut self.on.slots[session];
        let (Some(show), Some(connection)) = (self.on.dialect.show_warnings, slot.session.as_mut()) else {
            return Ok(None);
        };
        match ask(connection.as_mut(), show, LIMIT) {
            // The step has answered; what ended the connection after that is the next step's news.
            Err(ConnectError::Gone) => Ok(None),
            answer => answer.map(Some),
        }
    }

    /// The monitor asks the server; if that is dead, the sessions will say so.
    fn monitor_failed(&mut self, error: ConnectError) -> Result<(), ConnectError> {
        if self.on.server.alive() { Err(error) } else { Ok(()) }
    }
}
