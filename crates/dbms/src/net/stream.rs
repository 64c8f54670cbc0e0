//! A socket that never blocks.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    os::{
        fd::{AsRawFd, RawFd},
        unix::net::UnixStream,
    },
};

use execute::os::{Interest, wait};

use super::{Address, SILENCE};

/// The socket.
#[derive(Debug)]
pub enum Stream {
    /// On this machine.
    Unix(UnixStream),
    /// Over the network.
    Tcp(TcpStream),
}

impl Stream {
    /// Connects.
    pub fn open(address: &Address) -> io::Result<Stream> {
        Ok(match address {
            Address::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_nonblocking(true)?;
                Stream::Unix(stream)
            }
            Address::Tcp { host, port } => {
                let stream = TcpStream::connect((host.as_str(), *port))?;
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
                Stream::Tcp(stream)
            }
        })
    }

    /// What to poll.
    pub fn fd(&self) -> RawFd {
        match self {
            Stream::Unix(stream) => stream.as_raw_fd(),
            Stream::Tcp(stream) => stream.as_raw_fd(),
        }
    }

    /// To read from.
    pub fn reader(&mut self) -> &mut dyn Read {
        match self {
            Stream::Unix(stream) => stream,
            Stream::Tcp(stream) => stream,
        }
    }

    /// Writes everything; waits only while the socket's buffer is full.
    pub fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = match self {
                Stream::Unix(stream) => stream.write(bytes),
                Stream::Tcp(stream) => stream.write(bytes),
            };
            match written {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !wait(&[self.fd()], Interest::Write, SILENCE) {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
