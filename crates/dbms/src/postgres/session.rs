//! One connection, in the simple protocol: a text goes out, its answer comes back. The socket never blocks:
//! [`Session::send`] writes the statement and returns, [`Session::receive`] takes what has come and gives the answer
//! once it is complete.
//!
//! Prepared statements are left out on purpose: a step is text, and that text is what is sent.

use std::{
    os::fd::RawFd,
    time::{Duration, Instant},
};

use bytes::BytesMut;
use execute::{
    ConnectError, RawReply, Session, SessionId, WireReply,
    ask::{ask, demand},
};
use model::Open;
use postgres_protocol::message::frontend;

use super::{
    locks::wait_notices::WaitNotices,
    login,
    reply::{Event, ReplyReader},
    wire::{Malformed, ReceiveBuffer},
};
use crate::net::{Address, Allowance, Login, Receiver, Refusal, SILENCE, SocketRead, Stream, receive};

/// What a server that is not ours may have otherwise for sessions that do not say so. Our own statements must write, and
/// a case says itself how long it waits.
const CALM: [(&str, &str); 4] = [
    ("default_transaction_read_only", "off"),
    ("idle_in_transaction_session_timeout", "0"),
    ("lock_timeout", "0"),
    ("statement_timeout", "0"),
];

/// Where a session goes and with which settings it begins.
#[derive(Clone, Debug)]
pub struct PgConnectOptions {
    pub address: Address,
    pub login: Login,
    pub database: String,
    /// Settings of the session; a reset goes back to them.
    pub settings: Vec<(&'static str, String)>,
}

/// A connection to a server that speaks the PostgreSQL protocol.
#[derive(Debug)]
pub struct PgSession {
    stream: Stream,
    id: SessionId,
    inbox: ReceiveBuffer,
    outbox: BytesMut,
    reading: ReplyReader,
    notices: WaitNotices,
    /// As whom it came in, and what it may cost us.
    login: Login,
    /// Why it is not encrypted although that was preferred.
    plain: Option<String>,
    /// What the last answer said.
    transaction: Open,
    /// Writing failed, the server said its last words, or what came makes no sense: nothing more will come.
    broken: bool,
    /// An answer was given up; it may still come.
    abandoned: bool,
}

impl PgSession {
    /// Connects and logs in. Notices of waits are collected in `notices`.
    pub fn connect(connect: &PgConnectOptions, notices: &WaitNotices) -> Result<PgSession, ConnectError> {
        PgSession::log_in(connect, notices).map_err(|refusal| connect.address.refused(refusal))
    }

    /// The same, but says more exactly why not.
    pub fn log_in(connect: &PgConnectOptions, notices: &WaitNotices) -> Result<PgSession, Refusal> {
        let (mut session, plain) =
            connect.login.log_in(|login, until| PgSession::try_log_in(connect, login, notices, until))?;
        if plain.is_some() {
            session.plain = plain;
        }
        Ok(session)
    }

    /// Why the connection is not encrypted, if it was to be where that can be had.
    pub fn plain(&self) -> Option<&str> {
        self.plain.as_deref()
    }

    fn try_log_in(
        connect: &PgConnectOptions,
        login: &Login,
        notices: &WaitNotices,
        until: Instant,
    ) -> Result<PgSession, Refusal> {
        let PgConnectOptions { address, database, settings, .. } = connect;
        let mut stream = Stream::open(address, until)?;
        let mut inbox = ReceiveBuffer::default();
        let calm = if login.guest { &CALM[..] } else { &[] };
        let settings: Vec<(&str, &str)> = [("application_name", "isopod")]
            .into_iter()
            .chain(calm.iter().copied())
            .chain(settings.iter().map(|(k, v)| (*k, &v[..])))
            .collect();
        let host = address.host();
        let id = login::log_in(&mut stream, &mut inbox, login, database, &settings, host, until)?;
        Ok(PgSession {
            plain: login.offers_none(&stream),
            stream,
            login: login.clone(),
            id,
            inbox,
            outbox: BytesMut::with_capacity(1024),
            reading: ReplyReader::default(),
            notices: notices.clone(),
            transaction: Open::No,
            broken: false,
            abandoned: false,
        })
    }

