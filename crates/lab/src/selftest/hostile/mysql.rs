//! What an honest server would say in the protocol of MySQL, and parts of it to build other things from.

use std::io;

use super::{
    fake::Wire,
    scenes::{LoginWord, Place, Trick},
};

/// The bytes of one packet.
pub fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    bytes.push(sequence);
    bytes.extend_from_slice(payload);
    bytes
}

/// Offers TLS or does not.
pub fn greeting(encrypts: bool) -> Vec<u8> {
    let mut bytes = b"\x0a8.0.33\0".to_vec();
    bytes.extend_from_slice(&[0x15, 1, 0, 0]);
    bytes.extend_from_slice(b"abcdefgh\0");
    bytes.extend_from_slice(if encrypts { &[0xff, 0xff] } else { &[0xff, 0xf7] });
    bytes.extend_from_slice(&[0xff, 0x02, 0x00, 0xff, 0xdf, 0x15]);
    bytes.extend_from_slice(&[0; 10]);
    bytes.extend_from_slice(b"ijklmnopqrst\0mysql_native_password\0");
    packet(0, &bytes)
}

pub const OK: [u8; 7] = [0, 0, 0, 2, 0, 0, 0];
const EOF: [u8; 5] = [0xfe, 0, 0, 2, 0];

fn column(name: &str) -> Vec<u8> {
    let mut bytes = b"\x03def\0\0\0".to_vec();
    bytes.push(name.len() as u8);
    bytes.extend_from_slice(name.as_bytes());
    bytes.extend_from_slice(b"\x00\x0c\x2d\x00\xff\x00\x00\x00\xfd\x00\x00\x00\x00\x00");
    bytes
}

/// A row; None is NULL.
pub fn row(cells: &[Option<&str>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for cell in cells {
        match cell {
            None => bytes.push(0xfb),
            Some(text) => {
                bytes.push(text.len() as u8);
                bytes.extend_from_slice(text.as_bytes());
            }
        }
    }
    bytes
}

/// The beginning of a result, up to its rows, and the number of the packet that follows.
pub fn head(columns: usize) -> (Vec<u8>, u8) {
    let mut bytes = packet(1, &[columns as u8]);
    for number in 0..columns {
        bytes.extend(packet(2 + number as u8, &column("a")));
    }
    bytes.extend(packet(2 + columns as u8, &EOF));
    (bytes, 3 + columns as u8)
}

/// A whole result.
pub fn result(columns: usize, rows: &[&[Option<&str>]]) -> Vec<u8> {
    let (mut bytes, mut number) = head(columns);
    for cells in rows {
        bytes.extend(packet(number, &row(cells)));
        number = number.wrapping_add(1);
    }
    bytes.extend(packet(number, &EOF));
    bytes
}

/// 256 packets of this payload, of which the first has this number: said again and again they stay in turn.
pub fn round(number: u8, payload: &[u8]) -> Vec<u8> {
    let numbers = (0..=255u8).map(|more| number.wrapping_add(more));
    numbers.flat_map(|number| packet(number, payload)).collect()
}

/// A definition of a column, as a packet of a result.
pub fn definition() -> Vec<u8> {
    column("a")
}

pub fn error(text: &str) -> Vec<u8> {
    packet(1, &[&b"\xff\x15\x04#28000"[..], text.as_bytes()].concat())
}

/// What an honest server answers.
pub fn truth(sql: &str) -> Vec<u8> {
    const ONE: &[(&str, &[&str])] = &[
        ("SHOW GLOBAL VARIABLES", &["autocommit", "ON"]),
        ("VERSION()", &["8.0.33", "MySQL Community Server - GPL"]),
        ("CURRENT_USER()", &["guest@%", "1"]),
        ("GET_LOCK", &["1"]),
        ("IS_FREE_LOCK", &["1"]),
        ("transaction_isolation", &["REPEATABLE-READ"]),
        ("sql_mode", &["STRICT_TRANS_TABLES"]),
        ("@@SESSION.autocommit", &["1"]),
        ("@@SESSION.completion_type", &["NO_CHAIN"]),
        ("@@SESSION.default_storage_engine", &["InnoDB"]),
        ("@@SESSION.sql_safe_updates", &["0"]),
        ("@@SESSION", &["1"]),
        ("WHERE a > 0", &["1"]),
        ("SELECT * FROM", &["1"]),
    ];
    let asks = ["SELECT", "SHOW"].iter().any(|word| sql.starts_with(word));
    match ONE.iter().find(|(part, _)| asks && sql.contains(part)) {
        Some((_, cells)) => {
            let cells: Vec<Option<&str>> = cells.iter().map(|cell| Some(*cell)).collect();
            result(cells.len(), &[&cells])
        }
        None if asks => result(3, &[]),
        None => packet(1, &OK),
    }
}

pub fn serve(wire: &mut Wire<'_>) -> io::Result<()> {
    let encrypts = wire.scene.at == Place::Encryption;
    wire.answer(|place| *place == Place::Greeting, &greeting(encrypts))?;
    let (mut number, response) = hear(wire)?;
    // A request for encryption is an answer without a name.
    if response.len() == 32 {
        wire.answer(|place| *place == Place::Encryption, &[])?;
        (number, _) = hear(wire)?;
    }
    if let Trick::Script(words) = wire.scene.trick.clone() {
        for word in words {
            if let LoginWord::Bytes(payload) = word {
                wire.say(&packet(number.wrapping_add(1), &payload))?;
            }
            (number, _) = hear(wire)?;
        }
    }
    wire.answer(|place| *place == Place::Login, &packet(number.wrapping_add(1), &OK))?;
    loop {
        let (_, command) = hear(wire)?;
        let Some((code, body)) = command.split_first() else { continue };
        let sql = match code {
            1 => return Ok(()),
            3 => String::from_utf8_lossy(body).into_owned(),
            _ => String::new(),
        };
        let here = |place: &Place| matches!(place, Place::Statement(part) if sql.contains(part));
        wire.answer(here, &truth(&sql))?;
    }
}

fn hear(wire: &mut Wire<'_>) -> io::Result<(u8, Vec<u8>)> {
    let head = wire.hear(4)?;
    let length = usize::from(head[0]) | usize::from(head[1]) << 8 | usize::from(head[2]) << 16;
    Ok((head[3], wire.hear(length)?))
}
