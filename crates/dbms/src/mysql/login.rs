//! The handshake at the beginning of a connection.
//!
//! The server greets with its connection number, what it can do and a challenge; we answer with a name and a
//! proof; it may then name another way to log in, or ask for the password itself, before it says OK.

use execute::{
    SessionId,
    os::{Interest, wait},
};

use crate::net::{Login, SILENCE, Stream};

use super::{
    auth::Plugin,
    reply,
    wire::{self, Cursor, Fill, Inbox, Malformed},
};

/// utf8mb4_general_ci: the one collation of utf8mb4 that every version of both products knows.
const CHARSET: u8 = 45;
/// The same in SQL.
pub const NAMES: &str = "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci";

const LONG_PASSWORD: u32 = 1;
const LONG_FLAG: u32 = 1 << 2;
const CONNECT_WITH_DB: u32 = 1 << 3;
const PROTOCOL_41: u32 = 1 << 9;
const TRANSACTIONS: u32 = 1 << 13;
const SECURE_CONNECTION: u32 = 1 << 15;
const PLUGIN_AUTH: u32 = 1 << 19;
const CAPABILITIES: u32 =
    LONG_PASSWORD | LONG_FLAG | PROTOCOL_41 | TRANSACTIONS | SECURE_CONNECTION | PLUGIN_AUTH;

struct Greeting {
    id: SessionId,
    challenge: Vec<u8>,
    plugin: Option<Plugin>,
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
    if (u32::from(high) << 16 | u32::from(low)) & CAPABILITIES & !LONG_PASSWORD
        != CAPABILITIES & !LONG_PASSWORD
    {
        return Err(Malformed("a server that is too old"));
    }
    // The rest of the challenge ends with a zero that is not part of it.
    let rest = cursor.bytes(length.saturating_sub(8).max(13))?;
    challenge.extend_from_slice(&rest[..12]);
    Ok(Greeting { id, challenge, plugin: Plugin::by_name(cursor.until_zero()) })
}

fn response(who: &Login, schema: Option<&str>, plugin: Plugin, challenge: &[u8]) -> Vec<u8> {
    let capabilities = CAPABILITIES | if schema.is_some() { CONNECT_WITH_DB } else { 0 };
    let mut out = Vec::new();
    out.extend_from_slice(&capabilities.to_le_bytes());
    out.extend_from_slice(&(1u32 << 30).to_le_bytes()); // the largest packet that we take
    out.push(CHARSET);
    out.extend_from_slice(&[0; 23]);
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

/// Talks until the server lets us in; gives the number of the connection, or why not.
pub fn log_in(
    stream: &mut Stream,
    inbox: &mut Inbox,
    who: &Login,
    schema: Option<&str>,
) -> Result<SessionId, String> {
    let (mut sequence, first) = next(stream, inbox)?;
    let Greeting { id, mut challenge, plugin } = greeting(&first).map_err(|Malformed(what)| what)?;
    let mut plugin = plugin.unwrap_or(Plugin::Native);
    let mut answer = Some(response(who, schema, plugin, &challenge));
    loop {
        if let Some(payload) = answer.take() {
            let mut out = Vec::new();
            wire::pack(&mut out, sequence.wrapping_add(1), &payload, &[]);
            stream.write_all(&out).map_err(|error| error.to_string())?;
        }
        let payload;
        (sequence, payload) = next(stream, inbox)?;
        match payload.as_slice() {
            [0x00, ..] => return Ok(id),
            // Another way to log in: its name, and a new challenge.
            [0xfe, rest @ ..] if !rest.is_empty() => {
                let mut cursor = Cursor(rest);
                let name = cursor.until_zero();
                plugin = Plugin::by_name(name).ok_or_else(|| {
                    format!("it asks for the login method {}", String::from_utf8_lossy(name))
                })?;
                challenge = cursor.0[..cursor.0.len().min(20)].to_vec();
                answer = Some(plugin.proof(&who.password, &challenge));
            }
            // caching_sha2_password: the proof was good, OK follows.
            [0x01, 0x03] => {}
            // caching_sha2_password: not cached, send the password itself.
            [0x01, 0x04] => match stream {
                Stream::Unix(_) => answer = Some([who.password.as_bytes(), &[0]].concat()),
                Stream::Tcp(_) => {
                    return Err(
                        "the first login with caching_sha2_password over TCP needs encryption; use the \
                         Unix socket or a user with mysql_native_password"
                            .to_string(),
                    );
                }
            },
            _ => return Err("the login took a turn that we do not know".to_string()),
        }
    }
}

/// Waits for the next packet; an error of the server ends the login.
fn next(stream: &mut Stream, inbox: &mut Inbox) -> Result<(u8, Vec<u8>), String> {
    loop {
        if let Some((sequence, range)) = inbox.take().map_err(|Malformed(what)| what)? {
            let payload = inbox.payload(range);
            if payload.first() != Some(&0xff) {
                return Ok((sequence, payload.to_vec()));
            }
            let error = reply::error(payload).map_err(|Malformed(what)| what)?;
            return Err(format!("{} ({})", error.message, error.code));
        }
        if !wait(&[stream.fd()], Interest::Read, SILENCE) {
            return Err(format!("no greeting within {SILENCE:?}"));
        }
        if inbox.fill(stream.reader()) == Fill::Closed {
            return Err("it closed the connection during the login".to_string());
        }
    }
}

#[cfg(test)]
mod tests {
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
    }

    #[test]
    fn half_a_greeting_is_refused() {
        let whole = sample();
        assert!((0..whole.len() - 22).all(|length| greeting(&whole[..length]).is_err()));
    }
}
