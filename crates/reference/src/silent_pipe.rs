//! What a session of this process gives to whoever polls for an answer that is not there: a pipe into which nobody writes.

use std::{
    io::{self, PipeReader, PipeWriter},
    os::fd::{AsRawFd, RawFd},
};

/// A pipe that stays empty as long as this lives.
pub struct SilentPipe {
    reader: PipeReader,
    _writer: PipeWriter,
}

impl SilentPipe {
    pub fn new() -> io::Result<SilentPipe> {
        let (reader, writer) = io::pipe()?;
        Ok(SilentPipe { reader, _writer: writer })
    }

    pub fn fd(&self) -> RawFd {
        self.reader.as_raw_fd()
    }
}
