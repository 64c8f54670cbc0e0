//! The proxy itself: a Unix socket of its own in a scratch folder, and a thread for each connection, which has one of its own to the true
//! server. Logins are passed on as they are; encryption is not offered.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    os::{
        fd::AsRawFd,
        unix::net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    sync::{Arc, Mutex, atomic::Ordering},
    thread,
    time::Duration,
};

use dbms::{
    mysql::wire::{self, Cursor, Malformed, ReceiveBuffer},
    net::SocketRead,
};
use execute::{
    SessionId,
    os::{Interest, wait},
};
use model::sync::lock;

use super::{book::Book, session::Session};

/// How often somebody who waits for the server looks whether his client is still there.
const LOOK: Duration = Duration::from_millis(200);

/// What a greeting offers, in its lower half.
const SSL: u8 = 1 << 3;
/// What a client says that it brings along.
const CONNECT_WITH_DB: u32 = 1 << 3;

/// A proxy that listens. Dropping it closes all connections.
pub struct Relay {
    socket: PathBuf,
    book: Arc<Book>,
    /// Connections that are open, by number.
    open: Arc<Mutex<BTreeMap<usize, UnixStream>>>,
    listening: Option<thread::JoinHandle<()>>,
    /// Holds the socket.
    _folder: tempfile::TempDir,
}

impl Relay {
    pub fn open(book: Book) -> io::Result<Relay> {
        let folder = provision::scratch::temporary()?;
        let socket = folder.path().join("proxy.sock");
        let listener = UnixListener::bind(&socket)?;
        let (book, open) = (Arc::new(book), Arc::new(Mutex::new(BTreeMap::new())));
        let (shared, streams) = (book.clone(), open.clone());
        let listening = thread::spawn(move || {
            for (number, client) in listener.incoming().flatten().enumerate() {
                if shared.closing.load(Ordering::Relaxed) {
                    break;
                }
                let Ok(copy) = client.try_clone() else { continue };
                lock(&streams).insert(number, copy);
                let (book, streams) = (shared.clone(), streams.clone());
                thread::spawn(move || {
                    // Whatever ends it, the client sees the end of its connection.
                    drop(serve(client, &book));
                    lock(&streams).remove(&number);
                });
            }
        });
        Ok(Relay { socket, book, open, listening: Some(listening), _folder: folder })
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }

    pub fn book(&self) -> &Arc<Book> {
        &self.book
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.book.closing.store(true, Ordering::Relaxed);
        let woken = UnixStream::connect(&self.socket);
        if let (Ok(_), Some(listening)) = (woken, self.listening.take()) {
            let _ = listening.join(); // It has ended in either case.
        }
        for stream in lock(&self.open).values() {
            let _ = stream.shutdown(std::net::Shutdown::Both); // Most are closed already.
        }
    }
}

/// One end of a connection.
pub struct Peer {
    stream: UnixStream,
    inbox: ReceiveBuffer,
    outbox: Vec<u8>,
}

impl Peer {
    fn new(stream: UnixStream) -> Peer {
        Peer { stream, inbox: ReceiveBuffer::default(), outbox: Vec::new() }
    }

    /// The next payload and its number; none if nothing came for a while.
    fn poll(&mut self) -> io::Result<Option<(u8, Vec<u8>)>> {
        loop {
            let taken = self.inbox.take();
            let bad = |Malformed(what): Malformed| io::Error::new(io::ErrorKind::InvalidData, what);
            if let Some((sequence, range)) = taken.map_err(bad)? {
                return Ok(Some((sequence, self.inbox.payload(range).to_vec())));
            }
            match self.inbox.fill(&mut self.stream) {
                SocketRead::Closed => return Err(io::ErrorKind::UnexpectedEof.into()),
                SocketRead::Nothing => return Ok(None),
                SocketRead::Drained | SocketRead::More => {}
            }
        }
    }

    /// The next payload, however long it takes.
    pub fn next(&mut self) -> io::Result<(u8, Vec<u8>)> {
        loop {
            if let Some(found) = self.poll()? {
                return Ok(found);
            }
        }
    }

    /// The next payload, unless this one, who waits for it, goes away before.
    pub fn next_for(&mut self, client: &Peer) -> io::Result<Vec<u8>> {
        loop {
            match self.poll()? {
                Some((_, payload)) => return Ok(payload),
                None if client.stirs(Duration::ZERO) => return Err(io::ErrorKind::ConnectionAborted.into()),
                None => {}
            }
        }
    }

    /// Is there something to read, or the end of the connection?
    pub fn stirs(&self, time: Duration) -> bool {
        wait(&[self.stream.as_raw_fd()], Interest::Read, time)
    }

