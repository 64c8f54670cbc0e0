//! Is a cell of a result the datum that was expected?

use model::Value;

use crate::{Datum, dates};

/// Is the cell this datum?
///
/// * NULL is only NULL.
/// * Whole and exact numbers, dates, text and bytes: the same bytes, so `1.50` is not `1.5`.
/// * Truth values: `t` and `f`, or `1` and `0`.
/// * Binary numbers: the cell read as a number is the datum; or the datum is exactly a 32-bit number and the cell is one
///   of the texts that read as it, for servers print a FLOAT with as few as six digits: then they may differ by five parts
///   in a million. -0 is 0.
#[inline]
pub fn same(cell: &Value, datum: &Datum) -> bool {
    let Some(bytes) = cell.bytes else { return datum.is_null() };
    // This is asked of every cell, so what most of them are comes first, and nothing is written down for it.
    match datum {
        Datum::Null => false,
        Datum::Int(n) => unsigned(bytes, *n < 0).and_then(whole) == Some(n.unsigned_abs()),
        Datum::UInt(n) => whole(bytes) == Some(*n),
        Datum::Text(text) => bytes == text.as_bytes(),
        _ => same_rarer(bytes, datum),
    }
}

fn same_rarer(bytes: &[u8], datum: &Datum) -> bool {
    match datum {
        Datum::Null | Datum::Int(_) | Datum::UInt(_) | Datum::Text(_) => false,
        Datum::Bool(b) => matches!((bytes, b), (b"t" | b"1", true) | (b"f" | b"0", false)),
        Datum::Decimal(d) => match u64::try_from(d.unscaled.unsigned_abs()) {
            Ok(number) => {
                unsigned(bytes, d.unscaled < 0).and_then(|digits| exact(digits, d.scale)) == Some(number)
            }
            Err(_) => bytes == d.to_string().as_bytes(),
        },
        Datum::Double(d) => {
            let read = std::str::from_utf8(bytes).ok().and_then(|text| text.parse::<f64>().ok());
            read.is_some_and(|read| same_double(read, *d))
        }
        Datum::Bytes(expected) => bytes == &expected[..],
        Datum::Date(y, m, d) => bytes == dates::day_text(*y, *m, *d).as_bytes(),
        Datum::DateTime(y, m, d, s) => bytes == dates::moment_text(*y, *m, *d, *s).as_bytes(),
    }
}

/// What stands behind the sign of a number, if it has the right one.
fn unsigned(bytes: &[u8], negative: bool) -> Option<&[u8]> {
    match (negative, bytes.strip_prefix(b"-")) {
        (true, digits) => digits,
        (false, None) => Some(bytes),
        (false, Some(_)) => None,
    }
}

/// The number that is written like this: no zero stands before other digits.
fn whole(digits: &[u8]) -> Option<u64> {
    match digits {
        [] | [b'0', _, ..] => None,
        digits => number(0, digits),
    }
}

/// All digits of the number that is written like this, so many of them behind the point and at least one before it.
fn exact(digits: &[u8], scale: u8) -> Option<u64> {
    match (scale, digits.len().checked_sub(usize::from(scale) + 1)) {
        (0, _) => whole(digits),
        (_, Some(point)) if digits[point] == b'.' => number(whole(&digits[..point])?, &digits[point + 1..]),
        (_, Some(_) | None) => None,
    }
}

/// A number with more digits behind it.
fn number(before: u64, digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(before, |read, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { read.checked_mul(10)?.checked_add(u64::from(digit)) }
    })
}

fn same_double(read: f64, expected: f64) -> bool {
    let short = f64::from(expected as f32) == expected;
    read == expected
        || read.is_nan() && expected.is_nan()
        || short && (read - expected).abs() <= expected.abs() * 5e-6
}

#[cfg(test)]
mod tests {
    use model::Kind;

    use super::*;

    fn is(bytes: &str, datum: Datum) -> bool {
        same(&Value { kind: Kind::Text, bytes: Some(bytes.as_bytes()) }, &datum)
    }

    #[test]
    fn bytes_decide_but_binary_numbers_are_read() {
        assert!(is("0", Datum::Int(0)) && !is("", Datum::Int(0)) && !is("00", Datum::Int(0)));
        assert!(!is("-0", Datum::Int(0)) && !is("+1", Datum::Int(1)) && !is("01", Datum::UInt(1)));
        assert!(is("-9223372036854775808", Datum::Int(i64::MIN)) && !is("12", Datum::Int(-12)));
        assert!(is("18446744073709551615", Datum::UInt(u64::MAX)) && !is("-5", Datum::UInt(5)));
        assert!(is("1.50", Datum::Decimal(crate::Decimal { unscaled: 150, scale: 2 })));
        assert!(!is("1.5", Datum::Decimal(crate::Decimal { unscaled: 150, scale: 2 })));
        let large = 123_456_789_012_345_678_901_234_567_890;
        for unscaled in [0, 1, -1, 9, 10, -99, 100, 12345, -12345, i128::from(u64::MAX), large, -large] {
            for scale in [0, 1, 2, 5, 30] {
                let decimal = crate::Decimal { unscaled, scale };
                let text = decimal.to_string();
                assert!(is(&text, Datum::Decimal(decimal)), "{text}");
                let others =
                    [format!("-{text}"), format!("0{text}"), format!("{text}0"), text.replace('.', "")];
                for other in others.iter().filter(|other| **other != text) {
                    assert!(!is(other, Datum::Decimal(decimal)), "{other} for {text}");
                }
            }
        }
        assert!(is("1.5", Datum::Double(1.5)) && is("15e-1", Datum::Double(1.5)));
        assert!(!is("1.5000001", Datum::Double(1.5000002)));
        assert!(is("1.84467e19", Datum::Double(f64::from(1.8446744e19f32))));
        assert!(is("0.1", Datum::Double(f64::from(0.1f32))));
        assert!(!is("0.1", Datum::Double(0.1000001)));
        assert!(is("t", Datum::Bool(true)) && !is("0", Datum::Bool(true)));
        assert!(!is("", Datum::Null));
        assert!(same(&Value { kind: Kind::Text, bytes: None }, &Datum::Null));
    }
}
