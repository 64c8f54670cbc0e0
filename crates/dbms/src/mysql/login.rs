//! The handshake at the beginning of a connection.
//!
//! The server greets with its connection number, what it can do and a challenge; we answer with a name and a
//! proof; it may then name another way to log in, or ask for the password itself, before it says OK. Where encryption
//! is asked for, it begins right after the greeting: before that we have said nothing of ourselves.

use execute::{
    SessionId,
    os::{Interest, wait},
};

use std::time::Instant;

use crate::net::{Allowance, Login, NOT_OFFERED, Refusal, SocketRead, Stream, TOO_LARGE, TlsMode};

use super::{
    auth::Plugin,
    reply,
    wire::{self, Cursor, Malformed, ReceiveBuffer},
};

/// utf8mb4_general_ci: the one collation of utf8mb4 that every version of both products knows.
const CHARSET: u8 = 45;
/// The same in SQL.
pub const NAMES: &str = "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci";

const LONG_PASSWORD: u32 = 1;
const LONG_FLAG: u32 = 1 << 2;
const CONNECT_WITH_DB: u32 = 1 << 3;
const PROTOCOL_41: u32 = 1 << 9;
const SSL: u32 = 1 << 11;
const TRANSACTIONS: u32 = 1 << 13;
const SECURE_CONNECTION: u32 = 1 << 15;
const PLUGIN_AUTH: u32 = 1 << 19;
const CAPABILITIES: u32 =
    LONG_PASSWORD | LONG_FLAG | PROTOCOL_41 | TRANSACTIONS | SECURE_CONNECTION | PLUGIN_AUTH;

struct Greeting {
    id: SessionId,
    challenge: Vec<u8>,
    plugin: Option<Plugin>,
    /// Does it offer encryption?
    encrypts: bool,
}

/// What a server sends before it lets us in is short.
const TOO_MUCH: &str = "it sent more than 64 KB before the login was over";

impl From<Malformed> for Refusal {
    fn from(Malformed(what): Malformed) -> Refusal {
        Refusal::Other(if what == TOO_LARGE { TOO_MUCH } else { what }.to_string())
    }
}

fn greeting(payload: &[u8]) -> Result<Greeting, Malformed> {
    let mut cursor = Cursor(payload);
    if cursor.byte()? != 10 {
        return Err(Malformed("another version of the protocol"));
    }
    cursor.until_zero(); // the version, which MariaDB writes with a prefix
    let id = cursor.number(4)?;
    let mut challenge = cursor.bytes(8)?.to_vec();
    cursor.bytes(1)?;
    let low = cursor.short()?;
    cursor.bytes(1 + 2)?; // character set, status
    let high = cursor.short()?;
    let length = usize::from(cursor.byte()?);
    cursor.bytes(10)?;
    let can = u32::from(high) << 16 | u32::from(low);
    if can & CAPABILITIES & !LONG_PASSWORD != CAPABILITIES & !LONG_PASSWORD {
        return Err(Malformed("a server that is too old"));
    }
    // The rest of the challenge ends with a zero that is not part of it.
    let rest = cursor.bytes(length.saturating_sub(8).max(13))?;
    challenge.extend_from_slice(rest.get(..12).unwrap_or_default());
    let plugin = Plugin::by_name(cursor.until_zero());
    Ok(Greeting { id, challenge, plugin, encrypts: can & SSL != 0 })
}

/// What an answer to the greeting begins with, and all of it that asks for encryption.
fn opening(schema: Option<&str>, encrypted: bool) -> Vec<u8> {
    let database = if schema.is_some() { CONNECT_WITH_DB } else { 0 };
    let capabilities = CAPABILITIES | database | if encrypted { SSL } else { 0 };
    let mut out = Vec::new();
    out.extend_from_slice(&capabilities.to_le_bytes());
    out.extend_from_slice(&(1u32 << 30).to_le_bytes()); // the largest packet that we take
    out.push(CHARSET);
    out.extend_from_slice(&[0; 23]);
    out
}

fn response(
    opening: Vec<u8>,
    who: &Login,
    schema: Option<&str>,
    plugin: Plugin,
    challenge: &[u8],
) -> Vec<u8> {
    let mut out = opening;
    out.extend_from_slice(who.user.as_bytes());
    out.push(0);
    let proof = plugin.proof(&who.password, challenge);
    out.push(proof.len() as u8);
    out.extend_from_slice(&proof);
    if let Some(schema) = schema {
        out.extend_from_slice(schema.as_bytes());
        out.push(0);
    }
    out.extend_from_slice(plugin.name().as_bytes());
    out.push(0);
    out
}

