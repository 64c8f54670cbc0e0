//! Walks the tree of an expression.

use std::{borrow::Cow, cmp::Ordering};

use model::sql::{BinaryOp, BoolTest, Expr, FunctionArgs, InList, Literal, UnaryOp};

use super::{
    affinity::{self, Affinity, affinity, compared},
    functions, like, number,
};
use crate::{Datum, Evaluator, Fault, logic};

pub(super) type Evaluated<'a> = Result<Cow<'a, Datum>, Fault>;

pub(super) const NOT_HERE: Fault = Fault::unsure("an expression that we do not compute");

pub(super) fn owned<'a>(datum: Datum) -> Evaluated<'a> {
    Ok(Cow::Owned(datum))
}

fn known<'a>(truth: Option<bool>) -> Evaluated<'a> {
    owned(truth.map_or(Datum::Null, |truth| Datum::Int(i64::from(truth))))
}

/// Is the value true as a condition? A text is, if the number at its start is not zero.
pub(super) fn truth(datum: &Datum) -> Option<bool> {
    match datum {
        Datum::Null => None,
        Datum::Int(n) => Some(*n != 0),
        other => Some(number::real(other) != 0.0),
    }
}

pub(super) fn compute<'a>(of: &Evaluator, expr: &'a Expr, row: &'a [Datum]) -> Evaluated<'a> {
    let test = |expr: &'a Expr| compute(of, expr, row).map(|found| truth(&found));
    match expr {
        Expr::Literal(literal) => owned(constant(of, literal, false)?),
        Expr::Column(name) => {
            let (at, column) =
                affinity::column(of, name).ok_or(Fault::unsure("a column that is not in the row"))?;
            if column.collation.as_deref().is_some_and(|name| name != "BINARY") {
                return Err(Fault::unsure("a collation of its own"));
            }
            let datum = row.get(at).ok_or(Fault::unsure("a row without a datum for each column"))?;
            column_value(Affinity::of(&column.ty), datum)
        }
        Expr::Paren(inner) => compute(of, inner, row),
        Expr::Unary { op, expr } => unary(of, *op, expr, row),
        Expr::Binary { left, op, right } => binary(of, left, *op, right, row),
        Expr::IsNull { expr, negated, .. } => known(Some(compute(of, expr, row)?.is_null() != *negated)),
        Expr::IsBool { expr, negated, test: wanted } => {
            let found = test(expr)?;
            let wanted = match wanted {
                BoolTest::True => Some(true),
                BoolTest::False => Some(false),
                BoolTest::Unknown => return Err(NOT_HERE),
            };
            known(Some((found == wanted) != *negated))
        }
        Expr::In { expr, negated, list: InList::Exprs(list) } => {
            let found = doubtful(in_list(of, expr, list, row))?;
            known(found.map(|found| found != *negated))
        }
        Expr::Between { expr, negated, low, high } => {
            let above = doubtful(ordered(of, expr, low, row))?.map(Ordering::is_ge);
            let below = doubtful(ordered(of, expr, high, row))?.map(Ordering::is_le);
            known(logic::and(above, below).map(|within| within != *negated))
        }
        Expr::Like { expr, negated, op, pattern, escape } => {
            let (pattern, text) = (compute(of, pattern, row)?, compute(of, expr, row)?);
            let escape = escape.as_ref().map(|escape| compute(of, escape, row)).transpose()?;
            let found = like::like(*op, &text, &pattern, escape.as_deref())?;
            known(found.map(|found| found != *negated))
        }
        Expr::Case { operand, whens, otherwise } => {
            for when in whens {
                let holds = match operand {
                    Some(operand) => ordered(of, operand, &when.when, row)?.map(Ordering::is_eq),
                    None => test(&when.when)?,
                };
                if holds == Some(true) {
                    return compute(of, &when.then, row);
                }
            }
            otherwise.as_ref().map_or(owned(Datum::Null), |otherwise| compute(of, otherwise, row))
        }
        Expr::Cast { expr, ty, .. } => {
            let found = compute(of, expr, row)?;
            cast(Affinity::named(ty), found)
        }
        Expr::Function { name, quantifier: None, args: FunctionArgs::List(args) } => {
            functions::function(of, &name.name, args, row)
        }
        _ => Err(NOT_HERE),
    }
}

/// Where the server may be content with a part, an error in one part may never show.
fn doubtful<T>(found: Result<T, Fault>) -> Result<T, Fault> {
    found.map_err(|fault| match fault {
        Fault::Error(_) => Fault::unsure("an error in a part that may not be reached"),
        unsure => unsure,
    })
}

