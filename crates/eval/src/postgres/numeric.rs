//! PostgreSQL's exact numbers: how many digits a sum, a product and a quotient show, and how they are rounded.
//!
//! A value carries its scale (`1.50` is not `1.5` when it is shown). We keep 38 digits; the server keeps far more, and where
//! ours do not do, the answer is "not sure".

use crate::{Decimal, Fault};

pub(super) const TOO_LONG: Fault = Fault::unsure("an exact number of more digits than we keep");

/// The server shows at least so many significant digits of a quotient.
const QUOTIENT_DIGITS: i32 = 16;

fn power(digits: u32) -> Result<i128, Fault> {
    10i128.checked_pow(digits).ok_or(TOO_LONG)
}

/// The divisor is not zero. Rounded half away from zero at a scale that depends on where both numbers begin.
pub(super) fn div(a: Decimal, b: Decimal) -> Result<Decimal, Fault> {
    let (weight_a, first_a) = leading(a);
    let (weight_b, first_b) = leading(b);
    let weight = weight_a - weight_b - i32::from(first_a <= first_b);
    let wanted = (QUOTIENT_DIGITS - weight * 4).max(i32::from(a.scale)).max(i32::from(b.scale)).max(0);
    let scale = u8::try_from(wanted).map_err(|_| TOO_LONG)?;
    let divisor = b.unscaled.unsigned_abs();
    let mut rest = a.unscaled.unsigned_abs();
    // (a / 10^sa) / (b / 10^sb) at this scale is a * 10^(scale - sa + sb) / b; the exponent is never negative.
    let steps = u32::from(scale) + u32::from(b.scale) - u32::from(a.scale);
    let mut quotient = rest / divisor;
    rest %= divisor;
    for _ in 0..steps {
        rest = rest.checked_mul(10).ok_or(TOO_LONG)?;
        quotient = quotient.checked_mul(10).ok_or(TOO_LONG)? + rest / divisor;
        rest %= divisor;
    }
    if rest >= divisor - rest {
        quotient += 1;
    }
    let size = i128::try_from(quotient).map_err(|_| TOO_LONG)?;
    let negative = (a.unscaled < 0) != (b.unscaled < 0);
    Ok(Decimal { unscaled: if negative { -size } else { size }, scale })
}

/// The first digit in base 10,000 that is not zero, and the power of 10,000 that it stands for.
fn leading(a: Decimal) -> (i32, u128) {
    let size = a.unscaled.unsigned_abs();
    if size == 0 {
        return (0, 0);
    }
    // Digits of base 10,000 are counted from the point, so the scale is made a multiple of four first.
    let padding = (4 - a.scale % 4) % 4;
    let groups = i32::from(a.scale.div_ceil(4));
    let mut digits = 0;
    let mut first = size;
    // The lowest group holds `4 - padding` decimal digits of ours.
    let lowest = 10u128.pow(u32::from(4 - padding));
    if first < lowest {
        return (-groups, first * 10u128.pow(u32::from(padding)));
    }
    first /= lowest;
    digits += 1;
    while first >= 10_000 {
        first /= 10_000;
        digits += 1;
    }
    (digits - groups, first)
}

/// With so many digits behind the point, half away from zero. Below zero digits: to tens, hundreds, shown without a point.
pub(super) fn round(a: Decimal, digits: i32) -> Result<Decimal, Fault> {
    cut(a, digits, |rest, unit| rest >= unit - rest)
}

/// With so many digits behind the point, the others dropped.
pub(super) fn trunc(a: Decimal, digits: i32) -> Result<Decimal, Fault> {
    cut(a, digits, |_, _| false)
}

