//! Comparisons: what two operands are compared as depends on both of their types.

use std::cmp::Ordering;

use model::sql::{BinaryOp, Expr, Literal};
use smallvec::SmallVec;

use super::{
    Row, collation, convert,
    types::{Class, Ty, constant, is_null},
    values::moment,
};
use crate::{Datum, Fault, like, logic};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ComparedAs {
    Int,
    Decimal,
    Real,
    Text(collation::Collation),
    Dates,
}

/// Up to here every whole number is a binary number.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// What two numbers are compared as.
fn numbers(a: Class, b: Class) -> ComparedAs {
    match (a, b) {
        (Class::Int, Class::Int) => ComparedAs::Int,
        (Class::Int | Class::Decimal, Class::Int | Class::Decimal) => ComparedAs::Decimal,
        _ => ComparedAs::Real,
    }
}

impl Row<'_> {
    fn pair(&self, left: &Expr, right: &Expr) -> Result<ComparedAs, Fault> {
        self.by_types(&[left, right])
    }

    /// What these are compared as, all of them in one way.
    fn by_types(&self, exprs: &[&Expr]) -> Result<ComparedAs, Fault> {
        let types: SmallVec<[Ty; 2]> = exprs.iter().map(|expr| self.ty(expr)).collect::<Result<_, _>>()?;
        if types.iter().any(|ty| ty.class.is_dated()) {
            // A string beside a date must be one that is a date.
            let odd = types.iter().zip(exprs).any(|(ty, expr)| match ty.class {
                Class::Date | Class::DateTime | Class::Null => false,
                Class::Text => !constant(expr) || self.raw(expr).ok().as_ref().and_then(moment).is_none(),
                Class::Int | Class::Decimal | Class::Double | Class::Bytes => true,
            });
            return if odd {
                Err(Fault::unsure("a date beside something else"))
            } else {
                Ok(ComparedAs::Dates)
            };
        }
        if types.iter().all(|ty| ty.class.is_string()) {
            let coll = types.iter().map(|ty| ty.coll).reduce(|a, b| collation::both(&self.rules, a, b));
            return Ok(ComparedAs::Text(coll.unwrap_or(collation::NULL)));
        }
        let mut found: Option<ComparedAs> = None;
        for ty in &types {
            found = Some(match found {
                None => numbers(ty.class, ty.class),
                Some(ComparedAs::Int) => numbers(Class::Int, ty.class),
                Some(ComparedAs::Decimal) => numbers(Class::Decimal, ty.class),
                Some(other) => other,
            });
        }
        Ok(found.unwrap_or(ComparedAs::Real))
    }

    /// Both operands; none if one is NULL. The right one is not asked if the left one is.
    fn both(&self, left: &Expr, right: &Expr) -> Result<Option<(Datum, Datum)>, Fault> {
        let a = self.raw(left)?;
        if a.is_null() {
            return Ok(None);
        }
        let b = self.raw(right)?;
        Ok(if b.is_null() { None } else { Some((a, b)) })
    }

    /// The order of two operands; none if one is NULL.
    fn order(&self, by: ComparedAs, left: &Expr, right: &Expr) -> Result<Option<Ordering>, Fault> {
        let both = self.both(left, right)?;
        both.map(|(a, b)| self.order_of(by, (left, &a), (right, &b))).transpose()
    }

    /// Are two operands equal? None if one is NULL.
    fn same(&self, by: ComparedAs, left: &Expr, right: &Expr) -> Result<Option<bool>, Fault> {
        let both = self.both(left, right)?;
        both.map(|(a, b)| self.same_of(by, (left, &a), (right, &b))).transpose()
    }

    /// Are two operands equal, where neither is NULL?
    fn same_of(&self, by: ComparedAs, a: (&Expr, &Datum), b: (&Expr, &Datum)) -> Result<bool, Fault> {
        match by {
            ComparedAs::Text(coll) if coll.of != collation::CollationSource::Binary => {
                let text = |expr: &Expr| {
                    let shown = convert::text(&self.shown(expr)?)?;
                    shown.ok_or(Fault::unsure("NULL where it cannot be"))
                };
                collation::same(&self.rules, coll, &text(a.0)?, &text(b.0)?)
            }
            _ => self.order_of(by, a, b).map(Ordering::is_eq),
        }
    }

    fn order_of(&self, by: ComparedAs, a: (&Expr, &Datum), b: (&Expr, &Datum)) -> Result<Ordering, Fault> {
        let order = self.plain_order(by, a, b)?;
        // MariaDB compares some numbers with the digits that are shown, and others with all that they have.
        if self.rules.mariadb && matches!(by, ComparedAs::Decimal | ComparedAs::Real) {
            let (left, right) = (self.cut(a)?, self.cut(b)?);
            if self.plain_order(by, (a.0, &left), (b.0, &right))? != order {
                return Err(Fault::unsure("a comparison that hangs on digits that are not shown"));
            }
        }
        Ok(order)
    }

    /// With no more digits than are shown.
    fn cut(&self, (expr, datum): (&Expr, &Datum)) -> Result<Datum, Fault> {
        match datum {
            Datum::Decimal(d) => {
                let ty = self.ty(expr)?;
                let short =
                    if ty.class == Class::Decimal && ty.scale < d.scale { d.rescale(ty.scale) } else { None };
                Ok(Datum::Decimal(short.unwrap_or(*d)))
            }
            other => Ok(other.clone()),
        }
    }

    fn plain_order(&self, by: ComparedAs, a: (&Expr, &Datum), b: (&Expr, &Datum)) -> Result<Ordering, Fault> {
        let none = Fault::unsure("NULL where it cannot be");
        match by {
            ComparedAs::Int => Ok(signed(a.1)?.cmp(&signed(b.1)?)),
            ComparedAs::Decimal => {
                self.no_split(a.0)?;
                self.no_split(b.0)?;
                let (a, b) = (convert::decimal(a.1)?, convert::decimal(b.1)?);
                Ok(a.ok_or(none.clone())?.compare(b.ok_or(none)?))
            }
            ComparedAs::Real => {
                self.no_split(a.0)?;
                self.no_split(b.0)?;
                let (left, right) =
                    (convert::real(a.1)?.ok_or(none.clone())?, convert::real(b.1)?.ok_or(none)?);
                // Beside a whole column a constant is made a whole number first, so that more digits count.
                if left == right && left.abs() > EXACT && a.1 != b.1 {
                    return Err(Fault::unsure("large numbers that are one as binary numbers"));
                }
                left.partial_cmp(&right).ok_or(Fault::unsure("not a number"))
            }
            ComparedAs::Text(coll) => {
                let shown = |expr: &Expr| self.shown(expr);
                let (a, b) = (shown(a.0)?, shown(b.0)?);
                if coll.of == collation::CollationSource::Binary
                    && coll.strength != collation::Coercibility::None
                {
                    return Ok(bytes(&a)?.cmp(&bytes(&b)?));
                }
                let (a, b) = (convert::text(&a)?.ok_or(none.clone())?, convert::text(&b)?.ok_or(none)?);
                collation::compare(&self.rules, coll, &a, &b)
            }
            ComparedAs::Dates => {
                let point = |datum: &Datum| match moment(datum) {
                    Some(Datum::Date(y, m, d)) => Ok((y, m, d, 0)),
                    Some(Datum::DateTime(y, m, d, s)) => Ok((y, m, d, s)),
                    _ => Err(Fault::unsure("a date beside something else")),
                };
                Ok(point(a.1)?.cmp(&point(b.1)?))
            }
        }
    }

    /// Is there a comparison anywhere in it of collations that do not mix? The server refuses that before it looks at a row.
    pub fn mixes(&self, expr: &Expr) -> Result<(), Fault> {
        let parts = expr.children();
        for part in &parts {
            self.mixes(part)?;
        }
        let compared = match expr {
            Expr::Binary { op, .. } => {
                use BinaryOp::*;
                matches!(op, Eq | NullSafeEq | Ne | NeBang | Lt | Le | Gt | Ge)
            }
            Expr::In { .. } | Expr::Between { .. } | Expr::Like { .. } => true,
            Expr::Function { name, .. } => {
                ["LEAST", "GREATEST", "NULLIF", "CONCAT", "REPLACE", "COALESCE", "IFNULL", "IF"]
                    .iter()
                    .any(|known| name.name.eq_ignore_ascii_case(known))
            }
            Expr::Case { .. } => true,
            _ => false,
        };
        let strings = |part: &&Expr| self.ty(part).is_ok_and(|ty| ty.class.is_string());
        if compared && parts.iter().any(strings) {
            for part in &parts {
                self.ty(part)?;
            }
        }
        if compared && parts.iter().filter(|part| strings(part)).count() > 1 {
            let mut coll = collation::NULL;
            for part in parts.iter().filter(|part| strings(part)) {
                let ty = self.ty(part)?;
                // A constant is converted to the column's character set, but not what may or may not be NULL; and what is
                // computed with NULL has a character set of its own.
                let maybe =
                    ty.coll.of == collation::CollationSource::Connection && !constant(part) && has_null(part);
                let never = ty.class == Class::Null && !is_null(part);
                if !self.rules.one_charset && (maybe || never) {
                    return Err(collation::MIX);
                }
                coll = collation::both(&self.rules, coll, ty.coll);
                if coll.strength == collation::Coercibility::None {
                    return Err(collation::MIX);
                }
            }
        }
        Ok(())
    }

    pub fn compared(&self, left: &Expr, op: BinaryOp, right: &Expr) -> Result<Option<bool>, Fault> {
        let by = self.pair(left, right)?;
        if op == BinaryOp::NullSafeEq {
            let (a, b) = match (self.raw(left), self.raw(right)) {
                (Ok(Datum::Null), Err(Fault::Error(_))) | (Err(Fault::Error(_)), Ok(Datum::Null))
                    if self.rules.bold_nulls =>
                {
                    return Err(Fault::unsure("<=> of NULL and an error"));
                }
                (a, b) => (a?, b?),
            };
            return Ok(Some(match (a.is_null(), b.is_null()) {
                (true, true) => true,
                (true, false) | (false, true) => false,
                (false, false) => self.same_of(by, (left, &a), (right, &b))?,
            }));
        }
        let ordered = |holds: fn(Ordering) -> bool| Ok(self.order(by, left, right)?.map(holds));
        match op {
            BinaryOp::Lt => ordered(Ordering::is_lt),
            BinaryOp::Le => ordered(Ordering::is_le),
            BinaryOp::Gt => ordered(Ordering::is_gt),
            BinaryOp::Ge => ordered(Ordering::is_ge),
            BinaryOp::Ne | BinaryOp::NeBang => Ok(self.same(by, left, right)?.map(|same| !same)),
            _ => self.same(by, left, right),
        }
    }

    /// A branch of `CASE operand WHEN when`.
    pub fn is_when(&self, operand: &Expr, when: &Expr) -> Result<Option<bool>, Fault> {
        let by = self.pair(operand, when)?;
        // The operand is not asked for this one.
        if is_null(when) {
            return Ok(None);
        }
        self.equal(by, self.rules.bare_signs, operand, when)
    }

    /// Equal, as IN and CASE compare.
    fn equal(&self, by: ComparedAs, bare: bool, left: &Expr, right: &Expr) -> Result<Option<bool>, Fault> {
        if by == ComparedAs::Int && bare {
            let Some(a) = self.int(left)? else { return Ok(None) };
            return Ok(self.int(right)?.map(|b| a == b));
        }
        self.same(by, left, right)
    }

    /// `expr IN (list)`: found, not found, or unknown.
    pub fn is_in(&self, expr: &Expr, list: &[Expr]) -> Result<Option<bool>, Fault> {
        let mut found = Some(false);
        let constants = list.iter().all(constant);
        let all: Vec<&Expr> = std::iter::once(expr).chain(list).collect();
        // Strings are compared by the collation of all of them.
        let texts = match self.by_types(&all) {
            Ok(ComparedAs::Text(coll)) => Some(ComparedAs::Text(coll)),
            _ => None,
        };
        if self.rules.in_rounds && constants && self.ty(expr)?.class == Class::Int && !column(expr) {
            for item in list {
                if self.rounds(item)? {
                    return Err(Fault::unsure("IN of a computed whole number and binary constants"));
                }
            }
        }
        if self.rules.null_lists && constants && list.iter().all(|item| self.raw(item) == Ok(Datum::Null)) {
            return Ok(None);
        }
        if self.raw(expr)?.is_null() && list.iter().any(|item| self.raw(item).is_err()) {
            return Err(Fault::unsure("IN of NULL and an error"));
        }
        let mut ways = Vec::new();
        for item in list.iter().filter(|item| !is_null(item)) {
            ways.push(self.pair(expr, item)?);
        }
        // Constants of one sort are looked up in a sorted list, which knows their signs.
        let mixed = ways.windows(2).any(|ways| ways[0] != ways[1]);
        for item in list {
            let by = texts.map_or_else(|| self.pair(expr, item), Ok)?;
            let equal = self.equal(by, self.rules.bare_signs && (!constants || mixed), expr, item)?;
            if equal == Some(true) {
                return Ok(Some(true));
            }
            found = logic::or(found, equal);
        }
        Ok(found)
    }

    /// Is it a binary number, or a text that is no whole number, so that it matters whether it is rounded?
    fn rounds(&self, item: &Expr) -> Result<bool, Fault> {
        Ok(match self.ty(item)?.class {
            Class::Double => true,
            Class::Text | Class::Bytes => {
                convert::real(&self.raw(item)?)?.is_some_and(|d| d.fract() != 0.0 || d.abs() > 1e15)
            }
            Class::Null | Class::Int | Class::Decimal | Class::Date | Class::DateTime => false,
        })
    }

    pub fn is_between(&self, expr: &Expr, low: &Expr, high: &Expr) -> Result<Option<bool>, Fault> {
        let by = self.by_types(&[expr, low, high])?;
        if self.raw(expr)?.is_null() {
            return Ok(None);
        }
        if by == ComparedAs::Dates
            && self.rules.signed_between
            && (self.raw(low)?.is_null() || self.raw(high)?.is_null())
        {
            return Err(Fault::unsure("BETWEEN of dates and NULL"));
        }
        if self.rules.signed_between {
            for part in [expr, low, high] {
                if matches!(self.raw(part)?, Datum::UInt(n) if n > i64::MAX as u64) {
                    return Err(Fault::unsure("BETWEEN of signed and unsigned numbers"));
                }
            }
        }
        // Beside a whole column a constant is made a whole number first, and loses that it has no sign.
        if !self.rules.mariadb && by != ComparedAs::Int && column(expr) && self.ty(expr)?.class == Class::Int
        {
            for bound in [low, high] {
                if constant(bound) && matches!(self.raw(bound)?, Datum::UInt(n) if n > i64::MAX as u64) {
                    return Err(Fault::unsure("BETWEEN of signed and unsigned numbers"));
                }
            }
        }
        if by == ComparedAs::Int && self.rules.signed_between {
            let Some(n) = self.int(expr)? else { return Ok(None) };
            let above = self.int(low)?.map(|low| n as i64 >= low as i64);
            let below = self.int(high)?.map(|high| n as i64 <= high as i64);
            return Ok(logic::and(above, below));
        }
        let above = self.order(by, expr, low)?.map(Ordering::is_ge);
        let below = self.order(by, expr, high)?.map(Ordering::is_le);
        Ok(logic::and(above, below))
    }

    pub fn is_like(&self, expr: &Expr, pattern: &Expr) -> Result<Option<bool>, Fault> {
        let coll = collation::both(&self.rules, self.ty(expr)?.coll, self.ty(pattern)?.coll);
        if coll.strength == collation::Coercibility::None {
            return Err(collation::MIX);
        }
        let Some(text) = self.text(expr)? else { return Ok(None) };
        let Some(pattern) = self.text(pattern)? else { return Ok(None) };
        let (text, pattern): (Vec<char>, Vec<char>) = (text.chars().collect(), pattern.chars().collect());
        like::like(&text, &pattern, Some('\\'), &|a, b| collation::equal(coll, a, b))
            .map(Some)
            .ok_or(Fault::unsure("a pattern that ends in its escape"))
    }
}

/// Is there a NULL somewhere in it?
fn has_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(Literal::Null)) || expr.children().into_iter().any(has_null)
}

/// Is it a column by itself?
fn column(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) => true,
        Expr::Paren(inner) => column(inner),
        _ => false,
    }
}

/// A whole number with its sign.
fn signed(datum: &Datum) -> Result<i128, Fault> {
    Ok(match datum {
        Datum::UInt(n) => i128::from(*n),
        other => i128::from(convert::int(other)?.unwrap_or(0) as i64),
    })
}

fn bytes(datum: &Datum) -> Result<Vec<u8>, Fault> {
    match datum {
        Datum::Bytes(bytes) => Ok(bytes.clone()),
        other => Ok(convert::text(other)?.unwrap_or_default().into_bytes()),
    }
}
