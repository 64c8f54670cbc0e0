//! What expressions for PostgreSQL have besides what all products share: its casts and functions, arithmetic of days,
//! ILIKE and ESCAPE.

use model::{
    Rng,
    sql::{BinaryOp, Expr, LikeOp, Literal, TypeName},
};

use super::{
    Expressions, Family,
    build::{binary, boxed, call, cast, type_name},
};

/// Patterns with an escape of their own, which is `!`.
const ESCAPED: [&str; 5] = ["a!%", "!_%", "%!!%", "1!_", "!a%"];

fn quoted(text: &str) -> Expr {
    Expr::Literal(Literal::Text(format!("'{text}'")))
}

impl Expressions<'_> {
    /// A value of a family in one of PostgreSQL's own ways.
    pub(super) fn postgres_own(&self, rng: &mut Rng, family: Family, depth: usize) -> Expr {
        match family {
            Family::Null => self.leaf(rng, family),
            Family::Bool => self.postgres_bool(rng),
            Family::Int => self.postgres_int(rng, depth),
            Family::Decimal => self.postgres_decimal(rng, depth),
            Family::Double => self.postgres_double(rng, depth),
            Family::Text => self.postgres_text(rng, depth),
            Family::Bytes => match rng.below(3) {
                0 => call("SUBSTR", self.window(rng, Family::Bytes)),
                _ => binary(self.make(rng, family, depth), BinaryOp::Concat, self.make(rng, family, depth)),
            },
            Family::Date => match rng.below(3) {
                0 => cast(self.leaf(rng, Family::DateTime), self.named(family)),
                _ => {
                    let op = *rng.pick(&[BinaryOp::Add, BinaryOp::Sub]);
                    binary(self.make(rng, family, depth), op, Expr::int(rng.below(400) as i64))
                }
            },
            Family::DateTime => cast(self.leaf(rng, Family::Date), self.named(family)),
        }
    }

    fn postgres_bool(&self, rng: &mut Rng) -> Expr {
        let ty = self.named(Family::Bool);
        if rng.ratio(1, 2) {
            return cast(Expr::int(rng.below(3) as i64), ty);
        }
        cast(quoted(rng.pick::<&str>(&["t", "false", "yes", "off", "1", " TRUE "])), ty)
    }

    fn postgres_int(&self, rng: &mut Rng, depth: usize) -> Expr {
        let integer = self.named(Family::Int);
        match rng.below(12) {
            0 | 1 => call("STRPOS", vec![self.make(rng, Family::Text, depth), self.leaf(rng, Family::Text)]),
            2 => call("ASCII", vec![self.make(rng, Family::Text, depth)]),
            3 => {
                let family = *rng.pick(&[Family::Text, Family::Bytes]);
                call("OCTET_LENGTH", vec![self.leaf(rng, family)])
            }
            4 => call("LENGTH", vec![self.leaf(rng, Family::Bytes)]),
            5 => call("MOD", vec![self.make(rng, Family::Int, depth), Expr::int(rng.between(1, 7) as i64)]),
            6 => cast(self.make(rng, Family::Double, depth), integer),
            7 => cast(self.make_condition(rng, depth), integer),
            8 => cast(self.make(rng, Family::Int, depth), type_name("BIGINT", &[])),
            9 => cast(quoted(rng.pick::<&str>(&["0", "12", " 7 ", "-3", "+1"])), integer),
            10 => cast(Expr::int(rng.below(300) as i64), type_name("SMALLINT", &[])),
            _ => {
                let day = |rng: &mut Rng| self.make(rng, Family::Date, depth.min(1));
                let (left, right) = (day(rng), day(rng));
                binary(left, BinaryOp::Sub, right)
            }
        }
    }

    fn postgres_decimal(&self, rng: &mut Rng, depth: usize) -> Expr {
        let family = Family::Decimal;
        match rng.below(6) {
            0 => call("SIGN", vec![self.make(rng, family, depth)]),
            1 => call("TRUNC", vec![self.make(rng, family, depth), Expr::int(rng.below(3) as i64 - 1)]),
            2 => call("ROUND", vec![self.make(rng, family, depth)]),
            3 => cast(self.leaf(rng, Family::Double), type_name("NUMERIC", &[12, 2])),
            4 => cast(quoted(rng.pick::<&str>(&["0.50", " 12 ", "-1.25", "1e2"])), type_name("NUMERIC", &[])),
            _ => {
                call("MOD", vec![self.make(rng, family, depth), Expr::Literal(Literal::Number("0.7".into()))])
            }
        }
    }

    fn postgres_double(&self, rng: &mut Rng, depth: usize) -> Expr {
        let family = Family::Double;
        match rng.below(6) {
            0 | 1 => {
                let name = rng.pick::<&str>(&["ROUND", "FLOOR", "CEIL", "TRUNC"]);
                call(name, vec![self.leaf(rng, family)])
            }
            2 => call("SIGN", vec![self.one_of(rng, &[Family::Int, Family::Double])]),
            3 => {
                let from = *rng.pick(&[Family::Int, Family::Decimal]);
                cast(self.make(rng, from, depth), self.named(family))
            }
            4 => {
                let from = *rng.pick(&[Family::Int, Family::Decimal, Family::Double]);
                cast(self.leaf(rng, from), type_name("REAL", &[]))
            }
            _ => cast(quoted(rng.pick::<&str>(&["0.5", " -2 ", "1e2", ".25"])), self.named(family)),
        }
    }

    fn postgres_text(&self, rng: &mut Rng, depth: usize) -> Expr {
        let some = |rng: &mut Rng| self.make(rng, Family::Text, depth);
        let any = [Family::Bool, Family::Int, Family::Decimal, Family::Double, Family::Text, Family::Date];
        match rng.below(14) {
            0 | 1 => {
                let mut args: Vec<Expr> = (0..rng.between(2, 3)).map(|_| self.one_of(rng, &any)).collect();
                if rng.ratio(1, 2) {
                    args.insert(0, quoted("-"));
                    return call("CONCAT_WS", args);
                }
                call("CONCAT", args)
            }
            2 => call("REVERSE", vec![some(rng)]),
            3 => {
                let name = rng.pick::<&str>(&["LPAD", "RPAD"]);
                let mut args = vec![some(rng), Expr::int(rng.below(7) as i64)];
                if rng.ratio(1, 2) {
                    args.push(self.leaf(rng, Family::Text));
                }
                call(name, args)
            }
            4 => call("REPEAT", vec![some(rng), Expr::int(rng.below(4) as i64 - 1)]),
            5 => cast(some(rng), self.sized(rng)),
            6..=8 => cast(self.one_of(rng, &any), self.sized(rng)),
            9 | 10 => cast(self.one_of(rng, &any), self.named(Family::Text)),
            11 => call("BTRIM", vec![some(rng), self.leaf(rng, Family::Text)]),
            12 => binary(self.one_of(rng, &any), BinaryOp::Concat, cast(some(rng), self.named(Family::Text))),
            _ => call("SUBSTR", self.window(rng, Family::Text)),
        }
    }

    /// A string type with a length.
    fn sized(&self, rng: &mut Rng) -> TypeName {
        type_name(rng.pick::<&str>(&["VARCHAR", "CHAR"]), &[rng.between(1, 6) as u16])
    }

    /// A part of something, which may begin before it.
    fn window(&self, rng: &mut Rng, family: Family) -> Vec<Expr> {
        vec![self.leaf(rng, family), Expr::int(rng.below(5) as i64 - 2), Expr::int(rng.below(4) as i64)]
    }

    /// ILIKE, or LIKE with an escape of its own.
    pub(super) fn postgres_like(&self, rng: &mut Rng, depth: usize) -> Expr {
        let expr = boxed(self.make(rng, Family::Text, depth));
        let negated = rng.ratio(1, 3);
        let op = *rng.pick(&[LikeOp::Like, LikeOp::Ilike]);
        let (pattern, escape) = if rng.ratio(1, 2) {
            (quoted(rng.pick::<&str>(&ESCAPED)), Some(Box::new(quoted("!"))))
        } else {
            (self.leaf(rng, Family::Text), None)
        };
        Expr::Like { expr, negated, op, pattern: boxed(pattern), escape }
    }
}