/// The datum as the column gives it: rows may hold what was written rather than what was kept.
fn column_value(affinity: Affinity, datum: &Datum) -> Evaluated<'_> {
    let kept = match datum {
        Datum::Null | Datum::Bytes(_) => true,
        Datum::Int(_) => matches!(affinity, Affinity::Integer | Affinity::Numeric | Affinity::Blob),
        Datum::Double(_) => matches!(affinity, Affinity::Real | Affinity::Blob),
        Datum::Text(_) => matches!(affinity, Affinity::Text | Affinity::Blob),
        Datum::Bool(_) | Datum::UInt(_) | Datum::Decimal(_) | Datum::Date(..) | Datum::DateTime(..) => false,
    };
    if kept { Ok(Cow::Borrowed(datum)) } else { owned(affinity::stored(affinity, datum)?) }
}

fn constant(of: &Evaluator, literal: &Literal, negative: bool) -> Result<Datum, Fault> {
    Ok(match literal {
        Literal::Null => Datum::Null,
        Literal::Bool(b) => Datum::Int(i64::from(*b)),
        Literal::Number(digits) => {
            if digits.starts_with("0x") || digits.starts_with("0X") {
                return Err(Fault::unsure("digits of another base"));
            }
            let signed = format!("{}{digits}", if negative { "-" } else { "" });
            let whole = digits.bytes().all(|byte| byte.is_ascii_digit());
            match signed.parse() {
                Ok(n) if whole => Datum::Int(n),
                _ => Datum::Double(number::read(signed.as_bytes()).real),
            }
        }
        Literal::Text(written) => Datum::Text(dialect::sql::text_value(of.product, written).ok_or(NOT_HERE)?),
        Literal::Bytes(written) => {
            let digits = written.get(2..written.len().saturating_sub(1)).ok_or(NOT_HERE)?;
            let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
            let digit = |c: u8| char::from(c).to_digit(16).map(|digit| digit as u8);
            let read = pairs
                .iter()
                .map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?))
                .collect::<Option<_>>();
            Datum::Bytes(read.filter(|_| rest.is_empty()).ok_or(NOT_HERE)?)
        }
    })
}

/// The number under parentheses, which the grammar forgets.
fn bare_number(expr: &Expr) -> Option<&Literal> {
    match expr {
        Expr::Literal(literal @ Literal::Number(_)) => Some(literal),
        Expr::Paren(inner) => bare_number(inner),
        _ => None,
    }
}

fn unary<'a>(of: &Evaluator, op: UnaryOp, expr: &'a Expr, row: &'a [Datum]) -> Evaluated<'a> {
    if let (UnaryOp::Neg, Some(literal)) = (op, bare_number(expr)) {
        return owned(constant(of, literal, true)?);
    }
    let found = compute(of, expr, row)?;
    if found.is_null() {
        return Ok(found);
    }
    match op {
        UnaryOp::Not | UnaryOp::Bang => known(logic::not(truth(&found))),
        // Zero minus it.
        UnaryOp::Neg => owned(arithmetic(BinaryOp::Sub, &Datum::Int(0), &found)),
        UnaryOp::Plus => Ok(found),
        UnaryOp::BitNot => owned(Datum::Int(!number::int(&found))),
    }
}

fn binary<'a>(
    of: &Evaluator,
    left: &'a Expr,
    op: BinaryOp,
    right: &'a Expr,
    row: &'a [Datum],
) -> Evaluated<'a> {
    use BinaryOp::*;
    let order = |test: fn(Ordering) -> bool| known(ordered(of, left, right, row)?.map(test));
    match op {
        Eq | EqEq => return order(Ordering::is_eq),
        Ne | NeBang => return order(Ordering::is_ne),
        Lt => return order(Ordering::is_lt),
        Le => return order(Ordering::is_le),
        Gt => return order(Ordering::is_gt),
        Ge => return order(Ordering::is_ge),
        Is | IsNot | IsDistinct | IsNotDistinct => {
            let negated = matches!(op, IsNot | IsDistinct);
            let nulls = compute(of, left, row)?.is_null() && compute(of, right, row)?.is_null();
            let equal = nulls || ordered(of, left, right, row)?.is_some_and(Ordering::is_eq);
            return known(Some(equal != negated));
        }
        _ => {}
    }
    let (a, b) = match op {
        And | Or => (doubtful(compute(of, left, row))?, doubtful(compute(of, right, row))?),
        _ => (compute(of, left, row)?, compute(of, right, row)?),
    };
    match op {
        And => known(logic::and(truth(&a), truth(&b))),
        Or => known(logic::or(truth(&a), truth(&b))),
        Add | Sub | Mul | Div | Rem | BitAnd | BitOr | Shl | Shr | Concat if a.is_null() || b.is_null() => {
            owned(Datum::Null)
        }
        Add | Sub | Mul | Div | Rem => owned(arithmetic(op, &a, &b)),
        BitAnd => owned(Datum::Int(number::int(&a) & number::int(&b))),
        BitOr => owned(Datum::Int(number::int(&a) | number::int(&b))),
        Shl => owned(Datum::Int(shift(number::int(&a), number::int(&b)))),
        Shr => owned(Datum::Int(shift(number::int(&a), number::int(&b).saturating_neg()))),
        Concat => owned(Datum::Text(affinity::text(&a)? + &affinity::text(&b)?)),
        _ => Err(NOT_HERE),
    }
}

