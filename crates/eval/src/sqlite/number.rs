//! Numbers in SQLite: how texts are read as numbers, wholly or as far as they go, and how numbers are written.

use crate::{Datum, Fault};

/// A number at the start of a text.
pub(super) struct NumberPrefix {
    /// Its value; zero if there is none.
    pub real: f64,
    /// Is it written without a point and an exponent?
    pub whole: bool,
    /// Is there nothing else in the text but blanks?
    pub complete: bool,
}

fn blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\x0b' | b'\x0c' | b'\r')
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// How long the longest number at the start of `bytes` is, and whether it is a whole one.
fn extent(bytes: &[u8]) -> Option<(usize, bool)> {
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let before = digits(&bytes[sign..]);
    let mut end = sign + before;
    let mut whole = true;
    let mut after = 0;
    if bytes.get(end) == Some(&b'.') {
        after = digits(&bytes[end + 1..]);
        if before + after > 0 {
            end += 1 + after;
            whole = false;
        }
    }
    if before + after == 0 {
        return None;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let power = digits(&bytes[end + 1 + sign..]);
        if power > 0 {
            end += 1 + sign + power;
            whole = false;
        }
    }
    Some((end, whole))
}

/// Reads as much as is a number. What follows a byte zero is not looked at.
pub(super) fn read(bytes: &[u8]) -> NumberPrefix {
    let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    let start = bytes.iter().take_while(|byte| blank(**byte)).count();
    let bytes = &bytes[start..];
    let Some((end, whole)) = extent(bytes) else {
        return NumberPrefix { real: 0.0, whole: true, complete: false };
    };
    let text = std::str::from_utf8(&bytes[..end]).unwrap_or("0");
    let real = text.strip_suffix('.').unwrap_or(text).parse().unwrap_or(0.0);
    NumberPrefix { real, whole, complete: bytes[end..].iter().all(|byte| blank(*byte)) }
}

/// Reads as much as is a whole number, up to the ends of the range; and whether the digits were within it.
pub(super) fn read_int(bytes: &[u8]) -> (i64, bool) {
    let start = bytes.iter().take_while(|byte| blank(**byte)).count();
    let bytes = &bytes[start..];
    let (negative, rest) = match bytes.first() {
        Some(b'-') => (true, &bytes[1..]),
        Some(b'+') => (false, &bytes[1..]),
        _ => (false, bytes),
    };
    let mut value: i128 = 0;
    for digit in &rest[..digits(rest)] {
        value = (value * 10 + i128::from(digit - b'0')).min(i128::from(u64::MAX));
    }
    let signed = if negative { -value } else { value };
    let kept = signed.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    (kept, i128::from(kept) == signed)
}

/// A binary number cut to a whole one, up to the ends of the range.
pub(super) fn real_to_int(real: f64) -> i64 {
    real as i64
}

/// Is the number whole, and small enough that nothing is lost?
pub(super) fn same_as_int(real: f64, int: i64) -> bool {
    const SAFE: i64 = 1 << 51;
    real == 0.0 || (real == int as f64 && (-SAFE..SAFE).contains(&int))
}

/// The number that arithmetic sees: that at the start of a text, whole if it is written so.
pub(super) fn operand(datum: &Datum) -> Datum {
    match datum {
        Datum::Text(text) => operand_bytes(text.as_bytes()),
        Datum::Bytes(bytes) => operand_bytes(bytes),
        other => other.clone(),
    }
}

fn operand_bytes(bytes: &[u8]) -> Datum {
    let found = read(bytes);
    let (int, fits) = read_int(bytes);
    if found.whole && fits { Datum::Int(int) } else { Datum::Double(found.real) }
}

pub(super) fn real(datum: &Datum) -> f64 {
    match datum {
        Datum::Int(n) => *n as f64,
        Datum::Double(d) => *d,
        Datum::Text(text) => read(text.as_bytes()).real,
        Datum::Bytes(bytes) => read(bytes).real,
        _ => 0.0,
    }
}

