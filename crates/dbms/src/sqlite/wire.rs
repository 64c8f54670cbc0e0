//! What goes between a session and the child: frames of a length (u32) and a body, little-endian throughout.
//!
//! ```text
//! request   1 open (id u64)   2 run (sql)   3 reopen
//! reply     1 rows (columns, cells)   2 done (affected u64)   3 error (code u32, text)   then: autocommit u8
//! cell      0 NULL   1 integer i64   2 real, its 64 bits   3 text   4 blob
//! ```
//!
//! Texts and blobs are a length (u32) and bytes. Cells keep SQLite's storage class, so nothing is lost here; the
//! session turns them into a [`RowSet`], whose columns have one kind each (see [`rows`]).

use model::{Kind, RowSet, rows::Column};

/// No frame is longer. What does not fit is refused as SQLite itself would (TOOBIG).
pub const LONGEST: usize = 1 << 30;

/// What the parent asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// The first one of a connection: open the database, under this number.
    Open(u64),
    /// Run one statement to its end.
    Run(String),
    /// Close the database and open it again: all session state is gone.
    Reopen,
}

/// What the child answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub body: Body,
    /// Is no transaction open?
    pub autocommit: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A statement with columns.
    Rows {
        /// Name and declared type of each.
        columns: Vec<(String, String)>,
        /// Row by row.
        cells: Vec<Cell>,
    },
    /// A statement without.
    Done {
        /// Rows affected.
        affected: u64,
    },
    /// SQLite refused.
    Error {
        /// The extended code.
        code: u32,
        /// Its text.
        message: String,
    },
}

/// One value with its storage class.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    /// TEXT, which may hold any bytes
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

/// The other side does not speak this protocol.
#[derive(Debug, thiserror::Error)]
#[error("a damaged message")]
pub struct MalformedFrame;

impl Request {
    /// As a whole frame.
    pub fn frame(&self) -> Vec<u8> {
        let mut frame = Frame::new();
        match self {
            Request::Open(id) => {
                frame.byte(1);
                frame.0.extend(id.to_le_bytes());
            }
            Request::Run(sql) => {
                frame.byte(2);
                frame.bytes(sql.as_bytes());
            }
            Request::Reopen => frame.byte(3),
        }
        frame.finish()
    }

    /// From a frame's body.
    pub fn parse(body: &[u8]) -> Result<Request, MalformedFrame> {
        let mut rest = FrameReader(body);
        let request = match rest.byte()? {
            1 => Request::Open(rest.u64()?),
            2 => Request::Run(rest.text()?),
            3 => Request::Reopen,
            _ => return Err(MalformedFrame),
        };
        rest.end(request)
    }
}

impl Reply {
    /// As a whole frame.
    pub fn frame(&self) -> Vec<u8> {
        let mut frame = Frame::new();
        match &self.body {
            Body::Rows { columns, cells } => {
                frame.byte(1);
                frame.length(columns.len());
                for (name, declared) in columns {
                    frame.bytes(name.as_bytes());
                    frame.bytes(declared.as_bytes());
                }
                frame.length(cells.len());
                cells.iter().for_each(|cell| frame.cell(cell));
            }
            Body::Done { affected } => {
                frame.byte(2);
                frame.0.extend(affected.to_le_bytes());
            }
            Body::Error { code, message } => {
                frame.byte(3);
                frame.0.extend(code.to_le_bytes());
                frame.bytes(message.as_bytes());
            }
        }
        frame.byte(u8::from(self.autocommit));
        frame.finish()
    }

    /// From a frame's body.
    pub fn parse(body: &[u8]) -> Result<Reply, MalformedFrame> {
        let mut rest = FrameReader(body);
        let body = match rest.byte()? {
            1 => {
                let columns =
                    (0..rest.u32()?)
                        .map(|_| Ok((rest.text()?, rest.text()?)))
                        .collect::<Result<Vec<_>, MalformedFrame>>()?;
                let cells =
                    (0..rest.u32()?).map(|_| rest.cell()).collect::<Result<Vec<_>, MalformedFrame>>()?;
                if columns.is_empty() || cells.len() % columns.len() != 0 {
                    return Err(MalformedFrame);
                }
                Body::Rows { columns, cells }
            }
            2 => Body::Done { affected: rest.u64()? },
            3 => Body::Error { code: rest.u32()?, message: rest.text()? },
            _ => return Err(MalformedFrame),
        };
        let autocommit = match rest.byte()? {
            0 => false,
            1 => true,
            _ => return Err(MalformedFrame),
        };
        rest.end(Reply { body, autocommit })
    }
}

