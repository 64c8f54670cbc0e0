//! The value of an expression in the form that it has by itself.

use model::sql::{BinaryOp, BoolTest, Expr, FunctionArgs, InList, LikeOp, Literal, UnaryOp, When};

use super::{
    Row, convert,
    types::{Class, SYNTAX, list},
};
use crate::{Datum, Decimal, Fault, dates, logic};

/// A truth value as the number that it is here.
pub(super) fn number(truth: Option<bool>) -> Datum {
    truth.map_or(Datum::Null, |truth| Datum::Int(i64::from(truth)))
}

impl Row<'_> {
    /// Which column a name means.
    pub fn column(&self, name: &model::sql::ColumnRef) -> Result<usize, Fault> {
        let table = name.table.as_ref().map(|table| &table.name.name);
        self.columns
            .iter()
            .position(|column| {
                column.name.eq_ignore_ascii_case(&name.name.name)
                    && (table.is_none() || table == column.table.as_ref())
            })
            .ok_or(Fault::unsure("a column that is not known"))
    }

    /// The value of an expression.
    pub fn raw(&self, expr: &Expr) -> Result<Datum, Fault> {
        match expr {
            Expr::Literal(literal) => constant(literal),
            Expr::Column(name) => Ok(self.row[self.column(name)?].clone()),
            Expr::Paren(inner) => self.raw(inner),
            Expr::Unary { op, expr } => match op {
                UnaryOp::Not | UnaryOp::Bang if self.rules.whole_xor && xor(expr) => {
                    Err(Fault::unsure("NOT of XOR, which is turned around"))
                }
                UnaryOp::Not | UnaryOp::Bang => Ok(number(logic::not(self.truth(expr)?))),
                UnaryOp::Neg => self.negated(expr),
                UnaryOp::Plus => self.raw(expr),
                UnaryOp::BitNot => Ok(self.bit_pattern(expr)?.map_or(Datum::Null, |n| Datum::UInt(!n))),
            },
            Expr::Binary { left, op, right } => self.binary(left, *op, right),
            Expr::IsNull { expr, .. } | Expr::IsBool { expr, test: BoolTest::Unknown, .. }
                if self.rules.null_safe_null && null_safe(expr) =>
            {
                Err(Fault::unsure("whether <=> is NULL"))
            }
            Expr::IsNull { expr, negated, .. } => match self.raw(expr) {
                // What cannot be NULL by its type is not computed, and versions differ in what that is.
                Err(Fault::Error(_)) => Err(Fault::unsure("whether an error is NULL")),
                raw => Ok(number(Some(raw?.is_null() != *negated))),
            },
            Expr::IsBool { expr, negated, test } => {
                let truth = self.truth(expr)?;
                let holds = match test {
                    BoolTest::True => truth == Some(true),
                    BoolTest::False => truth == Some(false),
                    BoolTest::Unknown => truth.is_none(),
                };
                Ok(number(Some(holds != *negated)))
            }
            Expr::In { expr, negated, list: InList::Exprs(list) } => {
                let found = self.is_in(expr, list)?;
                Ok(number(if *negated { logic::not(found) } else { found }))
            }
            Expr::Between { expr, negated, low, high } => {
                let found = self.is_between(expr, low, high)?;
                Ok(number(if *negated { logic::not(found) } else { found }))
            }
            Expr::Like { expr, negated, op: LikeOp::Like, pattern, escape: None } => {
                let fits = self.is_like(expr, pattern)?;
                Ok(number(if *negated { logic::not(fits) } else { fits }))
            }
            Expr::Case { .. } => self.chosen_raw(expr),
            Expr::Cast { expr: inner, .. } => self.cast(expr, inner),
            Expr::Function { name, args, .. } => self.function(expr, &name.name, list(args)),
            _ => Err(SYNTAX),
        }
    }

    fn binary(&self, left: &Expr, op: BinaryOp, right: &Expr) -> Result<Datum, Fault> {
        use BinaryOp::*;
        match op {
            // What is certain already is not asked further.
            And | AndAmps => match self.truth(left)? {
                Some(false) => Ok(number(Some(false))),
                left => Ok(number(logic::and(left, self.truth(right)?))),
            },
            Or | OrBars => match self.truth(left)? {
                Some(true) => Ok(number(Some(true))),
                left => Ok(number(logic::or(left, self.truth(right)?))),
            },
            Xor if self.rules.whole_xor => {
                let Some(left) = self.int(left)? else { return Ok(Datum::Null) };
                Ok(number(self.int(right)?.map(|right| (left != 0) != (right != 0))))
            }
            Xor => match self.truth(left)? {
                None => Ok(Datum::Null),
                left => Ok(number(logic::xor(left, self.truth(right)?))),
            },
            Eq | NullSafeEq | Ne | NeBang | Lt | Le | Gt | Ge => Ok(number(self.compared(left, op, right)?)),
            Add | Sub | Mul | Div | IntDiv | Rem | Mod => self.arithmetic(left, op, right),
            BitOr | BitAnd | BitXor | Shl | Shr => self.bits(left, op, right),
            EqEq | Is | IsNot | IsDistinct | IsNotDistinct | Power | Match | NotMatch | MatchNoCase
            | NotMatchNoCase | Concat => Err(SYNTAX),
        }
    }

    /// The branch that CASE, IF, COALESCE or IFNULL takes; none if the expression is no choice, or if there is nothing to
    /// choose.
    pub fn chosen<'e>(&self, expr: &'e Expr) -> Result<Option<&'e Expr>, Fault> {
        match expr {
            Expr::Paren(inner) => self.chosen(inner),
            Expr::Case { operand, whens, otherwise } => {
                self.branch(operand.as_deref(), whens, otherwise.as_deref())
            }
            Expr::Function { name, args: FunctionArgs::List(args), .. } => {
                match (name.name.to_ascii_uppercase().as_str(), &args[..]) {
                    ("IF", [when, then, otherwise]) => {
                        Ok(Some(if self.truth(when)? == Some(true) { then } else { otherwise }))
                    }
                    ("COALESCE" | "IFNULL", args) => {
                        for arg in args {
                            if !self.raw(arg)?.is_null() {
                                return Ok(Some(arg));
                            }
                        }
                        Ok(None)
                    }
                    ("NULLIF", [left, right]) => {
                        self.ty(expr)?;
                        let equal = self.compared(left, BinaryOp::Eq, right)? == Some(true);
                        Ok((!equal).then_some(left))
                    }
                    _ => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }

    fn branch<'e>(
        &self,
        operand: Option<&Expr>,
        whens: &'e [When],
        otherwise: Option<&'e Expr>,
    ) -> Result<Option<&'e Expr>, Fault> {
        for (at, when) in whens.iter().enumerate() {
            let holds = match operand {
                None => self.truth(&when.when)?,
                Some(operand) => self.is_when(operand, &when.when)?,
            };
            if holds == Some(true) {
                return Ok(Some(&when.then));
            }
            if holds.is_none() && operand.is_some() && self.rules.null_hides && at + 1 < whens.len() {
                return Err(Fault::unsure("a WHEN after one that is NULL"));
            }
        }
        Ok(otherwise)
    }

    /// The value of the branch that is taken.
    pub fn chosen_raw(&self, expr: &Expr) -> Result<Datum, Fault> {
        match self.chosen(expr)? {
            Some(chosen) => match self.raw(chosen)? {
                // Before MySQL 8 it depends on the other branches how the topmost bit is read.
                Datum::UInt(n) if n > i64::MAX as u64 && !self.rules.mixed_signs => {
                    Err(Fault::unsure("signed and unsigned numbers in one result"))
                }
                raw => Ok(raw),
            },
            None => Ok(Datum::Null),
        }
    }

    fn cast(&self, expr: &Expr, inner: &Expr) -> Result<Datum, Fault> {
        let ty = self.ty(expr)?;
        let raw = self.raw(inner)?;
        if raw.is_null() {
            return Ok(Datum::Null);
        }
        match ty.class {
            Class::Int => {
                let bits = self.int(inner)?.unwrap_or(0);
                Ok(if ty.unsigned { Datum::UInt(bits) } else { Datum::Int(bits as i64) })
            }
            Class::Decimal => {
                self.no_split(inner)?;
                self.cast_decimal(expr, &raw, ty.scale)
            }
            Class::Text => Ok(self.text(inner)?.map_or(Datum::Null, Datum::Text)),
            Class::Date | Class::DateTime => {
                let moment = moment(&raw).ok_or(Fault::unsure("a date from something odd"))?;
                self.typed(&moment, ty)
            }
            Class::Null | Class::Double | Class::Bytes => {
                Err(Fault::unsure("a cast that is not in the evaluator"))
            }
        }
    }

    /// What does not fit becomes the largest that does.
    fn cast_decimal(&self, expr: &Expr, raw: &Datum, scale: u8) -> Result<Datum, Fault> {
        let precision = match expr {
            Expr::Cast { ty, .. } => match ty.args.first() {
                Some(Literal::Number(text)) => text.parse::<u32>().unwrap_or(10),
                _ => 10,
            },
            _ => 10,
        };
        if self.rules.negative_zero && matches!(raw, Datum::Double(d) if *d == 0.0 && d.is_sign_negative()) {
            return Err(Fault::unsure("a negative zero"));
        }
        let exact = convert::decimal(raw)?.and_then(|exact| exact.rescale(scale)).ok_or(super::DIGITS)?;
        let minus = matches!(raw, Datum::Text(text) if text.trim_start().starts_with('-'));
        if self.rules.negative_zero && minus && exact.is_zero() {
            return Err(Fault::unsure("a negative zero"));
        }
        let most = 10i128.checked_pow(precision).ok_or(super::DIGITS)? - 1;
        Ok(Datum::Decimal(Decimal { unscaled: exact.unscaled.clamp(-most, most), scale }))
    }
}