pub(super) fn int(datum: &Datum) -> i64 {
    match datum {
        Datum::Int(n) => *n,
        Datum::Double(d) => real_to_int(*d),
        Datum::Text(text) => read_int(text.as_bytes()).0,
        Datum::Bytes(bytes) => read_int(bytes).0,
        _ => 0,
    }
}

/// A text that is a number from end to end, as that number.
pub(super) fn numeric(text: &str) -> Option<Datum> {
    let found = read(text.as_bytes());
    if !found.complete || text.contains('\0') {
        return None;
    }
    if found.whole {
        let near = real_to_int(found.real);
        if same_as_int(found.real, near) {
            return Some(Datum::Int(near));
        }
        if let (int, true) = read_int(text.as_bytes()) {
            return Some(Datum::Int(int));
        }
    }
    Some(Datum::Double(found.real))
}

/// Seventeen digits, or fewer where those that follow are zeros or nines and the shorter number reads back the same. Shorter
/// numbers are not looked for elsewhere: `0.1234567890123401` is possible where shorter digits would do.
pub(super) fn real_text(number: f64) -> Result<String, Fault> {
    if number == 0.0 {
        return Ok("0.0".to_string());
    }
    if number.is_infinite() {
        return Ok(if number > 0.0 { "Inf" } else { "-Inf" }.to_string());
    }
    let size = number.abs();
    let (mut found, mut exponent) = decode(size)?;
    let shorter = shortened(size, &found, exponent);
    round_digits(&mut found, shorter.unwrap_or(17), &mut exponent);
    while found.len() > 1 && found.last() == Some(&b'0') {
        found.pop();
    }
    let sign = if number < 0.0 { "-" } else { "" };
    Ok(format!("{sign}{}", layout(&found, exponent)))
}

/// Its digits, and the exponent of the first. They are eighteen, or nineteen where a power of ten lies between the number
/// and the power of two below it: that is how many the server asks for, and it rounds twice.
fn decode(size: f64) -> Result<(Vec<u8>, i32), Fault> {
    const STRANGE: Fault = Fault::unsure("a number that is none");
    let parts = |digits: usize| -> Result<(Vec<u8>, i32), Fault> {
        let text = format!("{size:.digits$e}");
        let (mantissa, exponent) = text.split_once('e').ok_or(STRANGE)?;
        Ok((mantissa.bytes().filter(u8::is_ascii_digit).collect(), exponent.parse().map_err(|_| STRANGE)?))
    };
    if size < f64::MIN_POSITIVE {
        return Err(Fault::unsure("a number at the end of the range"));
    }
    let (found, exponent) = parts(17)?;
    let binary = (size.to_bits() >> 52) as i32 - 1023;
    let below = (f64::from(binary) * std::f64::consts::LOG10_2).floor() as i32;
    if exponent > below { parts(18) } else { Ok((found, exponent)) }
}

/// To how many digits the number is shortened, if it is.
fn shortened(size: f64, digits: &[u8], exponent: i32) -> Option<usize> {
    let reads_back = |kept: &[u8], up: bool| {
        let mut value = kept.iter().fold(0u64, |value, digit| value * 10 + u64::from(digit - b'0'));
        value += u64::from(up);
        let power = exponent + 1 - kept.len() as i32;
        format!("{value}e{power}").parse() == Ok(size)
    };
    if digits[14..16] == *b"99" {
        let kept = digits[..14].iter().rposition(|digit| *digit != b'9').map_or(0, |at| at + 1);
        return reads_back(&digits[..kept], true).then_some(kept + 1);
    }
    if exponent + 1 >= digits.len() as i32 || digits[13..16] == *b"000" {
        let kept = digits[..13].iter().rposition(|digit| *digit != b'0').map_or(1, |at| at + 1);
        return reads_back(&digits[..kept], false).then_some(kept + 1);
    }
    None
}

/// Keeps so many digits, rounded half up.
fn round_digits(digits: &mut Vec<u8>, keep: usize, exponent: &mut i32) {
    if keep >= digits.len() {
        return;
    }
    let up = digits[keep] >= b'5';
    digits.truncate(keep);
    if !up {
        return;
    }
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
    digits.insert(0, b'1');
    *exponent += 1;
}