/// To the left, or to the right by less than zero, with the sign; by 64 and more nothing but the sign is left.
fn shift(n: i64, by: i64) -> i64 {
    match by {
        64.. => 0,
        0..=63 => n << by,
        -63..=-1 => n >> -by,
        _ => n >> 63,
    }
}

/// Of two values that are not NULL. Whole numbers stay whole as long as they fit.
fn arithmetic(op: BinaryOp, left: &Datum, right: &Datum) -> Datum {
    use BinaryOp::*;
    let written = (left, right);
    let (left, right) = (number::operand(left), number::operand(right));
    if let (Datum::Int(a), Datum::Int(b)) = (&left, &right) {
        let whole = match op {
            Add => a.checked_add(*b),
            Sub => a.checked_sub(*b),
            Mul => a.checked_mul(*b),
            Div | Rem if *b == 0 => return Datum::Null,
            Div => a.checked_div(*b),
            _ => Some(a.wrapping_rem(*b)),
        };
        if let Some(whole) = whole {
            return Datum::Int(whole);
        }
    }
    let (a, b) = (number::real(&left), number::real(&right));
    let found = match op {
        Add => a + b,
        Sub => a - b,
        Mul => a * b,
        Div if b == 0.0 => return Datum::Null,
        Div => a / b,
        // The rest is that of the whole numbers, and text is a whole number up to its first other letter: 1e-05 is 1.
        _ => match (number::int(written.0), number::int(written.1)) {
            (_, 0) => return Datum::Null,
            (a, b) => a.wrapping_rem(b) as f64,
        },
    };
    if found.is_nan() { Datum::Null } else { Datum::Double(found) }
}

/// How two operands compare; nothing if one is NULL.
fn ordered(of: &Evaluator, left: &Expr, right: &Expr, row: &[Datum]) -> Result<Option<Ordering>, Fault> {
    let (a, b) = (compute(of, left, row)?, compute(of, right, row)?);
    ordered_values(compared(affinity(of, left), affinity(of, right)), &a, &b)
}

fn ordered_values(affinity: Option<Affinity>, a: &Datum, b: &Datum) -> Result<Option<Ordering>, Fault> {
    if a.is_null() || b.is_null() {
        return Ok(None);
    }
    let texts = matches!(a, Datum::Text(_)) || matches!(b, Datum::Text(_));
    let found = match affinity {
        Some(Affinity::Numeric | Affinity::Integer | Affinity::Real) if texts => {
            compare(&numeric(a), &numeric(b))
        }
        Some(Affinity::Text) if texts => compare(&*textual(a)?, &*textual(b)?),
        _ => compare(a, b),
    };
    Ok(Some(found))
}

fn numeric(datum: &Datum) -> Cow<'_, Datum> {
    match datum {
        Datum::Text(text) => number::numeric(text).map_or(Cow::Borrowed(datum), Cow::Owned),
        other => Cow::Borrowed(other),
    }
}

fn textual(datum: &Datum) -> Result<Cow<'_, Datum>, Fault> {
    Ok(match datum {
        Datum::Int(_) | Datum::Double(_) => Cow::Owned(Datum::Text(affinity::text(datum)?)),
        other => Cow::Borrowed(other),
    })
}

