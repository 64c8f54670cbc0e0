//! Which thread serves which session, on a server that does not tell: MySQL before 5.7.
//!
//! Its threads are not kept for later (`thread_cache_size=0`), so every connection comes with a new one, and both are
//! numbered in the order in which they came. What is new since the last look are so many sessions and so many
//! threads; if the numbers agree, the first belongs to the first, and so on.

use std::{
    collections::BTreeSet,
    fs, io,
    time::{Duration, Instant},
};

use execute::SessionId;
use model::procfs::Stat;

/// How long a thread whose session has ended may take to end, too.
const PATIENCE: Duration = Duration::from_secs(2);

/// What was there at the last look.
#[derive(Debug)]
pub struct ThreadMatcher {
    pid: u32,
    threads: BTreeSet<u32>,
    sessions: BTreeSet<SessionId>,
}

impl ThreadMatcher {
    /// Everything that is there now is old. `sessions` are those of the server.
    pub fn new(pid: u32, sessions: BTreeSet<SessionId>) -> io::Result<ThreadMatcher> {
        Ok(ThreadMatcher { pid, threads: threads(pid)?, sessions })
    }

    /// The thread of a session that has come since the last look. `list` lists the sessions. None if the numbers of
    /// sessions and threads do not agree, or if it is not new.
    pub fn thread<E>(
        &mut self,
        session: SessionId,
        mut list: impl FnMut() -> Result<BTreeSet<SessionId>, E>,
        unseen: impl Fn(io::Error) -> E,
    ) -> Result<Option<u32>, E> {
        let begin = Instant::now();
        loop {
            let sessions = list()?;
            let threads = threads(self.pid).map_err(&unseen)?;
            let found = pair(&sessions, &self.sessions, &threads, &self.threads, |tid| age(self.pid, tid))
                .map(|pairs| pairs.into_iter().find(|pair| pair.0 == session).map(|pair| pair.1));
            if let Some(found) = found {
                (self.sessions, self.threads) = (sessions, threads);
                return Ok(found);
            }
            if begin.elapsed() > PATIENCE {
                return Ok(None);
            }
            std::thread::yield_now();
        }
    }
}

/// New sessions with their threads, if there are as many of the ones as of the others.
fn pair(
    sessions: &BTreeSet<SessionId>,
    old_sessions: &BTreeSet<SessionId>,
    threads: &BTreeSet<u32>,
    old_threads: &BTreeSet<u32>,
    age: impl Fn(u32) -> u64,
) -> Option<Vec<(SessionId, u32)>> {
    let new_sessions: Vec<SessionId> = sessions.difference(old_sessions).copied().collect();
    let mut new_threads: Vec<u32> = threads.difference(old_threads).copied().collect();
    // The numbers of threads begin anew some day; within one tick of the clock they decide.
    new_threads.sort_by_key(|&thread| (age(thread), thread));
    (new_sessions.len() == new_threads.len()).then(|| new_sessions.into_iter().zip(new_threads).collect())
}

fn threads(pid: u32) -> io::Result<BTreeSet<u32>> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"))?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// When it began, in ticks since the machine did.
fn age(pid: u32, thread: u32) -> u64 {
    let stat = fs::read(format!("/proc/{pid}/task/{thread}/stat")).unwrap_or_default();
    Stat::parse(&stat).and_then(|stat| stat.started()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_and_threads_come_in_the_same_order() {
        let old = |numbers: &[u64]| numbers.iter().copied().collect::<BTreeSet<u64>>();
        let tids = |numbers: &[u32]| numbers.iter().copied().collect::<BTreeSet<u32>>();
        let age = |tid: u32| if tid < 100 { 2 } else { 1 };
        let one = pair(&old(&[1, 5]), &old(&[1, 3]), &tids(&[40, 44]), &tids(&[40, 42]), age);
        assert_eq!(one, Some(vec![(5, 44)]));
        let wrapped = pair(&old(&[1, 5, 6]), &old(&[1]), &tids(&[7, 400, 40]), &tids(&[40]), age);
        assert_eq!(wrapped, Some(vec![(5, 400), (6, 7)]), "the older one first");
        assert_eq!(pair(&old(&[1, 5]), &old(&[1]), &tids(&[1, 2, 3]), &tids(&[1]), age), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_came_is_found() {
        let pid = std::process::id();
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let before = threads(pid).unwrap();
        let handle = std::thread::spawn(move || stopped.recv());
        let new: Vec<u32> = threads(pid).unwrap().difference(&before).copied().collect();
        assert!(new.iter().any(|&tid| age(pid, tid) > 0), "{new:?}");
        drop(stop);
        assert!(handle.join().unwrap().is_err());
    }
}
