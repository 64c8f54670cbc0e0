//! What an honest server would say in the protocol of PostgreSQL, and parts of it to build other things from.

use std::io;

use super::{
    fake::Wire,
    scenes::{LoginWord, Place, Trick},
};

/// One message.
pub fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[tag][..], &(body.len() as u32 + 4).to_be_bytes(), body].concat()
}

/// The columns of a result, all of type text.
pub fn head(columns: usize) -> Vec<u8> {
    let mut body = (columns as u16).to_be_bytes().to_vec();
    for _ in 0..columns {
        body.extend_from_slice(b"a\0\0\0\0\0\0\0");
        body.extend_from_slice(&25u32.to_be_bytes());
        body.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0]);
    }
    message(b'T', &body)
}

/// A row; None is NULL.
pub fn row(cells: &[Option<&str>]) -> Vec<u8> {
    let mut body = (cells.len() as u16).to_be_bytes().to_vec();
    for cell in cells {
        match cell {
            None => body.extend_from_slice(&(-1i32).to_be_bytes()),
            Some(text) => {
                body.extend_from_slice(&(text.len() as u32).to_be_bytes());
                body.extend_from_slice(text.as_bytes());
            }
        }
    }
    message(b'D', &body)
}

/// A whole result.
pub fn result(columns: usize, rows: &[&[Option<&str>]]) -> Vec<u8> {
    let mut bytes = head(columns);
    rows.iter().for_each(|cells| bytes.extend(row(cells)));
    bytes.extend(done("SELECT 1"));
    bytes
}

/// The end of a command.
pub fn done(tag: &str) -> Vec<u8> {
    [message(b'C', format!("{tag}\0").as_bytes()), message(b'Z', b"I")].concat()
}

pub fn notice() -> Vec<u8> {
    message(b'N', b"SNOTICE\0VNOTICE\0C00000\0Mhello\0\0")
}

pub fn error(severity: &str, state: &str, text: &str) -> Vec<u8> {
    message(b'E', format!("S{severity}\0V{severity}\0C{state}\0M{text}\0\0").as_bytes())
}

/// A request for a kind of proof.
pub fn authentication(kind: u32, more: &[u8]) -> Vec<u8> {
    message(b'R', &[&kind.to_be_bytes()[..], more].concat())
}

/// We are in: what follows the proof.
pub fn welcome() -> Vec<u8> {
    let mut bytes = authentication(0, &[]);
    bytes.extend(message(b'S', b"client_encoding\0UTF8\0"));
    bytes.extend(message(b'K', &[0, 0, 0, 7, 0, 0, 0, 9]));
    bytes.extend(message(b'Z', b"I"));
    bytes
}

/// What an honest server answers.
pub fn truth(sql: &str) -> Vec<u8> {
    const ONE: &[(&str, &[&str])] = &[
        ("has_database_privilege", &["t", "guest", "db"]),
        ("advisory", &["t"]),
        ("default_transaction_isolation", &["repeatable read"]),
        ("WHERE a > 0", &["1"]),
        ("SELECT * FROM", &["1"]),
    ];
    if sql.contains("FROM pg_settings") {
        let setting = |name, shown, raw| [Some(name), Some(shown), Some(raw)];
        let rows = [
            setting("server_version", "18.4", "18.4"),
            setting("server_version_num", "180004", "180004"),
            setting("deadlock_timeout", "1ms", "1"),
        ];
        return result(3, &rows.iter().map(|row| &row[..]).collect::<Vec<_>>());
    }
    let asks = ["SELECT", "SHOW"].iter().any(|word| sql.starts_with(word));
    match ONE.iter().find(|(part, _)| asks && sql.contains(part)) {
        Some((_, cells)) => {
            let cells: Vec<Option<&str>> = cells.iter().map(|cell| Some(*cell)).collect();
            result(cells.len(), &[&cells])
        }
        None if asks => result(3, &[]),
        None => done("OK"),
    }
}

pub fn serve(wire: &mut Wire<'_>) -> io::Result<()> {
    let mut first = hear_untagged(wire)?;
    // A request for encryption has a number that no version has.
    if first == 80_877_103u32.to_be_bytes() {
        wire.answer(|place| *place == Place::Encryption, b"N")?;
        first = hear_untagged(wire)?;
    }
    // To hear of waits takes a right that this user does not have.
    if String::from_utf8_lossy(&first).contains("log_lock_waits") {
        return wire.say(&error("FATAL", "42501", "permission denied"));
    }
    if let Trick::Script(words) = wire.scene.trick.clone() {
        let mut nonce = String::new();
        for word in words {
            match word {
                LoginWord::Bytes(bytes) => wire.say(&bytes)?,
                LoginWord::ScramContinue => {
                    let challenge = format!("r={nonce}server,s=c2FsdHNhbHQ=,i=4096");
                    wire.say(&authentication(11, challenge.as_bytes()))?;
                }
            }
            let (_, said) = hear(wire)?;
            let said = String::from_utf8_lossy(&said).into_owned();
            if let Some((_, found)) = said.split_once(",r=") {
                nonce = found.to_string();
            }
        }
    }
    wire.answer(|place| *place == Place::Login, &welcome())?;
    loop {
        let (tag, body) = hear(wire)?;
        if tag == b'X' {
            return Ok(());
        }
        let sql = String::from_utf8_lossy(&body).into_owned();
        let here = |place: &Place| matches!(place, Place::Statement(part) if sql.contains(part));
        wire.answer(here, &truth(&sql))?;
    }
}

fn hear_untagged(wire: &mut Wire<'_>) -> io::Result<Vec<u8>> {
    let head = wire.hear(4)?;
    let length = head.iter().fold(0usize, |length, byte| length << 8 | usize::from(*byte));
    wire.hear(length.saturating_sub(4).min(1 << 20))
}

fn hear(wire: &mut Wire<'_>) -> io::Result<(u8, Vec<u8>)> {
    let tag = wire.hear(1)?[0];
    Ok((tag, hear_untagged(wire)?))
}
