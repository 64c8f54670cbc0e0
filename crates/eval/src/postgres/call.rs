//! Operators over values that are not NULL and have the types that they want.

use model::ErrorClass;

use super::{
    cast::{self, RANGE, ranged},
    functions, like,
    node::{Arith, Bits, Call},
    numeric,
    run::compare,
    types::Ty,
};
use crate::{Datum, Decimal, Fault, dates};

/// Division by zero.
const ZERO: Fault = Fault::Error(ErrorClass::Runtime);
pub(super) const STRANGE: Fault = Fault::unsure("an operand that its operator does not take");

pub(super) fn call(what: Call, args: &[&Datum]) -> Result<Datum, Fault> {
    match (what, args) {
        (Call::Arith(op, ty), [Datum::Int(a), Datum::Int(b)]) => int(op, ty, *a, *b),
        (Call::Arith(op, _), [Datum::Decimal(a), Datum::Decimal(b)]) => exact(op, *a, *b).map(Datum::Decimal),
        (Call::Arith(op, ty), [Datum::Double(a), Datum::Double(b)]) => binary(op, ty, *a, *b),
        (Call::Neg(ty), [Datum::Int(n)]) => ranged(ty, -i128::from(*n)),
        (Call::Neg(_), [Datum::Decimal(d)]) => Ok(Datum::Decimal(d.negated())),
        (Call::Neg(_), [Datum::Double(d)]) => Ok(Datum::Double(-d)),
        (Call::Bits(op, ty), [Datum::Int(a), Datum::Int(b)]) => Ok(Datum::Int(bits(op, ty, *a, *b))),
        (Call::BitNot(_), [Datum::Int(n)]) => Ok(Datum::Int(!n)),
        (Call::Compare(op, blanks), [a, b]) => Ok(Datum::Bool(op.holds(compare(a, b, blanks)?))),
        (Call::Cast(from, to), [datum]) => cast::cast(from, to, datum),
        (Call::Fit(fit), [datum]) => cast::fit(fit, datum),
        (Call::Like { ignores_case }, [Datum::Text(text), Datum::Text(pattern)]) => {
            like::like(text, pattern, ignores_case).map(Datum::Bool)
        }
        (Call::LikeEscape, [Datum::Text(pattern), Datum::Text(escape)]) => {
            like::escaped(pattern, escape).map(Datum::Text)
        }
        (Call::Concat, [Datum::Text(a), Datum::Text(b)]) => Ok(Datum::Text(format!("{a}{b}"))),
        (Call::Concat, [Datum::Bytes(a), Datum::Bytes(b)]) => Ok(Datum::Bytes([&a[..], b].concat())),
        (Call::DayPlus, [Datum::Date(y, m, d), Datum::Int(n)]) => day_plus((*y, *m, *d), *n),
        (Call::DayMinus, [Datum::Date(y, m, d), Datum::Int(n)]) => day_plus((*y, *m, *d), -n),
        (Call::DaysBetween, [Datum::Date(y, m, d), Datum::Date(y2, m2, d2)]) => {
            Ok(Datum::Int(day_number((*y, *m, *d)) - day_number((*y2, *m2, *d2))))
        }
        (Call::Function(function), args) => functions::function(function, args),
        _ => Err(STRANGE),
    }
}

fn int(op: Arith, ty: Ty, a: i64, b: i64) -> Result<Datum, Fault> {
    let (a, b) = (i128::from(a), i128::from(b));
    match op {
        Arith::Add => ranged(ty, a + b),
        Arith::Sub => ranged(ty, a - b),
        Arith::Mul => ranged(ty, a * b),
        Arith::Div | Arith::Rem if b == 0 => Err(ZERO),
        Arith::Div => ranged(ty, a / b),
        Arith::Rem => ranged(ty, a % b),
    }
}

fn exact(op: Arith, a: Decimal, b: Decimal) -> Result<Decimal, Fault> {
    match op {
        Arith::Add => a.plus(b),
        Arith::Sub => a.minus(b),
        Arith::Mul => a.times(b),
        Arith::Div | Arith::Rem if b.is_zero() => return Err(ZERO),
        Arith::Div => return numeric::div(a, b),
        Arith::Rem => a.rest(b),
    }
    .ok_or(numeric::TOO_LONG)
}

