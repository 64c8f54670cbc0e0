//! Packets of the MySQL protocol: how bytes of the socket become packets, and how a command becomes bytes.
//!
//! A packet is a length of three bytes, a sequence number and a payload. A payload of 16 MB or more comes in
//! several packets, of which all but the last have the length 0xffffff; [`ReceiveBuffer`] joins them in place.
//! [`Cursor`] reads the parts of a payload; it never panics, whatever the bytes are.

use std::{io::Read, ops::Range};

use crate::net::{SocketRead, read};

/// The length that says "more of this payload follows".
const FULL: usize = 0xff_ffff;
/// A little more than the server's own upper limit of max_allowed_packet.
const LARGEST: usize = (1 << 30) + (1 << 16);

/// The bytes are not what the protocol says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// What came from the server and was not yet taken. The buffer is kept from answer to answer.
#[derive(Debug)]
pub struct ReceiveBuffer {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Default for ReceiveBuffer {
    fn default() -> ReceiveBuffer {
        ReceiveBuffer { buffer: vec![0; 16 * 1024], start: 0, end: 0 }
    }
}

impl ReceiveBuffer {
    /// Reads once from a non-blocking stream.
    pub fn fill(&mut self, stream: &mut dyn Read) -> SocketRead {
        self.make_room();
        let (fill, count) = read(stream, &mut self.buffer[self.end..]);
        self.end += count;
        fill
    }

