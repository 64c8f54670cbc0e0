//! Functions by name.

use std::cmp::Ordering;

use model::{ErrorClass, sql::Expr};

use super::{
    affinity,
    compute::{Evaluated, NOT_HERE, compare, compute, owned, truth},
    number,
};
use crate::{Datum, Evaluator, Fault};

pub(super) fn function<'a>(of: &Evaluator, name: &str, args: &'a [Expr], row: &'a [Datum]) -> Evaluated<'a> {
    let name = name.to_ascii_uppercase();
    match (name.as_str(), args) {
        // Those that do not look at all of their arguments.
        ("COALESCE", _) | ("IFNULL", [_, _]) if args.len() > 1 => {
            for arg in args {
                let found = compute(of, arg, row)?;
                if !found.is_null() {
                    return Ok(found);
                }
            }
            owned(Datum::Null)
        }
        ("IIF" | "IF", [test, then, otherwise]) => {
            let holds = truth(&*compute(of, test, row)?) == Some(true);
            compute(of, if holds { then } else { otherwise }, row)
        }
        ("NULLIF", [left, right]) => {
            let (left, right) = (compute(of, left, row)?, compute(of, right, row)?);
            if compare(&left, &right) == Ordering::Equal { owned(Datum::Null) } else { Ok(left) }
        }
        ("MIN" | "MAX", _) if args.len() > 1 => extreme(of, name == "MAX", args, row),
        _ => {
            let found = args.iter().map(|arg| compute(of, arg, row)).collect::<Result<Vec<_>, _>>()?;
            let args: Vec<&Datum> = found.iter().map(|datum| &**datum).collect();
            owned(plain(&name, &args)?)
        }
    }
}

/// NULL if any is NULL. Among equals MIN takes the last and MAX the first, which shows where 1 and 1.0 meet.
fn extreme<'a>(of: &Evaluator, greatest: bool, args: &'a [Expr], row: &'a [Datum]) -> Evaluated<'a> {
    let mut best = compute(of, &args[0], row)?;
    let mut null = best.is_null();
    for arg in &args[1..] {
        let found = compute(of, arg, row)?;
        null |= found.is_null();
        let order = compare(&best, &found);
        if if greatest { order.is_lt() } else { order.is_ge() } {
            best = found;
        }
    }
    if null { owned(Datum::Null) } else { Ok(best) }
}

/// Those that take values.
fn plain(name: &str, args: &[&Datum]) -> Result<Datum, Fault> {
    match (name, args) {
        // An empty pattern is looked at before the replacement.
        ("REPLACE", [text, from, to]) => return replace(text, from, to),
        ("TYPEOF", [datum]) => return Ok(Datum::Text(class(datum).to_string())),
        ("HEX", [datum]) => return hex(datum),
        ("CONCAT", [_, ..]) => return concat("", args),
        ("CONCAT_WS", [Datum::Null, ..]) => return Ok(Datum::Null),
        ("CONCAT_WS", [separator, rest @ ..]) => return concat(&affinity::text(separator)?, rest),
        _ => {}
    }
    if args.iter().any(|datum| datum.is_null()) {
        let known = ["ABS", "SIGN", "LENGTH", "OCTET_LENGTH", "UPPER", "LOWER", "TRIM", "LTRIM", "RTRIM"];
        let more = ["SUBSTR", "SUBSTRING", "INSTR", "ROUND", "UNICODE"];
        return match known.contains(&name) || more.contains(&name) {
            true => Ok(Datum::Null),
            false => Err(NOT_HERE),
        };
    }
    let text = |at: usize| affinity::text(args[at]);
    Ok(match (name, args) {
        ("ABS", [Datum::Int(n)]) => Datum::Int(n.checked_abs().ok_or(Fault::Error(ErrorClass::Syntax))?),
        ("ABS", [other]) => Datum::Double(number::real(other).abs()),
        ("SIGN", [other]) => sign(other),
        ("ROUND", [other]) => Datum::Double(number::round(number::real(other), 0)?),
        ("ROUND", [other, places]) => Datum::Double(number::round(number::real(other), number::int(places))?),
        ("LENGTH" | "OCTET_LENGTH", [Datum::Bytes(bytes)]) => Datum::Int(bytes.len() as i64),
        ("LENGTH", [_]) => Datum::Int(text(0)?.chars().count() as i64),
        ("OCTET_LENGTH", [_]) => Datum::Int(text(0)?.len() as i64),
        ("UPPER", [_]) => Datum::Text(text(0)?.to_ascii_uppercase()),
        ("LOWER", [_]) => Datum::Text(text(0)?.to_ascii_lowercase()),
        ("SUBSTR" | "SUBSTRING", [of, from]) => substr(of, number::int(from), None)?,
        ("SUBSTR" | "SUBSTRING", [of, from, length]) => {
            substr(of, number::int(from), Some(number::int(length)))?
        }
        ("TRIM" | "LTRIM" | "RTRIM", [_] | [_, _]) => {
            let set = if args.len() > 1 { text(1)? } else { " ".to_string() };
            let whole = text(0)?;
            let mut kept = whole.as_str();
            if name != "RTRIM" {
                kept = kept.trim_start_matches(|c| set.contains(c));
            }
            if name != "LTRIM" {
                kept = kept.trim_end_matches(|c| set.contains(c));
            }
            Datum::Text(kept.to_string())
        }
        ("INSTR", [Datum::Bytes(_), _] | [_, Datum::Bytes(_)]) => return Err(NOT_HERE),
        ("INSTR", [_, _]) => {
            let (whole, part) = (text(0)?, text(1)?);
            Datum::Int(whole.find(&part).map_or(0, |at| whole[..at].chars().count() as i64 + 1))
        }
        ("UNICODE", [_]) => {
            text(0)?.chars().next().map_or(Datum::Null, |first| Datum::Int(i64::from(u32::from(first))))
        }
        _ => return Err(NOT_HERE),
    })
}

