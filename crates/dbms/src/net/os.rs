//! Who is at the other end of a Unix socket, as the operating system knows it.
#![allow(unsafe_code)] // The standard library's form of this call is not stable.

use std::{os::unix::net::UnixStream, path::Path};

/// The process that listens on this socket; none where the system does not tell.
#[cfg(target_os = "linux")]
pub fn listener(path: &Path) -> Option<u32> {
    use std::os::fd::AsRawFd;
    let stream = UnixStream::connect(path).ok()?;
    let mut who = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into a struct of that size, and both live through the call.
    let answer = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut who).cast(),
            &raw mut length,
        )
    };
    (answer == 0).then_some(who.pid).and_then(|pid| u32::try_from(pid).ok()).filter(|&pid| pid > 0)
}

/// The process that listens on this socket; none where the system does not tell.
#[cfg(not(target_os = "linux"))]
pub fn listener(_path: &Path) -> Option<u32> {
    None
}
