//! Packets of the MySQL protocol: how bytes of the socket become packets, and how a command becomes bytes.
//!
//! A packet is a length of three bytes, a sequence number and a payload. A payload of 16 MB or more comes in
//! several packets, of which all but the last have the length 0xffffff; [`ReceiveBuffer`] joins them in place.
//! [`Cursor`] reads the parts of a payload; it never panics, whatever the bytes are.

use std::{io::Read, ops::Range};

use crate::net::{Allowance, BYTE, MESSAGE, SocketRead, TOO_LARGE, read};

/// The length that says "more of this payload follows".
pub const FULL: usize = 0xff_ffff;
/// The buffer begins with this size, and goes back to it when it has become larger than it is worth to keep.
const USUAL: usize = 16 << 10;
const KEPT: usize = 1 << 20;

/// The bytes are not what the protocol says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// What came from the server and was not yet taken. The buffer is kept from answer to answer.
#[derive(Debug)]
pub struct ReceiveBuffer {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    allowance: Allowance,
    /// The number that the next packet must have, where that is looked at.
    due: Option<u8>,
}

impl Default for ReceiveBuffer {
    fn default() -> ReceiveBuffer {
        let allowance = Allowance::NO_LIMIT;
        ReceiveBuffer { buffer: vec![0; USUAL], start: 0, end: 0, allowance, due: None }
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

    /// From here on no more than this may come, and the next packet has this number.
    pub fn expect(&mut self, allowance: Allowance, sequence: u8) {
        (self.allowance, self.due) = (allowance, Some(sequence));
    }

    /// Only the next packet's number.
    pub fn expect_number(&mut self, sequence: u8) {
        self.due = Some(sequence);
    }

    /// Counts what was made of the payload that was taken last.
    pub fn spend(&mut self, bytes: usize) -> Result<(), Malformed> {
        if self.allowance.spend(bytes) { Ok(()) } else { Err(Malformed(TOO_LARGE)) }
    }

    /// Is everything taken that came?
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    fn make_room(&mut self) {
        if self.is_empty() {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > KEPT {
                self.buffer = vec![0; USUAL];
            }
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
        if !self.allowance.fits(length) {
            return Err(Malformed(TOO_LARGE));
        }
        if length < FULL {
            if body + length > self.end {
                return Ok(None);
            }
            self.start = body + length;
            return self.numbered(sequence, sequence, body..body + length);
        }
        self.take_joined(sequence, body)
    }

    /// Looks at the numbers of a payload's first and last packet. Servers send errors out of turn: when they end a
    /// session, they say so whether or not something was asked.
    fn numbered(
        &mut self,
        first: u8,
        last: u8,
        range: Range<usize>,
    ) -> Result<Option<(u8, Range<usize>)>, Malformed> {
        let error = self.buffer.get(range.start).is_some_and(|byte| *byte == 0xff) && !range.is_empty();
        if self.due.is_some_and(|due| due != first) && !error {
            return Err(Malformed("a packet with the wrong number"));
        }
        self.due = self.due.map(|_| last.wrapping_add(1));
        self.spend(range.len() * BYTE + MESSAGE)?;
        Ok(Some((last, range)))
    }

    /// The slow way, for payloads of several packets: nothing is moved before all of them are there.
    fn take_joined(&mut self, first: u8, body: usize) -> Result<Option<(u8, Range<usize>)>, Malformed> {
        let mut pieces = Vec::new();
        let mut at = self.start;
        let mut due = first;
        let (sequence, after) = loop {
            let Some((length, sequence)) = self.header(at) else { return Ok(None) };
            if !self.allowance.fits(at + 4 + length - body) {
                return Err(Malformed(TOO_LARGE));
            }
            if self.due.is_some() && sequence != due {
                return Err(Malformed("a packet with the wrong number"));
            }
            due = due.wrapping_add(1);
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
        self.numbered(first, sequence, body..to)
    }

    fn header(&self, at: usize) -> Option<(usize, u8)> {
        let &[low, middle, high, sequence] = self.buffer[..self.end].get(at..at + 4)? else { return None };
        Some((usize::from(low) | usize::from(middle) << 8 | usize::from(high) << 16, sequence))
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
        Ok(self.number(1)? as u8)
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
        if let [0xfb, rest @ ..] = self.0 {
            self.0 = rest;
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

    /// Takes all payloads of these bytes, with the numbers from 1 on and not more than this in one of them.
    fn taken(bytes: &[u8], answer: usize) -> Result<Vec<usize>, Malformed> {
        let mut inbox = ReceiveBuffer::default();
        inbox.expect(Allowance::answer(&crate::net::Limits { answer, ..Default::default() }), 1);
        let (mut rest, mut lengths) = (bytes, Vec::new());
        while inbox.fill(&mut rest) != SocketRead::Closed {
            while let Some((_, range)) = inbox.take()? {
                lengths.push(range.len());
            }
        }
        Ok(lengths)
    }

    #[test]
    fn packets_come_in_turn_but_an_error_may_come_at_any_time() {
        let packets = |numbered: &[(u8, &[u8])]| {
            let mut one = Vec::new();
            let all = numbered.iter().map(|(number, body)| {
                pack(&mut one, *number, body, &[]);
                one.clone()
            });
            all.collect::<Vec<_>>().concat()
        };
        let all = 1 << 20;
        assert_eq!(taken(&packets(&[(1, b"a"), (2, b"b")]), all), Ok(vec![1, 1]));
        assert!(taken(&packets(&[(0, b"a")]), all).is_err());
        assert!(taken(&packets(&[(1, b"a"), (1, b"b")]), all).is_err());
        assert!(taken(&packets(&[(1, b"a"), (3, b"b")]), all).is_err());
        assert_eq!(taken(&packets(&[(0, b"\xffgone")]), all), Ok(vec![5]));
        let wrap: Vec<(u8, &[u8])> = (1..=300u16).map(|number| (number as u8, &b"x"[..])).collect();
        assert_eq!(taken(&packets(&wrap), all).unwrap().len(), 300);
        let mut large = Vec::new();
        pack(&mut large, 1, &vec![7; FULL + 5], &[]);
        assert_eq!(taken(&large, 1 << 28), Ok(vec![FULL + 5]));
        large[FULL + 4 + 3] = 9; // The number of its second packet.
        assert!(taken(&large, 1 << 28).is_err());
    }

    #[test]
    fn no_more_is_taken_than_is_allowed() {
        let mut one = Vec::new();
        pack(&mut one, 1, &[7; 300], &[]);
        assert!(taken(&one, 1200).is_ok());
        assert_eq!(taken(&one, 1199), Err(Malformed(TOO_LARGE)), "a message may have a quarter");
        let many: Vec<u8> = (1..=100u8).flat_map(|number| [0, 0, 0, number]).collect();
        assert!(taken(&many, 100 * MESSAGE).is_ok());
        assert_eq!(taken(&many, 100 * MESSAGE - 1), Err(Malformed(TOO_LARGE)), "empty ones cost, too");
        assert_eq!(
            taken(&[0xff, 0xff, 0xff, 1], 1 << 20),
            Err(Malformed(TOO_LARGE)),
            "before all of it is here"
        );
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
