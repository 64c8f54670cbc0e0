//! Conditions: comparisons, logic, and the tests that give a truth value.

use dialect::SqlFamily;
use model::{
    Rng,
    sql::{BinaryOp, BoolTest, Expr, InList, LikeOp, Literal, NullSpelling, UnaryOp},
};

use super::{
    Expressions, Family,
    build::{binary, boxed, unary},
    mixing::Place,
};

const COMPARISONS: [BinaryOp; 9] = [
    BinaryOp::Eq,
    BinaryOp::Eq,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::NeBang,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
];

const PATTERNS: [&str; 12] = ["%", "a%", "%b", "_", "A_", "%1%", "a", "1%", "%a%", "_b%", "% ", "ab"];

impl Expressions<'_> {
    pub(super) fn make_condition(&self, rng: &mut Rng, depth: usize) -> Expr {
        if depth == 0 {
            return match rng.below(8) {
                0 => self.null_test(rng, 0),
                1 => self.bare(rng, 0),
                _ => self.comparison(rng, 0),
            };
        }
        let inner = depth - 1;
        match rng.below(32) {
            0..=7 => self.comparison(rng, inner),
            8 | 9 => self.null_safe(rng, inner),
            10..=14 => {
                let op = if rng.ratio(1, 2) { BinaryOp::And } else { BinaryOp::Or };
                binary(self.make_condition(rng, inner), op, self.make_condition(rng, inner))
            }
            15 if self.mysql() => {
                binary(self.make_condition(rng, inner), BinaryOp::Xor, self.make_condition(rng, inner))
            }
            15..=17 => unary(UnaryOp::Not, self.make_condition(rng, inner)),
            18 | 19 => self.null_test(rng, inner),
            20 | 21 => self.truth_test(rng, inner),
            22..=24 => self.in_list(rng, inner),
            25 | 26 => self.between(rng, inner),
            27 if self.sql() == SqlFamily::Postgres => self.postgres_like(rng, inner),
            27 if self.sql() == SqlFamily::Sqlite => self.sqlite_test(rng, inner),
            27..=29 => self.like(rng, inner),
            _ => self.bare(rng, inner),
        }
    }

    /// A family that some column has, mostly.
    fn some_family(&self, rng: &mut Rng) -> Family {
        if !self.columns.is_empty() && rng.ratio(7, 8) {
            return Family::of(self.product, &rng.pick(self.columns).ty);
        }
        *rng.pick(&[Family::Int, Family::Int, Family::Decimal, Family::Double, Family::Text])
    }

    /// Two operands that can be compared.
    fn pair(&self, rng: &mut Rng, depth: usize) -> (Expr, Expr) {
        let family = self.some_family(rng);
        let other = self.mixed(rng, Place::Compared, family);
        let (left, right) = (self.make(rng, family, depth), self.compared(rng, other, depth));
        if rng.ratio(1, 6) { (right, left) } else { (left, right) }
    }

    /// Something to compare with: dates are often plain strings to products that convert.
    fn compared(&self, rng: &mut Rng, family: Family, depth: usize) -> Expr {
        let dated = matches!(family, Family::Date | Family::DateTime);
        if dated && self.converts() && rng.ratio(1, 2) {
            return self.constant_of(rng, family).literal(self.product);
        }
        self.make(rng, family, depth)
    }

    fn comparison(&self, rng: &mut Rng, depth: usize) -> Expr {
        let (left, right) = self.pair(rng, depth);
        binary(left, *rng.pick(&COMPARISONS), right)
    }

    fn null_safe(&self, rng: &mut Rng, depth: usize) -> Expr {
        let (left, right) = self.pair(rng, depth);
        let ops: &[BinaryOp] = if self.mysql() {
            &[BinaryOp::NullSafeEq]
        } else if self.converts() {
            &[BinaryOp::Is, BinaryOp::IsNot]
        } else {
            &[BinaryOp::IsDistinct, BinaryOp::IsNotDistinct]
        };
        let op = *rng.pick(ops);
        match right {
            // SQLite reads IS before NULL and TRUE as another test.
            Expr::Literal(Literal::Null | Literal::Bool(_))
                if op == BinaryOp::Is || op == BinaryOp::IsNot =>
            {
                binary(left, BinaryOp::Eq, right)
            }
            right => binary(left, op, right),
        }
    }

    fn null_test(&self, rng: &mut Rng, depth: usize) -> Expr {
        let family = self.some_family(rng);
        let expr = boxed(self.make(rng, family, depth));
        Expr::IsNull { expr, negated: rng.ratio(1, 2), spelling: NullSpelling::Is }
    }

    fn truth_test(&self, rng: &mut Rng, depth: usize) -> Expr {
        let expr = boxed(self.bare(rng, depth));
        let test = match rng.below(5) {
            0 | 1 => BoolTest::True,
            2 | 3 => BoolTest::False,
            // SQLite takes UNKNOWN for a column.
            _ if self.converts() && !self.mysql() => BoolTest::False,
            _ => BoolTest::Unknown,
        };
        Expr::IsBool { expr, negated: rng.ratio(1, 3), test }
    }

    fn in_list(&self, rng: &mut Rng, depth: usize) -> Expr {
        let family = self.some_family(rng);
        let expr = boxed(self.make(rng, family, depth));
        let other = self.mixed(rng, Place::Compared, family);
        let list = (0..rng.between(2, 4)).map(|_| self.compared(rng, other, depth / 2)).collect();
        Expr::In { expr, negated: rng.ratio(1, 3), list: InList::Exprs(list) }
    }

    fn between(&self, rng: &mut Rng, depth: usize) -> Expr {
        let family = self.some_family(rng);
        let expr = boxed(self.make(rng, family, depth));
        let other = self.mixed(rng, Place::Compared, family);
        let mut bound = || super::build::boxed(self.compared(rng, other, depth / 2));
        let (low, high) = (bound(), bound());
        Expr::Between { expr, negated: rng.ratio(1, 3), low, high }
    }

    fn like(&self, rng: &mut Rng, depth: usize) -> Expr {
        let family = self.mixed(rng, Place::Spelled, Family::Text);
        let expr = boxed(self.make(rng, family, depth));
        let pattern = if rng.ratio(7, 8) {
            let text = dialect::sql::text_literal(self.product, PATTERNS[rng.below(PATTERNS.len())]);
            Expr::Literal(Literal::Text(text))
        } else {
            self.make(rng, Family::Text, depth)
        };
        let negated = rng.ratio(1, 3);
        Expr::Like { expr, negated, op: LikeOp::Like, pattern: boxed(pattern), escape: None }
    }

    /// A value as a condition, where the product takes one; otherwise a truth value.
    fn bare(&self, rng: &mut Rng, depth: usize) -> Expr {
        if self.converts() && rng.ratio(1, 2) {
            let family =
                *rng.pick(&[Family::Int, Family::Int, Family::Decimal, Family::Double, Family::Text]);
            return self.make(rng, family, depth);
        }
        if !self.converts() && rng.ratio(1, 2) {
            return self.leaf(rng, Family::Bool);
        }
        match depth {
            0 => self.comparison(rng, 0),
            _ => self.make_condition(rng, depth - 1),
        }
    }
}
