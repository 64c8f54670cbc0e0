//! Answers of the MySQL protocol as data that can be changed and written again. What is not changed comes out byte for byte as it came in.

use std::io;

use dbms::mysql::{
    reply,
    wire::{Cursor, Malformed},
};

/// Bits of the status that an answer ends with.
const IN_TRANSACTION: u16 = 1;
const AUTOCOMMIT: u16 = 2;

const OK: u8 = 0x00;
const EOF: u8 = 0xfe;
const ERROR: u8 = 0xff;
const NULL: u8 = 0xfb;

/// The charset of what is no text.
const BINARY: u16 = 63;

/// The cells of a row; none is NULL.
pub type Row = Vec<Option<Vec<u8>>>;

/// What a command is answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Done(Done),
    Failed(Failure),
    Rows(ResultSet),
}

/// Success without rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    pub affected: u64,
    pub last_id: u64,
    pub end: End,
    /// `Rows matched: 3  Changed: 2  Warnings: 0`
    pub info: Vec<u8>,
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    pub warnings: u16,
    status: u16,
}

/// An error, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(Vec<u8>);

/// Rows, which an error may cut short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultSet {
    /// The definitions of the columns, as they are written.
    pub columns: Vec<Vec<u8>>,
    head: End,
    pub rows: Vec<Row>,
    pub end: Result<End, Failure>,
}

impl End {
    pub fn in_transaction(self) -> bool {
        self.status & IN_TRANSACTION != 0
    }

    pub fn autocommit(self) -> bool {
        self.status & AUTOCOMMIT != 0
    }
}

impl Failure {
    pub fn new(code: u16, sqlstate: &str, message: &str) -> Failure {
        let mut payload = vec![ERROR];
        payload.extend_from_slice(&code.to_le_bytes());
        payload.push(b'#');
        payload.extend_from_slice(sqlstate.as_bytes());
        payload.extend_from_slice(message.as_bytes());
        Failure(payload)
    }

    /// Number and SQLSTATE.
    pub fn code(&self) -> (u32, String) {
        reply::error(&self.0).map(|error| (error.code, error.sqlstate)).unwrap_or_default()
    }
}

fn malformed(Malformed(what): Malformed) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// How a packet without rows ends: warnings before the status, as the end of rows has it.
fn end(payload: &[u8]) -> Option<End> {
    match payload {
        [EOF, w0, w1, s0, s1] => {
            Some(End { warnings: u16::from_le_bytes([*w0, *w1]), status: u16::from_le_bytes([*s0, *s1]) })
        }
        _ => None,
    }
}

fn done(payload: &[u8]) -> Result<Done, Malformed> {
    let mut cursor = Cursor(&payload[1..]);
    let (affected, last_id) = (cursor.packed()?, cursor.packed()?);
    let (status, warnings) = (cursor.short()?, cursor.short()?);
    Ok(Done { affected, last_id, end: End { warnings, status }, info: cursor.0.to_vec() })
}

impl Answer {
    /// Reads one, packet by packet.
    pub fn read(mut next: impl FnMut() -> io::Result<Vec<u8>>) -> io::Result<Answer> {
        let first = next()?;
        match first.first() {
            None => return Err(malformed(Malformed("an empty packet"))),
            Some(&OK) => return done(&first).map(Answer::Done).map_err(malformed),
            Some(&ERROR) => return Ok(Answer::Failed(Failure(first))),
            Some(_) => {}
        }
        let count = Cursor(&first).packed().map_err(malformed)?;
        let columns = (0..count).map(|_| next()).collect::<io::Result<Vec<_>>>()?;
        let head = end(&next()?).ok_or_else(|| malformed(Malformed("no end of the columns")))?;
        let mut rows = Vec::new();
        let end = loop {
            let payload = next()?;
            if let Some(end) = end(&payload) {
                break Ok(end);
            }
            if payload.first() == Some(&ERROR) {
                break Err(Failure(payload));
            }
            let mut cursor = Cursor(&payload);
            let cell = |_| cursor.cell().map(|cell| cell.map(<[u8]>::to_vec));
            rows.push((0..count).map(cell).collect::<Result<Row, Malformed>>().map_err(malformed)?);
        };
        Ok(Answer::Rows(ResultSet { columns, head, rows, end }))
    }

