//! The one system call that the standard library lacks here: waiting for several sockets at once.

// One call into libc, with arguments that are made here.
#![allow(unsafe_code)]

use std::{io, os::fd::RawFd, time::Duration};

/// What [`wait`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollResult {
    /// There is something to do.
    pub any: bool,
    /// The other side has closed it.
    pub hung_up: bool,
}

/// Waits until one of these is readable (or, where asked, writable), was closed, or the time is over.
pub fn wait(wanted: &[(RawFd, bool)], limit: Option<Duration>) -> io::Result<Vec<PollResult>> {
    let mut fds: Vec<libc::pollfd> = wanted
        .iter()
        .map(|&(fd, write)| libc::pollfd {
            fd,
            events: if write { libc::POLLIN | libc::POLLOUT } else { libc::POLLIN },
            revents: 0,
        })
        .collect();
    let limit = limit.map_or(-1, |limit| i32::try_from(limit.as_millis()).unwrap_or(i32::MAX));
    loop {
        // SAFETY: the pointer and the length are those of a live vector.
        let ready = unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, limit) };
        if ready >= 0 {
            let found = |events| PollResult { any: events != 0, hung_up: events & libc::POLLHUP != 0 };
            return Ok(fds.iter().map(|fd| found(fd.revents)).collect());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
