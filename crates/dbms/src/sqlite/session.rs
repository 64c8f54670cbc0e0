//! One session, seen from the parent: a socket to the child, where one connection answers it.

use std::{io, os::fd::RawFd, os::unix::net::UnixStream, path::Path};

use execute::{
    ConnectError, RawError, RawReply, Session, SessionId, WireReply,
    ask::{accept, await_answer, demand},
};
use model::Open;

use super::{
    folder,
    wire::{self, Body, Channel, MalformedFrame, Reply, Request},
};
use crate::net::SILENCE;

/// One connection to the database of a child.
#[derive(Debug)]
pub struct SqliteSession {
    id: SessionId,
    channel: Channel,
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
        let channel = UnixStream::connect(folder::socket(folder)).and_then(Channel::new).map_err(refused)?;
        let mut session = SqliteSession { id, channel, opening };
        session.begin(&Request::Open(id))?;
        Ok(session)
    }

    fn begin(&mut self, request: &Request) -> Result<(), ConnectError> {
        self.channel.put(request);
        let opened = await_answer(self, "(open)", SILENCE)?;
        accept(opened, "(open)")?;
        self.opening.clone().iter().try_for_each(|sql| demand(self, sql, SILENCE).map(drop))
    }

    fn lose(&mut self) -> WireReply {
        self.channel.closed = true;
        WireReply { reply: RawReply::Lost, warnings: 0, transaction: Open::Unknown }
    }
}

impl Session for SqliteSession {
    fn id(&self) -> SessionId {
        self.id
    }

    fn send(&mut self, sql: &str) {
        self.channel.put(&Request::Run(sql.to_string()));
    }

    fn receive(&mut self) -> Option<WireReply> {
        self.channel.flush();
        self.channel.fill();
        match self.channel.take().and_then(|reply| reply.map(answer).transpose()) {
            Ok(Some(answer)) => Some(answer),
            Ok(None) if self.channel.closed => Some(self.lose()),
            Ok(None) => None,
            // Only a child that is breaking down writes what we cannot read.
            Err(MalformedFrame) => Some(self.lose()),
        }
    }

    fn fd(&self) -> RawFd {
        self.channel.wanted().0
    }

    fn abandon(&mut self) {
        self.channel.shut();
    }

    fn reset(&mut self) -> bool {
        !self.channel.closed && self.begin(&Request::Reopen).is_ok()
    }
}

fn answer(reply: Reply) -> Result<WireReply, MalformedFrame> {
    let transaction = if reply.autocommit { Open::No } else { Open::Yes };
    let reply = match reply.body {
        Body::Rows { columns, cells } if columns.is_empty() || cells.len() % columns.len() != 0 => {
            return Err(MalformedFrame);
        }
        Body::Rows { columns, cells } => RawReply::Rows(wire::rows(columns, &cells)),
        Body::Done { affected } => RawReply::Done { affected, matched: None },
        Body::Error { code, message } => RawReply::Error(RawError { code, sqlstate: String::new(), message }),
    };
    Ok(WireReply { reply, warnings: 0, transaction })
}
