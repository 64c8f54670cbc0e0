//! A socket that never blocks.

use std::{
    io::{self, Read, Write},
    net::{TcpStream, ToSocketAddrs},
    os::{
        fd::{AsRawFd, RawFd},
        unix::net::UnixStream,
    },
    time::{Duration, Instant},
};

use execute::os::{Interest, wait};

use super::{Address, Refusal, SILENCE, Tls, tls::TlsStream};

#[derive(Debug)]
pub enum Stream {
    /// On this machine.
    Unix(UnixStream),
    /// Over the network.
    Tcp(TcpStream),
    /// Over the network, encrypted.
    Tls(Box<TlsStream>),
}

impl Stream {
    /// Connects, before this time.
    pub fn open(address: &Address, until: Instant) -> Result<Stream, Refusal> {
        Stream::reach(address, until).map_err(|error| Refusal::Unreachable(error.to_string()))
    }

    fn reach(address: &Address, until: Instant) -> io::Result<Stream> {
        Ok(match address {
            Address::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_nonblocking(true)?;
                Stream::Unix(stream)
            }
            Address::Tcp { host, port } => {
                let stream = reach(host, *port, until)?;
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
                Stream::Tcp(stream)
            }
        })
    }

    pub fn fd(&self) -> RawFd {
        match self {
            Stream::Unix(stream) => stream.as_raw_fd(),
            Stream::Tcp(stream) => stream.as_raw_fd(),
            Stream::Tls(stream) => stream.fd(),
        }
    }

    /// What to poll for input; negative if there is some that the system does not know of, because it was decrypted already.
    pub fn readable_fd(&self) -> RawFd {
        match self {
            Stream::Tls(stream) if stream.holds() => -1,
            Stream::Unix(_) | Stream::Tcp(_) | Stream::Tls(_) => self.fd(),
        }
    }

    /// Encrypts what goes over a TCP connection from here on; on a Unix socket nothing is to be hidden.
    pub fn encrypt(&mut self, tls: &Tls, host: &str, within: Duration) -> Result<(), String> {
        match self {
            Stream::Unix(_) | Stream::Tls(_) => Ok(()),
            Stream::Tcp(socket) => {
                let socket = socket.try_clone().map_err(|error| error.to_string())?;
                *self = Stream::Tls(Box::new(TlsStream::open(socket, tls, host, within)?));
                Ok(())
            }
        }
    }

    /// Can nobody on the way read along?
    pub fn private(&self) -> bool {
        match self {
            Stream::Unix(_) | Stream::Tls(_) => true,
            Stream::Tcp(_) => false,
        }
    }

    pub fn reader(&mut self) -> &mut dyn Read {
        match self {
            Stream::Unix(stream) => stream,
            Stream::Tcp(stream) => stream,
            Stream::Tls(stream) => stream.as_mut(),
        }
    }

    /// Writes everything; waits only while the socket's buffer is full, and not for ever in all.
    pub fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let mut patience = SILENCE;
        while !bytes.is_empty() {
            let attempt = match self {
                Stream::Unix(stream) => stream.write(bytes),
                Stream::Tcp(stream) => stream.write(bytes),
                Stream::Tls(stream) => return stream.write_all(bytes),
            };
            bytes = bytes.get(written(attempt, self.fd(), &mut patience)?..).unwrap_or_default();
        }
        Ok(())
    }
}

/// How much one attempt has written to this socket: nothing if it was full, and then there is room for more now. What was
/// waited for that is taken off the patience.
pub(super) fn written(
    attempt: io::Result<usize>,
    socket: RawFd,
    patience: &mut Duration,
) -> io::Result<usize> {
    match attempt {
        Ok(0) => Err(io::ErrorKind::WriteZero.into()),
        Ok(count) => Ok(count),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            let begun = Instant::now();
            let room = wait(&[socket], Interest::Write, *patience);
            *patience = patience.saturating_sub(begun.elapsed());
            if room { Ok(0) } else { Err(io::ErrorKind::TimedOut.into()) }
        }
        Err(error) => Err(error),
    }
}

/// A host may have several numbers: the first that answers, all within the time.
fn reach(host: &str, port: u16, until: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in (host, port).to_socket_addrs()? {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}
