//! Messages of the PostgreSQL protocol: how bytes of the socket become messages. What they hold is taken apart by
//! `postgres-protocol`; here is only what keeps bytes until a message is whole.

use std::io::{self, Read};

use bytes::BytesMut;
use postgres_protocol::message::backend::{Header, Message};

use crate::net::{Allowance, BYTE, CELL, MESSAGE, SocketRead, TOO_LARGE, read};

/// One reading of the socket.
const CHUNK: usize = 16 * 1024;

/// The bytes are not what the protocol says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl From<io::Error> for Malformed {
    fn from(error: io::Error) -> Malformed {
        Malformed(error.to_string())
    }
}

/// What came from the server and was not yet taken.
#[derive(Debug)]
pub struct ReceiveBuffer {
    buffer: BytesMut,
    chunk: Box<[u8]>,
    allowance: Allowance,
}

impl Default for ReceiveBuffer {
    fn default() -> ReceiveBuffer {
        let allowance = Allowance::NO_LIMIT;
        ReceiveBuffer { buffer: BytesMut::with_capacity(CHUNK), chunk: vec![0; CHUNK].into(), allowance }
    }
}

impl ReceiveBuffer {
    /// Reads once from a non-blocking stream.
    pub fn fill(&mut self, stream: &mut dyn Read) -> SocketRead {
        let (fill, count) = read(stream, &mut self.chunk);
        self.buffer.extend_from_slice(self.chunk.get(..count).unwrap_or_default());
        fill
    }

    /// From here on no more than this may come.
    pub fn expect(&mut self, allowance: Allowance) {
        self.allowance = allowance;
    }

    /// Takes the next complete message.
    pub fn take(&mut self) -> Result<Option<Message>, Malformed> {
        // Checked first, because room for the rest is made as soon as the length is known.
        if let Some(header) = Header::parse(&self.buffer)? {
            let length = usize::try_from(header.len()).unwrap_or(usize::MAX);
            let whole = self.buffer.len() > length;
            if !self.allowance.fits(length) || whole && !self.allowance.spend(self.cost(&header, length)) {
                return Err(Malformed(TOO_LARGE.to_string()));
            }
        }
        Ok(Message::parse(&mut self.buffer)?)
    }

    /// What a message that is here comes to in memory. A row says first how many cells it has.
    fn cost(&self, header: &Header, length: usize) -> usize {
        let body = self.buffer.get(5..=length).unwrap_or_default();
        let cells = match (header.tag(), body) {
            (b'D', &[high, low, ..]) => usize::from(u16::from_be_bytes([high, low])),
            _ => 0,
        };
        length * BYTE + MESSAGE + cells * CELL
    }
}

/// A message as a server would write it, for tests on bytes.
#[cfg(test)]
pub(crate) fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() + 4) as u32;
    [&[tag][..], &length.to_be_bytes(), body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_as_they_went_in_however_the_bytes_are_cut() {
        let large = [&[0, 1, 0, 0, 0x9c, 0x40][..], &[b'x'; 40_000]].concat();
        let bytes = [
            message(b'C', b"INSERT 0 1\0"),
            message(b'D', &large),
            message(b'N', b"SLOG\0\0"),
            message(b'Z', b"I"),
        ]
        .concat();
        for cut in [1, 2, 3, 5, 13, 4_096, bytes.len()] {
            let mut inbox = ReceiveBuffer::default();
            let mut seen = Vec::new();
            for mut part in bytes.chunks(cut) {
                while !part.is_empty() {
                    inbox.fill(&mut part);
                    while let Some(message) = inbox.take().unwrap() {
                        seen.push(match message {
                            Message::CommandComplete(_) => 'C',
                            Message::DataRow(_) => 'D',
                            Message::NoticeResponse(_) => 'N',
                            Message::ReadyForQuery(_) => 'Z',
                            _ => '?',
                        });
                    }
                }
            }
            assert_eq!(seen, ['C', 'D', 'N', 'Z'], "cut at {cut}");
        }
    }

    #[test]
    fn no_more_is_taken_than_is_allowed() {
        let taken = |mut bytes: &[u8], answer: usize| -> Result<usize, Malformed> {
            let mut inbox = ReceiveBuffer::default();
            inbox.expect(Allowance::answer(&crate::net::Limits { answer, ..Default::default() }));
            let mut count = 0;
            while inbox.fill(&mut bytes) != SocketRead::Closed {
                while inbox.take()?.is_some() {
                    count += 1;
                }
            }
            Ok(count)
        };
        let row = message(b'D', &[&[0, 2][..], &[0xff; 8]].concat());
        let cost = 14 * BYTE + MESSAGE + 2 * CELL;
        assert_eq!(taken(&row.repeat(10), 10 * cost), Ok(10));
        assert!(taken(&row.repeat(10), 10 * cost - 1).is_err(), "NULLs cost, too");
        let short = [message(b'D', b"\0"), vec![0xff; 64]].concat();
        let whole = taken(&short, 1 << 16).unwrap_err();
        assert_ne!(whole.0, TOO_LARGE, "what stands behind a row is no part of it");
        let notice = message(b'N', b"SNOTICE\0\0");
        assert!(taken(&notice.repeat(1000), 1000 * MESSAGE).is_err());
        assert!(taken(&[b'D', 0, 1, 0, 0], 1 << 16).is_err(), "before all of it is here");
    }

    #[test]
    fn nonsense_is_an_error_and_not_a_panic() {
        let read = |mut bytes: &[u8]| {
            let mut inbox = ReceiveBuffer::default();
            inbox.fill(&mut bytes);
            inbox.take().map(|message| message.is_some())
        };
        assert!(read(&[b'Z', 0, 0, 0, 3]).is_err(), "shorter than its own head");
        assert!(read(&[b'D', 0x7f, 0xff, 0xff, 0xff]).is_err(), "endless");
        assert!(read(&[b'D', 0xff, 0xff, 0xff, 0xff]).is_err(), "negative");
        assert!(read(&message(b'?', b"")).is_err());
        assert!(read(&message(b'Z', b"")).is_err());
        assert!(read(&message(b'C', b"no end")).is_err());
        assert_eq!(read(&message(b'Z', b"I")[..5]), Ok(false));
        assert_eq!(read(b""), Ok(false));
    }
}
