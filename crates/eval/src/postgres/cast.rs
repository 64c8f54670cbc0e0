//! From a type to another, as PostgreSQL's casts do it, and how it reads and writes values as text.

use model::ErrorClass;

use super::{
    numeric,
    types::{Ty, TypeModifier},
};
use crate::{Datum, Decimal, Fault, dates};

/// A value is out of range, or a text is none of the type.
pub(super) const RANGE: Fault = Fault::Error(ErrorClass::Range);

const STRANGE: Fault = Fault::unsure("a conversion of a value that its type does not have");

/// The value in another type, before any length.
pub(super) fn cast(from: Ty, to: Ty, datum: &Datum) -> Result<Datum, Fault> {
    match to {
        Ty::Unknown => Ok(datum.clone()),
        Ty::Int2 | Ty::Int4 | Ty::Int8 => int(to, datum),
        Ty::Numeric => to_numeric(from, datum),
        Ty::Float4 => float4(datum),
        Ty::Float8 => float8(datum),
        Ty::Bpchar => text(from, datum).map(Datum::Text),
        // Blanks at the end of a CHAR are padding, and go.
        Ty::Varchar | Ty::Text if from == Ty::Bpchar => {
            text(from, datum).map(|text| Datum::Text(text.trim_end_matches(' ').to_string()))
        }
        Ty::Varchar | Ty::Text => text(from, datum).map(Datum::Text),
        Ty::Bool => match datum {
            Datum::Bool(b) => Ok(Datum::Bool(*b)),
            Datum::Int(n) => Ok(Datum::Bool(*n != 0)),
            Datum::Text(text) => bool_in(text).map(Datum::Bool).ok_or(RANGE),
            _ => Err(STRANGE),
        },
        Ty::Date => match datum {
            Datum::Date(y, m, d) | Datum::DateTime(y, m, d, _) => Ok(Datum::Date(*y, *m, *d)),
            Datum::Text(text) => moment_in(text).map(|((y, m, d), _)| Datum::Date(y, m, d)),
            _ => Err(STRANGE),
        },
        Ty::Timestamp => match datum {
            Datum::Date(y, m, d) => Ok(Datum::DateTime(*y, *m, *d, 0)),
            Datum::DateTime(..) => Ok(datum.clone()),
            Datum::Text(text) => moment_in(text).map(|((y, m, d), s)| Datum::DateTime(y, m, d, s)),
            _ => Err(STRANGE),
        },
        Ty::Bytea => match datum {
            Datum::Bytes(_) => Ok(datum.clone()),
            Datum::Text(text) => bytes_in(text).map(Datum::Bytes),
            _ => Err(STRANGE),
        },
    }
}

/// To the length of an explicit cast: too much is cut off without a word, but for digits before the point.
pub(super) fn fit(fit: TypeModifier, datum: &Datum) -> Result<Datum, Fault> {
    match (fit, datum) {
        (TypeModifier::Numeric(precision, scale), Datum::Decimal(d)) => {
            let rounded = d.rescale(scale).ok_or(numeric::TOO_LONG)?;
            let limit = 10u128.checked_pow(u32::from(precision)).ok_or(numeric::TOO_LONG)?;
            if rounded.unscaled.unsigned_abs() >= limit { Err(RANGE) } else { Ok(Datum::Decimal(rounded)) }
        }
        (TypeModifier::Varchar(length), Datum::Text(text)) => {
            Ok(Datum::Text(text.chars().take(length).collect()))
        }
        (TypeModifier::Char(length), Datum::Text(text)) => {
            let short = length.saturating_sub(text.chars().count());
            let cut: String = text.chars().take(length).collect();
            Ok(Datum::Text(format!("{cut}{:short$}", "")))
        }
        _ => Err(STRANGE),
    }
}

/// Is it in the range of the type?
pub(super) fn ranged(ty: Ty, n: i128) -> Result<Datum, Fault> {
    let fits = match ty {
        Ty::Int2 => i16::try_from(n).is_ok(),
        Ty::Int4 => i32::try_from(n).is_ok(),
        _ => true,
    };
    match i64::try_from(n) {
        Ok(n) if fits => Ok(Datum::Int(n)),
        _ => Err(RANGE),
    }
}

