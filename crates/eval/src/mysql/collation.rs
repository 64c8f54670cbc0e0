//! Which collation decides, and what it says about two texts of ASCII.

use std::cmp::Ordering;

use super::rules::{Comparing, GENERAL, Rules};
use crate::Fault;

/// Where a text's collation comes from, and how strongly it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Coll {
    pub of: Of,
    pub strength: Strength,
}

/// Whose collation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// That of columns of a fresh schema.
    Columns,
    /// That of the connection: utf8mb4_general_ci.
    Connection,
    /// Bytes.
    Binary,
}

/// How strongly it holds; the first wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// Two that hold alike and differ: it can be read, but not compared.
    None,
    /// Of a column or a CAST.
    Implicit,
    /// Of a constant.
    Coercible,
    /// Of a number.
    Numeric,
    /// Of NULL.
    Ignorable,
}

pub(super) const COLUMN: Coll = Coll { of: Of::Columns, strength: Strength::Implicit };
pub(super) const BYTES: Coll = Coll { of: Of::Binary, strength: Strength::Implicit };
pub(super) const CAST: Coll = Coll { of: Of::Connection, strength: Strength::Implicit };
pub(super) const CONSTANT: Coll = Coll { of: Of::Connection, strength: Strength::Coercible };
pub(super) const BYTES_CONSTANT: Coll = Coll { of: Of::Binary, strength: Strength::Coercible };
pub(super) const NUMBER: Coll = Coll { of: Of::Connection, strength: Strength::Numeric };
pub(super) const NULL: Coll = Coll { of: Of::Binary, strength: Strength::Ignorable };

/// The one that holds for both.
pub(super) fn both(rules: &Rules, a: Coll, b: Coll) -> Coll {
    if a.of == b.of || a.strength == b.strength && a.strength == Strength::Ignorable {
        return if a.strength <= b.strength { a } else { b };
    }
    if a.strength == Strength::Ignorable {
        return b;
    }
    if b.strength == Strength::Ignorable {
        return a;
    }
    // Bytes win over every text that does not hold more strongly.
    if a.of == Of::Binary && a.strength <= b.strength {
        return a;
    }
    if b.of == Of::Binary && b.strength <= a.strength {
        return b;
    }
    match a.strength.cmp(&b.strength) {
        Ordering::Less => a,
        Ordering::Greater => b,
        // The larger character set wins; with one character set there is no winner.
        Ordering::Equal if rules.one_charset => Coll { of: Of::Binary, strength: Strength::None },
        Ordering::Equal => CAST,
    }
}

/// Compares two texts.
pub(super) fn compare(rules: &Rules, coll: Coll, a: &str, b: &str) -> Result<Ordering, Fault> {
    if coll.strength == Strength::None {
        return Err(MIX);
    }
    let comparing = match coll.of {
        Of::Binary => return Ok(a.as_bytes().cmp(b.as_bytes())),
        Of::Columns => rules.columns,
        Of::Connection => GENERAL,
    };
    let (a, b) = (weights(comparing, a)?, weights(comparing, b)?);
    let blank = weight(comparing, ' ')?;
    let longest = a.len().max(b.len());
    for at in 0..longest {
        let order = match (a.get(at), b.get(at)) {
            (Some(x), Some(y)) => x.cmp(y),
            (Some(_), None) if comparing.no_pad => Ordering::Greater,
            (None, Some(_)) if comparing.no_pad => Ordering::Less,
            (x, y) => x.unwrap_or(&blank).cmp(y.unwrap_or(&blank)),
        };
        if order != Ordering::Equal {
            return Ok(order);
        }
    }
    Ok(Ordering::Equal)
}

/// Two collations hold alike: the server refuses to compare.
pub(super) const MIX: Fault = Fault::unsure("a mix of collations that the server refuses");

fn weights(comparing: Comparing, text: &str) -> Result<Vec<u8>, Fault> {
    text.chars().map(|c| weight(comparing, c)).collect()
}

/// The marks that numbers and dates are written with, and those of patterns, in the order of the Unicode algorithm.
const MARKS: &[u8] = b" _-:.%+";

/// Where a character stands. Letters count without their case.
fn weight(comparing: Comparing, c: char) -> Result<u8, Fault> {
    let byte = match u8::try_from(c) {
        Ok(byte) if byte.is_ascii_alphanumeric() || MARKS.contains(&byte) => byte.to_ascii_uppercase(),
        Ok(_) | Err(_) => return Err(Fault::unsure("characters whose order we do not know")),
    };
    match MARKS.iter().position(|mark| *mark == byte) {
        Some(at) if comparing.unicode => Ok(at as u8),
        _ => Ok(byte),
    }
}

/// Do two characters count as equal? For LIKE.
pub(super) fn equal(coll: Coll, a: char, b: char) -> bool {
    match coll.of {
        Of::Binary => a == b,
        Of::Columns | Of::Connection => a.eq_ignore_ascii_case(&b),
    }
}
