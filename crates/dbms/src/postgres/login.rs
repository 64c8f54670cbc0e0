//! The beginning of a connection.
//!
//! We say who we are, to which database we want and with which settings the session shall begin; the server asks for a
//! proof, or does not, and says the number of its process and that it is ready. Settings that are given here are the
//! session's own defaults: `RESET ALL` and `DISCARD ALL` go back to them, so that nothing has to be said again.

use std::{
    io::ErrorKind,
    time::{Duration, Instant},
};

use bytes::BytesMut;
use execute::{
    SessionId,
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
    wire::{Malformed, ReceiveBuffer},
};
use crate::net::{Login, Refusal, SocketRead, Stream, TlsMode};

impl From<Malformed> for Refusal {
    fn from(Malformed(what): Malformed) -> Refusal {
        Refusal::Other(what)
    }
}

/// Talks until the server is ready; gives the number of its process.
pub fn log_in(
    stream: &mut Stream,
    inbox: &mut ReceiveBuffer,
    who: &Login,
    database: &str,
    settings: &[(&str, &str)],
    host: &str,
    until: Instant,
) -> Result<SessionId, Refusal> {
    encrypt(stream, who, host, until)?;
    let first = [("user", &who.user[..]), ("database", database), ("client_encoding", "UTF8")];
    let mut out = BytesMut::new();
    frontend::startup_message(first.iter().chain(settings).copied(), &mut out)?;
    stream.write_all(&out)?;
    let mut scram = None;
    let mut id = None;
    loop {
        out.clear();
        match next(stream, inbox, until, who.patience)? {
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

/// Asks for encryption, before anything else is said.
fn encrypt(stream: &mut Stream, who: &Login, host: &str, until: Instant) -> Result<(), Refusal> {
    if stream.private() || who.tls.mode == TlsMode::Disable {
        return Ok(());
    }
    let mut out = BytesMut::new();
    frontend::ssl_request(&mut out);
    stream.write_all(&out)?;
    // One byte, and not one more: what follows it is encrypted.
    let mut answer = [0];
    loop {
        awaited(stream, until, who.patience)?;
        match stream.reader().read(&mut answer) {
            Ok(0) => return Err(Refusal::Other("it closed the connection during the login".into())),
            Ok(_) => break,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error.into()),
        }
    }
    match (answer[0], who.tls.mode) {
        (b'S', _) => {
            let left = until.saturating_duration_since(Instant::now());
            stream.encrypt(&who.tls, host, left).map_err(Refusal::Tls)
        }
        (b'N', TlsMode::Prefer) => Ok(()),
        (b'N', _) => Err(Refusal::Tls("the server offers no encryption".into())),
        _ => Err(turn()),
    }
}

/// Waits until there is something to read.
fn awaited(stream: &Stream, until: Instant, patience: Duration) -> Result<(), Refusal> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() || !wait(&[stream.fd()], Interest::Read, left) {
        return Err(Refusal::Silent(patience));
    }
    Ok(())
}

/// Waits for the next message.
fn next(
    stream: &mut Stream,
    inbox: &mut ReceiveBuffer,
    until: Instant,
    patience: Duration,
) -> Result<Message, Refusal> {
    loop {
        if let Some(message) = inbox.take()? {
            return Ok(message);
        }
        awaited(stream, until, patience)?;
        if inbox.fill(stream.reader()) == SocketRead::Closed {
            return Err(Refusal::Other("it closed the connection during the login".into()));
        }
    }
}