/// Talks until the server lets us in; gives the number of the connection, or why not. `host` is what its certificate
/// should name.
pub fn log_in(
    stream: &mut Stream,
    inbox: &mut ReceiveBuffer,
    who: &Login,
    schema: Option<&str>,
    host: &str,
    until: Instant,
) -> Result<SessionId, Refusal> {
    inbox.expect(Allowance::LOGIN, 0);
    let (mut sequence, first) = next(stream, inbox, until, who)?;
    let Greeting { id, mut challenge, plugin, encrypts } = greeting(&first)?;
    let wanted = !stream.private() && who.tls.mode != TlsMode::Disable;
    if wanted && !encrypts && who.tls.mode != TlsMode::Prefer {
        return Err(Refusal::Tls(NOT_OFFERED.to_string()));
    }
    let encrypted = wanted && encrypts;
    if encrypted {
        // What came behind the greeting came in the clear, and would be taken for something encrypted.
        if !inbox.is_empty() {
            return Err(Refusal::Tls("something follows the greeting before the encryption".to_string()));
        }
        let mut out = Vec::new();
        sequence = sequence.wrapping_add(1);
        wire::pack(&mut out, sequence, &opening(schema, true), &[]);
        stream.write_all(&out)?;
        stream
            .encrypt(&who.tls, host, until.saturating_duration_since(Instant::now()))
            .map_err(Refusal::Tls)?;
    }
    let mut plugin = plugin.unwrap_or(Plugin::Native);
    let mut answer = Some(response(opening(schema, encrypted), who, schema, plugin, &challenge));
    loop {
        if let Some(payload) = answer.take() {
            let mut out = Vec::new();
            sequence = sequence.wrapping_add(1);
            wire::pack(&mut out, sequence, &payload, &[]);
            inbox.expect_number(sequence.wrapping_add(1));
            stream.write_all(&out)?;
        }
        let payload;
        (sequence, payload) = next(stream, inbox, until, who)?;
        match payload.as_slice() {
            [0x00, ..] => return Ok(id),
            // Another way to log in: its name, and a new challenge.
            [0xfe, rest @ ..] if !rest.is_empty() => {
                let mut cursor = Cursor(rest);
                let name = cursor.until_zero();
                plugin = Plugin::by_name(name).ok_or_else(|| {
                    Refusal::Other(format!(
                        "it asks for the login method {}, which Isopod does not speak",
                        String::from_utf8_lossy(name)
                    ))
                })?;
                challenge = cursor.0.get(..20).unwrap_or(cursor.0).to_vec();
                answer = Some(plugin.proof(&who.password, &challenge));
            }
            // caching_sha2_password: the proof was good, OK follows.
            [0x01, 0x03] => {}
            // caching_sha2_password: not cached, send the password itself.
            [0x01, 0x04] if plugin == Plugin::CachingSha2 && stream.private() => {
                answer = Some([who.password.as_bytes(), &[0]].concat())
            }
            [0x01, 0x04] if plugin == Plugin::CachingSha2 => return Err(Refusal::NeedsTls),
            _ => return Err(Refusal::Other("the login took a turn that we do not know".to_string())),
        }
    }
}

/// Waits for the next packet; an error of the server ends the login.
fn next(
    stream: &mut Stream,
    inbox: &mut ReceiveBuffer,
    until: Instant,
    who: &Login,
) -> Result<(u8, Vec<u8>), Refusal> {
    loop {
        if let Some((sequence, range)) = inbox.take()? {
            let payload = inbox.payload(range);
            if payload.first() != Some(&0xff) {
                return Ok((sequence, payload.to_vec()));
            }
            return Err(Refusal::Server(who.without_password(reply::error(payload)?)));
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || !wait(&[stream.readable_fd()], Interest::Read, left) {
            return Err(Refusal::Silent(who.patience));
        }
        if inbox.fill(stream.reader()) == SocketRead::Closed {
            return Err(Refusal::Other("it closed the connection during the login".to_string()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        time::Duration,
    };

    use crate::net::{Address, Tls};

    use super::*;

    /// The greeting of MySQL 9.7, shortened in the version.
    fn sample() -> Vec<u8> {
        let mut bytes = b"\x0a9.7.4\0".to_vec();
        bytes.extend_from_slice(&[0x15, 1, 0, 0]);
        bytes.extend_from_slice(b"abcdefgh\0\xff\xff\xff\x02\x00\xff\xdf\x15");
        bytes.extend_from_slice(&[0; 10]);
        bytes.extend_from_slice(b"ijklmnopqrst\0caching_sha2_password\0");
        bytes
    }

    #[test]
    fn a_greeting_is_read() {
        let greeting = greeting(&sample()).unwrap();
        assert_eq!(greeting.id, 0x115);
        assert_eq!(greeting.challenge, b"abcdefghijklmnopqrst");
        assert_eq!(greeting.plugin, Some(Plugin::CachingSha2));
        assert!(greeting.encrypts);
    }

    #[test]
    fn what_follows_the_greeting_in_the_clear_is_refused() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::Tcp { host: "127.0.0.1".into(), port: listener.local_addr().unwrap().port() };
        let mut greeting = Vec::new();
        wire::pack(&mut greeting, 0, &sample(), &[]);
        // An OK that only somebody on the way can have put there.
        let mut welcome = Vec::new();
        wire::pack(&mut welcome, 3, &[0, 0, 0, 2, 0, 0, 0], &[]);
        let server = std::thread::spawn(move || {
            let mut visitor = listener.accept().unwrap().0;
            visitor.write_all(&[greeting, welcome].concat()).unwrap();
            let _ = visitor.read(&mut [0; 64]);
        });
        let patience = Duration::from_secs(20);
        let until = Instant::now() + patience;
        let mut stream = Stream::open(&address, until).unwrap();
        let who = Login { tls: Tls { mode: TlsMode::Require, root: None }, ..Login::default() };
        let refused = log_in(&mut stream, &mut ReceiveBuffer::default(), &who, None, "127.0.0.1", until);
        assert!(matches!(&refused, Err(Refusal::Tls(why)) if why.contains("follows")), "{refused:?}");
        drop(stream);
        server.join().unwrap();
    }

    #[test]
    fn half_a_greeting_is_refused() {
        let whole = sample();
        assert!((0..whole.len() - 22).all(|length| greeting(&whole[..length]).is_err()));
    }
}
