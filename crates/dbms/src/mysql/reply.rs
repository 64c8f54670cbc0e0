//! From packets to an answer, one packet at a time.
//!
//! A result set comes as: the number of columns, one packet per column, EOF, one packet per row, EOF. An
//! answer may arrive in pieces, so the reader keeps what it has and goes on with the next packet; rows go
//! straight into a [`RowSet`]. Success without rows is one OK packet. An error may stand in the place of
//! either, and also in the place of a row: a SELECT may lose a deadlock in the middle of its answer.

use execute::{RawError, RawReply, WireReply};
use model::{Open, RowSet, rows::Column};

use super::{
    values,
    wire::{Cursor, Malformed},
};
use crate::net::COLUMNS;

const IN_TRANSACTION: u16 = 1;

fn transaction(status: u16) -> Open {
    if status & IN_TRANSACTION != 0 { Open::Yes } else { Open::No }
}

/// How far an answer has come.
#[derive(Debug, Default)]
pub enum ReplyReader {
    /// Nothing was sent.
    #[default]
    Idle,
    /// Sent; nothing came yet.
    Awaited,
    /// Column definitions.
    Columns {
        /// How many are still to come.
        left: u64,
        columns: Vec<Column>,
    },
    Rows(RowSet),
}

impl ReplyReader {
    /// Is an answer awaited?
    pub fn outstanding(&self) -> bool {
        !matches!(self, ReplyReader::Idle)
    }

    /// How many cells the packet that was taken last came to, as far as memory goes.
    pub fn cells(&self) -> usize {
        match self {
            ReplyReader::Idle | ReplyReader::Awaited => 0,
            // A column has two texts and a kind.
            ReplyReader::Columns { .. } => 8,
            ReplyReader::Rows(rows) => rows.columns().len(),
        }
    }

    /// Takes one packet; gives the answer if this completes it.
    pub fn packet(&mut self, payload: &[u8]) -> Result<Option<WireReply>, Malformed> {
        let first = *payload.first().ok_or(Malformed("an empty packet"))?;
        if first == 0xff {
            *self = ReplyReader::Idle;
            return Ok(Some(WireReply {
                reply: RawReply::Error(error(payload)?),
                warnings: 0,
                transaction: Open::Unknown,
            }));
        }
        match self {
            ReplyReader::Idle => Err(Malformed("a packet that nobody asked for")),
            ReplyReader::Awaited if first == 0 => {
                *self = ReplyReader::Idle;
                done(payload).map(Some)
            }
            ReplyReader::Awaited => {
                let left = Cursor(payload).packed()?;
                if left > COLUMNS as u64 {
                    return Err(Malformed("a result of more than 4,096 columns"));
                }
                *self = ReplyReader::Columns { left, columns: Vec::new() };
                Ok(None)
            }
            ReplyReader::Columns { left: 0, columns } => {
                end(payload).ok_or(Malformed("no end of the columns"))?;
                *self = ReplyReader::Rows(RowSet::new(std::mem::take(columns)));
                Ok(None)
            }
            ReplyReader::Columns { left, columns } => {
                columns.push(values::column(payload)?);
                *left -= 1;
                Ok(None)
            }
            ReplyReader::Rows(rows) => {
                if let Some((warnings, status)) = end(payload) {
                    let rows = std::mem::take(rows);
                    *self = ReplyReader::Idle;
                    return Ok(Some(WireReply {
                        reply: RawReply::Rows(rows),
                        warnings,
                        transaction: transaction(status),
                    }));
                }
                let mut cursor = Cursor(payload);
                for _ in 0..rows.columns().len() {
                    rows.push(cursor.cell()?);
                }
                Ok(None)
            }
        }
    }
}

/// Warnings and status of an EOF packet, if it is one. A row that begins with the same byte is far longer.
fn end(payload: &[u8]) -> Option<(u16, u16)> {
    match payload {
        [0xfe, w0, w1, s0, s1] => Some((u16::from_le_bytes([*w0, *w1]), u16::from_le_bytes([*s0, *s1]))),
        _ => None,
    }
}

/// Reads an OK packet.
fn done(payload: &[u8]) -> Result<WireReply, Malformed> {
    let mut cursor = Cursor(payload);
    cursor.byte()?;
    let affected = cursor.packed()?;
    cursor.packed()?; // the last generated key
    let status = cursor.short()?;
    let warnings = cursor.short()?;
    Ok(WireReply {
        reply: RawReply::Done { affected, matched: matched(cursor.0) },
        warnings,
        transaction: transaction(status),
    })
}

/// From `Rows matched: 3  Changed: 2  Warnings: 0`: the affected count is that of CHANGED rows.
fn matched(info: &[u8]) -> Option<u64> {
    const LABEL: &[u8] = b"Rows matched: ";
    let at = info.windows(LABEL.len()).position(|window| window == LABEL)?;
    let end = info.get(at + LABEL.len()..)?;
    let digits = end.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(end.get(..digits)?).ok()?.parse().ok()
}