/// A text counts only if it is a number from end to end.
fn sign(datum: &Datum) -> Datum {
    let number = match datum {
        Datum::Text(text) => match number::numeric(text) {
            Some(number) => number::real(&number),
            None => return Datum::Null,
        },
        Datum::Bytes(_) => return Datum::Null,
        other => number::real(other),
    };
    Datum::Int(i64::from(number > 0.0) - i64::from(number < 0.0))
}

fn class(datum: &Datum) -> &'static str {
    match datum {
        Datum::Null => "null",
        Datum::Int(_) => "integer",
        Datum::Double(_) => "real",
        Datum::Bytes(_) => "blob",
        _ => "text",
    }
}

/// The bytes of a value, or of its text; of NULL, none.
fn hex(datum: &Datum) -> Result<Datum, Fault> {
    let digits = |bytes: &[u8]| Datum::Text(bytes.iter().map(|byte| format!("{byte:02X}")).collect());
    Ok(match datum {
        Datum::Null => digits(&[]),
        Datum::Bytes(bytes) => digits(bytes),
        other => digits(affinity::text(other)?.as_bytes()),
    })
}

/// Without those that are NULL.
fn concat(separator: &str, args: &[&Datum]) -> Result<Datum, Fault> {
    let texts = args.iter().filter(|arg| !arg.is_null()).map(|arg| affinity::text(arg));
    Ok(Datum::Text(texts.collect::<Result<Vec<_>, _>>()?.join(separator)))
}

fn replace(text: &Datum, from: &Datum, to: &Datum) -> Result<Datum, Fault> {
    if text.is_null() || from.is_null() {
        return Ok(Datum::Null);
    }
    let (text, from) = (affinity::text(text)?, affinity::text(from)?);
    if from.is_empty() {
        return Ok(Datum::Text(text));
    }
    if to.is_null() {
        return Ok(Datum::Null);
    }
    Ok(Datum::Text(text.replace(&from, &affinity::text(to)?)))
}

/// A start below zero counts from the end, a length below zero goes to the left, and what lies before the text counts.
/// Of no bytes at all it is NULL; of an empty text it is that text.
fn substr(of: &Datum, from: i64, length: Option<i64>) -> Result<Datum, Fault> {
    if matches!(of, Datum::Bytes(bytes) if bytes.is_empty()) {
        return Ok(Datum::Null);
    }
    let text = match of {
        Datum::Bytes(_) => None,
        other => Some(affinity::text(other)?),
    };
    let bytes = match of {
        Datum::Bytes(bytes) => bytes.as_slice(),
        _ => &[],
    };
    let all = text.as_ref().map_or(bytes.len(), |text| text.chars().count()) as i128;
    let (mut from, mut length) = (i128::from(from), length.map_or(i128::from(i64::MAX), i128::from));
    if from < 0 {
        from += all;
        if from < 0 {
            length = if length < 0 { 0 } else { length + from };
            from = 0;
        }
    } else if from > 0 {
        from -= 1;
    } else if length > 0 {
        length -= 1;
    }
    if length < 0 {
        length = if length < -from { from } else { -length };
        from -= length;
    }
    let (skip, take) = (from.clamp(0, all) as usize, length.clamp(0, all) as usize);
    Ok(match text {
        Some(text) => Datum::Text(text.chars().skip(skip).take(take).collect()),
        None => Datum::Bytes(bytes.iter().copied().skip(skip).take(take).collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(text: &str) -> Datum {
        Datum::Text(text.to_string())
    }

    #[test]
    fn substrings_count_from_both_ends() {
        let sub = |from, length| substr(&t("abcde"), from, length).unwrap();
        assert_eq!(sub(2, Some(2)), t("bc"));
        assert_eq!(sub(0, Some(2)), t("a"));
        assert_eq!(sub(-2, None), t("de"));
        assert_eq!(sub(-7, Some(4)), t("ab"));
        assert_eq!(sub(4, Some(-2)), t("bc"));
        assert_eq!(sub(0, None), t("abcde"));
        assert_eq!(substr(&Datum::Int(123), 2, None).unwrap(), t("23"));
        assert_eq!(substr(&Datum::Bytes(Vec::new()), 1, None).unwrap(), Datum::Null);
    }

    #[test]
    fn null_in_odd_places() {
        assert_eq!(plain("REPLACE", &[&t("a"), &t(""), &Datum::Null]), Ok(t("a")));
        assert_eq!(plain("ABS", &[&Datum::Int(i64::MIN)]), Err(Fault::Error(ErrorClass::Syntax)));
        assert_eq!(plain("ABS", &[&t("-3x")]), Ok(Datum::Double(3.0)));
        assert_eq!(plain("SIGN", &[&t("-3x")]), Ok(Datum::Null));
        assert_eq!(plain("LENGTH", &[&Datum::Double(1.0)]), Ok(Datum::Int(3)));
    }
}
