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
use crate::net::{Allowance, Login, NOT_OFFERED, Refusal, SocketRead, Stream, TOO_LARGE, TlsMode};

/// What a server sends before it lets us in is short.
const TOO_MUCH: &str = "it sent more than 64 KB before the login was over";

/// How far the proof of the password has come.
enum Proof {
    /// Nothing was asked for yet.
    NotAsked,
    /// The password, or a digest of it, was sent.
    Sent,
    /// Both sides prove that they know it; the server has not done so yet.
    Scram(Box<ScramSha256>),
    /// It has.
    Proven,
    /// We are in.
    Accepted,
}

impl From<Malformed> for Refusal {
    fn from(Malformed(what): Malformed) -> Refusal {
        Refusal::Other(if what == TOO_LARGE { TOO_MUCH.to_string() } else { what })
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
    inbox.expect(Allowance::LOGIN);
    let mut talk = Talk::new(who, stream.private());
    loop {
        out.clear();
        if let Some(id) = talk.message(next(stream, inbox, until, who.patience)?, &mut out)? {
            return Ok(id);
        }
        if !out.is_empty() {
            stream.write_all(&out)?;
        }
    }
}

/// What is said from the first message on, one message of the server at a time.
pub struct Talk<'a> {
    who: &'a Login,
    /// Does nobody read along?
    private: bool,
    proof: Proof,
    id: Option<SessionId>,
}

impl<'a> Talk<'a> {
    pub fn new(who: &'a Login, private: bool) -> Talk<'a> {
        Talk { who, private, proof: Proof::NotAsked, id: None }
    }

    /// Takes a message; what is to be said to it is put into `out`. Gives the number of the server's process once it is ready.
    pub fn message(&mut self, message: Message, out: &mut BytesMut) -> Result<Option<SessionId>, Refusal> {
        let who = self.who;
        match (message, &mut self.proof) {
            (Message::AuthenticationOk, Proof::NotAsked | Proof::Sent | Proof::Proven) => {
                self.proof = Proof::Accepted;
            }
            (Message::AuthenticationOk, Proof::Scram(_)) => {
                return Err(Refusal::Other("it did not prove that it knows the password".into()));
            }
            // Not to whoever is on the way.
            (Message::AuthenticationCleartextPassword, Proof::NotAsked) if !self.private => {
                return Err(Refusal::NeedsTls);
            }
            (Message::AuthenticationCleartextPassword, Proof::NotAsked) => {
                frontend::password_message(who.password.as_bytes(), out)?;
                self.proof = Proof::Sent;
            }
            (Message::AuthenticationMd5Password(body), Proof::NotAsked) => {
                let digest = md5_hash(who.user.as_bytes(), who.password.as_bytes(), body.salt());
                frontend::password_message(digest.as_bytes(), out)?;
                self.proof = Proof::Sent;
            }
            (Message::AuthenticationSasl(body), Proof::NotAsked) => {
                if !body.mechanisms().any(|name| Ok(name == SCRAM_SHA_256))? {
                    return Err(Refusal::Other("it asks for a login method that we do not know".into()));
                }
                let begun = ScramSha256::new(who.password.as_bytes(), ChannelBinding::unsupported());
                frontend::sasl_initial_response(SCRAM_SHA_256, begun.message(), out)?;
                self.proof = Proof::Scram(Box::new(begun));
            }
            (Message::AuthenticationSaslContinue(body), Proof::Scram(scram)) => {
                scram.update(body.data())?;
                frontend::sasl_response(scram.message(), out)?;
            }
            (Message::AuthenticationSaslFinal(body), Proof::Scram(scram)) => {
                scram.finish(body.data())?;
                self.proof = Proof::Proven;
            }
            (Message::BackendKeyData(body), Proof::Accepted) => {
                self.id = u64::try_from(body.process_id()).ok();
            }
            (Message::ParameterStatus(_) | Message::NoticeResponse(_), _) => {}
            (Message::ReadyForQuery(_), Proof::Accepted) => {
                return match self.id {
                    Some(id) => Ok(Some(id)),
                    None => Err(Refusal::Other("it does not tell its process".into())),
                };
            }
            (Message::ErrorResponse(body), _) => {
                let (error, _) = reply::error(body.fields())?;
                return Err(Refusal::Server(who.without_password(error)));
            }
            _ => return Err(turn()),
        }
        Ok(None)
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
    match (answer, who.tls.mode) {
        ([b'S'], _) => {
            let left = until.saturating_duration_since(Instant::now());
            stream.encrypt(&who.tls, host, left).map_err(Refusal::Tls)
        }
        ([b'N'], TlsMode::Prefer) => Ok(()),
        ([b'N'], _) => Err(Refusal::Tls(NOT_OFFERED.into())),
        _ => Err(turn()),
    }
}

/// Waits until there is something to read.
fn awaited(stream: &Stream, until: Instant, patience: Duration) -> Result<(), Refusal> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() || !wait(&[stream.readable_fd()], Interest::Read, left) {
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

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::{super::wire::message, *};

    /// What comes of a login in which the server says these, and what it hears.
    fn heard(private: bool, said: &[&[u8]]) -> (Result<Option<SessionId>, Refusal>, Vec<u8>) {
        let who = Login { password: "secret".into(), ..Login::default() };
        let (mut talk, mut inbox, mut out) =
            (Talk::new(&who, private), ReceiveBuffer::default(), BytesMut::new());
        let bytes = said.iter().flat_map(|body| message(b'R', body)).collect::<Vec<u8>>();
        inbox.fill(&mut Cursor::new(bytes));
        let mut last = Ok(None);
        while let Some(message) = inbox.take().unwrap() {
            last = talk.message(message, &mut out);
            if last.is_err() {
                break;
            }
        }
        (last, out.to_vec())
    }

    #[test]
    fn a_password_is_sent_in_clear_only_where_nobody_reads_along() {
        let wanted: &[u8] = &[0, 0, 0, 3];
        assert_eq!(heard(false, &[wanted]), (Err(Refusal::NeedsTls), Vec::new()));
        let (went, said) = heard(true, &[wanted]);
        assert_eq!((went, &said[5..]), (Ok(None), &b"secret\0"[..]));
        // Nor once a proof was begun.
        let proof: &[u8] = b"\0\0\0\x0aSCRAM-SHA-256\0\0";
        let (went, said) = heard(true, &[proof, wanted]);
        assert!(went.is_err() && !said.windows(6).any(|bytes| bytes == b"secret"), "{went:?}");
    }

    #[test]
    fn who_began_a_proof_has_to_end_it() {
        let (proof, done): (&[u8], &[u8]) = (b"\0\0\0\x0aSCRAM-SHA-256\0\0", &[0, 0, 0, 0]);
        let why = "it did not prove that it knows the password";
        assert_eq!(heard(false, &[proof, done]).0, Err(Refusal::Other(why.into())));
        assert_eq!(heard(false, &[done]).0, Ok(None), "it asks for nothing");
    }
}
