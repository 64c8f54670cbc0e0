//! Conditions in WHERE, where the optimizer has its say: what it may compute ahead, turn around, cut or leave out.

use model::sql::{BinaryOp, Expr, UnaryOp};

use super::{
    Row, convert,
    types::{self, Class},
    values::bare,
};
use crate::{Datum, Fault};

impl Row<'_> {
    /// Why a condition of a WHERE has no value that we know, whatever the row: all that depends on types and constants.
    pub fn foreseen(&self, expr: &Expr) -> Result<(), Fault> {
        self.mixes(expr)?;
        self.early(expr)?;
        if self.rules.negative_zero && self.large_constant(expr) {
            return Err(Fault::unsure("a large constant in WHERE"));
        }
        if self.rules.cut_constants && self.cut_to_zero(expr) {
            return Err(Fault::unsure("a small negative constant beside an exact column"));
        }
        if self.rules.cut_constants && self.pinned(expr, expr, &|_, constant| constant == Class::Bytes) {
            return Err(Fault::unsure("<=> of bytes and a constant beside another condition"));
        }
        if !self.rules.mariadb && self.pinned(expr, expr, &|column, _| column.is_dated()) {
            return Err(Fault::unsure("<=> of a date and a constant beside another condition"));
        }
        if self.rules.loose_where {
            if self.null_day(expr, false) {
                return Err(Fault::unsure("a constant date that is NULL as a part of text in WHERE"));
            }
            if self.lasting_text(expr, false) {
                return Err(Fault::unsure("CONCAT of CONCAT of a computed constant in WHERE"));
            }
        }
        self.propagated(expr)
    }

    /// The condition of a WHERE over a row.
    pub fn condition(&self, expr: &Expr) -> Result<Option<bool>, Fault> {
        if self.rules.whole_where {
            self.no_fractions(expr)?;
        }
        if self.rules.bare_double_not && self.double_not(expr) {
            return Err(Fault::unsure("NOT of NOT of a number in WHERE"));
        }
        if self.rules.loose_where
            && !answers(expr)
            && has_extreme(expr)
            && matches!(self.raw(expr), Ok(Datum::Null))
        {
            return Err(Fault::unsure("LEAST as a condition"));
        }
        match self.holds(expr) {
            Err(Fault::Error(_)) if may_hide(expr) => {
                Err(Fault::unsure("an error in a WHERE that may be decided without it"))
            }
            holds => holds,
        }
    }

    /// Refuses a constant that is an error, or may be one: the server may come to it before any row, or never.
    pub fn early(&self, expr: &Expr) -> Result<(), Fault> {
        if types::constant(expr) {
            match self.raw(expr) {
                Err(Fault::Error(_)) => return Err(Fault::unsure("a constant that is an error")),
                Err(unsure) => return Err(unsure),
                Ok(_) => {}
            }
        }
        expr.children().into_iter().try_for_each(|part| self.early(part))
    }

    /// Is there a computed constant in it that uses the topmost bit? In WHERE it is computed once, and some versions then
    /// read that bit as a sign.
    fn large_constant(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Literal(_) => false,
            _ if types::constant(expr) => {
                let large = |raw| matches!(raw, Ok(Datum::UInt(n)) if n > i64::MAX as u64);
                large(self.raw(expr)) || expr.children().into_iter().any(|part| self.large_constant(part))
            }
            _ => expr.children().into_iter().any(|part| self.large_constant(part)),
        }
    }

    /// Is there a comparison in it of an exact column with a negative constant that has only zeros in the column's digits?
    fn cut_to_zero(&self, expr: &Expr) -> bool {
        use BinaryOp::*;
        let small = |column: &Expr, other: &Expr| {
            matches!(bare(column), Expr::Column(_))
                && types::constant(other)
                && self.ty(column).is_ok_and(|ty| {
                    let unit = 10f64.powi(-i32::from(ty.scale));
                    let value = self.raw(other).and_then(|raw| convert::real(&raw));
                    ty.class == Class::Decimal
                        && matches!(value, Ok(Some(value)) if value < 0.0 && value > -unit)
                })
        };
        match expr {
            Expr::Binary { left, op: Lt | Le | Gt | Ge, right }
                if small(left, right) || small(right, left) =>
            {
                true
            }
            _ => expr.children().into_iter().any(|part| self.cut_to_zero(part)),
        }
    }

    /// Is there a NOT of a NOT in it of something that is neither true nor false by itself, but a number?
    fn double_not(&self, expr: &Expr) -> bool {
        let twice = negated(expr).and_then(negated).is_some_and(|inner| {
            let plain = matches!(self.raw(inner), Ok(Datum::Null | Datum::Int(0 | 1)));
            !answers(inner) && !plain
        });
        twice || expr.children().into_iter().any(|part| self.double_not(part))
    }

    /// Does it say that a column `<=>` a constant, of such classes, and name that column once more? Some versions put the
    /// constant in the column's place, and lose rows, or mix collations.
    fn pinned(&self, expr: &Expr, whole: &Expr, such: &dyn Fn(Class, Class) -> bool) -> bool {
        let column = |column: &Expr, other: &Expr| {
            matches!(bare(column), Expr::Column(_))
                && types::constant(other)
                && self.ty(column).is_ok_and(|a| self.ty(other).is_ok_and(|b| such(a.class, b.class)))
                && mentions(whole, bare(column)) > 1
        };
        match expr {
            Expr::Binary { left, op: BinaryOp::NullSafeEq, right } => {
                column(left, right) || column(right, left)
            }
            _ => expr.children().into_iter().any(|part| self.pinned(part, whole, such)),
        }
    }

    /// Is there a CONCAT in a CONCAT that joins a computed constant text to something? In WHERE it is computed once, and what
    /// was joined to it for one row is still there for the next.
    fn lasting_text(&self, expr: &Expr, inside: bool) -> bool {
        let concat = matches!(expr, Expr::Function { name, .. } if name.name.eq_ignore_ascii_case("CONCAT"));
        let computed = |part: &&Expr| {
            types::constant(part)
                && !matches!(bare(part), Expr::Literal(_))
                && self.ty(part).map_or(true, |ty| ty.class.is_string() || ty.class.is_dated())
        };
        let parts = expr.children();
        concat && inside && !types::constant(expr) && parts.iter().any(computed)
            || parts.into_iter().any(|part| self.lasting_text(part, inside || concat))
    }

    /// Is there a constant date in it that is NULL, and that is made text? In WHERE it is computed once, and forgets that it is
    /// NULL.
    fn null_day(&self, expr: &Expr, spelled: bool) -> bool {
        let ty = self.ty(expr);
        if spelled && types::constant(expr) && ty.as_ref().is_ok_and(|ty| ty.class.is_dated()) {
            return matches!(self.raw(expr), Ok(Datum::Null));
        }
        let spelled = spelled
            || matches!(expr, Expr::Like { .. })
            || matches!(expr, Expr::Function { .. }) && ty.is_ok_and(|ty| ty.class.is_string());
        expr.children().into_iter().any(|part| self.null_day(part, spelled))
    }

    /// What is not true is left out, so an AND is over as soon as a part is unknown.
    fn holds(&self, expr: &Expr) -> Result<Option<bool>, Fault> {
        match expr {
            Expr::Paren(inner) => self.holds(inner),
            Expr::Binary { left, op: BinaryOp::And | BinaryOp::AndAmps, right } => match self.holds(left)? {
                Some(true) => self.holds(right),
                left => Ok(left),
            },
            _ => self.truth(expr),
        }
    }

    /// Refuses values that are conditions by themselves if it matters whether they are taken as whole numbers: some
    /// versions do so in WHERE, depending on what the optimizer leaves of the conditions around them.
    fn no_fractions(&self, expr: &Expr) -> Result<(), Fault> {
        use BinaryOp::*;
        match expr {
            Expr::Paren(inner) | Expr::Unary { op: UnaryOp::Not | UnaryOp::Bang, expr: inner } => {
                self.no_fractions(inner)
            }
            Expr::Binary { left, op: And | AndAmps | Or | OrBars | Xor, right } => {
                self.no_fractions(left)?;
                self.no_fractions(right)
            }
            Expr::Function { name, .. }
                if ["LEAST", "GREATEST"].iter().any(|known| name.name.eq_ignore_ascii_case(known)) =>
            {
                Err(Fault::unsure("LEAST as a condition"))
            }
            _ if matches!(self.ty(expr)?.class, Class::Int | Class::Null) => Ok(()),
            _ => match self.raw(expr) {
                Ok(raw)
                    if convert::truth(&raw)? != convert::int(&raw)?.map(|n| n != 0)
                        || convert::real(&raw)?.is_some_and(|d| d != 0.0 && d.abs() <= 0.5) =>
                {
                    Err(Fault::unsure("a fraction as a condition in WHERE"))
                }
                _ => Ok(()),
            },
        }
    }
}