    /// The payloads of its packets.
    pub fn payloads(&self) -> Vec<Vec<u8>> {
        match self {
            Answer::Failed(Failure(payload)) => vec![payload.clone()],
            Answer::Done(done) => {
                let mut out = vec![OK];
                packed(&mut out, done.affected);
                packed(&mut out, done.last_id);
                out.extend_from_slice(&done.end.status.to_le_bytes());
                out.extend_from_slice(&done.end.warnings.to_le_bytes());
                out.extend_from_slice(&done.info);
                vec![out]
            }
            Answer::Rows(set) => {
                let mut first = Vec::new();
                packed(&mut first, set.columns.len() as u64);
                let mut all = vec![first];
                all.extend(set.columns.iter().cloned());
                all.push(eof(set.head));
                all.extend(set.rows.iter().map(row));
                all.push(match &set.end {
                    Ok(end) => eof(*end),
                    Err(Failure(payload)) => payload.clone(),
                });
                all
            }
        }
    }

    /// How it ends; an error does not say.
    pub fn end(&self) -> Option<End> {
        match self {
            Answer::Done(done) => Some(done.end),
            Answer::Rows(set) => set.end.as_ref().ok().copied(),
            Answer::Failed(_) => None,
        }
    }

    pub fn end_mut(&mut self) -> Option<&mut End> {
        match self {
            Answer::Done(done) => Some(&mut done.end),
            Answer::Rows(set) => set.end.as_mut().ok(),
            Answer::Failed(_) => None,
        }
    }

    /// The error, wherever it stands.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Answer::Done(_) => None,
            Answer::Rows(set) => set.end.as_ref().err(),
            Answer::Failed(failure) => Some(failure),
        }
    }

    /// Rows that came whole.
    pub fn rows(&self) -> Option<&Vec<Row>> {
        match self {
            Answer::Rows(set) if set.end.is_ok() => Some(&set.rows),
            Answer::Done(_) | Answer::Rows(_) | Answer::Failed(_) => None,
        }
    }

    pub fn rows_mut(&mut self) -> Option<&mut Vec<Row>> {
        match self {
            Answer::Rows(set) if set.end.is_ok() => Some(&mut set.rows),
            Answer::Done(_) | Answer::Rows(_) | Answer::Failed(_) => None,
        }
    }

    /// As if no transaction were open afterwards.
    pub fn close_transaction(&mut self) {
        if let Some(end) = self.end_mut() {
            end.status &= !IN_TRANSACTION;
        }
    }
}

fn eof(end: End) -> Vec<u8> {
    let mut out = vec![EOF];
    out.extend_from_slice(&end.warnings.to_le_bytes());
    out.extend_from_slice(&end.status.to_le_bytes());
    out
}

fn row(row: &Row) -> Vec<u8> {
    let mut out = Vec::new();
    for cell in row {
        match cell {
            None => out.push(NULL),
            Some(bytes) => {
                packed(&mut out, bytes.len() as u64);
                out.extend_from_slice(bytes);
            }
        }
    }
    out
}

/// A number with its own length.
fn packed(out: &mut Vec<u8>, number: u64) {
    let bytes = number.to_le_bytes();
    let (mark, length) = match number {
        0..=0xfa => (None, 1),
        0xfb..=0xffff => (Some(0xfc), 2),
        0x1_0000..=0xff_ffff => (Some(0xfd), 3),
        _ => (Some(0xfe), 8),
    };
    out.extend(mark);
    out.extend_from_slice(&bytes[..length]);
}

