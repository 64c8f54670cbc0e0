//! The beginning of a connection.
//!
//! We say who we are, to which database we want and with which settings the session shall begin; the server asks for a
//! proof, or does not, and says the number of its process and that it is ready. Settings that are given here are the
//! session's own defaults: `RESET ALL` and `DISCARD ALL` go back to them, so that nothing has to be said again.

use bytes::BytesMut;
use execute::{
    RawError, SessionId,
    os::{Interest, wait},
};
use fallible_iterator::FallibleIterator;
use postgres_protocol::{
    authentication::{
        md5_hash,
        sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256},
    },
    message::{backend::Message, frontend},
};

use super::{
    reply,
    wire::{Fill, Inbox, Malformed},
};
use crate::net::{Login, SILENCE, Stream};

/// Why we were not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The server said no.
    Server(RawError),
    /// Anything else.
    Other(String),
}

impl From<Malformed> for Refusal {
    fn from(Malformed(what): Malformed) -> Refusal {
        Refusal::Other(what)
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Refusal {
        Refusal::Other(error.to_string())
    }
}

/// Talks until the server is ready; gives the number of its process.
pub fn log_in(
    stream: &mut Stream,
    inbox: &mut Inbox,
    who: &Login,
    database: &str,
    settings: &[(&str, &str)],
) -> Result<SessionId, Refusal> {
    // Encryption would be asked for here (`frontend::ssl_request`), before anything else is said.
    let first = [("user", &who.user[..]), ("database", database), ("client_encoding", "UTF8")];
    let mut out = BytesMut::new();
    frontend::startup_message(first.iter().chain(settings).copied(), &mut out)?;
    stream.write_all(&out)?;
    let mut scram = None;
    let mut id = None;
    loop {
        out.clear();
        match next(stream, inbox)? {
            Message::AuthenticationOk => {}
            Message::AuthenticationCleartextPassword => {
                frontend::password_message(who.password.as_bytes(), &mut out)?;
            }
            Message::AuthenticationMd5Password(body) => {
                let proof = md5_hash(who.user.as_bytes(), who.password.as_bytes(), body.salt());
                frontend::password_message(proof.as_bytes(), &mut out)?;
            }
            Message::AuthenticationSasl(body) => {
                if !body.mechanisms().any(|name| Ok(name == SCRAM_SHA_256))? {
                    return Err(Refusal::Other("it asks for a login method that we do not know".into()));
                }
                let begun = ScramSha256::new(who.password.as_bytes(), ChannelBinding::unsupported());
                frontend::sasl_initial_response(SCRAM_SHA_256, begun.message(), &mut out)?;
                scram = Some(begun);
            }
            Message::AuthenticationSaslContinue(body) => {
                let scram = scram.as_mut().ok_or_else(turn)?;
                scram.update(body.data())?;
                frontend::sasl_response(scram.message(), &mut out)?;
            }
            Message::AuthenticationSaslFinal(body) => scram.as_mut().ok_or_else(turn)?.finish(body.data())?,
            Message::BackendKeyData(body) => id = u64::try_from(body.process_id()).ok(),
            Message::ParameterStatus(_) | Message::NoticeResponse(_) => {}
            Message::ReadyForQuery(_) => {
                return id.ok_or_else(|| Refusal::Other("it does not tell its process".into()));
            }
            Message::ErrorResponse(body) => return Err(Refusal::Server(reply::error(body.fields())?.0)),
            _ => return Err(turn()),
        }
        if !out.is_empty() {
            stream.write_all(&out)?;
        }
    }
}

fn turn() -> Refusal {
    Refusal::Other("the login took a turn that we do not know".into())
}

/// Waits for the next message.
fn next(stream: &mut Stream, inbox: &mut Inbox) -> Result<Message, Refusal> {
    loop {
        if let Some(message) = inbox.take()? {
            return Ok(message);
        }
        if !wait(&[stream.fd()], Interest::Read, SILENCE) {
            return Err(Refusal::Other(format!("no word within {SILENCE:?}")));
        }
        if inbox.fill(stream.reader()) == Fill::Closed {
            return Err(Refusal::Other("it closed the connection during the login".into()));
        }
    }
}
