//! Arithmetic and bits. A sum of whole numbers that leaves 64 bits is an error, and so is a negative one of which a part is
//! unsigned.

use model::sql::{BinaryOp, Expr, TypeName};

use super::{DIGITS, OVERFLOW, Row, convert, types::Class, values::bare};
use crate::{Datum, Decimal, Fault, decimal::power};

impl Row<'_> {
    pub fn negated(&self, expr: &Expr) -> Result<Datum, Fault> {
        let whole = Expr::Unary { op: model::sql::UnaryOp::Neg, expr: Box::new(expr.clone()) };
        let ty = self.ty(&whole)?;
        self.no_split(expr)?;
        let raw = self.raw(expr)?;
        if raw.is_null() {
            return Ok(Datum::Null);
        }
        Ok(match ty.class {
            Class::Int => {
                let n = -wide(&raw)?;
                Datum::Int(i64::try_from(n).map_err(|_| OVERFLOW)?)
            }
            Class::Decimal => Datum::Decimal(convert::decimal(&raw)?.ok_or(DIGITS)?.negated()),
            _ => Datum::Double(-convert::real(&raw)?.unwrap_or(0.0)),
        })
    }

    pub fn arithmetic(&self, left: &Expr, op: BinaryOp, right: &Expr) -> Result<Datum, Fault> {
        if op == BinaryOp::IntDiv {
            return self.whole_division(left, right);
        }
        let (left_ty, right_ty) = (self.ty(left)?, self.ty(right)?);
        let ty = self.arithmetic_ty(op, left_ty, right_ty);
        if self.rules.mariadb
            && (ty.unsigned || ty.class == Class::Decimal)
            && (left_ty.class.is_dated() || right_ty.class.is_dated())
        {
            return Err(Fault::unsure("an unsigned or exact number and a date"));
        }
        match ty.class {
            Class::Int => {
                let (a, b) = (self.raw(left)?, self.raw(right)?);
                if a.is_null() || b.is_null() {
                    return Ok(Datum::Null);
                }
                let (a, b) = (wide(&a)?, wide(&b)?);
                let result = match op {
                    BinaryOp::Add => a + b,
                    // The server negates it, and does not see that this cannot be done.
                    BinaryOp::Sub if b == i128::from(i64::MIN) && self.rules.negative_zero => {
                        return Err(Fault::unsure("the smallest number subtracted"));
                    }
                    BinaryOp::Sub => a - b,
                    BinaryOp::Mul => match a.checked_mul(b).ok_or(OVERFLOW)? {
                        PAST if self.rules.wraps_past => i128::from(i64::MAX),
                        // It multiplies without signs, and finds no room for that of the smallest number.
                        SMALLEST if self.rules.tight_product && a != 1 && b != 1 => return Err(OVERFLOW),
                        product => product,
                    },
                    _ if b == 0 => return Ok(Datum::Null),
                    _ => a % b,
                };
                fits(result, ty.unsigned)
            }
            Class::Decimal => {
                let Some(a) = self.decimal(left)? else { return Ok(Datum::Null) };
                let Some(b) = self.decimal(right)? else { return Ok(Datum::Null) };
                // Whole words of zeros before the first digit confuse the server's remainder.
                let tiny = |d: Decimal| !d.is_zero() && d.rescale(WORD).is_some_and(Decimal::is_zero);
                if !self.rules.short_quotient
                    && matches!(op, BinaryOp::Rem | BinaryOp::Mod)
                    && (tiny(a) || tiny(b))
                {
                    return Err(Fault::unsure("the rest of a very small number"));
                }
                let result = match exact(op, a, b)? {
                    Datum::Decimal(zero) if self.bare_zero(op, a, b, zero) => {
                        Datum::Decimal(Decimal::whole(0))
                    }
                    Datum::Decimal(product) if op == BinaryOp::Mul && self.rules.mariadb => {
                        Datum::Decimal(without_zeros(product).ok_or(DIGITS)?)
                    }
                    result => result,
                };
                if !self.rules.mariadb
                    && op == BinaryOp::Sub
                    && (left_ty.unsigned || self.signless_rest(left))
                    && (right_ty.unsigned || self.signless_rest(right))
                    && matches!(result, Datum::Decimal(d) if d.unscaled < 0)
                {
                    return Err(Fault::unsure("an exact number without a sign"));
                }
                match result {
                    // It keeps its sign, and is then not equal to zero.
                    Datum::Decimal(quotient)
                        if op == BinaryOp::Div
                            && !self.rules.short_quotient
                            && quotient.is_zero()
                            && (a.unscaled < 0) != (b.unscaled < 0) =>
                    {
                        Err(Fault::unsure("a negative zero"))
                    }
                    Datum::Decimal(rest)
                        if self.rules.negative_zero
                            && matches!(op, BinaryOp::Rem | BinaryOp::Mod)
                            && rest.is_zero()
                            && a.unscaled < 0 =>
                    {
                        Err(Fault::unsure("a negative zero"))
                    }
                    Datum::Decimal(quotient)
                        if op == BinaryOp::Div && self.rules.short_quotient && !quotient.is_zero() =>
                    {
                        Ok(Datum::Decimal(quotient.rescale(ty.scale).ok_or(DIGITS)?))
                    }
                    result => Ok(result),
                }
            }
            _ => {
                // It shows no more digits behind the point than its operands have, and MariaDB says that such a text has none.
                if self.rules.mariadb && (has_text(left) || has_text(right)) {
                    return Err(Fault::unsure("the number of a CAST to CHAR"));
                }
                let (a, b) = (self.real(left)?, self.real(right)?);
                let (Some(a), Some(b)) = (a, b) else { return Ok(Datum::Null) };
                let result = match op {
                    BinaryOp::Add => a + b,
                    BinaryOp::Sub => a - b,
                    BinaryOp::Mul => a * b,
                    _ if b == 0.0 => return Ok(Datum::Null),
                    BinaryOp::Div => a / b,
                    _ => a % b,
                };
                if result.is_finite() { Ok(Datum::Double(result)) } else { Err(OVERFLOW) }
            }
        }
    }

    /// Is a result that is zero made anew, so that it has no digits behind the point? A quotient of what it is added to has
    /// fewer digits then.
    fn bare_zero(&self, op: BinaryOp, a: Decimal, b: Decimal, result: Decimal) -> bool {
        let late = self.rules.mixed_signs && !self.rules.mariadb;
        result.is_zero()
            && match op {
                BinaryOp::Sub => true,
                BinaryOp::Add => !a.is_zero(),
                BinaryOp::Mul => late || a.unscaled < 0 || b.unscaled < 0,
                BinaryOp::Div => a.is_zero(),
                _ => late || a.is_zero(),
            }
    }

    /// `left DIV right`
    fn whole_division(&self, left: &Expr, right: &Expr) -> Result<Datum, Fault> {
        let (left_ty, right_ty) = (self.ty(left)?, self.ty(right)?);
        let unsigned = left_ty.unsigned || right_ty.unsigned;
        if left_ty.class == Class::Int && right_ty.class == Class::Int {
            let (a, b) = (self.raw(left)?, self.raw(right)?);
            if a.is_null() || b.is_null() {
                return Ok(Datum::Null);
            }
            let (a, b) = (wide(&a)?, wide(&b)?);
            return match (b, &self.rules) {
                (0, _) => Ok(Datum::Null),
                // MySQL divides without signs and finds no room for the sign of the smallest number.
                (_, rules) if !rules.mariadb && a / b == i128::from(i64::MIN) => Err(OVERFLOW),
                _ => fits(a / b, unsigned),
            };
        }
        let Some(a) = self.decimal(left)? else { return Ok(Datum::Null) };
        let Some(b) = self.decimal(right)? else { return Ok(Datum::Null) };
        if b.is_zero() {
            return Ok(Datum::Null);
        }
        let scale = a.scale.max(b.scale);
        let (a, b) = (a.rescale(scale).ok_or(DIGITS)?, b.rescale(scale).ok_or(DIGITS)?);
        let quotient = a.unscaled / b.unscaled;
        // A remainder of an unsigned number has no sign either, whatever it became.
        let negative = a.unscaled != 0 && (a.unscaled < 0) != (b.unscaled < 0);
        if !unsigned && negative && (holds_rest(left) || holds_rest(right)) {
            return Err(Fault::unsure("DIV of a remainder"));
        }
        if unsigned && quotient == 0 && (a.unscaled < 0) != (b.unscaled < 0) && self.rules.negative_zero {
            return Err(Fault::unsure("a negative zero"));
        }
        if quotient < 0 && !unsigned && (unsigned_rest(left) || unsigned_rest(right)) {
            return Err(Fault::unsure("an exact number without a sign"));
        }
        fits(quotient, unsigned)
    }

    /// An operand of an operator on bits.
    pub fn bit_pattern(&self, expr: &Expr) -> Result<Option<u64>, Fault> {
        self.no_split(expr)?;
        match self.raw(expr)? {
            raw @ (Datum::Double(_) | Datum::Text(_)) if self.rules.round_bits => {
                convert::decimal(&raw)?.map_or(Ok(None), |exact| convert::int(&Datum::Decimal(exact)))
            }
            _ => self.int(expr),
        }
    }

    /// Bits of 64-bit numbers without a sign.
    pub fn bits(&self, left: &Expr, op: BinaryOp, right: &Expr) -> Result<Datum, Fault> {
        let Some(a) = self.bit_pattern(left)? else {
            // MariaDB and old MySQL ask both sides all the same.
            if matches!(op, BinaryOp::BitXor | BinaryOp::Shl | BinaryOp::Shr) && self.rules.negative_zero {
                self.bit_pattern(right)?;
            }
            return Ok(Datum::Null);
        };
        let Some(b) = self.bit_pattern(right)? else { return Ok(Datum::Null) };
        let by = u32::try_from(b).unwrap_or(u32::MAX);
        Ok(Datum::UInt(match op {
            BinaryOp::BitOr => a | b,
            BinaryOp::BitAnd => a & b,
            BinaryOp::BitXor => a ^ b,
            BinaryOp::Shl => a.checked_shl(by).unwrap_or(0),
            _ => a.checked_shr(by).unwrap_or(0),
        }))
    }
}

