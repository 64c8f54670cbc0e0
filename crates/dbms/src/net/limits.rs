//! How much a server may send, and how long it may take: whoever talks without end must end neither our memory nor our day.

use std::time::Duration;

/// A result has at most so many columns: MySQL's and MariaDB's own limit, and more than twice PostgreSQL's.
pub const COLUMNS: usize = 4096;

/// What a server may send before it has let us in.
pub const BEFORE_LOGIN: usize = 64 << 10;

/// What a byte takes in memory, since what grows is copied into twice the room; a cell beside its bytes, and a message beside its cells.
pub const BYTE: usize = 2;
pub const CELL: usize = 16;
pub const MESSAGE: usize = 32;

/// More came than is taken.
pub const TOO_LARGE: &str = "it is larger than the largest answer that Isopod takes (256 MB in memory; largest_answer=MB in the address of a server)";

/// What one server may cost us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of one answer, as it lies in memory.
    pub answer: usize,
    /// How long a statement of our own may take, if that is to be less than usual.
    pub own: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { answer: 256 << 20, own: Duration::MAX }
    }
}

impl Limits {
    /// The bytes of one message or packet: it is kept whole before its cells are copied, in a buffer that may be twice as large.
    pub fn message(&self) -> usize {
        self.answer / 4
    }
}

/// What may still come of an answer.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// In one message.
    message: usize,
    /// In all.
    left: usize,
}

impl Allowance {
    /// As much as comes, in messages of up to the 1 GB that a server may send itself.
    pub const NO_LIMIT: Allowance = Allowance { message: (1 << 30) + (1 << 20), left: usize::MAX };
    /// Before the login is over.
    pub const LOGIN: Allowance = Allowance { message: BEFORE_LOGIN, left: BEFORE_LOGIN * BYTE };

    /// One answer.
    pub fn answer(limits: &Limits) -> Allowance {
        Allowance { message: limits.message(), left: limits.answer }
    }

    /// May a message be as long as this?
    pub fn fits(&self, message: usize) -> bool {
        message <= self.message
    }

    /// Counts what came; false if that is too much.
    #[must_use]
    pub fn spend(&mut self, bytes: usize) -> bool {
        let enough = bytes <= self.left;
        self.left = self.left.saturating_sub(bytes);
        enough
    }
}
