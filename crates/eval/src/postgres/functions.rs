//! Functions over values that are not NULL. Upper and lower case are those of the "C" locale: ASCII only.

use super::{
    call::STRANGE,
    cast::{RANGE, ranged},
    node::Function,
    numeric,
};
use crate::{Datum, Decimal, Fault};

pub(super) fn function(function: Function, args: &[&Datum]) -> Result<Datum, Fault> {
    match function {
        Function::Abs(_)
        | Function::Sign(_)
        | Function::Round(_)
        | Function::Trunc(_)
        | Function::Floor(_)
        | Function::Ceil(_) => number(function, args),
        _ => text(function, args),
    }
}

fn number(function: Function, args: &[&Datum]) -> Result<Datum, Fault> {
    let whole = |n: i128| Datum::Decimal(Decimal::whole(n));
    let digits = match args.get(1) {
        Some(Datum::Int(n)) => i32::try_from(*n).map_err(|_| STRANGE)?.clamp(-2000, 2000),
        _ => 0,
    };
    Ok(match (function, args[0]) {
        (Function::Abs(ty), Datum::Int(n)) => return ranged(ty, i128::from(*n).abs()),
        (Function::Abs(_), Datum::Decimal(d)) => Datum::Decimal(Decimal { unscaled: d.unscaled.abs(), ..*d }),
        (Function::Abs(_), Datum::Double(d)) => Datum::Double(d.abs()),
        (Function::Sign(_), Datum::Decimal(d)) => whole(d.unscaled.signum()),
        (Function::Sign(_), Datum::Double(d)) => Datum::Double(if *d == 0.0 { 0.0 } else { d.signum() }),
        (Function::Round(_), Datum::Decimal(d)) => Datum::Decimal(numeric::round(*d, digits)?),
        (Function::Round(_), Datum::Double(d)) => Datum::Double(d.round_ties_even()),
        (Function::Trunc(_), Datum::Decimal(d)) => Datum::Decimal(numeric::trunc(*d, digits)?),
        (Function::Trunc(_), Datum::Double(d)) => Datum::Double(d.trunc()),
        (Function::Floor(_), Datum::Decimal(d)) => Datum::Decimal(numeric::floor(*d, false)?),
        (Function::Floor(_), Datum::Double(d)) => Datum::Double(d.floor()),
        (Function::Ceil(_), Datum::Decimal(d)) => Datum::Decimal(numeric::floor(*d, true)?),
        (Function::Ceil(_), Datum::Double(d)) => Datum::Double(d.ceil()),
        _ => return Err(STRANGE),
    })
}

fn text(function: Function, args: &[&Datum]) -> Result<Datum, Fault> {
    let string = |text: String| Ok(Datum::Text(text));
    let count = |n: usize| Ok(Datum::Int(n as i64));
    match (function, args) {
        (Function::Length, [Datum::Text(text)]) => count(text.chars().count()),
        (Function::OctetLength, [Datum::Text(text)]) => count(text.len()),
        (Function::Length | Function::OctetLength, [Datum::Bytes(bytes)]) => count(bytes.len()),
        (Function::Upper, [Datum::Text(text)]) => string(text.to_ascii_uppercase()),
        (Function::Lower, [Datum::Text(text)]) => string(text.to_ascii_lowercase()),
        (Function::Substr, [Datum::Text(text), Datum::Int(from), rest @ ..]) => {
            let (skip, take) = window(*from, rest)?;
            string(text.chars().skip(skip).take(take).collect())
        }
        (Function::Substr, [Datum::Bytes(bytes), Datum::Int(from), rest @ ..]) => {
            let (skip, take) = window(*from, rest)?;
            Ok(Datum::Bytes(bytes.iter().copied().skip(skip).take(take).collect()))
        }
        (Function::Left, [Datum::Text(text), Datum::Int(n)]) => {
            string(text.chars().take(kept(text, *n)).collect())
        }
        (Function::Right, [Datum::Text(text), Datum::Int(n)]) => {
            string(text.chars().skip(text.chars().count() - kept(text, *n)).collect())
        }
        (Function::Trim(start, end), [Datum::Text(text), Datum::Text(set)]) => {
            let mut kept = text.as_str();
            if start {
                kept = kept.trim_start_matches(|c| set.contains(c));
            }
            if end {
                kept = kept.trim_end_matches(|c| set.contains(c));
            }
            string(kept.to_string())
        }
        (Function::Replace, [Datum::Text(text), Datum::Text(from), Datum::Text(to)]) => {
            string(if from.is_empty() { text.clone() } else { text.replace(from.as_str(), to) })
        }
        (Function::Reverse, [Datum::Text(text)]) => string(text.chars().rev().collect()),
        (Function::Strpos, [Datum::Text(text), Datum::Text(part)]) => {
            count(text.find(part.as_str()).map_or(0, |at| text[..at].chars().count() + 1))
        }
        (Function::Repeat, [Datum::Text(text), Datum::Int(n)]) => {
            let times = usize::try_from(*n).unwrap_or(0);
            match text.len().checked_mul(times) {
                Some(0..=1_000_000) => string(text.repeat(times)),
                _ => Err(Fault::unsure("a very long text")),
            }
        }
        (Function::Pad { left }, [Datum::Text(text), Datum::Int(n), Datum::Text(fill)]) => {
            pad(text, *n, fill, left)
        }
        (Function::Ascii, [Datum::Text(text)]) => {
            Ok(Datum::Int(text.chars().next().map_or(0, |c| i64::from(u32::from(c)))))
        }
        _ => Err(STRANGE),
    }
}

