//! What expressions for SQLite have besides what all products share: its functions, casts of everything to everything, `==`,
//! GLOB and ESCAPE.
//!
//! Since every operator takes every value there, some expressions put one operator on one plain operand of any family:
//! that way no pair of the two stays rare.

use model::{
    Rng,
    sql::{BinaryOp, BoolTest, Expr, LikeOp, Literal, NullSpelling, UnaryOp},
};

use super::{
    Expressions, Family,
    build::{binary, boxed, call, cast, unary},
};

/// Dates are text there, so they need no place among these.
const EVERY: [Family; 6] =
    [Family::Null, Family::Int, Family::Decimal, Family::Double, Family::Text, Family::Bytes];

/// Those that become text without a doubt: not all bytes are text.
const SPELLED: [Family; 5] = [Family::Null, Family::Int, Family::Decimal, Family::Double, Family::Text];

/// For what is given dates elsewhere too.
const DATED: [Family; 7] = [
    Family::Null,
    Family::Int,
    Family::Decimal,
    Family::Double,
    Family::Text,
    Family::Date,
    Family::DateTime,
];

fn quoted(text: &str) -> Expr {
    Expr::Literal(Literal::Text(format!("'{text}'")))
}

impl Expressions<'_> {
    /// A value of a family in one of SQLite's own ways.
    pub(super) fn sqlite_own(&self, rng: &mut Rng, family: Family, depth: usize) -> Expr {
        if rng.ratio(1, 6) {
            let test = self.make_condition(rng, depth);
            return call("IIF", vec![test, self.make(rng, family, depth), self.leaf(rng, family)]);
        }
        match family {
            Family::Null | Family::Date | Family::DateTime => self.leaf(rng, family),
            Family::Bool | Family::Int => self.sqlite_int(rng, depth),
            Family::Decimal => match rng.below(3) {
                0 => call("ROUND", vec![self.one_of(rng, &EVERY), Expr::int(rng.below(4) as i64)]),
                _ => cast(self.one_of(rng, &EVERY), self.named(family)),
            },
            Family::Double => match rng.below(3) {
                0 => call("ROUND", vec![self.one_of(rng, &EVERY)]),
                1 => cast(self.one_of(rng, &EVERY), self.named(family)),
                _ => cast(self.make(rng, Family::Text, depth), self.named(family)),
            },
            Family::Text => self.sqlite_text(rng, depth),
            Family::Bytes => match rng.below(2) {
                0 => cast(self.one_of(rng, &SPELLED), self.named(family)),
                _ => call("SUBSTR", self.piece(rng, &[Family::Bytes])),
            },
        }
    }

    fn sqlite_int(&self, rng: &mut Rng, depth: usize) -> Expr {
        use BinaryOp::*;
        match rng.below(12) {
            0 => call("INSTR", vec![self.make(rng, Family::Text, depth), self.one_of(rng, &SPELLED)]),
            1 => call("UNICODE", vec![self.one_of(rng, &SPELLED)]),
            2 | 3 => call(rng.pick::<&str>(&["LENGTH", "OCTET_LENGTH"]), vec![self.one_of(rng, &EVERY)]),
            4 => call(rng.pick::<&str>(&["SIGN", "ABS"]), vec![self.one_of(rng, &EVERY)]),
            5 | 6 => cast(self.one_of(rng, &EVERY), self.named(Family::Int)),
            7 => {
                let op = *rng.pick(&[UnaryOp::BitNot, UnaryOp::Neg, UnaryOp::Not]);
                unary(op, self.one_of(rng, &EVERY))
            }
            8 => {
                let op = *rng.pick(&[BitAnd, BitOr, Shl, Shr]);
                binary(self.one_of(rng, &EVERY), op, self.one_of(rng, &EVERY))
            }
            9 => {
                let op = *rng.pick(&[Add, Sub, Mul, Div, Rem]);
                binary(self.one_of(rng, &EVERY), op, self.one_of(rng, &EVERY))
            }
            10 => binary(self.one_of(rng, &EVERY), *rng.pick(&[And, Or]), self.one_of(rng, &EVERY)),
            _ => self.sqlite_test(rng, depth),
        }
    }

    fn sqlite_text(&self, rng: &mut Rng, depth: usize) -> Expr {
        match rng.below(10) {
            0 => call(rng.pick::<&str>(&["UPPER", "LOWER"]), vec![self.one_of(rng, &DATED)]),
            1 | 2 => {
                let mut args = vec![self.one_of(rng, &DATED)];
                if rng.ratio(1, 3) {
                    args.push(quoted(rng.pick::<&str>(&["a", " 1", "", "0."])));
                }
                call(rng.pick::<&str>(&["TRIM", "LTRIM", "RTRIM"]), args)
            }
            3 => call("SUBSTR", self.piece(rng, &DATED)),
            4 => binary(self.one_of(rng, &SPELLED), BinaryOp::Concat, self.one_of(rng, &SPELLED)),
            5 => cast(self.one_of(rng, &SPELLED), self.named(Family::Text)),
            6 => call("HEX", vec![self.one_of(rng, &EVERY)]),
            7 => call("TYPEOF", vec![self.one_of(rng, &EVERY)]),
            8 => {
                let mut args: Vec<Expr> =
                    (0..rng.between(2, 3)).map(|_| self.one_of(rng, &SPELLED)).collect();
                if rng.ratio(1, 2) {
                    args.insert(0, quoted("-"));
                    return call("CONCAT_WS", args);
                }
                call("CONCAT", args)
            }
            _ => call(
                "REPLACE",
                vec![self.make(rng, Family::Text, depth), self.leaf(rng, Family::Text), quoted("xy")],
            ),
        }
    }

    /// A part of something: from either end, in either direction.
    fn piece(&self, rng: &mut Rng, families: &[Family]) -> Vec<Expr> {
        let mut args = vec![self.one_of(rng, families), Expr::int(rng.below(7) as i64 - 3)];
        if rng.ratio(2, 3) {
            args.push(Expr::int(rng.below(7) as i64 - 3));
        }
        args
    }

    /// Tests that others write differently or do not have.
    pub(super) fn sqlite_test(&self, rng: &mut Rng, depth: usize) -> Expr {
        match rng.below(6) {
            0 => binary(self.make(rng, Family::Int, depth), BinaryOp::EqEq, self.one_of(rng, &SPELLED)),
            1 => Expr::IsNull {
                expr: boxed(self.one_of(rng, &EVERY)),
                negated: rng.ratio(1, 2),
                spelling: NullSpelling::OneWord,
            },
            2 => Expr::IsBool {
                expr: boxed(self.one_of(rng, &EVERY)),
                negated: rng.ratio(1, 2),
                test: *rng.pick(&[BoolTest::True, BoolTest::False]),
            },
            _ => self.sqlite_like(rng),
        }
    }

    /// LIKE with an escape, or GLOB.
    fn sqlite_like(&self, rng: &mut Rng) -> Expr {
        let expr = boxed(self.one_of(rng, &SPELLED));
        let negated = rng.ratio(1, 3);
        let (op, pattern, escape) = match rng.below(3) {
            0 => (
                LikeOp::Glob,
                quoted(rng.pick::<&str>(&["a*", "*b", "?", "A?", "*1*", "a", "*.*", "*"])),
                None,
            ),
            1 => {
                let pattern = quoted(rng.pick::<&str>(&["a!%", "!_%", "%!!%", "1!_", "!a%", "1!"]));
                (LikeOp::Like, pattern, Some(Box::new(quoted("!"))))
            }
            _ => (LikeOp::Like, quoted(rng.pick::<&str>(&["1%", "%.%", "_%1", "%0", "2020%", "a_"])), None),
        };
        Expr::Like { expr, negated, op, pattern: Box::new(pattern), escape }
    }
}