/// Reads an ERR packet. Before the login there is no SQLSTATE in it.
pub fn error(payload: &[u8]) -> Result<RawError, Malformed> {
    let mut cursor = Cursor(payload);
    cursor.byte()?;
    let code = u32::from(cursor.short()?);
    let mut sqlstate = String::new();
    if cursor.0.first() == Some(&b'#') {
        cursor.byte()?;
        sqlstate = String::from_utf8_lossy(cursor.bytes(5)?).into_owned();
    }
    Ok(RawError { code, sqlstate, message: String::from_utf8_lossy(cursor.0).into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(packets: &[&[u8]]) -> Result<Option<WireReply>, Malformed> {
        let mut reading = ReplyReader::Awaited;
        for (i, packet) in packets.iter().enumerate() {
            let answer = reading.packet(packet)?;
            assert!(answer.is_none() || i + 1 == packets.len(), "the answer came too early");
            if answer.is_some() {
                assert!(!reading.outstanding());
                return Ok(answer);
            }
        }
        Ok(None)
    }

    /// As MariaDB 10.11 sent it for `SELECT 1`: the definition of a column `1` of type INT.
    const COLUMN: &[u8] = b"\x03def\x00\x00\x00\x011\x00\x0c\x3f\x00\x01\x00\x00\x00\x03\x81\x00\x00\x00\x00";

    #[test]
    fn ok_says_affected_matched_and_whether_a_transaction_is_open() {
        let info = b"\x28Rows matched: 3  Changed: 2  Warnings: 0";
        let packet = [&[0, 2, 0, 3, 0, 1, 0], &info[..]].concat();
        let answer = read(&[&packet]).unwrap().unwrap();
        assert_eq!(answer.reply, RawReply::Done { affected: 2, matched: Some(3) });
        assert_eq!((answer.warnings, answer.transaction), (1, Open::Yes));
        let answer = read(&[&[0, 0, 0, 2, 0, 0, 0]]).unwrap().unwrap();
        assert_eq!(answer.reply, RawReply::Done { affected: 0, matched: None });
        assert_eq!(answer.transaction, Open::No);
    }

    #[test]
    fn rows_keep_their_bytes_and_nulls() {
        let end = [0xfe, 0, 0, 3, 0];
        let answer = read(&[&[1], COLUMN, &end, b"\x011", &[0xfb], b"\x00", &end]).unwrap().unwrap();
        let RawReply::Rows(rows) = answer.reply else { panic!("no rows") };
        let cells: Vec<_> = (0..3).map(|row| rows.cell(row, 0)).collect();
        assert_eq!(cells, [Some(&b"1"[..]), None, Some(&b""[..])]);
        assert_eq!(rows.columns()[0].type_name, "INT");
        assert_eq!(answer.transaction, Open::Yes);
    }

    #[test]
    fn an_error_may_take_the_place_of_a_row() {
        let error = b"\xff\xbd\x04#40001Deadlock found";
        let answer = read(&[&[1], COLUMN, &[0xfe, 0, 0, 2, 0], b"\x011", error]).unwrap().unwrap();
        let RawReply::Error(error) = answer.reply else { panic!("no error") };
        assert_eq!((error.code, &error.sqlstate[..], &error.message[..]), (1213, "40001", "Deadlock found"));
        assert_eq!(answer.transaction, Open::Unknown);
    }

    #[test]
    fn a_count_that_is_too_large_is_none() {
        let count = |digits: &str| matched(format!("Rows matched: {digits}  Changed: 0").as_bytes());
        assert_eq!(count("18446744073709551615"), Some(u64::MAX));
        assert_eq!(count("18446744073709551616"), None);
        assert_eq!(count(&"9".repeat(60)), None);
        assert_eq!(count(""), None);
    }

    #[test]
    fn a_result_has_at_most_4096_columns() {
        assert_eq!(read(&[&[0xfc, 0x00, 0x10]]), Ok(None));
        assert!(read(&[&[0xfc, 0x01, 0x10]]).is_err());
        assert!(read(&[&[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]]).is_err());
    }

    #[test]
    fn half_an_answer_is_none() {
        assert_eq!(read(&[&[1], COLUMN, &[0xfe, 0, 0, 2, 0], b"\x011"]), Ok(None));
    }

    #[test]
    fn what_we_never_ask_for_is_malformed() {
        assert!(read(&[b"\xfb/etc/passwd"]).is_err());
        assert!(read(&[&[]]).is_err());
        assert!(read(&[&[1], &COLUMN[..9]]).is_err());
        assert!(read(&[&[2], COLUMN, &[0xfe, 0, 0, 2, 0]]).is_err());
    }
}