/// What a substring skips and takes. It may begin before the text, and what lies there counts.
fn window(from: i64, rest: &[&Datum]) -> Result<(usize, usize), Fault> {
    let skip = usize::try_from(from - 1).unwrap_or(0);
    let length = match rest {
        [] => return Ok((skip, usize::MAX)),
        [Datum::Int(length)] => *length,
        _ => return Err(STRANGE),
    };
    if length < 0 {
        return Err(RANGE);
    }
    Ok((skip, usize::try_from(from - 1 + length - skip as i64).unwrap_or(0)))
}

/// How many characters LEFT and RIGHT keep: below zero, all but so many.
fn kept(text: &str, n: i64) -> usize {
    let all = text.chars().count();
    match usize::try_from(n) {
        Ok(n) => n.min(all),
        Err(_) => all.saturating_sub(usize::try_from(n.unsigned_abs()).unwrap_or(all)),
    }
}

fn pad(text: &str, n: i64, fill: &str, left: bool) -> Result<Datum, Fault> {
    let wanted = usize::try_from(n).unwrap_or(0);
    if wanted > 1_000_000 {
        return Err(Fault::unsure("a very long text"));
    }
    let there = text.chars().count();
    if there >= wanted || fill.is_empty() {
        return Ok(Datum::Text(text.chars().take(wanted).collect()));
    }
    let filled: String = fill.chars().cycle().take(wanted - there).collect();
    Ok(Datum::Text(if left { format!("{filled}{text}") } else { format!("{text}{filled}") }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(text: &str) -> Datum {
        Datum::Text(text.to_string())
    }

    #[test]
    fn substrings_may_begin_before_the_text() {
        let sub =
            |from, length| function(Function::Substr, &[&t("abcde"), &Datum::Int(from), &Datum::Int(length)]);
        assert_eq!(sub(2, 2), Ok(t("bc")));
        assert_eq!(sub(0, 2), Ok(t("a")));
        assert_eq!(sub(-5, 3), Ok(t("")));
        assert_eq!(sub(4, 9), Ok(t("de")));
        assert_eq!(sub(1, -1), Err(RANGE));
    }

    #[test]
    fn ends_of_a_text() {
        let left = |n| function(Function::Left, &[&t("abc"), &Datum::Int(n)]);
        let right = |n| function(Function::Right, &[&t("abc"), &Datum::Int(n)]);
        assert_eq!((left(2), left(-2), left(-9)), (Ok(t("ab")), Ok(t("a")), Ok(t(""))));
        assert_eq!((right(2), right(-2), right(9)), (Ok(t("bc")), Ok(t("c")), Ok(t("abc"))));
        assert_eq!(pad("abc", 5, "xy", true), Ok(t("xyabc")));
        assert_eq!(pad("abc", 2, "xy", false), Ok(t("ab")));
    }
}