    /// Is everything taken that came?
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    fn make_room(&mut self) {
        if self.is_empty() {
            (self.start, self.end) = (0, 0);
        } else if self.buffer.len() - self.end < self.buffer.len() / 4 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if self.end > self.buffer.len() / 2 {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
    }

    /// Takes the next complete payload, with the sequence number of its last packet. The range is good for
    /// [`ReceiveBuffer::payload`] until the next [`ReceiveBuffer::fill`].
    pub fn take(&mut self) -> Result<Option<(u8, Range<usize>)>, Malformed> {
        let Some((length, sequence)) = self.header(self.start) else { return Ok(None) };
        let body = self.start + 4;
        if length < FULL {
            if body + length > self.end {
                return Ok(None);
            }
            self.start = body + length;
            return Ok(Some((sequence, body..body + length)));
        }
        self.take_joined(body)
    }

    /// The slow way, for payloads of several packets: nothing is moved before all of them are there.
    fn take_joined(&mut self, body: usize) -> Result<Option<(u8, Range<usize>)>, Malformed> {
        let mut pieces = Vec::new();
        let mut at = self.start;
        let (sequence, after) = loop {
            let Some((length, sequence)) = self.header(at) else { return Ok(None) };
            if at + 4 + length - body > LARGEST {
                return Err(Malformed("a packet of more than 1 GB"));
            }
            if at + 4 + length > self.end {
                return Ok(None);
            }
            pieces.push(at + 4..at + 4 + length);
            at += 4 + length;
            if length < FULL {
                break (sequence, at);
            }
        };
        let mut to = body;
        for piece in pieces {
            let length = piece.len();
            self.buffer.copy_within(piece, to);
            to += length;
        }
        self.start = after;
        Ok(Some((sequence, body..to)))
    }

    fn header(&self, at: usize) -> Option<(usize, u8)> {
        let head = self.buffer[..self.end].get(at..at + 4)?;
        Some((usize::from(head[0]) | usize::from(head[1]) << 8 | usize::from(head[2]) << 16, head[3]))
    }

    /// The bytes of a payload that was just taken.
    pub fn payload(&self, range: Range<usize>) -> &[u8] {
        &self.buffer[range]
    }
}

/// Writes one payload as packets, the first with this sequence number.
pub fn pack(out: &mut Vec<u8>, sequence: u8, head: &[u8], body: &[u8]) {
    out.clear();
    if head.len() + body.len() < FULL {
        header(out, head.len() + body.len(), sequence);
        out.extend_from_slice(head);
        out.extend_from_slice(body);
        return;
    }
    let payload = [head, body].concat();
    let mut sequence = sequence;
    for piece in payload.chunks(FULL) {
        header(out, piece.len(), sequence);
        out.extend_from_slice(piece);
        sequence = sequence.wrapping_add(1);
    }
    if payload.len().is_multiple_of(FULL) {
        header(out, 0, sequence); // An empty packet says that the full one before it was the last.
    }
}

fn header(out: &mut Vec<u8>, length: usize, sequence: u8) {
    out.extend_from_slice(&(length as u32).to_le_bytes()[..3]);
    out.push(sequence);
}

/// Reads a payload from the front.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or(Malformed("a packet that ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// A little-endian number of up to eight bytes.
    pub fn number(&mut self, count: usize) -> Result<u64, Malformed> {
        Ok(self.bytes(count)?.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    pub fn byte(&mut self) -> Result<u8, Malformed> {
        Ok(self.bytes(1)?[0])
    }

    /// Two bytes.
    pub fn short(&mut self) -> Result<u16, Malformed> {
        Ok(self.number(2)? as u16)
    }

    /// A number that carries its own length.
    pub fn packed(&mut self) -> Result<u64, Malformed> {
        match self.byte()? {
            small @ 0..=0xfa => Ok(u64::from(small)),
            0xfc => self.number(2),
            0xfd => self.number(3),
            0xfe => self.number(8),
            0xfb | 0xff => Err(Malformed("a number that is none")),
        }
    }

    /// Bytes that carry their own length.
    pub fn string(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.packed()?;
        self.bytes(usize::try_from(length).map_err(|_| Malformed("a string that is too long"))?)
    }

    /// One cell of a row: a string, or NULL.
    pub fn cell(&mut self) -> Result<Option<&'a [u8]>, Malformed> {
        if self.0.first() == Some(&0xfb) {
            self.0 = &self.0[1..];
            return Ok(None);
        }
        self.string().map(Some)
    }

    /// Bytes up to a zero, which is dropped; without one, all that is left.
    pub fn until_zero(&mut self) -> &'a [u8] {
        let length = self.0.iter().position(|byte| *byte == 0);
        let taken = &self.0[..length.unwrap_or(self.0.len())];
        self.0 = length.map_or(&[], |length| &self.0[length + 1..]);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_out_as_they_went_in_however_the_bytes_are_cut() {
        let mut bytes = Vec::new();
        let mut one = Vec::new();
        for (sequence, body) in [(0, &b"SELECT 1"[..]), (1, b""), (2, &[7; 300])] {
            pack(&mut one, sequence, &[3], body);
            bytes.extend_from_slice(&one);
        }
        for cut in [1, 2, 5, 13, bytes.len()] {
            let mut inbox = ReceiveBuffer::default();
            let mut seen = Vec::new();
            for mut part in bytes.chunks(cut) {
                assert_eq!(inbox.fill(&mut part), SocketRead::Drained);
                while let Some((sequence, range)) = inbox.take().unwrap() {
                    seen.push((sequence, inbox.payload(range).len()));
                }
            }
            assert_eq!(seen, [(0, 9), (1, 1), (2, 301)]);
        }
    }

    #[test]
    fn a_payload_of_several_packets_is_joined() {
        for size in [FULL - 1, FULL, FULL + 1, 2 * FULL - 1] {
            let body: Vec<u8> = (0..size).map(|i| (i % 251) as u8).collect();
            let mut bytes = Vec::new();
            pack(&mut bytes, 0, &[3], &body);
            let mut inbox = ReceiveBuffer::default();
            let mut rest = &bytes[..];
            let mut found = None;
            while found.is_none() && inbox.fill(&mut rest) != SocketRead::Closed {
                found = inbox.take().unwrap();
            }
            let (_, range) = found.unwrap();
            assert!(inbox.payload(range)[1..] == body, "{size}");
        }
    }

    #[test]
    fn nonsense_is_an_error_and_not_a_panic() {
        assert!(Cursor(&[0xfc, 1]).packed().is_err());
        assert!(Cursor(&[0xff]).packed().is_err());
        assert!(Cursor(&[5, b'a']).string().is_err());
        assert_eq!(Cursor(&[0xfb]).cell(), Ok(None));
        assert_eq!(Cursor(&[0]).cell(), Ok(Some(&b""[..])));
        assert_eq!(Cursor(b"ab").until_zero(), b"ab");
    }
}
