//! What goes between a session and the child: frames of a length (u32, little-endian) and a body in postcard's form.
//!
//! Cells keep SQLite's storage class, so nothing is lost here; the session turns them into a [`RowSet`], whose columns
//! have one kind each (see [`rows`]).

use std::{
    io::{self, Write},
    net::Shutdown,
    os::{
        fd::{AsRawFd, RawFd},
        unix::net::UnixStream,
    },
};

use model::{Kind, RowSet, rows::Column};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::net::{SocketRead, read};

/// No frame is longer. What does not fit is refused as SQLite itself would (TOOBIG).
pub const LONGEST: usize = 1 << 30;

/// What the parent asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// The first one of a connection: open the database, under this number.
    Open(u64),
    /// Run one statement to its end.
    Run(String),
    /// Close the database and open it again: all session state is gone.
    Reopen,
}

/// What the child answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub body: Body,
    /// Is no transaction open?
    pub autocommit: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Body {
    /// A statement with columns.
    Rows {
        /// Name and declared type of each.
        columns: Vec<(String, String)>,
        /// Row by row.
        cells: Vec<Cell>,
    },
    /// A statement without.
    Done { affected: u64 },
    Error {
        /// The extended code.
        code: u32,
        message: String,
    },
}

/// One value with its storage class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

/// A message as a whole frame.
pub fn frame(message: &impl Serialize) -> postcard::Result<Vec<u8>> {
    let mut frame = postcard::to_extend(message, vec![0; 4])?;
    let length = (frame.len() - 4) as u32;
    frame[..4].copy_from_slice(&length.to_le_bytes());
    Ok(frame)
}

/// Takes the first message out of what was received, if it is there completely.
pub fn take<T: DeserializeOwned>(received: &mut Vec<u8>) -> Result<Option<T>, MalformedFrame> {
    let Some((head, rest)) = received.split_first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_le_bytes(*head) as usize;
    if length > LONGEST {
        return Err(MalformedFrame);
    }
    let Some(body) = rest.get(..length) else { return Ok(None) };
    match postcard::take_from_bytes(body) {
        Ok((message, [])) => {
            received.drain(..4 + length);
            Ok(Some(message))
        }
        Ok(_) | Err(_) => Err(MalformedFrame),
    }
}

/// One end of a connection: messages over a socket that never blocks.
#[derive(Debug)]
pub struct Channel {
    stream: UnixStream,
    inbox: Vec<u8>,
    /// What the socket did not take at once.
    outbox: Vec<u8>,
    /// Nothing more will come.
    pub closed: bool,
}

impl Channel {
    pub fn new(stream: UnixStream) -> io::Result<Channel> {
        stream.set_nonblocking(true)?;
        Ok(Channel { stream, inbox: Vec::new(), outbox: Vec::new(), closed: false })
    }

    /// The socket, and whether something still has to be written to it.
    pub fn wanted(&self) -> (RawFd, bool) {
        (self.stream.as_raw_fd(), !self.outbox.is_empty())
    }

    /// The same socket, for another thread.
    pub fn try_clone(&self) -> io::Result<UnixStream> {
        self.stream.try_clone()
    }

    /// Sends a message, as far as the socket takes it.
    pub fn put(&mut self, message: &impl Serialize) {
        match frame(message) {
            Ok(frame) => self.outbox.extend(frame),
            Err(_) => self.shut(),
        }
        self.flush();
    }

    /// Writes what the socket takes; the rest goes when it is writable again.
    pub fn flush(&mut self) {
        while !self.outbox.is_empty() && !self.closed {
            match self.stream.write(&self.outbox) {
                Ok(n) => drop(self.outbox.drain(..n)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // What was sent to us before the end can still be read.
                Err(_) => self.outbox.clear(),
            }
        }
    }

    /// Reads what is there.
    pub fn fill(&mut self) {
        let mut buffer = [0; 16 * 1024];
        while !self.closed {
            let (found, count) = read(&mut self.stream, &mut buffer);
            self.inbox.extend(&buffer[..count]);
            match found {
                SocketRead::More => {}
                SocketRead::Drained | SocketRead::Nothing => return,
                SocketRead::Closed => self.closed = true,
            }
        }
    }

    /// The next message, if it is there completely.
    pub fn take<T: DeserializeOwned>(&mut self) -> Result<Option<T>, MalformedFrame> {
        take(&mut self.inbox)
    }

    /// Ends it: what was sent to us before is read no more.
    pub fn shut(&mut self) {
        self.closed = true;
        let _ = self.stream.shutdown(Shutdown::Both);
        self.inbox.clear();
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        // Closing alone is not enough: a process that is being started elsewhere in this program holds a copy
        // of the socket for a moment, and the transaction would stay open until that one is gone.
        self.shut();
    }
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
            let mut received = frame(&reply).unwrap();
            assert_eq!(take(&mut received).unwrap(), Some(reply));
            assert!(received.is_empty());
        }
        for request in [Request::Open(7), Request::Run("SELECT 'é'".into()), Request::Reopen] {
            assert_eq!(take(&mut frame(&request).unwrap()).unwrap(), Some(request));
        }
    }

    #[test]
    fn a_part_is_not_taken_and_what_follows_stays() {
        let frame = frame(&sample()).unwrap();
        for cut in 0..frame.len() {
            assert!(take::<Reply>(&mut frame[..cut].to_vec()).unwrap().is_none());
        }
        let mut two = [frame.clone(), frame[..9].to_vec()].concat();
        assert!(take::<Reply>(&mut two).unwrap().is_some());
        assert_eq!(two, frame[..9]);
    }

    #[test]
    fn damage_is_noticed() {
        let frame = frame(&sample()).unwrap();
        let framed = |body: &[u8]| [&(body.len() as u32).to_le_bytes(), body].concat();
        for cut in 4..frame.len() {
            assert!(take::<Reply>(&mut framed(&frame[4..cut])).is_err());
        }
        assert!(take::<Reply>(&mut framed(&[&frame[4..], b"\0"].concat())).is_err());
        assert!(take::<Request>(&mut framed(b"\x09")).is_err());
        assert!(take::<Reply>(&mut vec![0xff; 8]).is_err());
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
