//! The monitor that watches the server's own processes: a statement waits if the process that runs it has said so and
//! sleeps.
//!
//! Each session has a process of its own in the server. Its state in /proc, and how often and how long it has run, are
//! read twice: asleep both times and unmoved in between, it cannot go on by itself. But for one thing: PostgreSQL looks
//! for deadlocks in the waiting process itself, a while after its wait began, so a process that sleeps may still wake
//! up to find that it must give way. Therefore sessions begin with `deadlock_timeout = 1ms` and `log_lock_waits`: each
//! process then says, right after its search and before it goes to sleep for good, that it still waits, and it says so
//! again, in other words, when it has its lock. Only a session whose last word is "still waiting" is taken to wait.
//! That also makes the victim of a deadlock the one who closed the cycle, whatever else the machine does.
//!
//! The word for it is told from the others by its line in the server's source, learnt here from a wait of two sessions
//! of our own: texts are translated, and lines differ from version to version, but not within one server.
//!
//! This proves more than sleeping threads do: a process that sleeps in `pg_sleep`, for a disk or for a short lock inside
//! the server has said nothing, or has said since that its wait is over. That is why no other process of the server has
//! to be watched. Some waits come without a word, though: that of SERIALIZABLE READ ONLY DEFERRABLE is none for a lock,
//! and a step may have switched the notices off in its session. So if all sleep unmoved for [`QUIET`] and one has said
//! nothing, the server is asked as the other monitor does it.

use std::{collections::BTreeMap, time::Duration};

use execute::{
    ConnectError, LockMonitor, Session, SessionId, Settled,
    ask::{await_answer, demand},
    os::{Interest, wait},
};

use super::{
    super::session::{PgConnectOptions, PgSession},
    lock_waits::{LockWaitReader, give_up},
    sql,
    wait_notices::WaitNotices,
};
use crate::{
    locks::{
        threads::{Sample, Thread},
        waits::{DeadlockWatch, WaitGraph},
    },
    net::SILENCE,
};

/// What sessions must begin with to be told of their waits. The last one keeps two lines for each
/// wait out of the server's own log; what ends a session is still written there.
pub const SETTINGS: [(&str, &str); 4] = [
    ("log_lock_waits", "on"),
    ("client_min_messages", "log"),
    ("deadlock_timeout", "1ms"),
    ("log_min_messages", "fatal"),
];

/// How long everything must have slept in silence before the server is asked. A notice comes after 1 ms.
const QUIET: Duration = Duration::from_millis(30);

/// Half of the name of the lock that our own two sessions wait for; the other is the number of a process.
const LOCK: u32 = 0x6973_6f70;

/// Watches processes, and hears their notices.
#[derive(Debug)]
pub struct ProcMonitor {
    notices: WaitNotices,
    /// The line in which "still waiting" is said.
    line: String,
    lock_waits: LockWaitReader,
    watched: BTreeMap<SessionId, Thread>,
    before: Vec<Sample>,
    /// Since when they sleep unmoved although one has said nothing, and what was read of them.
    quiet: Option<(Duration, Vec<Sample>)>,
    judge: DeadlockWatch,
    clock: fn() -> Duration,
}

impl ProcMonitor {
    /// For sessions that enter with these options and add to these notices. `plain` has no settings.
    pub fn new(
        connect: &PgConnectOptions,
        plain: &PgConnectOptions,
        notices: &WaitNotices,
        deadlock_timeout: Duration,
        clock: fn() -> Duration,
    ) -> Result<ProcMonitor, ConnectError> {
        Ok(ProcMonitor {
            notices: notices.clone(),
            line: learn(connect)?,
            lock_waits: LockWaitReader::open(plain)?,
            watched: BTreeMap::new(),
            before: Vec::new(),
            quiet: None,
            judge: DeadlockWatch::new(give_up(deadlock_timeout)),
            clock,
        })
    }