    /// A statement of our own: sends it and waits for the answer, whatever it is.
    pub fn query(&mut self, sql: &str) -> Result<WireReply, ConnectError> {
        ask(self, sql, SILENCE)
    }

    fn without_password(&self, answer: WireReply) -> WireReply {
        match answer.reply {
            RawReply::Error(error) => {
                WireReply { reply: RawReply::Error(self.login.without_password(error)), ..answer }
            }
            _ => answer,
        }
    }

    /// Writes what stands in the outbox.
    fn flush(&mut self) {
        // What the server said before it closed may still be there to read, so a failure is no news yet.
        self.broken |= self.stream.write_all(&self.outbox).is_err();
        self.outbox.clear();
    }
}

impl Receiver for PgSession {
    type Malformed = Malformed;

    fn fill(&mut self) -> SocketRead {
        self.inbox.fill(self.stream.reader())
    }

    /// Gives the answer if the messages that are here complete it.
    fn assemble(&mut self) -> Result<Option<WireReply>, Malformed> {
        while let Some(message) = self.inbox.take()? {
            match self.reading.message(message)? {
                Event::None => {}
                Event::Logged(place) => self.notices.note(self.id, place),
                Event::WantsCopy => {
                    frontend::copy_fail("Isopod has no rows for COPY", &mut self.outbox)?;
                    self.flush();
                }
                Event::Reply(answer) => {
                    let answer = self.without_password(answer);
                    self.transaction = answer.transaction;
                    return Ok(Some(answer));
                }
                Event::LastWords(answer) => {
                    self.broken = true;
                    return Ok(Some(self.without_password(answer)));
                }
            }
        }
        Ok(None)
    }

    fn outstanding(&self) -> bool {
        self.reading.outstanding()
    }

    fn abandoned(&self) -> bool {
        self.abandoned
    }

    fn broken(&self) -> bool {
        self.broken
    }

    fn lost(&mut self) -> WireReply {
        self.broken = true;
        self.reading = ReplyReader::default();
        WireReply { reply: RawReply::Lost, warnings: 0, transaction: Open::Unknown }
    }

    /// Our own mistake or the server's: it must be seen, and must not pass for a lost connection.
    fn malformed(&mut self, Malformed(what): Malformed) -> WireReply {
        WireReply { reply: RawReply::Unreadable(what), ..self.lost() }
    }
}

impl Session for PgSession {
    fn id(&self) -> SessionId {
        self.id
    }

    fn send(&mut self, sql: &str) {
        debug_assert!(!self.reading.outstanding(), "one statement at a time");
        self.notices.clear(self.id);
        self.reading.begin(sql);
        self.inbox.expect(Allowance::answer(&self.login.limits));
        match frontend::query(sql, &mut self.outbox) {
            Ok(()) => self.flush(),
            // A zero byte in the text, which the protocol cannot carry.
            Err(_) => {
                self.outbox.clear();
                self.broken = true;
            }
        }
    }

    fn receive(&mut self) -> Option<WireReply> {
        receive(self)
    }

    fn fd(&self) -> RawFd {
        self.stream.readable_fd()
    }

    fn own_limit(&self) -> Duration {
        self.login.limits.own
    }

    fn abandon(&mut self) {
        self.lost();
        self.abandoned = true;
    }

    /// The server forgets settings, temporary tables, prepared statements, cursors and advisory locks. The settings
    /// with which the session began are its defaults, so they come back by themselves.
    fn reset(&mut self) -> bool {
        if self.reading.outstanding() || self.broken {
            return false;
        }
        if self.transaction != Open::No && demand(self, "ROLLBACK", SILENCE).is_err() {
            return false;
        }
        demand(self, "DISCARD ALL", SILENCE).is_ok()
    }
}

impl Drop for PgSession {
    fn drop(&mut self) {
        self.notices.clear(self.id);
        if !self.broken {
            self.outbox.clear();
            frontend::terminate(&mut self.outbox);
            self.flush(); // The server notices the end in any case.
        }
    }
}
