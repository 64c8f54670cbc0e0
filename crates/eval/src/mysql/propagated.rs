//! What the optimizer knows by an equality: where `a = 7` stands in a WHERE, it may put 7 for a everywhere else, and compute what
//! has become constant before it looks at a row. An error of that is an error of the statement, whatever the rows hold.

use model::sql::{BinaryOp, CastSpelling, Expr, TypeName, UnaryOp};

use super::{
    Row,
    types::{self, Class},
    values::bare,
};
use crate::{Datum, Fault};

/// A column and the constant that it equals.
type ColumnConstant<'e> = (&'e Expr, Expr);

impl Row<'_> {
    /// Refuses a condition in which something becomes an error, or changes its sign, once columns are replaced by what they
    /// must be equal to.
    pub fn propagated(&self, expr: &Expr) -> Result<(), Fault> {
        let mut pairs = Vec::new();
        equalities(expr, &mut pairs);
        let mut pins: Vec<ColumnConstant> = pairs
            .iter()
            .flat_map(|(left, right)| [(*left, *right), (*right, *left)])
            .filter(|(column, other)| is_column(column) && types::constant(other))
            .map(|(column, constant)| (column, self.stored(column, constant)))
            .collect();
        // NOT a is a = 0.
        let mut zeros = Vec::new();
        negations(expr, &mut zeros);
        pins.extend(zeros.into_iter().map(|column| (column, Expr::int(0))));
        if pins.is_empty() {
            return Ok(());
        }
        // What equals a column that is pinned is pinned, too.
        for _ in 0..pairs.len() {
            for (left, right) in pairs.iter().filter(|(left, right)| is_column(left) && is_column(right)) {
                for (from, to) in [(left, right), (right, left)] {
                    let known = pins.iter().find(|(column, _)| column == from).map(|(_, constant)| constant);
                    if let Some(constant) = known.filter(|_| pins.iter().all(|(column, _)| column != to)) {
                        pins.push((to, constant.clone()));
                    }
                }
            }
        }
        if pins.iter().any(|pin| self.sign_lost(pin) && super::condition::mentions(expr, pin.0) > 1) {
            return Err(Fault::unsure("a column that equals a constant of another sign"));
        }
        let each = pins.iter().map(std::slice::from_ref);
        for pins in std::iter::once(&pins[..]).chain(each) {
            let mut known = expr.clone();
            replace(&mut known, pins);
            if self.fails(expr, &known) {
                return Err(Fault::unsure("an error where a column is replaced by what it equals"));
            }
        }
        Ok(())
    }

    /// The constant as a column of this type has it.
    fn stored(&self, column: &Expr, constant: &Expr) -> Expr {
        let Ok(ty) = self.ty(column) else { return constant.clone() };
        let cast = |word: &str| Expr::Cast {
            expr: Box::new(constant.clone()),
            ty: TypeName { words: vec![word.to_string()], args: Vec::new(), suffix: Vec::new() },
            spelling: CastSpelling::Call,
        };
        match ty.class {
            Class::Date => cast("DATE"),
            Class::DateTime => cast("DATETIME"),
            Class::Int if self.ty(constant).is_ok_and(|ty| ty.class != Class::Int) => cast("SIGNED"),
            Class::Int | Class::Null | Class::Decimal | Class::Double | Class::Text | Class::Bytes => {
                constant.clone()
            }
        }
    }

    /// Is there something that has become constant and has no value that we know?
    fn fails(&self, before: &Expr, known: &Expr) -> bool {
        if is_column(before) {
            return false;
        }
        types::constant(known) && !types::constant(before) && self.raw(known).is_err()
            || before
                .children()
                .into_iter()
                .zip(known.children())
                .any(|(before, known)| self.fails(before, known))
    }

    /// Is a column without a sign equal to a negative number?
    fn sign_lost(&self, (column, constant): &ColumnConstant) -> bool {
        let ty = self.ty(column);
        match self.raw(constant) {
            Ok(Datum::Int(n)) => n < 0 && ty.is_ok_and(|ty| ty.unsigned),
            Ok(Datum::UInt(n)) => {
                n > i64::MAX as u64 && ty.is_ok_and(|ty| ty.class == Class::Int && !ty.unsigned)
            }
            Ok(_) | Err(_) => false,
        }
    }
}

fn is_column(expr: &Expr) -> bool {
    matches!(expr, Expr::Column(_))
}

/// The two sides of every `=` and `<=>` in it.
fn equalities<'e>(expr: &'e Expr, found: &mut Vec<(&'e Expr, &'e Expr)>) {
    if let Expr::Binary { left, op: BinaryOp::Eq | BinaryOp::NullSafeEq, right } = expr {
        found.push((bare(left), bare(right)));
    }
    expr.children().into_iter().for_each(|part| equalities(part, found));
}

/// Every column of which NOT is said.
fn negations<'e>(expr: &'e Expr, found: &mut Vec<&'e Expr>) {
    if let Expr::Unary { op: UnaryOp::Not | UnaryOp::Bang, expr } = expr {
        found.extend(Some(bare(expr)).filter(|inner| is_column(inner)));
    }
    expr.children().into_iter().for_each(|part| negations(part, found));
}

/// Puts constants for columns.
fn replace(expr: &mut Expr, pins: &[ColumnConstant]) {
    if let Some((_, constant)) = pins.iter().find(|(column, _)| *column == expr) {
        *expr = Expr::Paren(Box::new(constant.clone()));
        return;
    }
    expr.children_mut().into_iter().for_each(|part| replace(part, pins));
}