    pub fn send(&mut self, sequence: u8, payload: &[u8]) -> io::Result<()> {
        wire::pack(&mut self.outbox, sequence, payload, &[]);
        self.stream.write_all(&self.outbox)
    }

    /// Several payloads, numbered from 1, in one write.
    pub fn send_all(&mut self, payloads: &[Vec<u8>]) -> io::Result<()> {
        let mut all = Vec::new();
        let mut sequence: u8 = 0;
        for payload in payloads {
            sequence = sequence.wrapping_add(1);
            wire::pack(&mut self.outbox, sequence, payload, &[]);
            all.extend_from_slice(&self.outbox);
        }
        self.stream.write_all(&all)
    }
}

/// Serves a client until one of both sides ends.
fn serve(client: UnixStream, book: &Arc<Book>) -> io::Result<()> {
    let server = UnixStream::connect(book.socket())?;
    server.set_read_timeout(Some(LOOK))?;
    let (mut client, mut server) = (Peer::new(client), Peer::new(server));
    match log_in(&mut client, &mut server)? {
        Some((id, schema)) => Session::new(client, server, book, id, schema).serve(),
        None => Ok(()),
    }
}

/// Passes a login on; gives the number of the connection and the schema that it begins in, or nothing if it was refused.
fn log_in(client: &mut Peer, server: &mut Peer) -> io::Result<Option<(SessionId, Option<String>)>> {
    let (sequence, mut greeting) = server.next()?;
    let id = greeted(&mut greeting);
    client.send(sequence, &greeting)?;
    let Some(id) = id else { return Ok(None) };
    let (sequence, response) = client.next()?;
    let schema = schema_of(&response);
    server.send(sequence, &response)?;
    loop {
        let (sequence, said) = server.next()?;
        client.send(sequence, &said)?;
        match said.as_slice() {
            [0x00, ..] => return Ok(Some((id, schema))),
            [0xff, ..] => return Ok(None),
            // The proof was good: OK follows without a word from the client.
            [0x01, 0x03] => {}
            _ => {
                let (sequence, proof) = client.next()?;
                server.send(sequence, &proof)?;
            }
        }
    }
}

/// Takes the offer of encryption out of a greeting, and gives the number of the connection; none if it is no greeting.
fn greeted(greeting: &mut [u8]) -> Option<SessionId> {
    let whole = greeting.len();
    let mut cursor = Cursor(greeting);
    if cursor.byte().ok()? != 10 {
        return None;
    }
    cursor.until_zero();
    let id = cursor.number(4).ok()?;
    cursor.bytes(8 + 1).ok()?;
    let offers = whole - cursor.0.len() + 1;
    *greeting.get_mut(offers)? &= !SSL;
    Some(id)
}

/// The schema that the answer to a greeting names.
fn schema_of(response: &[u8]) -> Option<String> {
    let mut cursor = Cursor(response);
    let capabilities = cursor.number(4).ok()? as u32;
    cursor.bytes(4 + 1 + 23).ok()?;
    cursor.until_zero();
    let proof = usize::from(cursor.byte().ok()?);
    cursor.bytes(proof).ok()?;
    let named = capabilities & CONNECT_WITH_DB != 0;
    named.then(|| String::from_utf8_lossy(cursor.until_zero()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encryption_is_not_offered_and_the_connection_has_its_number() {
        let mut greeting = b"\x0a9.7.4\0\x15\x01\0\0abcdefgh\0\xff\xff\xff\x02\x00\xff\xdf\x15".to_vec();
        let before = greeting.clone();
        assert_eq!(greeted(&mut greeting), Some(0x115));
        let other: Vec<usize> = (0..before.len()).filter(|&at| before[at] != greeting[at]).collect();
        assert_eq!(other.len(), 1);
        assert_eq!(before[other[0]] ^ greeting[other[0]], 1 << 3);
        assert_eq!(greeted(&mut b"\xff\x10\x04Too many connections".to_vec()), None);
        assert!((0..20).all(|length| greeted(&mut before[..length].to_vec()).is_none()));
    }

    #[test]
    fn the_schema_of_a_login_is_read() {
        let response = |capabilities: u32, tail: &[u8]| {
            let mut bytes = capabilities.to_le_bytes().to_vec();
            bytes.extend_from_slice(&[0; 4 + 1 + 23]);
            bytes.extend_from_slice(b"root\0\x03abc");
            bytes.extend_from_slice(tail);
            bytes
        };
        assert_eq!(schema_of(&response(CONNECT_WITH_DB, b"isopod_1\0x")), Some("isopod_1".to_string()));
        assert_eq!(schema_of(&response(0, b"mysql_native_password\0")), None);
        assert_eq!(schema_of(b"\x08"), None);
    }
}
