//! The type that an expression has before any row is looked at.

use model::{
    SqlType,
    sql::{BinaryOp, Expr, FunctionArgs, Literal, TypeName, UnaryOp},
};

use super::{
    Row,
    collation::{self, Collation},
};
use crate::Fault;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Null,
    Int,
    Decimal,
    Double,
    Text,
    Bytes,
    Date,
    DateTime,
}

impl Class {
    /// As what it takes part in arithmetic.
    fn number(self) -> Class {
        match self {
            Class::Double | Class::Text | Class::Bytes => Class::Double,
            Class::Decimal => Class::Decimal,
            Class::Null | Class::Int | Class::Date | Class::DateTime => Class::Int,
        }
    }

    /// Does it show as a string, so that it compares with strings as one?
    pub fn is_string(self) -> bool {
        match self {
            Class::Text | Class::Bytes | Class::Null => true,
            Class::Int | Class::Decimal | Class::Double | Class::Date | Class::DateTime => false,
        }
    }

    pub fn is_dated(self) -> bool {
        matches!(self, Class::Date | Class::DateTime)
    }
}

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ty {
    pub class: Class,
    pub unsigned: bool,
    /// An unsigned number that fits into 63 bits all the same, or a binary one of 32 bits.
    pub narrow: bool,
    /// Digits behind the point that are shown, of DECIMAL.
    pub scale: u8,
    pub coll: Collation,
}

/// The most digits behind a point.
const MOST: u8 = 30;
/// What a division adds to them.
const DIVISION: u8 = 4;

impl Ty {
    fn new(class: Class) -> Ty {
        let coll = match class {
            Class::Null => collation::NULL,
            Class::Int | Class::Decimal | Class::Double | Class::Date | Class::DateTime => collation::NUMBER,
            Class::Text => collation::CONSTANT,
            Class::Bytes => collation::BYTES,
        };
        Ty { class, unsigned: false, narrow: false, scale: 0, coll }
    }

    pub fn int() -> Ty {
        Ty::new(Class::Int)
    }

    fn unsigned() -> Ty {
        Ty { unsigned: true, ..Ty::int() }
    }

    fn decimal(scale: u8) -> Ty {
        Ty { scale: scale.min(MOST), ..Ty::new(Class::Decimal) }
    }

    fn double() -> Ty {
        Ty::new(Class::Double)
    }

    pub fn text(coll: Collation) -> Ty {
        let class = if coll.of == collation::CollationSource::Binary
            && coll.strength != collation::Coercibility::None
        {
            Class::Bytes
        } else {
            Class::Text
        };
        Ty { coll, ..Ty::new(class) }
    }

    pub fn column(ty: &SqlType) -> Ty {
        match ty {
            SqlType::Int { unsigned, bits } => Ty { unsigned: *unsigned, narrow: *bits < 64, ..Ty::int() },
            SqlType::Bool => Ty::int(),
            SqlType::Decimal { scale, .. } => Ty::decimal(*scale),
            SqlType::Float => Ty { narrow: true, ..Ty::double() },
            SqlType::Double => Ty::double(),
            SqlType::Char(_) | SqlType::Varchar(_) | SqlType::Text => Ty::text(collation::COLUMN),
            SqlType::Blob => Ty::text(collation::BYTES),
            SqlType::Date => Ty::new(Class::Date),
            SqlType::DateTime => Ty::new(Class::DateTime),
        }
    }
}

/// The arguments of a call.
pub(super) fn list(args: &FunctionArgs) -> &[Expr] {
    match args {
        FunctionArgs::Star => &[],
        FunctionArgs::List(list) => list,
    }
}

/// Has it the same value in every row?
pub(super) fn constant(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(_) => true,
        Expr::Paren(expr) | Expr::Unary { expr, .. } | Expr::Cast { expr, .. } => constant(expr),
        Expr::IsNull { expr, .. } | Expr::IsBool { expr, .. } | Expr::Collate { expr, .. } => constant(expr),
        Expr::Binary { left, right, .. } => constant(left) && constant(right),
        Expr::Between { expr, low, high, .. } => constant(expr) && constant(low) && constant(high),
        Expr::Like { expr, pattern, .. } => constant(expr) && constant(pattern),
        Expr::In { expr, list: model::sql::InList::Exprs(list), .. } => {
            constant(expr) && list.iter().all(constant)
        }
        Expr::Case { operand, whens, otherwise } => {
            operand.iter().chain(otherwise).all(|expr| constant(expr))
                && whens.iter().all(|when| constant(&when.when) && constant(&when.then))
        }
        Expr::Function { args, .. } => list(args).iter().all(constant),
        _ => false,
    }
}