/// With a point always, and with an exponent where the number is long.
fn layout(digits: &[u8], exponent: i32) -> String {
    let text: String = digits.iter().map(|digit| char::from(*digit)).collect();
    let or_zero = |text: &str| if text.is_empty() { "0".to_string() } else { text.to_string() };
    if !(-4..=16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}.{}e{sign}{:02}", &text[..1], or_zero(&text[1..]), exponent.abs());
    }
    if exponent < 0 {
        let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
        return format!("0.{zeros}{text}");
    }
    let before = exponent as usize + 1;
    if text.len() <= before {
        return format!("{text}{}.0", "0".repeat(before - text.len()));
    }
    format!("{}.{}", &text[..before], &text[before..])
}

/// Rounded to so many digits behind the point, by its decimal digits, halves up.
pub(super) fn round(number: f64, places: i64) -> Result<f64, Fault> {
    const FAR: f64 = 4503599627370496.0;
    if !(-FAR..=FAR).contains(&number) || number == 0.0 {
        return Ok(number);
    }
    if places <= 0 {
        return Ok((number + if number < 0.0 { -0.5 } else { 0.5 }).trunc() + 0.0);
    }
    let (mut digits, mut exponent) = decode(number.abs())?;
    // Digits before the point and so many behind it.
    let keep = i64::from(exponent) + 1 + places.min(30);
    let Ok(keep) = usize::try_from(keep) else { return Ok(0.0) };
    if keep == 0 {
        // Only whether it is rounded up to the last place.
        digits.insert(0, b'0');
        exponent += 1;
        round_digits(&mut digits, 1, &mut exponent);
    } else {
        round_digits(&mut digits, keep, &mut exponent);
    }
    let value: String = digits.iter().map(|digit| char::from(*digit)).collect();
    let power = exponent + 1 - value.len() as i32;
    let size: f64 = format!("{value}e{power}").parse().unwrap_or(0.0);
    Ok(if number < 0.0 { -size } else { size })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_the_start_of_a_text() {
        let number = |text: &str| operand(&Datum::Text(text.to_string()));
        assert_eq!(number("12abc"), Datum::Int(12));
        assert_eq!(number(" -1.5e1x"), Datum::Double(-15.0));
        assert_eq!(number("1e"), Datum::Int(1));
        assert_eq!(number("abc"), Datum::Int(0));
        assert_eq!(number(".5"), Datum::Double(0.5));
        assert_eq!(number("."), Datum::Int(0));
        assert_eq!(number("9223372036854775808"), Datum::Double(9223372036854775808.0));
        assert_eq!(numeric("1a"), None);
        assert_eq!(numeric(" 1.0 "), Some(Datum::Double(1.0)));
        assert_eq!(numeric(""), None);
        assert_eq!(int(&Datum::Text("1.9e3".to_string())), 1);
    }

    #[test]
    fn binary_numbers_as_text() {
        for (number, text) in [
            (1.5, "1.5"),
            (49.47, "49.47"),
            (0.1 + 0.2, "0.30000000000000004"),
            (100.0, "100.0"),
            (1e16, "10000000000000000.0"),
            (1e17, "1.0e+17"),
            (-2.5e-7, "-2.5e-07"),
            (0.0001, "0.0001"),
            (22.0 / 7.0, "3.1428571428571428"),
            (1.0 / 3.0, "0.33333333333333332"),
        ] {
            assert_eq!(real_text(number).unwrap(), text);
        }
    }

    #[test]
    fn rounding_goes_by_the_decimal_digits() {
        for (number, places, rounded) in [
            (2.5, 0, 3.0),
            (-2.5, 0, -3.0),
            (0.125, 2, 0.13),
            (2.675, 2, 2.67),
            (9.99, 1, 10.0),
            (0.04, 1, 0.0),
        ] {
            assert_eq!(round(number, places), Ok(rounded));
        }
        assert_eq!(round(0.05, 1), Ok(0.1));
    }
}
