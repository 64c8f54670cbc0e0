//! Which collation decides, and what it says about two texts of ASCII.

use std::cmp::Ordering;

use super::rules::{GENERAL, Rules, TextComparison};
use crate::Fault;

/// Where a text's collation comes from, and how strongly it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Collation {
    pub of: CollationSource,
    pub strength: Coercibility,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CollationSource {
    /// That of columns of a fresh schema.
    Columns,
    /// That of the connection: utf8mb4_general_ci.
    Connection,
    /// Bytes.
    Binary,
}

/// How strongly it holds; the first wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Coercibility {
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

pub(super) const COLUMN: Collation =
    Collation { of: CollationSource::Columns, strength: Coercibility::Implicit };
pub(super) const BYTES: Collation =
    Collation { of: CollationSource::Binary, strength: Coercibility::Implicit };
pub(super) const CAST: Collation =
    Collation { of: CollationSource::Connection, strength: Coercibility::Implicit };
pub(super) const CONSTANT: Collation =
    Collation { of: CollationSource::Connection, strength: Coercibility::Coercible };
pub(super) const BYTES_CONSTANT: Collation =
    Collation { of: CollationSource::Binary, strength: Coercibility::Coercible };
pub(super) const NUMBER: Collation =
    Collation { of: CollationSource::Connection, strength: Coercibility::Numeric };
pub(super) const NULL: Collation =
    Collation { of: CollationSource::Binary, strength: Coercibility::Ignorable };

/// The one that holds for both.
pub(super) fn both(rules: &Rules, a: Collation, b: Collation) -> Collation {
    if a.of == b.of || a.strength == b.strength && a.strength == Coercibility::Ignorable {
        return if a.strength <= b.strength { a } else { b };
    }
    if a.strength == Coercibility::Ignorable {
        return b;
    }
    if b.strength == Coercibility::Ignorable {
        return a;
    }
    // Bytes win over every text that does not hold more strongly.
    if a.of == CollationSource::Binary && a.strength <= b.strength {
        return a;
    }
    if b.of == CollationSource::Binary && b.strength <= a.strength {
        return b;
    }
    match a.strength.cmp(&b.strength) {
        Ordering::Less => a,
        Ordering::Greater => b,
        // The larger character set wins; with one character set there is no winner.
        Ordering::Equal if rules.one_charset => {
            Collation { of: CollationSource::Binary, strength: Coercibility::None }
        }
        Ordering::Equal => CAST,
    }
}

pub(super) fn compare(rules: &Rules, coll: Collation, a: &str, b: &str) -> Result<Ordering, Fault> {
    if coll.strength == Coercibility::None {
        return Err(MIX);
    }
    let comparing = match coll.of {
        CollationSource::Binary => return Ok(a.as_bytes().cmp(b.as_bytes())),
        CollationSource::Columns => rules.columns,
        CollationSource::Connection => GENERAL,
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

/// Are two texts equal? That needs no order: of the printable characters of ASCII none counts as another but the other case of
/// its letter, and none counts as nothing.
pub(super) fn same(rules: &Rules, coll: Collation, a: &str, b: &str) -> Result<bool, Fault> {
    let padded = match coll.of {
        CollationSource::Columns => !rules.columns.no_pad,
        CollationSource::Connection => !GENERAL.no_pad,
        CollationSource::Binary => false,
    };
    if coll.strength == Coercibility::None || coll.of == CollationSource::Binary {
        return compare(rules, coll, a, b).map(Ordering::is_eq);
    }
    let cut = |text| if padded { str::trim_end_matches(text, ' ') } else { text };
    let (a, b) = (cut(a), cut(b));
    let known = |text: &str| text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    let shows = |text: &str| text.bytes().any(|byte| byte.is_ascii_graphic());
    match (known(a) && known(b), a.is_empty() && shows(b) || b.is_empty() && shows(a)) {
        (true, _) => Ok(a.eq_ignore_ascii_case(b)),
        (false, true) => Ok(false),
        (false, false) => compare(rules, coll, a, b).map(Ordering::is_eq),
    }
}

/// Two collations hold alike: the server refuses to compare.
pub(super) const MIX: Fault = Fault::unsure("a mix of collations that the server refuses");

fn weights(comparing: TextComparison, text: &str) -> Result<Vec<u8>, Fault> {
    text.chars().map(|c| weight(comparing, c)).collect()
}

/// The marks that numbers and dates are written with, and those of patterns, in the order of the Unicode algorithm.
const MARKS: &[u8] = b" _-:.%+";

/// Where a character stands. Letters count without their case.
fn weight(comparing: TextComparison, c: char) -> Result<u8, Fault> {
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
pub(super) fn equal(coll: Collation, a: char, b: char) -> bool {
    match coll.of {
        CollationSource::Binary => a == b,
        CollationSource::Columns | CollationSource::Connection => a.eq_ignore_ascii_case(&b),
    }
}
