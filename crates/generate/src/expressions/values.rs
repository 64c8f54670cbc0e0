//! Values: columns, constants, arithmetic, bits, choices and functions, by the family that is asked for.

use dialect::SqlFamily;
use eval::Datum;
use model::{
    Rng, SqlType,
    sql::{BinaryOp, Expr, TypeName, UnaryOp},
};

use super::{
    Expressions, Family,
    build::{binary, call, case, cast, type_name, unary},
    constants,
    mixing::Place,
};

impl Expressions<'_> {
    /// A value of a family.
    pub(super) fn make(&self, rng: &mut Rng, family: Family, depth: usize) -> Expr {
        if depth == 0 || rng.ratio(1, 3) {
            return self.leaf(rng, family);
        }
        let inner = depth - 1;
        if let Some(own) = self.own(rng, family, inner) {
            return own;
        }
        match family {
            Family::Null => self.leaf(rng, family),
            Family::Bool => self.make_condition(rng, inner),
            Family::Int => self.int(rng, inner),
            Family::Decimal => self.decimal(rng, inner),
            Family::Double => self.double(rng, inner),
            Family::Text => self.text(rng, inner),
            Family::Bytes | Family::Date | Family::DateTime => self.chosen(rng, family, inner),
        }
    }

    /// Now and then, what only this product has.
    fn own(&self, rng: &mut Rng, family: Family, depth: usize) -> Option<Expr> {
        match self.sql() {
            SqlFamily::Mysql => None,
            SqlFamily::Postgres => rng.ratio(1, 5).then(|| self.postgres_own(rng, family, depth)),
            SqlFamily::Sqlite => rng.ratio(1, 4).then(|| self.sqlite_own(rng, family, depth)),
        }
    }

    /// A column or a constant of any of these families.
    pub(super) fn one_of(&self, rng: &mut Rng, families: &[Family]) -> Expr {
        let family = *rng.pick(families);
        self.leaf(rng, family)
    }

    /// A column or a constant.
    pub(super) fn leaf(&self, rng: &mut Rng, family: Family) -> Expr {
        let columns: Vec<_> =
            self.columns.iter().filter(|column| Family::of(self.product, &column.ty) == family).collect();
        if !columns.is_empty() && rng.ratio(2, 3) {
            return rng.pick(&columns).expr();
        }
        if rng.ratio(1, self.weights.null) {
            let null = Datum::Null.literal(self.product);
            // PostgreSQL wants to know of which type.
            return if self.converts() { null } else { cast(null, self.named(family)) };
        }
        let literal = self.constant_of(rng, family).literal(self.product);
        match family {
            // A string is no date yet.
            Family::Date | Family::DateTime if self.mysql() => cast(literal, self.named(family)),
            _ => literal,
        }
    }

    /// A constant of a family: from the pools, mostly.
    pub(super) fn constant_of(&self, rng: &mut Rng, family: Family) -> Datum {
        let pools: Vec<&Datum> = self
            .columns
            .iter()
            .filter(|column| Family::of(self.product, &column.ty) == family)
            .flat_map(|column| column.pool)
            .filter(|datum| !datum.is_null())
            .collect();
        if !pools.is_empty() && rng.ratio(2, 3) {
            return (*rng.pick(&pools)).clone();
        }
        constants::of_family(rng, family, self.mysql(), self.weights.border)
    }

    /// A type of this family, to cast to.
    pub(super) fn named(&self, family: Family) -> TypeName {
        use Family::*;
        match self.sql() {
            SqlFamily::Mysql => match family {
                Int | Bool | Null => type_name("SIGNED", &[]),
                Decimal => type_name("DECIMAL", &[12, 2]),
                Double => type_name("DOUBLE", &[]),
                Text => type_name("CHAR", &[]),
                Bytes => type_name("BINARY", &[]),
                Date => type_name("DATE", &[]),
                DateTime => type_name("DATETIME", &[]),
            },
            SqlFamily::Postgres => match family {
                Null | Text => type_name("TEXT", &[]),
                Bool => type_name("BOOLEAN", &[]),
                Int => type_name("INTEGER", &[]),
                Decimal => type_name("NUMERIC", &[12, 2]),
                Double => type_name("DOUBLE PRECISION", &[]),
                Bytes => type_name("BYTEA", &[]),
                Date => type_name("DATE", &[]),
                DateTime => type_name("TIMESTAMP", &[]),
            },
            SqlFamily::Sqlite => match family {
                Int | Bool | Null => type_name("INTEGER", &[]),
                Decimal => type_name("NUMERIC", &[]),
                Double => type_name("REAL", &[]),
                Text | Date | DateTime => type_name("TEXT", &[]),
                Bytes => type_name("BLOB", &[]),
            },
        }
    }

    /// An operand to compute with.
    fn computed(&self, rng: &mut Rng, family: Family, depth: usize) -> Expr {
        let family = self.mixed(rng, Place::Computed, family);
        self.make(rng, family, depth)
    }

    /// An operand of a sign and its kin.
    fn alone(&self, rng: &mut Rng, family: Family, depth: usize) -> Expr {
        let family = self.mixed(rng, Place::Alone, family);
        self.make(rng, family, depth)
    }

    /// What can be cast to a number without an error.
    fn number_or_text(&self, rng: &mut Rng, depth: usize) -> Expr {
        let from: &[Family] = if self.mysql() {
            &[Family::Int, Family::Decimal, Family::Double, Family::Text]
        } else {
            &[Family::Int, Family::Decimal]
        };
        let from = *rng.pick(from);
        self.make(rng, from, depth)
    }

    fn arithmetic(&self, rng: &mut Rng, family: Family, ops: &[BinaryOp], depth: usize) -> Expr {
        let op = *rng.pick(ops);
        let left = self.make(rng, family, depth);
        binary(left, op, self.computed(rng, family, depth))
    }

    fn int(&self, rng: &mut Rng, depth: usize) -> Expr {
        use BinaryOp::*;
        match rng.below(20) {
            0..=5 => {
                let ops: &[BinaryOp] = if self.mysql() {
                    &[Add, Sub, Mul, IntDiv, Rem, Mod]
                } else {
                    &[Add, Sub, Mul, Div, Rem]
                };
                self.arithmetic(rng, Family::Int, ops, depth)
            }
            6 => unary(UnaryOp::Neg, self.alone(rng, Family::Int, depth)),
            7..=9 => self.bits(rng, depth),
            10 => call("ABS", vec![self.alone(rng, Family::Int, depth)]),
            11 if self.converts() => {
                let family = *rng.pick(&[Family::Int, Family::Decimal, Family::Double]);
                call("SIGN", vec![self.alone(rng, family, depth)])
            }
            12 | 13 => {
                let name = if self.converts() && !self.mysql() {
                    "LENGTH"
                } else {
                    *rng.pick(&["LENGTH", "CHAR_LENGTH"])
                };
                call(name, vec![self.spelled(rng, depth)])
            }
            14 if self.converts() => self.make_condition(rng, depth),
            15 => cast(self.number_or_text(rng, depth), self.named(Family::Int)),
            16 if self.mysql() => {
                let name = *rng.pick(&["YEAR", "MONTH", "DAY"]);
                let family = *rng.pick(&[Family::Date, Family::DateTime]);
                call(name, vec![self.make(rng, family, depth)])
            }
            _ => self.chosen(rng, Family::Int, depth),
        }
    }

    /// A matter of bits.
    fn bits(&self, rng: &mut Rng, depth: usize) -> Expr {
        use BinaryOp::*;
        let xor = self.sql() != SqlFamily::Sqlite;
        let mut operand = || {
            let family = self.mixed(rng, Place::Bits, Family::Int);
            self.make(rng, family, depth)
        };
        let (left, right) = (operand(), operand());
        match rng.below(7) {
            0 | 1 => binary(left, BitAnd, right),
            2 | 3 => binary(left, BitOr, right),
            4 if xor => binary(left, BitXor, right),
            5 => unary(UnaryOp::BitNot, left),
            _ => {
                // The distance is small: PostgreSQL takes only an INTEGER there.
                let by = Expr::int([0, 1, 2, 7, 31][rng.below(5)]);
                binary(left, if rng.ratio(1, 2) { Shl } else { Shr }, by)
            }
        }
    }

    fn decimal(&self, rng: &mut Rng, depth: usize) -> Expr {
        use BinaryOp::*;
        let family = Family::Decimal;
        match rng.below(16) {
            0..=5 => self.arithmetic(rng, family, &[Add, Sub, Mul, Div, Rem], depth),
            6 => unary(UnaryOp::Neg, self.alone(rng, family, depth)),
            7 => call("ABS", vec![self.alone(rng, family, depth)]),
            8 | 9 => {
                let digits = Expr::int(rng.below(4) as i64);
                // Binary numbers, which MySQL mixes in, are rounded in another way.
                let number =
                    if self.mysql() { self.leaf(rng, family) } else { self.make(rng, family, depth) };
                call("ROUND", vec![number, digits])
            }
            10 if !self.converts() || self.mysql() => {
                // MySQL decides by the length of the number whether it becomes a whole one.
                let name = *rng.pick(&["FLOOR", "CEILING"]);
                call(name, vec![self.leaf(rng, family)])
            }
            11 | 12 => cast(self.number_or_text(rng, depth), self.named(family)),
            _ => self.chosen(rng, family, depth),
        }
    }

    fn double(&self, rng: &mut Rng, depth: usize) -> Expr {
        use BinaryOp::*;
        let family = Family::Double;
        match rng.below(10) {
            0..=4 => self.arithmetic(rng, family, &[Add, Sub, Mul, Div], depth),
            5 => unary(UnaryOp::Neg, self.alone(rng, family, depth)),
            6 => call("ABS", vec![self.alone(rng, family, depth)]),
            _ => self.chosen(rng, family, depth),
        }
    }

    /// An argument that becomes text.
    fn spelled(&self, rng: &mut Rng, depth: usize) -> Expr {
        let family = self.mixed(rng, Place::Spelled, Family::Text);
        self.make(rng, family, depth)
    }

    fn text(&self, rng: &mut Rng, depth: usize) -> Expr {
        match rng.below(14) {
            0..=2 if self.mysql() => {
                let args = (0..rng.between(2, 3)).map(|_| self.spelled(rng, depth)).collect();
                call("CONCAT", args)
            }
            0..=2 => binary(self.spelled(rng, depth), BinaryOp::Concat, self.spelled(rng, depth)),
            3 => call("UPPER", vec![self.spelled(rng, depth)]),
            4 => call("LOWER", vec![self.spelled(rng, depth)]),
            5 | 6 => {
                let mut args = vec![self.spelled(rng, depth), Expr::int(rng.between(1, 3) as i64)];
                if rng.ratio(1, 2) {
                    args.push(Expr::int(rng.below(3) as i64));
                }
                call("SUBSTR", args)
            }
            7 => call(rng.pick::<&str>(&["TRIM", "LTRIM", "RTRIM"]), vec![self.spelled(rng, depth)]),
            8 => {
                // Versions differ in whose collation the result has, and in when they look at the last one.
                let mut args = vec![self.make(rng, Family::Text, depth)];
                args.extend((0..2).map(|_| self.constant_of(rng, Family::Text).literal(self.product)));
                call("REPLACE", args)
            }
            9 if !self.converts() || self.mysql() => {
                let args = vec![self.spelled(rng, depth), Expr::int(rng.below(3) as i64)];
                call(rng.pick::<&str>(&["LEFT", "RIGHT"]), args)
            }
            10 => {
                let from: &[Family] = if self.mysql() {
                    &[Family::Int, Family::Decimal, Family::Double, Family::Text]
                } else {
                    &[Family::Int, Family::Decimal, Family::Text]
                };
                let from = *rng.pick(from);
                cast(self.make(rng, from, depth), self.named(Family::Text))
            }
            _ => self.chosen(rng, Family::Text, depth),
        }
    }

    /// One of several values of a family.
    pub(super) fn chosen(&self, rng: &mut Rng, family: Family, depth: usize) -> Expr {
        let inner = depth.saturating_sub(1);
        let some = |rng: &mut Rng| {
            let family = self.mixed(rng, Place::Chosen, family);
            self.make(rng, family, inner)
        };
        match rng.below(9) {
            0 | 1 => {
                let when = self.make_condition(rng, inner);
                let whens = vec![(when, some(rng))];
                let otherwise = rng.ratio(4, 5).then(|| some(rng));
                case(None, whens, otherwise)
            }
            2 => {
                let by = if self.converts() { Family::Int } else { family };
                let operand = self.make(rng, by, inner);
                let when = |rng: &mut Rng| (self.make(rng, by, inner), some(rng));
                let whens = vec![when(rng), when(rng)];
                case(Some(operand), whens, Some(some(rng)))
            }
            3 => call("COALESCE", vec![some(rng), some(rng), some(rng)]),
            // MySQL's types do not survive it.
            4 if !(self.mysql() && matches!(family, Family::Date | Family::DateTime)) => {
                call("NULLIF", vec![some(rng), some(rng)])
            }
            5 if self.converts() => call("IFNULL", vec![some(rng), some(rng)]),
            6 if self.mysql() => call("IF", vec![self.make_condition(rng, inner), some(rng), some(rng)]),
            7 | 8 if family != Family::Bytes => {
                let names =
                    if self.converts() && !self.mysql() { ["MIN", "MAX"] } else { ["LEAST", "GREATEST"] };
                let name = *rng.pick(&names);
                call(name, (0..rng.between(2, 3)).map(|_| self.make(rng, family, inner)).collect())
            }
            _ => call("COALESCE", vec![some(rng), some(rng)]),
        }
    }

    /// A value for a column, mostly without an error.
    pub(super) fn storable(&self, rng: &mut Rng, ty: &SqlType, depth: usize) -> Expr {
        let columns: Vec<_> = self.columns.iter().filter(|column| column.ty == *ty).collect();
        let constant = |rng: &mut Rng| self.constant(rng, ty).literal(self.product);
        if columns.is_empty() || rng.ratio(1, 2) {
            return constant(rng);
        }
        let column = rng.pick(&columns).expr();
        if depth == 0 {
            return column;
        }
        match (rng.below(6), Family::of(self.product, ty)) {
            (0 | 1, Family::Int | Family::Decimal | Family::Double) => {
                let op = if rng.ratio(2, 3) { BinaryOp::Add } else { BinaryOp::Sub };
                binary(column, op, Expr::int(rng.between(1, 3) as i64))
            }
            (0, Family::Text) => call(rng.pick::<&str>(&["UPPER", "LOWER", "TRIM"]), vec![column]),
            (2, _) => call("COALESCE", vec![column, constant(rng)]),
            (3 | 4, _) => {
                let when = self.make_condition(rng, depth - 1);
                case(None, vec![(when, constant(rng))], Some(column))
            }
            _ => column,
        }
    }
}