/// Numbers come before text, text before bytes.
pub(super) fn compare(a: &Datum, b: &Datum) -> Ordering {
    let class = |datum: &Datum| match datum {
        Datum::Null => 0,
        Datum::Int(_) | Datum::Double(_) => 1,
        Datum::Text(_) => 2,
        _ => 3,
    };
    match (a, b) {
        (Datum::Int(a), Datum::Int(b)) => a.cmp(b),
        (Datum::Int(a), Datum::Double(b)) => int_and_real(*a, *b),
        (Datum::Double(a), Datum::Int(b)) => int_and_real(*b, *a).reverse(),
        (Datum::Double(a), Datum::Double(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
        (Datum::Text(a), Datum::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Datum::Bytes(a), Datum::Bytes(b)) => a.cmp(b),
        _ => class(a).cmp(&class(b)),
    }
}

/// Exactly, where a binary number would be rounded.
fn int_and_real(int: i64, real: f64) -> Ordering {
    if real < -9223372036854775808.0 {
        Ordering::Greater
    } else if real >= 9223372036854775808.0 {
        Ordering::Less
    } else {
        let whole = real as i64;
        int.cmp(&whole).then_with(|| (int as f64).partial_cmp(&real).unwrap_or(Ordering::Equal))
    }
}

/// The list is converted as the left side likes it, whatever stands in it.
fn in_list(of: &Evaluator, expr: &Expr, list: &[Expr], row: &[Datum]) -> Result<Option<bool>, Fault> {
    let item = compute(of, expr, row)?;
    let affinity = affinity(of, expr);
    let (mut found, mut unknown) = (false, item.is_null() && !list.is_empty());
    for other in list {
        let other = compute(of, other, row)?;
        match ordered_values(affinity, &item, &other)? {
            Some(order) => found |= order.is_eq(),
            None => unknown = true,
        }
    }
    Ok(if found { Some(true) } else { (!unknown).then_some(false) })
}

/// An explicit cast, which loses what does not fit.
fn cast(to: Affinity, found: Cow<Datum>) -> Evaluated {
    if found.is_null() {
        return Ok(found);
    }
    match to {
        Affinity::Integer => owned(Datum::Int(number::int(&found))),
        Affinity::Real => owned(Datum::Double(number::real(&found))),
        Affinity::Text => match *found {
            Datum::Text(_) => Ok(found),
            _ => owned(Datum::Text(affinity::text(&found)?)),
        },
        Affinity::Blob => match *found {
            Datum::Bytes(_) => Ok(found),
            _ => owned(Datum::Bytes(affinity::text(&found)?.into_bytes())),
        },
        Affinity::Numeric => match *found {
            Datum::Int(_) | Datum::Double(_) => Ok(found),
            _ => match number::operand(&found) {
                Datum::Double(d) if number::same_as_int(d, number::real_to_int(d)) => {
                    owned(Datum::Int(number::real_to_int(d)))
                }
                other => owned(other),
            },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_an_order() {
        let text = Datum::Text("1".to_string());
        assert_eq!(compare(&Datum::Int(9), &text), Ordering::Less);
        assert_eq!(compare(&text, &Datum::Bytes(Vec::new())), Ordering::Less);
        assert_eq!(compare(&Datum::Int(i64::MAX), &Datum::Double(9223372036854775808.0)), Ordering::Less);
        assert_eq!(compare(&Datum::Double(1.0), &Datum::Int(1)), Ordering::Equal);
        let numeric = ordered_values(Some(Affinity::Numeric), &text, &Datum::Double(1.0));
        assert_eq!(numeric, Ok(Some(Ordering::Equal)));
        assert_eq!(ordered_values(None, &text, &Datum::Int(1)), Ok(Some(Ordering::Greater)));
    }

    #[test]
    fn whole_numbers_become_binary_ones() {
        use BinaryOp::*;
        assert_eq!(
            arithmetic(Add, &Datum::Int(i64::MAX), &Datum::Int(1)),
            Datum::Double(9223372036854775808.0)
        );
        assert_eq!(
            arithmetic(Div, &Datum::Int(i64::MIN), &Datum::Int(-1)),
            Datum::Double(9223372036854775808.0)
        );
        assert_eq!(arithmetic(Rem, &Datum::Int(i64::MIN), &Datum::Int(-1)), Datum::Int(0));
        assert_eq!(arithmetic(Rem, &Datum::Double(7.5), &Datum::Int(2)), Datum::Double(1.0));
        assert_eq!(arithmetic(Rem, &Datum::Double(7.5), &Datum::Text("2e-5".into())), Datum::Double(1.0));
        assert_eq!(arithmetic(Div, &Datum::Int(7), &Datum::Int(2)), Datum::Int(3));
        assert_eq!(arithmetic(Div, &Datum::Int(7), &Datum::Double(0.0)), Datum::Null);
        assert_eq!(shift(1, 63), i64::MIN);
        assert_eq!((shift(-1, 64), shift(-4, -1), shift(-1, -70)), (0, -2, -1));
    }
}