/// Versions do not agree whether this is a whole or a binary number.
const DATED: Fault = Fault::unsure("the sign of a date");
pub(super) const SYNTAX: Fault = Fault::unsure("an expression that is not understood");

impl Row<'_> {
    pub(super) fn ty(&self, expr: &Expr) -> Result<Ty, Fault> {
        Ok(match expr {
            Expr::Literal(literal) => literal_ty(literal)?,
            Expr::Column(name) => Ty::column(&self.columns[self.column(name)?].ty),
            Expr::Paren(inner) => self.ty(inner)?,
            Expr::Unary { op, expr: inner } => match op {
                UnaryOp::Not | UnaryOp::Bang => Ty::int(),
                UnaryOp::BitNot => Ty::unsigned(),
                UnaryOp::Plus => self.ty(inner)?,
                UnaryOp::Neg => self.negated_ty(inner)?,
            },
            Expr::Binary { left, op, right } => self.binary_ty(left, *op, right)?,
            Expr::IsNull { .. }
            | Expr::IsBool { .. }
            | Expr::In { .. }
            | Expr::Between { .. }
            | Expr::Like { .. } => Ty::int(),
            Expr::Case { whens, otherwise, .. } => {
                let results = whens.iter().map(|when| &when.then).chain(otherwise.as_deref());
                self.common_ty(&results.collect::<Vec<_>>())?
            }
            Expr::Cast { ty, .. } => cast_ty(ty)?,
            Expr::Function { name, args, .. } => self.function_ty(&name.name, list(args))?,
            _ => return Err(SYNTAX),
        })
    }

    /// A number that is negated. A constant that would not fit, or that is negative already, is computed exactly.
    fn negated_ty(&self, inner: &Expr) -> Result<Ty, Fault> {
        let ty = self.ty(inner)?;
        if ty.class.is_dated() {
            return Err(DATED);
        }
        if ty.class == Class::Null {
            return Ok(ty);
        }
        Ok(match ty.class.number() {
            Class::Int if constant(inner) => {
                let bits = self.int(inner)?.unwrap_or(0);
                let literal = matches!(inner, Expr::Literal(_));
                let edge = 1 << 63;
                // MariaDB reads a negated literal as one number.
                let exact = !self.rules.mariadb || ty.unsigned || !negative_literal(inner);
                if exact && (bits > edge || bits == edge && !literal) { Ty::decimal(0) } else { Ty::int() }
            }
            Class::Int => Ty::int(),
            Class::Decimal => Ty::decimal(ty.scale),
            _ => Ty::double(),
        })
    }

    fn binary_ty(&self, left: &Expr, op: BinaryOp, right: &Expr) -> Result<Ty, Fault> {
        use BinaryOp::*;
        Ok(match op {
            Add | Sub | Mul | Div | Rem | Mod => {
                let (left, right) = (self.ty(left)?, self.ty(right)?);
                let ty = self.arithmetic_ty(op, left, right);
                if self.rules.mariadb
                    && (ty.unsigned || ty.class == Class::Decimal)
                    && (left.class.is_dated() || right.class.is_dated())
                {
                    return Err(Fault::unsure("an unsigned or exact number and a date"));
                }
                ty
            }
            IntDiv => {
                let unsigned = self.ty(left)?.unsigned || self.ty(right)?.unsigned;
                if !unsigned && (self.signless_rest(left) || self.signless_rest(right)) {
                    return Err(Fault::unsure("DIV of a remainder"));
                }
                Ty { unsigned, ..Ty::int() }
            }
            BitOr | BitAnd | BitXor | Shl | Shr => Ty::unsigned(),
            Or | OrBars | Xor | And | AndAmps | Eq | NullSafeEq | Ne | NeBang | Lt | Le | Gt | Ge => {
                Ty::int()
            }
            _ => return Err(SYNTAX),
        })
    }

    /// Is there a remainder of an unsigned number in it that is no whole number? It counts as unsigned all the same, and what
    /// becomes of that on the way out differs.
    pub(super) fn signless_rest(&self, expr: &Expr) -> bool {
        use BinaryOp::*;
        let of = match expr {
            Expr::Binary { left, op: Rem | Mod, .. } => Some(&**left),
            Expr::Function { name, args, .. } if name.name.eq_ignore_ascii_case("MOD") => list(args).first(),
            _ => None,
        };
        let unsigned = |of: &Expr| self.ty(of).is_ok_and(|ty| ty.unsigned);
        let whole = || self.ty(expr).is_ok_and(|ty| ty.class == Class::Int);
        of.is_some_and(|of| unsigned(of) && !whole())
            || expr.children().into_iter().any(|part| self.signless_rest(part))
    }

    /// The type of a sum and its kin.
    pub(super) fn arithmetic_ty(&self, op: BinaryOp, left: Ty, right: Ty) -> Ty {
        // A binary number that shows as many digits as those beside it; see `common_ty`.
        if left.class == Class::Null || right.class == Class::Null {
            return Ty::new(Class::Null);
        }
        let class = match (left.class.number(), right.class.number()) {
            (Class::Double, _) | (_, Class::Double) => return Ty::double(),
            (Class::Int, Class::Int) if op != BinaryOp::Div => Class::Int,
            _ => Class::Decimal,
        };
        let unsigned = match op {
            BinaryOp::Rem | BinaryOp::Mod => left.unsigned,
            _ => left.unsigned || right.unsigned,
        };
        if class == Class::Int {
            return Ty { unsigned, ..Ty::int() };
        }
        Ty::decimal(match op {
            BinaryOp::Mul => left.scale + right.scale,
            BinaryOp::Div => left.scale + DIVISION,
            _ => left.scale.max(right.scale),
        })
    }

    /// The type that all of these have in common, for CASE, COALESCE and IF.
    pub(super) fn common_ty(&self, exprs: &[&Expr]) -> Result<Ty, Fault> {
        let types: Vec<Ty> = exprs.iter().map(|expr| self.ty(expr)).collect::<Result<_, _>>()?;
        let dated =
            |expr: &&Expr| super::convert::extreme(expr) && self.ty(expr).is_ok_and(|ty| ty.class.is_dated());
        if !self.rules.mixed_signs && exprs.iter().any(dated) {
            return Err(Fault::unsure("the least of dates as one of several results"));
        }
        if exprs.iter().zip(&types).any(|(expr, ty)| ty.class == Class::Null && !is_null(expr)) {
            return Err(Fault::unsure("the type of what is computed with NULL"));
        }
        let mut known = types.iter().filter(|ty| ty.class != Class::Null);
        let Some(first) = known.next() else { return Ok(Ty::new(Class::Null)) };
        let whole = types.iter().filter(|ty| ty.class == Class::Int);
        let signs =
            |unsigned: bool| whole.clone().any(|ty| ty.unsigned == unsigned && !(unsigned && ty.narrow));
        let nulls = types.iter().any(|ty| ty.class == Class::Null);
        if self.rules.exact_signs && nulls && whole.clone().any(|ty| ty.unsigned) {
            return Err(Fault::unsure("unsigned numbers and NULL in one result"));
        }
        if !self.rules.mixed_signs && signs(true) && signs(false) {
            return Err(Fault::unsure("signed and unsigned numbers in one result"));
        }
        Ok(known.fold(*first, |a, b| self.wider(a, *b)))
    }

    fn wider(&self, a: Ty, b: Ty) -> Ty {
        use Class::*;
        match (a.class, b.class) {
            (Int, Int) if a.unsigned == b.unsigned => Ty { narrow: a.narrow && b.narrow, ..a },
            (Int, Int) => {
                let narrow = if a.unsigned { a.narrow } else { b.narrow };
                if narrow && !self.rules.exact_signs { Ty::int() } else { Ty::decimal(0) }
            }
            (Int | Decimal, Int | Decimal) => Ty::decimal(a.scale.max(b.scale)),
            (Int | Decimal | Double, Int | Decimal | Double) => {
                let float = |ty: Ty| ty.class == Double && ty.narrow;
                Ty { narrow: float(a) || float(b), ..Ty::double() }
            }
            (Date, Date) => a,
            (Date | DateTime, Date | DateTime) => Ty::new(DateTime),
            _ => Ty::text(collation::both(&self.rules, a.coll, b.coll)),
        }
    }

    /// The type of what is made of texts.
    pub(super) fn joined_ty(&self, exprs: &[Expr]) -> Result<Ty, Fault> {
        let mut coll = collation::NULL;
        for expr in exprs {
            coll = collation::both(&self.rules, coll, self.ty(expr)?.coll);
        }
        if coll.strength >= collation::Coercibility::Numeric {
            coll = collation::CONSTANT;
        }
        Ok(Ty::text(coll))
    }

    fn function_ty(&self, name: &str, args: &[Expr]) -> Result<Ty, Fault> {
        let first = || args.first().ok_or(SYNTAX);
        let all: Vec<&Expr> = args.iter().collect();
        Ok(match name.to_ascii_uppercase().as_str() {
            "COALESCE" | "IFNULL" => self.common_ty(&all)?,
            "IF" => self.common_ty(all.get(1..).ok_or(SYNTAX)?)?,
            "NULLIF" => self.nullif_ty(args)?,
            "LEAST" | "GREATEST" => self.extreme_ty(&all)?,
            "ABS" => {
                let ty = self.ty(first()?)?;
                if ty.class.is_dated() {
                    return Err(DATED);
                }
                if ty.class == Class::Null {
                    return Ok(ty);
                }
                match ty.class.number() {
                    Class::Int => Ty { unsigned: ty.unsigned, ..Ty::int() },
                    Class::Decimal => Ty::decimal(ty.scale),
                    _ => Ty::double(),
                }
            }
            "MOD" => match args {
                [left, right] => self.arithmetic_ty(BinaryOp::Mod, self.ty(left)?, self.ty(right)?),
                _ => return Err(SYNTAX),
            },
            "ROUND" => self.round_ty(args)?,
            "FLOOR" | "CEIL" | "CEILING" => self.whole_ty(first()?)?,
            "YEAR" => Ty { unsigned: self.rules.unsigned_year, narrow: true, ..Ty::int() },
            "SIGN" | "LENGTH" | "CHAR_LENGTH" | "MONTH" | "DAY" => Ty::int(),
            "CONCAT" | "REPLACE" => self.joined_ty(args)?,
            "UPPER" | "LOWER" | "SUBSTR" | "LEFT" | "RIGHT" | "TRIM" | "LTRIM" | "RTRIM" => {
                self.joined_ty(&args[..1.min(args.len())])?
            }
            _ => return Err(Fault::unsure("a function that is not in the evaluator")),
        })
    }

    fn extreme_ty(&self, args: &[&Expr]) -> Result<Ty, Fault> {
        let types: Vec<Ty> = args.iter().map(|arg| self.ty(arg)).collect::<Result<_, _>>()?;
        let ty = self.common_ty(args)?;
        if !self.rules.mixed_signs && types.iter().any(|ty| ty.unsigned) {
            return Err(Fault::unsure("signed and unsigned numbers in one result"));
        }
        let simple = |expr: &&Expr| matches!(expr, Expr::Column(_) | Expr::Literal(_));
        if self.rules.late_replace && ty.class == Class::Text && !args.iter().all(simple) {
            return Err(Fault::unsure("the least of computed strings"));
        }
        let strings = types.iter().filter(|ty| ty.class.is_string()).count();
        let alike = types.iter().all(|ty| ty.class != Class::Null);
        if !alike || strings > 0 && strings < types.len() {
            return Err(Fault::unsure("the least of strings and others"));
        }
        let number = matches!(ty.class, Class::Int | Class::Decimal | Class::Double);
        if number && self.rules.byte_extremes {
            return Ok(Ty { coll: collation::BYTES_CONSTANT, ..ty });
        }
        Ok(ty)
    }

    /// That of the first, but compared as both are.
    fn nullif_ty(&self, args: &[Expr]) -> Result<Ty, Fault> {
        let [left, right] = args else { return Err(SYNTAX) };
        let (left, right) = (self.ty(left)?, self.ty(right)?);
        let alike = left.class == right.class && left.unsigned == right.unsigned;
        if !alike && constant(&args[0]) {
            return Err(Fault::unsure("NULLIF of a constant that is converted first"));
        }
        if left.class.is_dated() {
            return Err(Fault::unsure("NULLIF of dates"));
        }
        if left.class != Class::Text || !right.class.is_string() {
            return Ok(left);
        }
        let coll = collation::both(&self.rules, left.coll, right.coll);
        Ok(Ty { coll: Collation { of: coll.of, strength: left.coll.strength }, ..left })
    }

    fn round_ty(&self, args: &[Expr]) -> Result<Ty, Fault> {
        let ty = self.ty(args.first().ok_or(SYNTAX)?)?;
        let digits = match args.get(1) {
            None => 0,
            Some(Expr::Literal(Literal::Number(text))) => text.parse::<u8>().map_err(|_| SYNTAX)?,
            Some(_) => return Err(Fault::unsure("rounding to digits that are no constant")),
        };
        Ok(match ty.class {
            Class::Int => ty,
            Class::Decimal if self.rules.short_round => Ty::decimal(digits.min(ty.scale)),
            Class::Decimal => Ty::decimal(digits),
            _ => return Err(Fault::unsure("rounding a binary number")),
        })
    }

    /// FLOOR and CEILING give a BIGINT if the digits fit, which is certain only of short ones.
    fn whole_ty(&self, arg: &Expr) -> Result<Ty, Fault> {
        match (self.ty(arg)?, arg) {
            (Ty { class: Class::Int, unsigned, .. }, _) => Ok(Ty { unsigned, ..Ty::int() }),
            (Ty { class: Class::Decimal, .. }, Expr::Column(_) | Expr::Literal(_) | Expr::Cast { .. }) => {
                Ok(Ty::int())
            }
            _ => Err(Fault::unsure("FLOOR of a number whose length is not known")),
        }
    }
}

