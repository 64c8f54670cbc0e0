//! What this crate and the clients need from the operating system: waiting until a socket is ready, a clock that
//! only goes forward, pinning and real-time priority.
//!
//! What another system than Linux cannot do answers `false`, and the caller goes on without.
#![allow(unsafe_code)] // None of these calls has a safe form in the standard library.

use std::{
    os::fd::RawFd,
    sync::OnceLock,
    time::{Duration, Instant},
};

use model::procfs;

/// What to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Something to read, or the end of the connection.
    Read,
    /// Room to write.
    Write,
}

/// Waits until one of these sockets is ready or the time is over. Was one ready? A negative number is ready at once.
pub fn wait(sockets: &[RawFd], interest: Interest, timeout: Duration) -> bool {
    const FEW: usize = 8;
    if sockets.iter().any(|fd| *fd < 0) {
        return true;
    }
    let events = match interest {
        Interest::Read => libc::POLLIN,
        Interest::Write => libc::POLLOUT,
    };
    let entry = |fd: &RawFd| libc::pollfd { fd: *fd, events, revents: 0 };
    // A case has two to four sessions, and this runs once per statement: no allocation for so few.
    if sockets.len() <= FEW {
        let mut few = [libc::pollfd { fd: -1, events: 0, revents: 0 }; FEW];
        few.iter_mut().zip(sockets).for_each(|(slot, fd)| *slot = entry(fd));
        poll(&mut few[..sockets.len()], timeout)
    } else {
        poll(&mut sockets.iter().map(entry).collect::<Vec<_>>(), timeout)
    }
}

#[cfg(target_os = "linux")]
fn poll(entries: &mut [libc::pollfd], timeout: Duration) -> bool {
    let limit = libc::timespec {
        tv_sec: timeout.as_secs() as libc::time_t,
        tv_nsec: timeout.subsec_nanos() as libc::c_long,
    };
    loop {
        // SAFETY: the pointer and the length are those of one exclusive slice; the mask may be null.
        let ready = unsafe {
            libc::ppoll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, &limit, std::ptr::null())
        };
        if !interrupted(ready) {
            return ready > 0;
        }
    }
}

/// Elsewhere there is only poll(2), which counts in milliseconds: a short wait becomes one of them.
#[cfg(not(target_os = "linux"))]
fn poll(entries: &mut [libc::pollfd], timeout: Duration) -> bool {
    let millis = timeout.as_nanos().div_ceil(1_000_000).min(i32::MAX as u128) as libc::c_int;
    loop {
        // SAFETY: the pointer and the length are those of one exclusive slice.
        let ready = unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, millis) };
        if !interrupted(ready) {
            return ready > 0;
        }
    }
}

fn interrupted(result: libc::c_int) -> bool {
    result < 0 && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
}

/// Waits until one of these can be read or the time is over. Was one ready?
pub fn wait_readable(sockets: &[RawFd], timeout: Duration) -> bool {
    wait(sockets, Interest::Read, timeout)
}

/// The time since this was first asked. For limits only: no trace and no case may depend on it.
pub fn clock() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// How long the calling thread has had a CPU. For measuring only.
pub fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time lives through the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The CPUs that this process may use: those that it had when it was first asked, before any of its threads was pinned.
pub fn cpus() -> Vec<usize> {
    static CPUS: OnceLock<Vec<usize>> = OnceLock::new();
    CPUS.get_or_init(cpus_now).clone()
}

fn cpus_now() -> Vec<usize> {
    // SAFETY: an all-zero cpu_set_t is an empty set, and the kernel fills it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) != 0 {
            return Vec::new();
        }
        (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &set)).collect()
    }
}

/// Lets the thread (0: the calling one) run on these CPUs only.
pub fn pin_thread(tid: u32, cpus: &[usize]) -> bool {
    // SAFETY: the set lives through the call.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &cpu in cpus {
            libc::CPU_SET(cpu, &mut set);
        }
        libc::sched_setaffinity(tid as libc::pid_t, size_of::<libc::cpu_set_t>(), &set) == 0
    }
}

/// Gives the thread (0: the calling one) real-time priority, first in first out; `None` takes it away.
pub fn set_realtime(tid: u32, priority: Option<i32>) -> bool {
    let (policy, priority) = match priority {
        Some(priority) => (libc::SCHED_FIFO, priority),
        None => (libc::SCHED_OTHER, 0),
    };
    let param = libc::sched_param { sched_priority: priority };
    // SAFETY: the parameter lives through the call.
    unsafe { libc::sched_setscheduler(tid as libc::pid_t, policy, &param) == 0 }
}

/// Makes the calling thread one that takes the CPU from nobody when it wakes. Everybody may ask for that.
pub fn give_way() -> bool {
    let param = libc::sched_param { sched_priority: 0 };
    // SAFETY: the parameter lives through the call.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_BATCH, &param) == 0 }
}

/// Lets the session that this process leads come before ours where Linux shares a CPU between sessions (autogroup).
/// PostgreSQL opens one for each connection, and without this our worker could not give way to it. Root may.
pub fn favour_group(pid: u32) -> bool {
    std::fs::write(format!("/proc/{pid}/autogroup"), "-10").is_ok()
}

/// The system's number of the calling thread.
pub fn thread_id() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::gettid() as u32 }
}

/// The threads of a process.
pub fn threads(pid: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The threads of a process and of all processes that it started: PostgreSQL has a process per session.
pub fn family(pid: u32) -> Vec<u32> {
    processes(pid).into_iter().flat_map(threads).collect()
}

/// A process and all processes that it started.
pub fn processes(pid: u32) -> Vec<u32> {
    let mut all = vec![pid];
    for tid in threads(pid) {
        let started = std::fs::read(format!("/proc/{pid}/task/{tid}/children")).unwrap_or_default();
        all.extend(procfs::children(&started).into_iter().flat_map(processes));
    }
    all
}

/// Lets short waits of the calling thread end on time. By default Linux adds up to 50 us to each.
pub fn exact_timers() {
    // SAFETY: takes a number and nothing else.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1_000);
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, os::fd::AsRawFd, os::unix::net::UnixStream};

    use super::*;

    #[test]
    fn a_socket_is_readable_only_when_something_came() {
        let (mut here, there) = UnixStream::pair().unwrap();
        let sockets = [there.as_raw_fd(); 9];
        for count in [1, 9] {
            assert!(!wait(&sockets[..count], Interest::Read, Duration::ZERO));
            assert!(wait(&sockets[..count], Interest::Write, Duration::ZERO));
        }
        here.write_all(b"x").unwrap();
        for count in [1, 9] {
            assert!(wait(&sockets[..count], Interest::Read, Duration::from_secs(5)));
        }
    }
}
