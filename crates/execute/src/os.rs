//! The operating system's part: waiting for input on several sockets, pinning, and real-time priority.
//!
//! Everything unsafe of this crate is here. Other systems than Linux get a file of their own beside it; what
//! they cannot do answers `false`, and the caller goes on without.
#![allow(unsafe_code)]

use std::{os::fd::RawFd, time::Duration};

/// Waits until one of these can be read or the time is over. True if one can.
pub fn wait_readable(fds: &[RawFd], timeout: Duration) -> bool {
    // A case has few sessions; the rare larger one pays for a Vec.
    let mut small = [libc::pollfd { fd: -1, events: 0, revents: 0 }; 16];
    let mut large;
    let polled = if fds.len() <= small.len() {
        &mut small[..fds.len()]
    } else {
        large = vec![small[0]; fds.len()];
        &mut large[..]
    };
    for (slot, &fd) in polled.iter_mut().zip(fds) {
        *slot = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    }
    let time = libc::timespec {
        tv_sec: timeout.as_secs() as libc::time_t,
        tv_nsec: timeout.subsec_nanos() as libc::c_long,
    };
    // SAFETY: the array and the time outlive the call; no signal mask is given.
    unsafe { libc::ppoll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, &time, std::ptr::null()) > 0 }
}

/// The CPUs that this process may use.
pub fn cpus() -> Vec<usize> {
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

/// The threads of a process.
pub fn threads(pid: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}
