//! One connection, in the text protocol. The socket never blocks: [`Session::send`] writes the statement and
//! returns, [`Session::receive`] takes what has come and gives the answer once it is complete.
//!
//! One statement costs one write and, when the answer is there, one read. Buffers are kept. What the
//! protocol offers beyond plain statements is left out on purpose: several statements in one text, result
//! sets of procedures, LOAD DATA LOCAL and "affected means matched" would all change what is observed.

use std::{
    os::fd::RawFd,
    time::{Duration, Instant},
};

use execute::{
    ConnectError, RawReply, Session, SessionId, WireReply,
    ask::{ask, await_answer, demand},
};
use model::Open;

use crate::net::{Address, Allowance, CELL, Login, Receiver, Refusal, SILENCE, SocketRead, Stream, receive};

use super::{
    login,
    reply::ReplyReader,
    wire::{self, Malformed, ReceiveBuffer},
};

const COM_QUIT: u8 = 1;
const COM_INIT_DB: u8 = 2;
const COM_QUERY: u8 = 3;
const COM_RESET_CONNECTION: u8 = 31;

/// A connection to a server that speaks the MySQL protocol.
#[derive(Debug)]
pub struct MysqlSession {
    stream: Stream,
    id: SessionId,
    inbox: ReceiveBuffer,
    outbox: Vec<u8>,
    reading: ReplyReader,
    /// As whom it came in, and what it may cost us.
    login: Login,
    /// The default schema that it was opened with.
    schema: Option<String>,
    /// Why it is not encrypted although that was preferred.
    plain: Option<String>,
    /// Writing failed, or what came makes no sense: nothing more will come of this connection.
    broken: bool,
    /// An answer was given up; it may still come.
    abandoned: bool,
}

impl MysqlSession {
    /// Connects and logs in, with this schema as the default.
    pub fn connect(
        address: &Address,
        who: &Login,
        schema: Option<&str>,
    ) -> Result<MysqlSession, ConnectError> {
        Self::log_in(address, who, schema).map_err(|refusal| address.refused(refusal))
    }

    /// As [`MysqlSession::connect`], but says more exactly why not.
    pub fn log_in(address: &Address, who: &Login, schema: Option<&str>) -> Result<MysqlSession, Refusal> {
        let (mut session, plain) = who.log_in(|who, until| Self::try_log_in(address, who, schema, until))?;
        if plain.is_some() {
            session.plain = plain;
        }
        // MariaDB from 11.5 on takes the collation of the login for another one.
        demand(&mut session, login::NAMES, SILENCE).map_err(|error| Refusal::Other(error.to_string()))?;
        Ok(session)
    }

    fn try_log_in(
        address: &Address,
        who: &Login,
        schema: Option<&str>,
        until: Instant,
    ) -> Result<MysqlSession, Refusal> {
        let mut stream = Stream::open(address, until)?;
        let mut inbox = ReceiveBuffer::default();
        let id = login::log_in(&mut stream, &mut inbox, who, schema, address.host(), until)?;
        Ok(MysqlSession {
            id,
            inbox,
            outbox: Vec::with_capacity(1024),
            reading: ReplyReader::Idle,
            plain: who.offers_none(&stream),
            stream,
            login: who.clone(),
            schema: schema.map(str::to_string),
            broken: false,
            abandoned: false,
        })
    }

    /// Why the connection is not encrypted, if it was to be where that can be had.
    pub fn plain(&self) -> Option<&str> {
        self.plain.as_deref()
    }

    /// A statement of our own: sends it and waits for the answer, whatever it is.
    pub fn query(&mut self, sql: &str) -> Result<WireReply, ConnectError> {
        ask(self, sql, SILENCE)
    }

    /// Makes this schema the default. Blocks.
    pub fn choose_schema(&mut self, schema: &str) -> Result<(), ConnectError> {
        self.command(COM_INIT_DB, schema.as_bytes());
        match await_answer(self, schema, SILENCE)?.reply {
            RawReply::Done { .. } => Ok(()),
            RawReply::Error(error) => {
                Err(ConnectError::Own { statement: format!("USE {schema}"), reason: error.message })
            }
            RawReply::Rows(_) | RawReply::RolledBack | RawReply::Unreadable(_) | RawReply::Lost => {
                Err(ConnectError::Gone)
            }
        }
    }

    fn command(&mut self, code: u8, body: &[u8]) {
        debug_assert!(!self.reading.outstanding(), "one statement at a time");
        wire::pack(&mut self.outbox, 0, &[code], body);
        self.reading = ReplyReader::Awaited;
        // Beyond 16 MB a command takes several packets, which are numbered, too.
        let last = (1 + body.len()) / wire::FULL;
        self.inbox.expect(Allowance::answer(&self.login.limits), (last as u8).wrapping_add(1));
        // What the server said before it closed may still be there to read, so this is no news yet.
        self.broken |= self.stream.write_all(&self.outbox).is_err();
    }
}

impl Receiver for MysqlSession {
    type Malformed = Malformed;

    fn fill(&mut self) -> SocketRead {
        self.inbox.fill(self.stream.reader())
    }

    /// Gives the answer if the packets that are here complete it.
    fn assemble(&mut self) -> Result<Option<WireReply>, Malformed> {
        while let Some((_, range)) = self.inbox.take()? {
            if let Some(mut answer) = self.reading.packet(self.inbox.payload(range))? {
                if let RawReply::Error(error) = answer.reply {
                    answer.reply = RawReply::Error(self.login.without_password(error));
                }
                return Ok(Some(answer));
            }
            self.inbox.spend(self.reading.cells() * CELL)?;
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
        self.reading = ReplyReader::Idle;
        WireReply { reply: RawReply::Lost, warnings: 0, transaction: Open::Unknown }
    }

    /// Our own mistake or the server's: it must be seen, and must not pass for a lost connection.
    fn malformed(&mut self, Malformed(what): Malformed) -> WireReply {
        WireReply { reply: RawReply::Unreadable(what.to_string()), ..self.lost() }
    }
}

impl Session for MysqlSession {
    fn id(&self) -> SessionId {
        self.id
    }

    fn send(&mut self, sql: &str) {
        self.command(COM_QUERY, sql.as_bytes());
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

    /// The server forgets the variables, the level, the open transaction and the temporary tables. It also
    /// forgets the character set that was agreed on at login, so that is said again. It does not forget which
    /// schema was chosen (USE), so ours is chosen again: what follows must never touch another one.
    fn reset(&mut self) -> bool {
        if self.reading.outstanding() || self.broken {
            return false;
        }
        self.command(COM_RESET_CONNECTION, &[]);
        let reset = matches!(
            await_answer(self, "COM_RESET_CONNECTION", SILENCE),
            Ok(WireReply { reply: RawReply::Done { .. }, .. })
        );
        let schema = self.schema.clone();
        reset
            && schema.is_none_or(|schema| self.choose_schema(&schema).is_ok())
            && demand(self, login::NAMES, SILENCE).is_ok()
    }
}

impl Drop for MysqlSession {
    fn drop(&mut self) {
        if !self.broken {
            wire::pack(&mut self.outbox, 0, &[COM_QUIT], &[]);
            let _ = self.stream.write_all(&self.outbox); // The server notices the end in any case.
        }
    }
}