fn int(to: Ty, datum: &Datum) -> Result<Datum, Fault> {
    match datum {
        Datum::Int(n) => ranged(to, i128::from(*n)),
        Datum::Bool(b) => Ok(Datum::Int(i64::from(*b))),
        // Halves away from zero.
        Datum::Decimal(d) => ranged(to, d.rescale(0).ok_or(numeric::TOO_LONG)?.unscaled),
        // Halves to the even neighbour.
        Datum::Double(d) => {
            let whole = d.round_ties_even();
            // Beyond these not even the conversion below is right.
            if whole.is_finite() && whole.abs() < 1e30 { ranged(to, whole as i128) } else { Err(RANGE) }
        }
        Datum::Text(text) => {
            let body = text.trim_matches(blank);
            let digits = body.strip_prefix(['-', '+']).unwrap_or(body);
            if digits.contains('_')
                || digits.strip_prefix('0').is_some_and(|rest| rest.starts_with(char::is_alphabetic))
            {
                return Err(Fault::unsure("digits of another base, or with underscores between them"));
            }
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(RANGE);
            }
            body.parse::<i128>().map_err(|_| RANGE).and_then(|n| ranged(to, n))
        }
        _ => Err(STRANGE),
    }
}

fn to_numeric(from: Ty, datum: &Datum) -> Result<Datum, Fault> {
    let digits = if from == Ty::Float4 { 6 } else { 15 };
    let found = match datum {
        Datum::Int(n) => Decimal::whole(*n),
        Datum::Decimal(d) => *d,
        Datum::Double(d) if d.is_finite() => {
            // As many digits as always are right, then without the zeros at their end.
            let text = format!("{d:.precision$e}", precision = digits - 1);
            let (mantissa, exponent) = text.split_once('e').ok_or(STRANGE)?;
            let mantissa = if mantissa.contains('.') {
                mantissa.trim_end_matches('0').trim_end_matches('.')
            } else {
                mantissa
            };
            numeric::parse(&format!("{mantissa}e{exponent}")).ok_or(STRANGE)??
        }
        Datum::Text(text) => {
            let body = text.trim_matches(blank);
            if body.contains('_') || body.contains(['n', 'N', 'x', 'X', 'o', 'O', 'b', 'B']) {
                return Err(Fault::unsure("NaN, infinity, or digits of another base"));
            }
            numeric::parse(body).ok_or(RANGE)??
        }
        _ => return Err(STRANGE),
    };
    Ok(Datum::Decimal(found))
}

fn float8(datum: &Datum) -> Result<Datum, Fault> {
    Ok(Datum::Double(match datum {
        Datum::Int(n) => *n as f64,
        Datum::Decimal(d) => d.to_f64(),
        Datum::Double(d) => *d,
        Datum::Text(text) => {
            let read: f64 = float_body(text)?.parse().map_err(|_| RANGE)?;
            if read.is_infinite() || read == 0.0 && float_body(text)?.contains(|c| ('1'..='9').contains(&c)) {
                return Err(Fault::unsure("a text at the end of the range of binary numbers"));
            }
            read
        }
        _ => return Err(STRANGE),
    }))
}

fn float4(datum: &Datum) -> Result<Datum, Fault> {
    let narrow = match datum {
        Datum::Int(n) => *n as f32,
        Datum::Decimal(d) => d.to_string().parse::<f32>().map_err(|_| STRANGE)?,
        Datum::Double(d) => {
            let narrow = *d as f32;
            let lost = narrow.is_infinite() && d.is_finite() || narrow == 0.0 && *d != 0.0;
            return if lost { Err(RANGE) } else { Ok(Datum::Double(f64::from(narrow))) };
        }
        Datum::Text(text) => float_body(text)?.parse::<f32>().map_err(|_| RANGE)?,
        _ => return Err(STRANGE),
    };
    if narrow.is_infinite()
        || narrow == 0.0 && matches!(datum, Datum::Text(text) if text.contains(|c| ('1'..='9').contains(&c)))
    {
        return Err(Fault::unsure("a number at the end of the range of binary numbers"));
    }
    Ok(Datum::Double(f64::from(narrow)))
}

/// Only what both we and the server read in the same way.
fn float_body(text: &str) -> Result<&str, Fault> {
    let body = text.trim_matches(blank);
    let plain = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    if body.is_empty() || !body.bytes().all(plain) {
        // Infinity, NaN and digits of base 16 are numbers too; no other text is.
        let first = body.trim_start_matches(['+', '-']).bytes().next();
        let doubtful = first.is_some_and(|byte| byte.is_ascii_digit() || b"iInN.".contains(&byte));
        return Err(if doubtful { Fault::unsure("a text that may begin like a number") } else { RANGE });
    }
    Ok(body)
}