/// Takes the first frame's body out of what was received, if it is there completely.
pub fn take(received: &mut Vec<u8>) -> Result<Option<Vec<u8>>, MalformedFrame> {
    let Some(head) = received.first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_le_bytes(*head) as usize;
    if length > LONGEST {
        return Err(MalformedFrame);
    }
    if received.len() < 4 + length {
        return Ok(None);
    }
    let rest = received.split_off(4 + length);
    let mut body = std::mem::replace(received, rest);
    body.drain(..4);
    Ok(Some(body))
}

/// Cells as a result set. A column gets the kind of its values if they agree; integers and reals together are
/// numbers still (a real always shows a point or an exponent); anything else together is `Other`, and the
/// column's type names the storage classes that met.
pub fn rows(columns: Vec<(String, String)>, cells: &[Cell]) -> RowSet {
    let width = columns.len();
    let columns = columns
        .into_iter()
        .enumerate()
        .map(|(i, (name, declared))| {
            let column = cells.iter().skip(i).step_by(width);
            let mut classes: Vec<&'static str> = column.filter_map(Cell::class).collect();
            classes.sort_unstable();
            classes.dedup();
            let (kind, type_name) = match classes[..] {
                [] => (Kind::Other, declared),
                ["integer"] => (Kind::Integer, declared),
                ["real"] | ["integer", "real"] => (Kind::Float, declared),
                ["text"] => (Kind::Text, declared),
                ["blob"] => (Kind::Bytes, declared),
                _ => (Kind::Other, classes.join("|")),
            };
            Column { name, kind, type_name }
        })
        .collect();
    let mut set = RowSet::new(columns);
    for cell in cells {
        match cell {
            Cell::Null => set.push(None),
            Cell::Integer(number) => set.push(Some(number.to_string().as_bytes())),
            Cell::Real(number) => set.push(Some(real(*number).as_bytes())),
            Cell::Text(bytes) | Cell::Blob(bytes) => set.push(Some(bytes)),
        }
    }
    set
}

/// The shortest digits that read back as the same number.
fn real(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "Inf" } else { "-Inf" }.to_string();
    }
    format!("{number:?}")
}

impl Cell {
    fn class(&self) -> Option<&'static str> {
        match self {
            Cell::Null => None,
            Cell::Integer(_) => Some("integer"),
            Cell::Real(_) => Some("real"),
            Cell::Text(_) => Some("text"),
            Cell::Blob(_) => Some("blob"),
        }
    }
}

/// A frame in the making; the length is filled in at the end.
struct Frame(Vec<u8>);

impl Frame {
    fn new() -> Frame {
        Frame(vec![0; 4])
    }

    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn length(&mut self, length: usize) {
        self.0.extend((length as u32).to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.0.extend(bytes);
    }

    fn cell(&mut self, cell: &Cell) {
        match cell {
            Cell::Null => self.byte(0),
            Cell::Integer(number) => {
                self.byte(1);
                self.0.extend(number.to_le_bytes());
            }
            Cell::Real(number) => {
                self.byte(2);
                self.0.extend(number.to_bits().to_le_bytes());
            }
            Cell::Text(bytes) => {
                self.byte(3);
                self.bytes(bytes);
            }
            Cell::Blob(bytes) => {
                self.byte(4);
                self.bytes(bytes);
            }
        }
    }

    fn finish(mut self) -> Vec<u8> {
        let length = (self.0.len() - 4) as u32;
        self.0[..4].copy_from_slice(&length.to_le_bytes());
        self.0
    }
}

/// What is left of a body.
struct FrameReader<'a>(&'a [u8]);

