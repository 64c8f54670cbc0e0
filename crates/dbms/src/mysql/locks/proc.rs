//! The monitor that watches the server's own threads: a statement waits if the thread that runs it sleeps.
//!
//! Each session has a thread of its own in the server. `/proc/PID/task/TID/stat` tells its state and
//! `schedstat` how often and how long it has run. Both are read of every outstanding session, twice: if
//! every thread is asleep (`S`) both times and none has run in between, then none of them can go on by
//! itself, and the answer is [`Settled::AllWait`]. A thread that was sent something is runnable before the
//! sender's call returns, so no statement is overlooked between the socket and the thread.
//!
//! MySQL from 8.0 looks for deadlocks in a thread of its own, `ib_srv_lock_to`. A session wakes it before
//! it goes to sleep, so it is read LAST: if it sleeps then, it has looked at everyone that was seen asleep
//! before it, and a victim would have been awake at the second reading.
//!
//! A session may also sleep because a background thread holds a latch that it needs. That is over at once,
//! unless that thread was interrupted while it held the latch, as happens on a loaded machine. It is then
//! runnable all the while, so between the two readings every background thread that takes such latches must
//! be asleep too, once: had it let go before, the session would be awake at the second reading. MySQL names its
//! threads, so those that matter can be picked; MariaDB does not, and lets workers come and go, so there it is
//! every thread, listed anew whenever their number has changed. Where one of them is at work all the time, sessions that have slept
//! without moving for [`BACKGROUND_WORK`] wait.
//!
//! This is blind to the reason. A thread that sleeps in `SLEEP(1)` looks the same as one that waits for a
//! lock, and so does one that waits for a disk in an interruptible way: data belongs on tmpfs.

use std::{
    collections::BTreeMap,
    fs::File,
    io,
    time::{Duration, Instant},
};

use execute::{ConnectError, LockMonitor, SessionId, Settled};
use model::{Product, ServerInfo};

use super::{lock_waits::LockWaitReader, thread_matcher::ThreadMatcher};
use crate::{
    locks::{
        threads::{Sample, Thread, ThreadCount, find},
        waits::WaitGraph,
    },
    net::{Address, Login},
};

const LOCK_THREAD: &str = "ib_srv_lock_to";
/// The beginnings of the names of MySQL's threads that hold latches which sessions need: the redo log, the
/// master, the page cleaners, purge and its workers, the keeper of GTIDs, statistics. Each costs a few
/// microseconds per proven wait; with some of them left out, false decisions were seen on a loaded machine.
const BACKGROUND: [&str; 7] =
    ["ib_log_", "ib_src_main", "ib_pg_flush", "ib_srv_purge", "ib_srv_wkr", "ib_clone_gtid", "ib_dict_stats"];

/// How long a background thread may hold a latch that a session needs. MariaDB's purge can go round and round beside an ALTER TABLE that waits: it never
/// sleeps then, and keeps nobody waiting.
const BACKGROUND_WORK: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub struct ProcMonitor {
    pid: u32,
    lock_waits: LockWaitReader,
    /// Where the server does not tell whose thread is whose.
    thread_matcher: Option<ThreadMatcher>,
    watched: BTreeMap<SessionId, Thread>,
    /// The thread that ends deadlocks, where it is not the session's own.
    lock_thread: Option<Thread>,
    background: Vec<Thread>,
    /// Where threads have no names: how many there were when `background` was listed, and where that number is.
    thread_count: Option<ThreadCount>,
    before: Vec<Sample>,
    /// Since when the sessions have slept without moving while a background thread was at work.
    beside_work: Option<(Vec<Sample>, Instant)>,
}

/// Who sleeps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asleep {
    Nobody,
    /// The sessions, but not every background thread.
    Sessions,
    Everybody,
}

impl ProcMonitor {
    /// For the server with this process number.
    pub fn new(
        address: &Address,
        who: &Login,
        info: &ServerInfo,
        pid: u32,
    ) -> Result<ProcMonitor, ConnectError> {
        let unseen =
            |error: io::Error| address.refused(format!("its threads cannot be watched in /proc: {error}"));
        let (mut lock_thread, mut background, mut thread_count) = (None, Vec::new(), None);
        if matches!((info.product, info.version.0.first()), (Product::Mysql, Some(8..))) {
            lock_thread = find(pid, &[LOCK_THREAD]).map_err(unseen)?.pop();
            if lock_thread.is_none() {
                return Err(unseen(io::Error::new(io::ErrorKind::NotFound, LOCK_THREAD)));
            }
            background = find(pid, &BACKGROUND).map_err(unseen)?;
        } else {
            let folder = File::open(format!("/proc/{pid}/task")).map_err(unseen)?;
            thread_count = Some(ThreadCount { folder, listed: 0 });
        }
        let mut lock_waits = LockWaitReader::open(address, who, info)?;
        let thread_matcher = match lock_waits.tells_threads() {
            true => None,
            false => Some(ThreadMatcher::new(pid, lock_waits.sessions()?).map_err(unseen)?),
        };
        Ok(ProcMonitor {
            pid,
            lock_waits,
            thread_matcher,
            watched: BTreeMap::new(),
            lock_thread,
            background,
            thread_count,
            before: Vec::new(),
            beside_work: None,
        })
    }

