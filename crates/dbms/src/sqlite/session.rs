//! One session, seen from the parent: a socket to the child, where one connection answers it.

use std::{
    io::{self, Read, Write},
    net::Shutdown,
    os::{
        fd::{AsRawFd, RawFd},
        unix::net::UnixStream,
    },
    path::Path,
};

use execute::{ConnectError, RawError, RawReply, Session, SessionId, WireReply};
use model::Open;

use super::{
    folder, os,
    wire::{self, Body, Reply, Request},
};

/// One connection to the database of a child.
#[derive(Debug)]
pub struct SqliteSession {
    id: SessionId,
    stream: UnixStream,
    inbox: Vec<u8>,
    /// What the socket did not take at once.
    outbox: Vec<u8>,
    lost: bool,
    /// Sent after each opening.
    opening: Vec<String>,
}

impl SqliteSession {
    /// Opens one, with these statements run first.
    pub(super) fn open(
        folder: &Path,
        id: SessionId,
        opening: Vec<String>,
    ) -> Result<SqliteSession, ConnectError> {
        let refused = |error: io::Error| ConnectError::Refused {
            server: format!("sqlite in {}", folder.display()),
            reason: error.to_string(),
        };
        let stream = UnixStream::connect(folder::socket(folder)).map_err(refused)?;
        stream.set_nonblocking(true).map_err(refused)?;
        let mut session =
            SqliteSession { id, stream, inbox: Vec::new(), outbox: Vec::new(), lost: false, opening };
        session.begin(&Request::Open(id))?;
        Ok(session)
    }

    /// Runs a statement of our own and waits for its answer.
    pub(super) fn own(&mut self, sql: &str) -> Result<RawReply, ConnectError> {
        self.call(&Request::Run(sql.to_string()), sql)
    }

    fn begin(&mut self, request: &Request) -> Result<(), ConnectError> {
        self.call(request, "(open)")?;
        for sql in self.opening.clone() {
            self.own(&sql)?;
        }
        Ok(())
    }

    fn call(&mut self, request: &Request, words: &str) -> Result<RawReply, ConnectError> {
        self.put(request);
        loop {
            match self.receive().map(|answer| answer.reply) {
                Some(RawReply::Lost) => return Err(ConnectError::Gone),
                Some(RawReply::Error(error)) => {
                    let reason = format!("{} ({})", error.message, error.code);
                    return Err(ConnectError::Own { statement: words.to_string(), reason });
                }
                Some(reply @ (RawReply::Rows(_) | RawReply::Done { .. } | RawReply::RolledBack)) => {
                    return Ok(reply);
                }
                None => {
                    let wanted = (self.fd(), !self.outbox.is_empty());
                    os::wait(&[wanted], None).map_err(|_| ConnectError::Gone)?;
                }
            }
        }
    }

    fn put(&mut self, request: &Request) {
        self.outbox.extend(request.frame());
        self.flush();
    }

    fn flush(&mut self) {
        while !self.outbox.is_empty() && !self.lost {
            match self.stream.write(&self.outbox) {
                Ok(n) => drop(self.outbox.drain(..n)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // An answer that was sent before the end can still be read.
                Err(_) => self.outbox.clear(),
            }
        }
    }

    fn fill(&mut self) {
        let mut buffer = [0; 16 * 1024];
        while !self.lost {
            match self.stream.read(&mut buffer) {
                Ok(0) => self.lost = true,
                Ok(n) => {
                    self.inbox.extend(&buffer[..n]);
                    if n < buffer.len() {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.lost = true,
            }
        }
    }

    fn lose(&mut self) -> WireReply {
        self.lost = true;
        WireReply { reply: RawReply::Lost, warnings: 0, transaction: Open::Unknown }
    }
}

impl Session for SqliteSession {
    fn id(&self) -> SessionId {
        self.id
    }

    fn send(&mut self, sql: &str) {
        self.put(&Request::Run(sql.to_string()));
    }

    fn receive(&mut self) -> Option<WireReply> {
        self.flush();
        self.fill();
        match wire::take(&mut self.inbox).and_then(|body| body.map(|body| Reply::parse(&body)).transpose()) {
            Ok(Some(reply)) => Some(answer(reply)),
            Ok(None) if self.lost => Some(self.lose()),
            Ok(None) => None,
            // Only a child that is breaking down writes what we cannot read.
            Err(wire::MalformedFrame) => Some(self.lose()),
        }
    }

    fn fd(&self) -> RawFd {
        self.stream.as_raw_fd()
    }

    fn abandon(&mut self) {
        self.lost = true;
        let _ = self.stream.shutdown(Shutdown::Both); // What was answered before is read no more.
        self.inbox.clear();
    }

    fn reset(&mut self) -> bool {
        !self.lost && self.begin(&Request::Reopen).is_ok()
    }
}

impl Drop for SqliteSession {
    fn drop(&mut self) {
        // Closing alone is not enough: a process that is being started elsewhere in this program holds a copy
        // of the socket for a moment, and the transaction would stay open until that one is gone.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

fn answer(reply: Reply) -> WireReply {
    let transaction = if reply.autocommit { Open::No } else { Open::Yes };
    let reply = match reply.body {
        Body::Rows { columns, cells } => RawReply::Rows(wire::rows(columns, &cells)),
        Body::Done { affected } => RawReply::Done { affected, matched: None },
        Body::Error { code, message } => RawReply::Error(RawError { code, sqlstate: String::new(), message }),
    };
    WireReply { reply, warnings: 0, transaction }
}