impl<'a> FrameReader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], MalformedFrame> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(MalformedFrame)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], MalformedFrame> {
        self.take(N)?.try_into().map_err(|_| MalformedFrame)
    }

    fn byte(&mut self) -> Result<u8, MalformedFrame> {
        Ok(self.array::<1>()?[0])
    }

    fn u32(&mut self) -> Result<u32, MalformedFrame> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, MalformedFrame> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn bytes(&mut self) -> Result<Vec<u8>, MalformedFrame> {
        let length = self.u32()? as usize;
        Ok(self.take(length)?.to_vec())
    }

    fn text(&mut self) -> Result<String, MalformedFrame> {
        String::from_utf8(self.bytes()?).map_err(|_| MalformedFrame)
    }

    fn cell(&mut self) -> Result<Cell, MalformedFrame> {
        Ok(match self.byte()? {
            0 => Cell::Null,
            1 => Cell::Integer(i64::from_le_bytes(self.array()?)),
            2 => Cell::Real(f64::from_bits(self.u64()?)),
            3 => Cell::Text(self.bytes()?),
            4 => Cell::Blob(self.bytes()?),
            _ => return Err(MalformedFrame),
        })
    }

    fn end<T>(&self, parsed: T) -> Result<T, MalformedFrame> {
        if self.0.is_empty() { Ok(parsed) } else { Err(MalformedFrame) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Reply {
        let columns = vec![("a".to_string(), "INT".to_string()), ("b".to_string(), String::new())];
        let cells = vec![
            Cell::Integer(i64::MIN),
            Cell::Text(b"it's\0\xff".to_vec()),
            Cell::Null,
            Cell::Blob(vec![0, 255]),
            Cell::Real(0.1 + 0.2),
            Cell::Null,
        ];
        Reply { body: Body::Rows { columns, cells }, autocommit: false }
    }

    #[test]
    fn everything_reads_back_as_it_was_written() {
        let error = Body::Error { code: 517, message: "database is locked".into() };
        for reply in [
            sample(),
            Reply { body: Body::Done { affected: u64::MAX }, autocommit: true },
            Reply { body: error, autocommit: false },
        ] {
            let mut received = reply.frame();
            let body = take(&mut received).unwrap().unwrap();
            assert!(received.is_empty());
            assert_eq!(Reply::parse(&body).unwrap(), reply);
        }
        for request in [Request::Open(7), Request::Run("SELECT 'é'".into()), Request::Reopen] {
            let body = take(&mut request.frame()).unwrap().unwrap();
            assert_eq!(Request::parse(&body).unwrap(), request);
        }
    }

    #[test]
    fn a_part_is_not_taken_and_what_follows_stays() {
        let frame = sample().frame();
        for cut in 0..frame.len() {
            assert!(take(&mut frame[..cut].to_vec()).unwrap().is_none());
        }
        let mut two = [frame.clone(), frame[..9].to_vec()].concat();
        assert!(take(&mut two).unwrap().is_some());
        assert_eq!(two, frame[..9]);
    }

    #[test]
    fn damage_is_noticed() {
        let frame = sample().frame();
        for cut in 4..frame.len() {
            assert!(Reply::parse(&frame[4..cut]).is_err());
        }
        assert!(Request::parse(b"\x09").is_err());
        assert!(take(&mut vec![0xff; 8]).is_err());
    }

    #[test]
    fn a_column_has_the_kind_of_its_values() {
        let columns = |n: usize| vec![(String::new(), "T".to_string()); n];
        let numbers = rows(columns(1), &[Cell::Integer(1), Cell::Real(1.0), Cell::Null]);
        assert_eq!(numbers.columns()[0].kind, Kind::Float);
        assert_eq!(numbers.to_string(), "(1) (1.0) (NULL)");
        let mixed = rows(columns(1), &[Cell::Integer(1), Cell::Text(b"x".to_vec())]);
        assert_eq!((mixed.columns()[0].kind, &*mixed.columns()[0].type_name), (Kind::Other, "integer|text"));
        let two = rows(columns(2), &[Cell::Text(b"a".to_vec()), Cell::Blob(vec![7]), Cell::Null, Cell::Null]);
        assert_eq!(two.to_string(), "('a', x'07') (NULL, NULL)");
        assert_eq!(two.columns()[1].type_name, "T");
    }

    #[test]
    fn a_real_keeps_its_value() {
        for number in [0.1 + 0.2, 1e300, -0.0, 5e-324, 1e15, 1e16, f64::MAX] {
            assert_eq!(real(number).parse::<f64>().unwrap().to_bits(), number.to_bits());
            assert!(real(number).contains(['.', 'e']));
        }
    }
}