/// May the optimizer decide a condition before it comes to an error in it? It does if another condition beside it cannot hold,
/// or always does, or if something cannot be NULL.
fn may_hide(expr: &Expr) -> bool {
    use BinaryOp::*;
    match expr {
        Expr::Paren(inner) | Expr::Unary { op: UnaryOp::Not | UnaryOp::Bang, expr: inner } => may_hide(inner),
        Expr::Binary { op: And | AndAmps | Or | OrBars | Xor, .. } => true,
        Expr::IsNull { .. } | Expr::IsBool { .. } => true,
        // A comparison of something with itself.
        Expr::Binary { left, right, .. } if left == right => true,
        _ => types::constant(expr),
    }
}

/// How often an expression names a column.
pub(super) fn mentions(expr: &Expr, column: &Expr) -> usize {
    usize::from(expr == column)
        + expr.children().into_iter().map(|part| mentions(part, column)).sum::<usize>()
}

/// Is it something that knows that it is NULL: logic, or a test?
fn answers(expr: &Expr) -> bool {
    use BinaryOp::*;
    match bare(expr) {
        Expr::Unary { op: UnaryOp::Not | UnaryOp::Bang, .. } => true,
        Expr::Binary { op, .. } => {
            matches!(
                op,
                And | AndAmps | Or | OrBars | Xor | Eq | NullSafeEq | Ne | NeBang | Lt | Le | Gt | Ge
            )
        }
        Expr::IsNull { .. }
        | Expr::IsBool { .. }
        | Expr::In { .. }
        | Expr::Between { .. }
        | Expr::Like { .. } => true,
        _ => false,
    }
}

/// Is there a LEAST or GREATEST somewhere in it?
fn has_extreme(expr: &Expr) -> bool {
    convert::extreme(expr) || expr.children().into_iter().any(has_extreme)
}

/// What NOT is said of.
fn negated(expr: &Expr) -> Option<&Expr> {
    match bare(expr) {
        Expr::Unary { op: UnaryOp::Not | UnaryOp::Bang, expr } => Some(expr),
        _ => None,
    }
}