/// The smallest number, and the first product below it.
const SMALLEST: i128 = i64::MIN as i128;
const PAST: i128 = SMALLEST - 1;

/// Is there a remainder somewhere in it?
fn holds_rest(expr: &Expr) -> bool {
    unsigned_rest(expr) || expr.children().into_iter().any(holds_rest)
}

/// Is there something in it that was made text by CAST?
fn has_text(expr: &Expr) -> bool {
    let cast = |ty: &TypeName| ty.words.first().is_some_and(|word| word.eq_ignore_ascii_case("CHAR"));
    matches!(expr, Expr::Cast { ty, .. } if cast(ty)) || expr.children().into_iter().any(has_text)
}

/// Is it a remainder, which may have no sign even if it is exact?
fn unsigned_rest(expr: &Expr) -> bool {
    matches!(bare(expr), Expr::Binary { op: BinaryOp::Rem | BinaryOp::Mod, .. })
}

/// A whole number with its sign.
pub(super) fn wide(datum: &Datum) -> Result<i128, Fault> {
    Ok(match datum {
        Datum::UInt(n) => i128::from(*n),
        other => i128::from(convert::int(other)?.unwrap_or(0) as i64),
    })
}

/// A result in its type, or an error.
pub(super) fn fits(result: i128, unsigned: bool) -> Result<Datum, Fault> {
    if unsigned {
        u64::try_from(result).map(Datum::UInt).map_err(|_| OVERFLOW)
    } else {
        i64::try_from(result).map(Datum::Int).map_err(|_| OVERFLOW)
    }
}

