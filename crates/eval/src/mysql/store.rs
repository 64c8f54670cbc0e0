//! What a column makes of a value, in strict mode: what does not fit is an error.

use model::{ErrorClass, SqlType};

use super::{DIGITS, convert, rules::Rules, values::moment};
use crate::{Datum, Decimal, Fault};

const RANGE: Fault = Fault::Error(ErrorClass::Range);

/// What a column of this type holds after the value was stored there.
pub(super) fn store(rules: &Rules, value: &Datum, ty: &SqlType) -> Result<Datum, Fault> {
    if value.is_null() {
        return Ok(Datum::Null);
    }
    match (strictly(value, ty), rules.strict) {
        (Err(Fault::Error(_)), false) => {
            Err(Fault::unsure("a value that is cut to fit, where the mode is not strict"))
        }
        (stored, _) => stored,
    }
}

fn strictly(value: &Datum, ty: &SqlType) -> Result<Datum, Fault> {
    match ty {
        SqlType::Int { bits, unsigned } => int(value, *bits, *unsigned),
        SqlType::Bool => int(value, 8, false),
        SqlType::Decimal { precision, scale } => {
            let exact = number(value)?.rescale(*scale).ok_or(RANGE)?;
            let most = 10i128.checked_pow(u32::from(*precision)).ok_or(DIGITS)? - 1;
            if exact.unscaled.abs() > most { Err(RANGE) } else { Ok(Datum::Decimal(exact)) }
        }
        SqlType::Float => Ok(Datum::Double(f64::from(real(value)? as f32))),
        SqlType::Double => Ok(Datum::Double(real(value)?)),
        SqlType::Char(n) => {
            let text = text(value)?;
            let kept = text.trim_end_matches(' ');
            if kept.chars().count() > usize::from(*n) {
                Err(RANGE)
            } else {
                Ok(Datum::Text(kept.to_string()))
            }
        }
        SqlType::Varchar(n) => {
            let text = text(value)?;
            let most = usize::from(*n);
            // Blanks that do not fit are cut off without a word.
            let kept: String = text.chars().take(most).collect();
            let lost = text.chars().skip(most).any(|c| c != ' ');
            if lost { Err(RANGE) } else { Ok(Datum::Text(kept)) }
        }
        SqlType::Text => Ok(Datum::Text(text(value)?)),
        SqlType::Blob => match value {
            Datum::Bytes(bytes) => Ok(Datum::Bytes(bytes.clone())),
            other => Ok(Datum::Bytes(text(other)?.into_bytes())),
        },
        SqlType::Date => match moment(value) {
            Some(Datum::Date(y, m, d) | Datum::DateTime(y, m, d, _)) => Ok(Datum::Date(y, m, d)),
            _ => Err(Fault::unsure("a date from something else")),
        },
        SqlType::DateTime => match moment(value) {
            Some(Datum::Date(y, m, d)) => Ok(Datum::DateTime(y, m, d, 0)),
            Some(moment) => Ok(moment),
            None => Err(Fault::unsure("a date from something else")),
        },
    }
}

fn text(value: &Datum) -> Result<String, Fault> {
    Ok(convert::text(value)?.unwrap_or_default())
}

/// A text that is stored as a number must be one, but for blanks around it.
fn whole_text(text: &str) -> Result<Decimal, Fault> {
    let text = text.trim_matches(' ');
    Decimal::parse(text).ok_or(RANGE)
}

fn number(value: &Datum) -> Result<Decimal, Fault> {
    match value {
        Datum::Text(text) => whole_text(text),
        Datum::Bytes(_) => Err(Fault::unsure("bytes stored as a number")),
        other => convert::decimal(other)?.ok_or(DIGITS),
    }
}

fn real(value: &Datum) -> Result<f64, Fault> {
    match value {
        Datum::Text(text) => Ok(whole_text(text)?.to_f64()),
        Datum::Bytes(_) => Err(Fault::unsure("bytes stored as a number")),
        other => Ok(convert::real(other)?.unwrap_or(0.0)),
    }
}

fn int(value: &Datum, bits: u8, unsigned: bool) -> Result<Datum, Fault> {
    let n = match value {
        Datum::Int(n) => i128::from(*n),
        Datum::UInt(n) => i128::from(*n),
        Datum::Double(d) if d.abs() < 1e18 => d.round_ties_even() as i128,
        Datum::Double(_) => return Err(RANGE),
        other => number(other)?.rescale(0).ok_or(DIGITS)?.unscaled,
    };
    let (low, high) = if unsigned {
        (0, i128::from(u64::MAX >> (64 - u32::from(bits))))
    } else {
        let high = i128::from(i64::MAX >> (64 - u32::from(bits)));
        (-high - 1, high)
    };
    match (low..=high).contains(&n) {
        false => Err(RANGE),
        true if unsigned => Ok(Datum::UInt(n as u64)),
        true => Ok(Datum::Int(n as i64)),
    }
}
