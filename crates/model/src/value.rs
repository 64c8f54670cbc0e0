//! One value of a result: the server's own bytes and what kind of thing they are.
//!
//! Nothing is converted. `1.10` stays `1.10`, a BLOB stays its bytes, and two values are equal when their
//! bytes are. The kind decides only how the bytes are written for people: `7`, `'seven'`, `x'07'`, `NULL`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What sort of value a column holds, as far as printing and comparing need to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Integer of any width, signed or not.
    Integer,
    /// Exact decimal, printed by the server.
    Decimal,
    /// Binary floating point, printed by the server.
    Float,
    /// Characters.
    Text,
    /// Bytes without a character set.
    Bytes,
    /// Date, time, timestamp, year: written as text.
    Time,
    /// JSON document: written as text.
    Json,
    /// Bits: written as bytes.
    Bit,
    /// Anything else: written as text.
    Other,
}

/// A value on its own: `None` is NULL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value<'a> {
    pub kind: Kind,
    /// The server's bytes; none for NULL.
    pub bytes: Option<&'a [u8]>,
}

impl fmt::Display for Value<'_> {
    /// Writes the value as the case file does, so that what is shown can be pasted as an expectation.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(bytes) = self.bytes else { return f.write_str("NULL") };
        match self.kind {
            Kind::Integer | Kind::Decimal | Kind::Float => f.write_str(&String::from_utf8_lossy(bytes)),
            Kind::Text | Kind::Time | Kind::Json | Kind::Other => match std::str::from_utf8(bytes) {
                Ok(text) => write!(f, "'{}'", text.replace('\'', "''")),
                Err(_) => hex(f, bytes),
            },
            Kind::Bytes | Kind::Bit => hex(f, bytes),
        }
    }
}

/// Bytes from two digits each.
pub(crate) fn unhex(digits: &str) -> Option<Vec<u8>> {
    let nibbles: Option<Vec<u8>> = digits.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    let nibbles = nibbles.filter(|nibbles| nibbles.len() % 2 == 0)?;
    Some(nibbles.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// `x'00ff'`
pub(crate) fn hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    f.write_str("x'")?;
    for byte in bytes {
        write!(f, "{byte:02x}")?;
    }
    f.write_str("'")
}