    fn threads<'a>(&'a self, outstanding: &'a [SessionId]) -> impl Iterator<Item = Option<&'a Thread>> {
        let sessions = outstanding.iter().map(|session| self.watched.get(session));
        sessions.chain(self.lock_thread.iter().map(Some))
    }

    /// Lists the background threads anew if there are more or fewer than before. True if it did.
    fn recount(&mut self, asleep: bool) -> bool {
        let Some(thread_count) = &mut self.thread_count else { return false };
        let now = thread_count.now();
        // One may have come for another that went: then the one that went does not sleep, and cannot be read.
        let changed = now != Some(thread_count.listed) || !asleep && self.background.iter().any(Thread::gone);
        if changed {
            self.background = find(self.pid, &[""]).unwrap_or_default();
            thread_count.listed = now.unwrap_or(0);
        }
        changed
    }

    /// Who is asleep twice, without having run in between?
    fn asleep(&self, outstanding: &[SessionId], before: &mut Vec<Sample>) -> Asleep {
        before.clear();
        for thread in self.threads(outstanding) {
            match thread.and_then(Thread::asleep) {
                Some(sample) => before.push(sample),
                None => return Asleep::Nobody,
            }
        }
        let background = self.background.iter().all(Thread::sleeps);
        let unmoved = self
            .threads(outstanding)
            .zip(&*before)
            .all(|(thread, sample)| thread.and_then(Thread::asleep).as_ref() == Some(sample));
        match (unmoved, background) {
            (false, _) => Asleep::Nobody,
            (true, false) => Asleep::Sessions,
            (true, true) => Asleep::Everybody,
        }
    }

    /// Have the sessions slept for so long that the background thread beside them does not hold what they need, but works for itself?
    fn outlasts_work(&mut self, samples: &[Sample]) -> bool {
        match &self.beside_work {
            Some((since, begun)) if since == samples => begun.elapsed() >= BACKGROUND_WORK,
            Some(_) | None => {
                self.beside_work = Some((samples.to_vec(), Instant::now()));
                false
            }
        }
    }
}

impl LockMonitor for ProcMonitor {
    fn how(&self) -> &'static str {
        "proc"
    }

    fn watch(&mut self, session: SessionId) -> Result<(), ConnectError> {
        let (server, pid) = (format!("process {}", self.pid), self.pid);
        let unseen = |error: io::Error| ConnectError::Refused {
            server: server.clone(),
            reason: format!("the thread of session {session} cannot be watched in /proc: {error}"),
        };
        let thread = match &mut self.thread_matcher {
            Some(thread_matcher) => thread_matcher.thread(session, || self.lock_waits.sessions(), unseen)?,
            None => self.lock_waits.thread(session)?,
        };
        let thread = thread
            .ok_or_else(|| unseen(io::Error::new(io::ErrorKind::NotFound, "it is not known which it is")))?;
        let files = Thread::open(pid, thread).map_err(unseen)?;
        self.watched.insert(session, files);
        Ok(())
    }

    fn forget(&mut self, session: SessionId) {
        self.watched.remove(&session);
    }

    fn check(&mut self, outstanding: &[SessionId]) -> Result<Settled, ConnectError> {
        let mut before = std::mem::take(&mut self.before);
        let asleep = self.asleep(outstanding, &mut before);
        let settled = match asleep {
            Asleep::Nobody => false,
            Asleep::Sessions => self.outlasts_work(&before),
            Asleep::Everybody => true,
        };
        self.before = before;
        let recounted = self.recount(asleep == Asleep::Everybody);
        Ok(if settled && !recounted { Settled::AllWait } else { Settled::Working })
    }

    fn blockers(&mut self, waiting: &[SessionId]) -> Vec<Vec<SessionId>> {
        WaitGraph::labels(self.lock_waits.look_at_all(waiting), waiting)
    }

    fn patience(&self) -> Duration {
        Duration::from_micros(20)
    }
}