/// Without the parentheses around it.
pub(super) fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(inner) => bare(inner),
        other => other,
    }
}

fn xor(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(inner) => xor(inner),
        Expr::Binary { op: BinaryOp::Xor, .. } => true,
        _ => false,
    }
}

fn null_safe(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(inner) => null_safe(inner),
        Expr::Binary { op: BinaryOp::NullSafeEq, .. } => true,
        _ => false,
    }
}

/// A text as the date that it is.
pub(super) fn moment(raw: &Datum) -> Option<Datum> {
    match raw {
        Datum::Date(..) | Datum::DateTime(..) => Some(raw.clone()),
        Datum::Text(text) => match dates::parse_day(text) {
            Some((y, m, d)) => Some(Datum::Date(y, m, d)),
            None => dates::parse_moment(text).map(|((y, m, d), s)| Datum::DateTime(y, m, d, s)),
        },
        _ => None,
    }
}

fn constant(literal: &Literal) -> Result<Datum, Fault> {
    Ok(match literal {
        Literal::Null => Datum::Null,
        Literal::Bool(b) => Datum::Int(i64::from(*b)),
        Literal::Number(text) if text.contains(['e', 'E']) => {
            Datum::Double(text.parse().map_err(|_| SYNTAX)?)
        }
        Literal::Number(text) => match (text.parse::<i64>(), text.parse::<u64>()) {
            (Ok(n), _) => Datum::Int(n),
            (_, Ok(n)) => Datum::UInt(n),
            _ => Datum::Decimal(Decimal::parse(text).ok_or(SYNTAX)?),
        },
        Literal::Text(text) => {
            Datum::Text(dialect::sql::text_value(dialect::mysql::DIALECT.product, text).ok_or(SYNTAX)?)
        }
        Literal::Bytes(text) => Datum::Bytes(hex(text).ok_or(SYNTAX)?),
    })
}

/// The bytes of `x'61ff'`.
fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix(['x', 'X'])?.strip_prefix('\'')?.strip_suffix('\'')?;
    let digit = |b: u8| char::from(b).to_digit(16).map(|d| d as u8);
    digits.as_bytes().chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}
