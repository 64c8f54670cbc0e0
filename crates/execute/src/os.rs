//! The two things that this crate and the clients need from the operating system: waiting until a socket is
//! ready, and a clock that only goes forward. Nothing else here reads a clock or calls the system directly.
#![allow(unsafe_code)] // ppoll(2) has no safe form in the standard library.

use std::{
    os::fd::RawFd,
    sync::OnceLock,
    time::{Duration, Instant},
};

/// What to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Something to read, or the end of the connection.
    Read,
    /// Room to write.
    Write,
}

/// Waits until one of these sockets is ready or the time is over. Was one ready?
pub fn wait(sockets: &[RawFd], interest: Interest, timeout: Duration) -> bool {
    const FEW: usize = 8;
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

/// The time since this was first asked. For limits only: no trace and no case may depend on it.
pub fn clock() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use std::{io::Write, os::fd::AsRawFd, os::unix::net::UnixStream};

    use super::*;

    #[test]
    fn a_socket_is_readable_only_when_something_came() {
        let (mut here, there) = UnixStream::pair().unwrap();
        let sockets = vec![there.as_raw_fd(); 9];
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
