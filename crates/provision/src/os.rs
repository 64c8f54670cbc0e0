//! The calls to the operating system that the standard library has no safe name for: sessions, signals, the bond
//! between a process and its parent, waiting with a limit.
//!
//! This is the one file of the crate's server part with `unsafe` in it: each block is a single call into libc whose
//! arguments are made on the line above. What only Linux has is a no-op elsewhere, so that the crate builds there.
#![allow(unsafe_code)]

use std::{
    ffi::CString,
    io,
    os::{fd::RawFd, unix::ffi::OsStrExt, unix::process::CommandExt},
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use model::procfs;

/// The user that we run as.
pub fn uid() -> u32 {
    // SAFETY: geteuid has no preconditions and cannot fail.
    unsafe { libc::geteuid() }
}

/// Is there such a user here? In a container there may be few.
pub fn exists(user: u32) -> bool {
    std::fs::read("/proc/self/uid_map").map_or(true, |map| procfs::has_user(&map, user))
}

/// The child leads a session of its own and outlives our terminal; with ordinary scheduling, see [`own_group`].
pub fn own_session(command: &mut Command) {
    // SAFETY: setsid takes nothing.
    lead(command, || unsafe { libc::setsid() });
}

/// Are servers started in our own session?
static SHARED: AtomicBool = AtomicBool::new(false);

/// From now on servers are started in our own session, see [`own_group`]: for hunts. Elsewhere they are not, because a
/// test in which ALTER TABLE waits for a metadata lock never saw that server settle; why is not known.
pub fn share_session() {
    SHARED.store(true, Ordering::Relaxed);
}

pub fn shares_session() -> bool {
    SHARED.load(Ordering::Relaxed)
}

/// The child leads a process group of its own, so that Ctrl-C in our terminal does not reach it, and begins with ordinary
/// scheduling: a server that is STARTED under real-time priority on one CPU may never come up.
///
/// Not a session: Linux shares a CPU fairly between sessions before it does between threads (autogroup). A worker and a
/// server in two sessions cannot give way to each other, which made a statement a quarter slower.
pub fn own_group(command: &mut Command) {
    // SAFETY: setpgid takes two numbers.
    lead(command, || unsafe { libc::setpgid(0, 0) });
}

fn lead(command: &mut Command, call: fn() -> libc::c_int) {
    // SAFETY: between fork and exec only async-signal-safe calls are made, and nothing is allocated.
    unsafe {
        command.pre_exec(move || {
            ordinary_scheduling();
            if call() < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
        });
    }
}

/// The child is killed by the kernel when the THREAD that starts it ends. Call it only from a thread that outlives
/// the child or whose end is meant to be the child's.
pub fn die_with_parent(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: between fork and exec only async-signal-safe calls are made, and nothing is allocated.
    unsafe {
        command.pre_exec(move || {
            ordinary_scheduling();
            unblock_all();
            #[cfg(target_os = "linux")]
            {
                if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) < 0 {
                    return Err(io::Error::last_os_error());
                }
                // The parent may have died before the bond was made.
                if libc::getppid() as u32 != parent {
                    return Err(io::Error::from_raw_os_error(libc::ESRCH));
                }
            }
            #[cfg(not(target_os = "linux"))]
            let _ = parent;
            Ok(())
        });
    }
}

/// Gives up real-time scheduling, if it was inherited. Always permitted.
fn ordinary_scheduling() {
    #[cfg(target_os = "linux")]
    // SAFETY: sched_param is plain data; all zero is its value for ordinary scheduling.
    unsafe {
        let param: libc::sched_param = std::mem::zeroed();
        libc::sched_setscheduler(0, libc::SCHED_OTHER, &param);
    }
}

/// Lets all signals through again: a mask survives exec.
fn unblock_all() {
    // SAFETY: the set is initialised by sigemptyset before it is used.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &set, std::ptr::null_mut());
    }
}

/// Blocks the signals that ask a process to end, in this thread and those that it starts later, so that
/// [`wait_for_end_signal`] can take them.
pub fn block_end_signals() {
    // SAFETY: the set is initialised by `end_signals`.
    unsafe {
        let set = end_signals();
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
    }
}

