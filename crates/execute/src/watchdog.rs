//! Looks after a server with real-time priority.
//!
//! The server stands above the worker on one CPU. Should one of its threads spin instead of sleep, as the background
//! threads of some old versions do, then nothing below it runs any more: not the worker, and not even a signal that is to end
//! it. So a thread on the other CPUs watches the worker. If that is ready to run but has not run for a second, the
//! server loses its priority, and the run goes on without it.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use model::procfs::{self, Stat};

use crate::os;

/// Time between two observations of the worker.
const INTERVAL: Duration = Duration::from_millis(250);
/// A process counts as starved after this many observations in a row.
const OBSERVATIONS: u32 = 4;

/// Watches until it is dropped.
#[derive(Debug)]
pub struct Watchdog {
    over: Arc<AtomicBool>,
    barked: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Watches the calling thread. To be called before that one gets its own place, which a new thread inherits.
    pub fn start(server: u32) -> Watchdog {
        let (over, barked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (stop, fired, worker) = (over.clone(), barked.clone(), os::thread_id());
        let thread = thread::Builder::new()
            .name("watchdog".into())
            .spawn(move || {
                if starves(worker, &stop) {
                    os::family(server).into_iter().for_each(|thread| {
                        os::set_realtime(thread, None);
                    });
                    fired.store(true, Ordering::Relaxed);
                }
            })
            .ok();
        Watchdog { over, barked, thread }
    }

    /// Did the server have to lose its priority?
    pub fn barked(&self) -> bool {
        self.barked.load(Ordering::Relaxed)
    }
}

/// Watches the worker until it starves or the watch is over.
fn starves(worker: u32, over: &AtomicBool) -> bool {
    let (mut before, mut starved) = (None, 0);
    while !over.load(Ordering::Relaxed) {
        let now = hungry(worker);
        starved = if now.is_some() && now == before { starved + 1 } else { 0 };
        if starved == OBSERVATIONS {
            return true;
        }
        before = now;
        thread::park_timeout(INTERVAL);
    }
    false
}

/// How long the thread has run so far, if it is ready to run.
fn hungry(thread: u32) -> Option<u64> {
    let stat = fs::read(format!("/proc/self/task/{thread}/stat")).ok()?;
    let ready = Stat::parse(&stat)?.state() == Some(b'R');
    let ran = fs::read(format!("/proc/self/task/{thread}/schedstat")).ok()?;
    if ready { procfs::run_time(&ran) } else { None }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{process::Command, sync::mpsc};

    use super::*;

    #[test]
    fn a_worker_that_works_or_sleeps_is_left_alone() {
        let mut server = Command::new("sleep").arg("100").spawn().unwrap();
        let watchdog = Watchdog::start(server.id());
        for _ in 0..2 {
            thread::park_timeout(INTERVAL * OBSERVATIONS);
            assert!(!watchdog.barked());
        }
        drop(watchdog);
        server.kill().unwrap();
        server.wait().unwrap();
    }

    #[test]
    fn a_worker_below_a_server_that_spins_is_freed() {
        let cpus = os::cpus();
        if cpus.len() < 2 {
            return;
        }
        let cpu = [cpus[cpus.len() - 1]];
        let mut server = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let pid = server.id();
        let (freed, told) = mpsc::channel();
        let over = Arc::new(AtomicBool::new(false));
        let stop = over.clone();
        let worker = thread::spawn(move || {
            let watchdog = Watchdog::start(pid);
            let may = os::pin_thread(0, &cpu) && os::pin_thread(pid, &cpu) && os::set_realtime(0, Some(5));
            if may && os::set_realtime(pid, Some(10)) {
                // From here on this thread does not run until the watchdog has barked, or the server is killed below.
                while !watchdog.barked() && !stop.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
            }
            os::set_realtime(0, None);
            let _ = freed.send(!may || watchdog.barked());
        });
        let freed = told.recv_timeout(INTERVAL * OBSERVATIONS * 20);
        over.store(true, Ordering::Relaxed);
        server.kill().unwrap();
        server.wait().unwrap();
        worker.join().unwrap();
        assert_eq!(freed, Ok(true));
    }
}
