//! How a session of this process can be polled like a socket: a pipe with a byte in it for each answer that waits.

use std::{
    io::{self, PipeReader, PipeWriter, Read, Write},
    os::fd::{AsRawFd, RawFd},
};

/// The end that rings.
pub struct Bell(PipeWriter);

/// The end that hears.
pub struct Ear(PipeReader);

/// A bell and its ear.
pub fn new() -> io::Result<(Bell, Ear)> {
    let (reader, writer) = io::pipe()?;
    Ok((Bell(writer), Ear(reader)))
}

impl Bell {
    /// Rings once. There is never more than one byte in the pipe, so this does not block.
    pub fn ring(&mut self) {
        // An ear that is gone hears nothing.
        let _ = self.0.write_all(&[1]);
    }
}

impl Ear {
    /// What to poll.
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Takes the ring away; only after one is known to have come.
    pub fn hear(&mut self) {
        let _ = self.0.read_exact(&mut [0]);
    }
}