/// Waits until one of the blocked signals comes.
pub fn wait_for_end_signal() {
    let mut number = 0;
    // SAFETY: the set is initialised by `end_signals`, and `number` outlives the call.
    unsafe {
        let set = end_signals();
        libc::sigwait(&set, &mut number);
    }
}

fn end_signals() -> libc::sigset_t {
    // SAFETY: sigemptyset initialises the set that the other calls then change.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
            libc::sigaddset(&mut set, signal);
        }
        set
    }
}

/// Asks a process to end.
pub fn terminate(pid: u32) {
    signal(number(pid), libc::SIGTERM);
}

/// Lets a process do nothing more, so that it starts no others while those are ended.
pub fn freeze(pid: u32) {
    signal(number(pid), libc::SIGSTOP);
}

/// Kills a process at once.
pub fn kill(pid: u32) {
    signal(number(pid), libc::SIGKILL);
}

/// From now on processes whose parents end become children of this process, if one of its children started them.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // SAFETY: takes a number and nothing else.
    unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
    }
}

/// What became of the children of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReapResult {
    /// One had ended, and is forgotten now.
    One,
    /// None has ended yet.
    Running,
    None,
}

/// Reaps a child that has ended. Does not wait.
pub fn reap() -> ReapResult {
    // SAFETY: the status may be left out.
    match unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } {
        0 => ReapResult::Running,
        pid if pid > 0 => ReapResult::One,
        _ => ReapResult::None,
    }
}

/// Removes a System V shared memory segment that has this key and number; from a process that still uses it, when that
/// ends.
pub fn remove_segment(key: i32, number: i32) {
    #[cfg(target_os = "linux")]
    // SAFETY: shmid_ds is plain data that the first call fills in; the second takes none.
    unsafe {
        let mut found: libc::shmid_ds = std::mem::zeroed();
        if libc::shmctl(number, libc::IPC_STAT, &mut found) == 0 && found.shm_perm.__key == key {
            libc::shmctl(number, libc::IPC_RMID, std::ptr::null_mut());
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (key, number);
}

/// Kills a process group at once, and the process that should lead it.
pub fn kill_group(pid: u32) {
    signal(-number(pid), libc::SIGKILL);
    signal(number(pid), libc::SIGKILL);
}

/// A process by its number; 0, which no signal goes to, for one that no process has.
fn number(pid: u32) -> libc::pid_t {
    libc::pid_t::try_from(pid).unwrap_or(0)
}

fn signal(pid: libc::pid_t, number: libc::c_int) {
    // 0 and -1 are whole groups and everybody, 1 is nobody's to end: no number that a damaged file holds may become one of these.
    if matches!(pid, -1..=1) {
        return;
    }
    // SAFETY: kill has no memory preconditions; that the process is gone is fine.
    unsafe {
        libc::kill(pid, number);
    }
}

/// Waits until a child has ended, but leaves it to be reaped, so that its number stays its own until then.
pub fn wait_until_ended(pid: u32) {
    loop {
        // SAFETY: siginfo_t is plain data that waitid fills in.
        let done = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            libc::waitid(libc::P_PID, pid, &mut info, libc::WEXITED | libc::WNOWAIT)
        };
        if done == 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
}

/// Is there something to read (or the end of the stream) within this time?
pub fn readable(fd: RawFd, within: Duration) -> bool {
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let millis = libc::c_int::try_from(within.as_millis()).unwrap_or(libc::c_int::MAX);
    loop {
        // SAFETY: one pollfd that outlives the call.
        let ready = unsafe { libc::poll(&mut poll, 1, millis) };
        if ready >= 0 {
            return ready > 0;
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return false;
        }
    }
}

/// How many bytes an ordinary user may still write where this path is.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: the path ends with a zero byte, and statvfs fills in the plain data it is given.
    unsafe {
        let mut stat: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(path.as_ptr(), &mut stat) == 0)
            .then(|| (stat.f_bavail as u64).saturating_mul(stat.f_frsize as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_of_a_damaged_file_means_everybody() {
        for pid in [0, u32::MAX, u32::MAX - 1, 1 << 31] {
            assert_eq!(number(pid), 0, "{pid}");
            terminate(pid);
        }
        assert_eq!(number(77), 77);
        assert!(exists(uid()));
    }
}