/// The type of a column, by its code, in its definition; and whether it is text.
pub fn column_type(definition: &mut [u8]) -> Option<(&mut u8, bool)> {
    let whole = definition.len();
    let mut cursor = Cursor(definition);
    for _catalog_schema_tables_names in 0..6 {
        cursor.string().ok()?;
    }
    cursor.packed().ok()?;
    let text = cursor.short().ok()? != BINARY;
    cursor.number(4).ok()?;
    let at = whole - cursor.0.len();
    Some((definition.get_mut(at)?, text))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// As MariaDB 10.11 sent it for `SELECT 1`: the definition of a column `1` of type INT.
    pub const COLUMN: &[u8] =
        b"\x03def\x00\x00\x00\x011\x00\x0c\x3f\x00\x01\x00\x00\x00\x03\x81\x00\x00\x00\x00";

    fn through(payloads: &[&[u8]]) -> Answer {
        let mut left = payloads.iter();
        let answer = Answer::read(|| {
            left.next().map(|payload| payload.to_vec()).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
        });
        assert!(left.next().is_none(), "it stops before the end");
        answer.unwrap()
    }

    /// Rows of numbers in columns of type INT.
    pub fn rows(cells: &[&[Option<&str>]]) -> Answer {
        let rows = cells
            .iter()
            .map(|row| row.iter().map(|cell| cell.map(|text| text.as_bytes().to_vec())).collect())
            .collect();
        let columns = vec![COLUMN.to_vec(); cells.first().map_or(1, |row| row.len())];
        Answer::Rows(ResultSet { columns, head: End::default(), rows, end: Ok(End::default()) })
    }

    pub fn changed(affected: u64, info: &str) -> Answer {
        Answer::Done(Done { affected, last_id: 0, end: End::default(), info: info.as_bytes().to_vec() })
    }

    #[test]
    fn what_is_not_changed_comes_out_as_it_came_in() {
        let info = b"\x00\x02\x00\x03\x00\x01\x00(Rows matched: 3  Changed: 2  Warnings: 1";
        let failure = b"\xff\xbd\x04#40001Deadlock found";
        let whole: [&[&[u8]]; 4] = [
            &[info],
            &[failure],
            &[b"\x01", COLUMN, b"\xfe\x00\x00\x02\x00", b"\x0217", b"\xfb", b"\xfe\x00\x00\x03\x00"],
            &[b"\x01", COLUMN, b"\xfe\x00\x00\x02\x00", b"\x0217", failure],
        ];
        for payloads in whole {
            assert_eq!(through(payloads).payloads(), payloads, "{payloads:?}");
        }
    }

    #[test]
    fn the_end_says_whether_a_transaction_is_open() {
        let mut answer = through(&[b"\x00\x00\x00\x03\x00\x02\x00"]);
        let end = answer.end().unwrap();
        assert!(end.in_transaction() && end.autocommit());
        assert_eq!(end.warnings, 2);
        answer.close_transaction();
        assert!(!answer.end().unwrap().in_transaction() && answer.end().unwrap().autocommit());
        let failed = Answer::Failed(Failure::new(1213, "40001", "Deadlock"));
        assert_eq!(failed.failure().map(Failure::code), Some((1213, "40001".to_string())));
        assert_eq!(failed.end(), None);
    }

    #[test]
    fn numbers_and_strings_of_any_length_come_back() {
        for length in [0, 1, 0xfa, 0xfb, 0xffff, 0x1_0000] {
            let text = "x".repeat(length);
            let answer = rows(&[&[Some(&text), None]]);
            let payloads = answer.payloads();
            let borrowed: Vec<&[u8]> = payloads.iter().map(Vec::as_slice).collect();
            assert_eq!(through(&borrowed), answer, "{length}");
        }
    }

    #[test]
    fn the_type_of_a_column_is_found_in_its_definition() {
        let mut column = COLUMN.to_vec();
        assert_eq!(column_type(&mut column).map(|(code, text)| (*code, text)), Some((3, false)));
        assert_eq!(column_type(&mut [1, 2, 3]), None);
    }

    #[test]
    fn nonsense_is_an_error() {
        for payloads in [&[&b""[..]][..], &[b"\x01", COLUMN, b"\x01"], &[b"\x00\x01"]] {
            let mut left = payloads.iter();
            let read = Answer::read(|| {
                left.next().map(|payload| payload.to_vec()).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
            });
            assert!(read.is_err(), "{payloads:?}");
        }
    }
}