fn blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

fn bool_in(text: &str) -> Option<bool> {
    let word = text.trim_matches(blank).to_ascii_lowercase();
    let begins = |whole: &str, least: usize| word.len() >= least && whole.starts_with(&word);
    if begins("true", 1) || begins("yes", 1) || word == "on" || word == "1" {
        Some(true)
    } else if begins("false", 1) || begins("no", 1) || begins("off", 2) || word == "0" {
        Some(false)
    } else {
        None
    }
}

fn moment_in(text: &str) -> Result<(dates::Day, u32), Fault> {
    match dates::parse_day(text) {
        Some(day) => Ok((day, 0)),
        None => dates::parse_moment(text).ok_or(Fault::unsure("a date that is not written in the usual way")),
    }
}

fn bytes_in(text: &str) -> Result<Vec<u8>, Fault> {
    let Some(digits) = text.strip_prefix("\\x") else {
        return if text.contains('\\') {
            Err(Fault::unsure("bytes with escapes"))
        } else {
            Ok(text.as_bytes().to_vec())
        };
    };
    let digit = |c: u8| char::from(c).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return Err(Fault::unsure("an odd number of digits"));
    }
    let read = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect::<Option<_>>();
    read.ok_or(Fault::unsure("digits that are none"))
}

/// How a value is written.
pub(super) fn text(from: Ty, datum: &Datum) -> Result<String, Fault> {
    Ok(match datum {
        Datum::Bool(b) => if *b { "true" } else { "false" }.to_string(),
        Datum::Int(n) => n.to_string(),
        Datum::Decimal(d) => d.to_string(),
        Datum::Double(d) => float_text(from, *d),
        Datum::Text(text) => text.clone(),
        Datum::Bytes(bytes) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("\\x{hex}")
        }
        Datum::Date(y, m, d) => dates::day_text(*y, *m, *d),
        Datum::DateTime(y, m, d, s) => dates::moment_text(*y, *m, *d, *s),
        Datum::Null | Datum::UInt(_) => return Err(STRANGE),
    })
}

/// The shortest digits that read back as the same number, with an exponent where the number is long.
fn float_text(from: Ty, d: f64) -> String {
    let (shortest, most) =
        if from == Ty::Float4 { (format!("{:e}", d as f32), 6) } else { (format!("{d:e}"), 15) };
    let Some((mantissa, exponent)) = shortest.split_once('e') else {
        return match shortest.as_str() {
            "inf" => "Infinity".to_string(),
            "-inf" => "-Infinity".to_string(),
            other => other.to_string(),
        };
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..most).contains(&exponent) {
        return if from == Ty::Float4 { format!("{}", d as f32) } else { format!("{d}") };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_numbers_are_written_short() {
        for (number, expected) in [
            (0.1 + 0.2, "0.30000000000000004"),
            (1e15, "1e+15"),
            (999999999999999.0, "999999999999999"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (-0.0, "-0"),
            (1.5e300, "1.5e+300"),
        ] {
            assert_eq!(float_text(Ty::Float8, number), expected);
        }
        assert_eq!(float_text(Ty::Float4, f64::from(0.1f32)), "0.1");
        assert_eq!(float_text(Ty::Float4, 1234567.0), "1.234567e+06");
    }

    #[test]
    fn halves_differ_by_type() {
        let double = |d| cast(Ty::Float8, Ty::Int4, &Datum::Double(d));
        assert_eq!(double(2.5), Ok(Datum::Int(2)));
        assert_eq!(double(-3.5), Ok(Datum::Int(-4)));
        assert_eq!(double(3e9), Err(RANGE));
        let exact = Datum::Decimal(Decimal { unscaled: 25, scale: 1 });
        assert_eq!(cast(Ty::Numeric, Ty::Int4, &exact), Ok(Datum::Int(3)));
    }

    #[test]
    fn lengths_cut_and_pad() {
        let text = |text: &str| Datum::Text(text.to_string());
        assert_eq!(fit(TypeModifier::Char(3), &text("a")), Ok(text("a  ")));
        assert_eq!(fit(TypeModifier::Varchar(2), &text("abc")), Ok(text("ab")));
        assert_eq!(cast(Ty::Bpchar, Ty::Text, &text("a  ")), Ok(text("a")));
        let exact = Datum::Decimal(Decimal { unscaled: 99_95, scale: 2 });
        assert_eq!(fit(TypeModifier::Numeric(3, 1), &exact), Err(RANGE));
    }
}
