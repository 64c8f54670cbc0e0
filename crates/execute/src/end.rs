//! How a case ends: nothing may be left waiting, open or running.
//!
//! If a statement still waits when all is submitted, the case has stalled. Idle open transactions are rolled
//! back in session order, settling after each, because that may wake the others; only when that does not help is
//! a waiting statement killed. The same ends every case, stalled or not.

use std::time::{Duration, Instant};

use model::{Open, Outcome, Reply, RoundCause};

use crate::{
    os,
    scheduler::Scheduler,
    seams::{ConnectError, SessionId},
    slot::Outstanding,
};

/// How long a statement that is about to be killed may still answer. Kills are rare, so this costs little.
const LAST_LOOK: Duration = Duration::from_millis(20);

/// How long a server may take to notice that transactions wait for each other. InnoDB searches at once, or by a thread that looks around every second;
/// PostgreSQL after `deadlock_timeout`, a second by default.
const DETECTOR: Duration = Duration::from_millis(1500);

impl Scheduler<'_> {
    pub(crate) fn end(&mut self) -> Result<(), ConnectError> {
        self.late()?;
        self.flush()?;
        self.stalled = !self.dead && self.on.slots.iter().any(|slot| slot.outstanding.is_some());
        if self.stalled {
            self.look_for_circle()?;
        }
        while !self.dead {
            let busy = |i: &usize| self.on.slots[*i].outstanding.is_some();
            let open = |i: &usize| self.on.slots[*i].idle() && self.on.slots[*i].open != Open::No;
            let all = 0..self.on.slots.len();
            if let Some(i) = all.clone().find(open) {
                self.roll_back(i)?;
            } else if let Some(i) = all.clone().find(busy) {
                if self.answers_by_itself()? {
                    self.flush()?;
                    continue;
                }
                self.kill(i, Reply::Killed, RoundCause::Killed(i))?;
            } else {
                break;
            }
            self.flush()?;
        }
        if self.dead {
            self.bury();
        }
        Ok(())
    }

    /// Does everybody in a circle wait for the next one? Noted if it is still so after the server had time to find out.
    fn look_for_circle(&mut self) -> Result<(), ConnectError> {
        let circle = self.circle();
        if circle.is_empty() {
            return Ok(());
        }
        let (fds, _) = self.outstanding();
        if self.readable(&fds, DETECTOR) {
            return self.late().map(|_| ());
        }
        if self.circle() == circle {
            let step = |i: &usize| match self.on.slots[*i].outstanding {
                Some(Outstanding::Step(step)) => Some(step),
                Some(Outstanding::Rollback) | None => None,
            };
            self.circle = circle.iter().filter_map(step).collect();
        }
        Ok(())
    }

    /// The sessions of a circle of waits, in order; none if there is no circle.
    fn circle(&mut self) -> Vec<usize> {
        let busy = |i: &usize| self.on.slots[*i].outstanding.is_some();
        let waiting: Vec<usize> = (0..self.on.slots.len()).filter(busy).collect();
        if waiting.len() < 2 {
            return Vec::new();
        }
        let ids: Vec<SessionId> = waiting.iter().map(|&i| self.on.slots[i].id).collect();
        let blockers = self.on.monitor.blockers(&ids);
        let waits_for =
            |one: usize, other: usize| blockers.get(one).is_some_and(|by| by.contains(&ids[other]));
        // Who can be reached from whom, over any number of others.
        let mut reached: Vec<Vec<bool>> =
            (0..ids.len()).map(|one| (0..ids.len()).map(|other| waits_for(one, other)).collect()).collect();
        for over in 0..ids.len() {
            for from in 0..ids.len() {
                for to in 0..ids.len() {
                    reached[from][to] |= reached[from][over] && reached[over][to];
                }
            }
        }
        let Some(first) = (0..ids.len()).find(|&one| reached[one][one]) else { return Vec::new() };
        let circle = (0..ids.len()).filter(|&other| reached[first][other] && reached[other][first]);
        circle.map(|at| waiting[at]).collect()
    }

    /// A last look before a kill, which would make a wait that never was one look like one that never ended.
    fn answers_by_itself(&mut self) -> Result<bool, ConnectError> {
        let (fds, _) = self.outstanding();
        // Half of an answer does not save it: the rest might never come.
        Ok(self.readable(&fds, LAST_LOOK) && self.late()?)
    }

    fn roll_back(&mut self, i: usize) -> Result<(), ConnectError> {
        let slot = &mut self.on.slots[i];
        let Some(session) = slot.session.as_mut() else { return Ok(()) };
        session.send("ROLLBACK");
        slot.outstanding = Some(Outstanding::Rollback);
        self.settle(RoundCause::RolledBack(i))
    }

    /// Kills what a session is running, and settles.
    fn kill(&mut self, i: usize, becomes: Reply, cause: RoundCause) -> Result<(), ConnectError> {
        let slot = &mut self.on.slots[i];
        slot.waits = false;
        self.killed.push((i, becomes));
        let id = slot.id;
        if self.on.server.kill(id, false).is_err() && !self.on.server.alive() {
            self.dead = true;
            return Ok(());
        }
        // KILL QUERY is answered before the statement has ended: wait for that, a lock wait ends at once.
        let begun = Instant::now();
        let (fds, _) = self.outstanding();
        while !os::wait_readable(&fds, Duration::from_millis(10)) && begun.elapsed() < Duration::from_secs(2)
        {
        }
        if begun.elapsed() >= Duration::from_secs(2) {
            self.on.server.kill(id, true)?;
            if !os::wait_readable(&fds, Duration::from_secs(2)) {
                self.abandon(i, Reply::Killed);
            }
        }
        self.settle(cause)
    }

    /// Not even a kill helped: the connection is dropped and the server left to it.
    fn abandon(&mut self, i: usize, becomes: Reply) {
        let slot = &mut self.on.slots[i];
        slot.session = None;
        slot.open = Open::No;
        self.killed.retain(|(killed, _)| *killed != i);
        if let Some(Outstanding::Step(step)) = slot.outstanding.take() {
            self.outcomes[step] = Some(Outcome::bare(becomes));
        }
    }

    /// Statements that neither answer nor wait: they are killed and called hung.
    pub(crate) fn hung(&mut self) -> Result<(), ConnectError> {
        let busy: Vec<usize> =
            (0..self.on.slots.len()).filter(|&i| self.on.slots[i].outstanding.is_some()).collect();
        // Those that were proven to wait before are not to blame, unless there is nobody else.
        let fresh: Vec<usize> = busy.iter().copied().filter(|&i| !self.on.slots[i].waits).collect();
        for i in if fresh.is_empty() { busy } else { fresh } {
            let kills = self.killed.iter().filter(|(killed, _)| *killed == i).count();
            self.killed.push((i, Reply::Hung));
            // First the statement, then the connection, then we give up on it.
            if kills == 2 {
                self.abandon(i, Reply::Hung);
            } else if self.on.server.kill(self.on.slots[i].id, kills == 1).is_err() && !self.on.server.alive()
            {
                self.dead = true;
            }
        }
        Ok(())
    }

    /// The server is gone: so is everything that was asked of it.
    fn bury(&mut self) {
        for slot in &mut self.on.slots {
            if let Some(Outstanding::Step(step)) = slot.outstanding.take() {
                self.outcomes[step] = Some(Outcome::bare(Reply::ServerDied));
            }
            slot.queue.clear();
            slot.session = None;
            slot.open = Open::No;
        }
    }
}