fn cut(a: Decimal, digits: i32, up: impl Fn(i128, i128) -> bool) -> Result<Decimal, Fault> {
    let shown = u8::try_from(digits.max(0)).map_err(|_| TOO_LONG)?;
    if digits >= i32::from(a.scale) {
        return a.rescale(shown).ok_or(TOO_LONG);
    }
    let unit = power((i32::from(a.scale) - digits).unsigned_abs())?;
    let size = i128::try_from(a.unscaled.unsigned_abs()).map_err(|_| TOO_LONG)?;
    let mut whole = size / unit;
    if up(size % unit, unit) {
        whole += 1;
    }
    let size = whole.checked_mul(power((-digits).max(0).unsigned_abs())?).ok_or(TOO_LONG)?;
    Ok(Decimal { unscaled: if a.unscaled < 0 { -size } else { size }, scale: shown })
}

/// The nearest whole number that is not above (or not below).
pub(super) fn floor(a: Decimal, up: bool) -> Result<Decimal, Fault> {
    let unit = power(u32::from(a.scale))?;
    let down = a.unscaled.div_euclid(unit);
    let exact = a.unscaled.rem_euclid(unit) == 0;
    Ok(Decimal { unscaled: if up && !exact { down + 1 } else { down }, scale: 0 })
}

/// What `12`, `1.50`, `.5`, `2e3` mean; none if it is no such number.
pub(super) fn parse(text: &str) -> Option<Result<Decimal, Fault>> {
    let (negative, body) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], body[at + 1..].parse::<i32>().ok()?),
        None => (body, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    if digits().next().is_none() || !digits().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(assemble(negative, digits(), fraction.len(), exponent))
}

fn assemble(
    negative: bool,
    digits: impl Iterator<Item = u8>,
    behind: usize,
    exponent: i32,
) -> Result<Decimal, Fault> {
    let mut size: i128 = 0;
    for digit in digits {
        size = size
            .checked_mul(10)
            .and_then(|size| size.checked_add(i128::from(digit - b'0')))
            .ok_or(TOO_LONG)?;
    }
    let scale = i32::try_from(behind).map_err(|_| TOO_LONG)?.checked_sub(exponent).ok_or(TOO_LONG)?;
    if scale < 0 {
        size = size.checked_mul(power(scale.unsigned_abs())?).ok_or(TOO_LONG)?;
    }
    let scale = u8::try_from(scale.max(0)).map_err(|_| TOO_LONG)?;
    Ok(Decimal { unscaled: if negative { -size } else { size }, scale })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(text: &str) -> Decimal {
        parse(text).unwrap().unwrap()
    }

    #[test]
    fn a_quotient_has_sixteen_digits_or_more() {
        for (a, b, quotient) in [
            ("1", "3", "0.33333333333333333333"),
            ("10", "4", "2.5000000000000000"),
            ("1000000", "3", "333333.333333333333"),
            ("2", "3", "0.66666666666666666667"),
            ("-7", "2", "-3.5000000000000000"),
            ("0", "5", "0.00000000000000000000"),
            ("1.5", "0.0003", "5000.0000000000000000"),
        ] {
            assert_eq!(div(n(a), n(b)).unwrap().to_string(), quotient, "{a} / {b}");
        }
    }

    #[test]
    fn halves_go_away_from_zero() {
        for (number, digits, rounded) in [
            ("2.5", 0, "3"),
            ("-2.5", 0, "-3"),
            ("1.005", 2, "1.01"),
            ("155", -1, "160"),
            ("1.5", 3, "1.500"),
            ("4", -1, "0"),
        ] {
            assert_eq!(round(n(number), digits).unwrap().to_string(), rounded);
        }
        assert_eq!(trunc(n("-2.59"), 1).unwrap().to_string(), "-2.5");
        assert_eq!(floor(n("-2.5"), false).unwrap().to_string(), "-3");
        assert_eq!(floor(n("-2.5"), true).unwrap().to_string(), "-2");
    }

    #[test]
    fn texts_come_and_go() {
        for same in ["0", "0.00", "-0.05", "12.340"] {
            assert_eq!(n(same).to_string(), same);
        }
        assert_eq!(n("1.5e3").to_string(), "1500");
        assert_eq!(n("15e-3").to_string(), "0.015");
        assert_eq!(n(".5").to_string(), "0.5");
        assert!(parse("1x").is_none() && parse("").is_none() && parse(".").is_none());
    }
}