    /// Reads all of them; false if one is awake.
    fn read(&self, outstanding: &[SessionId], into: &mut Vec<Sample>) -> bool {
        into.clear();
        into.extend(outstanding.iter().map_while(|session| self.watched.get(session)?.asleep()));
        into.len() == outstanding.len()
    }

    /// Are all of them asleep twice, without having run in between?
    fn all_asleep(&self, outstanding: &[SessionId], before: &mut Vec<Sample>) -> bool {
        let again = |session: &SessionId| self.watched.get(session).and_then(Thread::asleep);
        self.read(outstanding, before)
            && outstanding
                .iter()
                .zip(&*before)
                .all(|(session, sample)| again(session).as_ref() == Some(sample))
    }

    /// They sleep, and one of them has not said why.
    fn ask(&mut self, outstanding: &[SessionId], samples: &[Sample]) -> Result<Settled, ConnectError> {
        let now = (self.clock)();
        match &self.quiet {
            Some((since, before)) if before == samples => {
                if now.saturating_sub(*since) < QUIET {
                    return Ok(Settled::Working);
                }
                sql::settled(&mut self.lock_waits, &mut self.judge, outstanding, now)
            }
            _ => {
                self.quiet = Some((now, samples.to_vec()));
                Ok(Settled::Working)
            }
        }
    }
}

impl LockMonitor for ProcMonitor {
    fn how(&self) -> &'static str {
        "proc"
    }

    fn watch(&mut self, session: SessionId) -> Result<(), ConnectError> {
        let unseen = |reason: String| ConnectError::Refused { server: format!("process {session}"), reason };
        let pid = u32::try_from(session).map_err(|error| unseen(error.to_string()))?;
        let files = Thread::open(pid, pid)
            .map_err(|error| unseen(format!("it cannot be watched in /proc: {error}")))?;
        execute::os::favour_group(pid);
        self.watched.insert(session, files);
        self.lock_waits.watch(session);
        Ok(())
    }

    fn forget(&mut self, session: SessionId) {
        self.watched.remove(&session);
        self.lock_waits.forget(session);
    }

    fn check(&mut self, outstanding: &[SessionId]) -> Result<Settled, ConnectError> {
        let mut samples = std::mem::take(&mut self.before);
        let asleep = self.all_asleep(outstanding, &mut samples);
        let settled = if !asleep {
            self.quiet = None;
            Ok(Settled::Working)
        } else if outstanding.iter().all(|&session| self.notices.says(session, &self.line)) {
            Ok(Settled::AllWait)
        } else {
            self.ask(outstanding, &samples)
        };
        self.before = samples;
        settled
    }

    fn blockers(&mut self, waiting: &[SessionId]) -> Vec<Vec<SessionId>> {
        WaitGraph::labels(self.lock_waits.look(waiting), waiting)
    }

    /// The notice wakes whoever listens, so little is gained by looking often.
    fn patience(&self) -> Duration {
        Duration::from_micros(50)
    }
}

/// Lets two sessions of our own wait for each other, to see in which line that is said.
pub fn learn(connect: &PgConnectOptions) -> Result<String, ConnectError> {
    let notices = WaitNotices::default();
    let mut holder = PgSession::connect(connect, &notices)?;
    let mut waiter = PgSession::connect(connect, &notices)?;
    let lock = format!("SELECT pg_advisory_lock({LOCK}, {})", holder.id());
    demand(&mut holder, &lock, SILENCE)?;
    waiter.send(&lock);
    let line = loop {
        let spoke = wait(&[waiter.fd()], Interest::Read, SILENCE);
        let answer = waiter.receive();
        if let Some(line) = notices.last(waiter.id()) {
            break line;
        }
        if answer.is_some() || !spoke {
            let reason = "it sends no notices of waits for locks, so it must be asked in SQL";
            return Err(connect.address.refused(reason));
        }
    };
    drop(holder);
    await_answer(&mut waiter, &lock, SILENCE)?;
    Ok(line)
}