/// Digits are kept in words of nine.
const WORD: u8 = 9;

fn words(digits: u8) -> u8 {
    digits.div_ceil(WORD) * WORD
}

/// Without the words at its end that are zeros: a quotient of it has fewer digits then.
fn without_zeros(product: Decimal) -> Option<Decimal> {
    let mut short = product;
    for kept in (0..words(product.scale) / WORD).rev().map(|words| words * WORD) {
        let cut = product.rescale(kept)?;
        if cut.compare(product).is_ne() {
            break;
        }
        short = cut;
    }
    Some(short)
}

fn exact(op: BinaryOp, a: Decimal, b: Decimal) -> Result<Datum, Fault> {
    let result = match op {
        BinaryOp::Add => a.plus(b),
        BinaryOp::Sub => a.minus(b),
        BinaryOp::Mul => a.times(b),
        _ if b.is_zero() => return Ok(Datum::Null),
        BinaryOp::Div => divided(a, b),
        _ => a.rest(b),
    };
    result.map(Datum::Decimal).ok_or(DIGITS)
}

/// The quotient has all the words that it takes to hold the digits asked for, and is cut off after them.
fn divided(a: Decimal, b: Decimal) -> Option<Decimal> {
    const MORE: i16 = 4;
    let (of_a, of_b) = (words(a.scale), words(b.scale));
    let more = MORE - i16::from(of_a - a.scale) - i16::from(of_b - b.scale);
    let scale = words(of_a + of_b + more.max(0) as u8);
    // a / b = (a.unscaled * 10^(scale + b.scale - a.scale)) / b.unscaled / 10^scale
    let shift = i16::from(scale) + i16::from(b.scale) - i16::from(a.scale);
    let unscaled = a.unscaled.checked_mul(power(u8::try_from(shift).ok()?)?)? / b.unscaled;
    Some(Decimal { unscaled, scale })
}