/// Binary numbers: what becomes infinite is an error, and so is a product or a quotient that becomes zero.
fn binary(op: Arith, ty: Ty, a: f64, b: f64) -> Result<Datum, Fault> {
    let of = |a: f64, b: f64| match op {
        Arith::Add => a + b,
        Arith::Sub => a - b,
        Arith::Mul => a * b,
        Arith::Div => a / b,
        Arith::Rem => a % b,
    };
    if matches!(op, Arith::Div | Arith::Rem) && b == 0.0 && !a.is_nan() {
        return Err(ZERO);
    }
    // Twice as many bits and some: rounding a sum, a product or a quotient of two short numbers again changes nothing.
    let found = if ty == Ty::Float4 { f64::from(of(a, b) as f32) } else { of(a, b) };
    let overflow = found.is_infinite() && a.is_finite() && b.is_finite();
    let underflow = found == 0.0
        && match op {
            Arith::Mul => a != 0.0 && b != 0.0,
            Arith::Div => a != 0.0 && b.is_finite(),
            Arith::Add | Arith::Sub | Arith::Rem => false,
        };
    if overflow || underflow { Err(RANGE) } else { Ok(Datum::Double(found)) }
}

/// A shift by more bits than there are is what the processor makes of it: it looks at the low bits of the distance only.
fn bits(op: Bits, ty: Ty, a: i64, b: i64) -> i64 {
    match (op, ty) {
        (Bits::And, _) => a & b,
        (Bits::Or, _) => a | b,
        (Bits::Xor, _) => a ^ b,
        (Bits::Shl, Ty::Int8) => a.wrapping_shl(b as u32),
        (Bits::Shr, Ty::Int8) => a.wrapping_shr(b as u32),
        (Bits::Shl, Ty::Int2) => i64::from((a as i32).wrapping_shl(b as u32) as i16),
        (Bits::Shl, _) => i64::from((a as i32).wrapping_shl(b as u32)),
        (Bits::Shr, Ty::Int2) => i64::from((a as i32).wrapping_shr(b as u32) as i16),
        (Bits::Shr, _) => i64::from((a as i32).wrapping_shr(b as u32)),
    }
}

/// Days since some day long ago.
fn day_number((year, month, day): dates::Day) -> i64 {
    // The year begins in March, so that the odd day is the last one.
    let (month, year) = (i64::from(month), i64::from(year));
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    year * 365 + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (month * 153 + 2) / 5
        + i64::from(day)
}

fn day_plus(day: dates::Day, days: i64) -> Result<Datum, Fault> {
    const FAR: Fault = Fault::unsure("a day far away");
    let wanted = day_number(day).checked_add(days).ok_or(FAR)?;
    if !(day_number((1, 1, 1))..=day_number((9999, 12, 31))).contains(&wanted) {
        return Err(FAR);
    }
    // A guess that is at most some days off, then month by month.
    let mut year = (wanted * 400 / 146_097) as i32;
    while day_number((year + 1, 1, 1)) <= wanted {
        year += 1;
    }
    while day_number((year, 1, 1)) > wanted {
        year -= 1;
    }
    let mut month = 12;
    while day_number((year, month, 1)) > wanted {
        month -= 1;
    }
    Ok(Datum::Date(year, month, (wanted - day_number((year, month, 1)) + 1) as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_across_leap_years() {
        let plus = |day, n| day_plus(day, n).unwrap();
        assert_eq!(plus((2020, 2, 28), 1), Datum::Date(2020, 2, 29));
        assert_eq!(plus((2019, 12, 31), 1), Datum::Date(2020, 1, 1));
        assert_eq!(plus((2000, 3, 1), -1), Datum::Date(2000, 2, 29));
        assert_eq!(plus((1900, 3, 1), -1), Datum::Date(1900, 2, 28));
        assert_eq!(day_number((2021, 1, 1)) - day_number((2020, 1, 1)), 366);
    }

    #[test]
    fn whole_numbers_have_ends() {
        assert_eq!(int(Arith::Add, Ty::Int2, 32767, 1), Err(RANGE));
        assert_eq!(int(Arith::Add, Ty::Int4, 32767, 1), Ok(Datum::Int(32768)));
        assert_eq!(int(Arith::Div, Ty::Int8, i64::MIN, -1), Err(RANGE));
        assert_eq!(int(Arith::Rem, Ty::Int8, i64::MIN, -1), Ok(Datum::Int(0)));
        assert_eq!(int(Arith::Div, Ty::Int4, 1, 0), Err(ZERO));
        assert_eq!(bits(Bits::Shl, Ty::Int4, 1, 31), i64::from(i32::MIN));
        assert_eq!(bits(Bits::Shl, Ty::Int4, 1, 33), 2);
    }

    #[test]
    fn binary_numbers_do_not_become_infinite_or_vanish() {
        assert_eq!(binary(Arith::Mul, Ty::Float8, 1e200, 1e200), Err(RANGE));
        assert_eq!(binary(Arith::Mul, Ty::Float8, 1e-200, 1e-200), Err(RANGE));
        assert_eq!(binary(Arith::Add, Ty::Float4, 16777216.0, 1.0), Ok(Datum::Double(16777216.0)));
    }
}