/// Is it NULL as written?
pub(super) fn is_null(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(Literal::Null) => true,
        Expr::Paren(inner) => is_null(inner),
        _ => false,
    }
}

/// Is it a number with a sign before it?
fn negative_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(inner) => negative_literal(inner),
        Expr::Unary { op: UnaryOp::Neg, expr } => matches!(**expr, Expr::Literal(_)),
        _ => false,
    }
}

fn literal_ty(literal: &Literal) -> Result<Ty, Fault> {
    Ok(match literal {
        Literal::Null => Ty::new(Class::Null),
        Literal::Bool(_) => Ty::int(),
        Literal::Number(text) if text.contains(['e', 'E']) => Ty::double(),
        Literal::Number(text) => match text.split_once('.') {
            Some((_, part)) => Ty::decimal(part.len().min(MOST.into()) as u8),
            None if text.parse::<i64>().is_ok() => Ty::int(),
            None if text.parse::<u64>().is_ok() => Ty::unsigned(),
            None if text.bytes().all(|b| b.is_ascii_digit()) => Ty::decimal(0),
            None => return Err(SYNTAX),
        },
        Literal::Text(_) => Ty::text(collation::CONSTANT),
        Literal::Bytes(_) => Ty::text(collation::BYTES_CONSTANT),
    })
}

fn cast_ty(ty: &TypeName) -> Result<Ty, Fault> {
    let word = ty.words.first().map_or("", String::as_str).to_ascii_uppercase();
    let number = |at: usize| match ty.args.get(at) {
        Some(Literal::Number(text)) => text.parse::<u8>().ok(),
        _ => None,
    };
    Ok(match word.as_str() {
        "SIGNED" => Ty::int(),
        "UNSIGNED" => Ty::unsigned(),
        "DECIMAL" => Ty::decimal(number(1).unwrap_or(0)),
        "CHAR" if ty.args.is_empty() => Ty::text(collation::CAST),
        "DATE" => Ty::new(Class::Date),
        "DATETIME" if ty.args.is_empty() => Ty::new(Class::DateTime),
        _ => return Err(Fault::unsure("a cast that is not in the evaluator")),
    })
}
