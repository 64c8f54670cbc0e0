//! Expressions over rows, by the evaluator, and the few comparisons that keys need.

use std::cmp::Ordering;

use eval::{Column, Datum, Evaluator, Fault};
use model::{
    Product, SqlType, Version,
    sql::{BinaryOp, Expr},
};

/// Computes as one server does.
#[derive(Clone, Copy, Debug)]
pub struct Compute<'a> {
    /// Whose rules.
    pub product: Product,
    /// Of which version.
    pub version: &'a Version,
}

impl Compute<'_> {
    fn over<'b>(&'b self, columns: &'b [Column]) -> Evaluator<'b> {
        Evaluator { product: self.product, version: self.version, columns }
    }

    /// The value of an expression.
    pub fn value(&self, columns: &[Column], expr: &Expr, row: &[Datum]) -> Result<Datum, Fault> {
        self.over(columns).value(expr, row)
    }

    /// Is a condition true? None is unknown.
    pub fn truth(&self, columns: &[Column], expr: &Expr, row: &[Datum]) -> Result<Option<bool>, Fault> {
        self.over(columns).truth(expr, row)
    }

    /// What a column holds after the value was stored there.
    pub fn store(&self, value: &Datum, ty: &SqlType) -> Result<Datum, Fault> {
        self.over(&[]).store(value, ty)
    }

    /// Which of two values of a column comes first. NULL is before everything.
    pub fn order(&self, column: &Column, left: &Datum, right: &Datum) -> Result<Ordering, Fault> {
        match (left, right) {
            (Datum::Null, Datum::Null) => return Ok(Ordering::Equal),
            (Datum::Null, _) => return Ok(Ordering::Less),
            (_, Datum::Null) => return Ok(Ordering::Greater),
            (Datum::Int(left), Datum::Int(right)) => return Ok(left.cmp(right)),
            (Datum::UInt(left), Datum::UInt(right)) => return Ok(left.cmp(right)),
            _ => {}
        }
        let side = |name: &str| Column { table: None, name: name.into(), ..column.clone() };
        let columns = [side("l"), side("r")];
        let row = [left.clone(), right.clone()];
        let is = |op| {
            let expr = Expr::binary(Expr::column("l"), op, Expr::column("r"));
            Ok::<bool, Fault>(self.truth(&columns, &expr, &row)? == Some(true))
        };
        Ok(match (is(BinaryOp::Eq)?, is(BinaryOp::Lt)?) {
            (true, _) => Ordering::Equal,
            (false, true) => Ordering::Less,
            (false, false) => Ordering::Greater,
        })
    }

    /// Do two rows have the same key? NULL is never the same.
    pub fn same_key(
        &self,
        columns: &[Column],
        key: &[usize],
        left: &[Datum],
        right: &[Datum],
    ) -> Result<bool, Fault> {
        self.same_keys(columns, key, left, key, right)
    }

    /// Are the values of these columns on the left those of the others on the right?
    pub fn same_keys(
        &self,
        columns: &[Column],
        left_key: &[usize],
        left: &[Datum],
        right_key: &[usize],
        right: &[Datum],
    ) -> Result<bool, Fault> {
        for (&l, &r) in left_key.iter().zip(right_key) {
            if left[l].is_null() || right[r].is_null() {
                return Ok(false);
            }
            if self.order(&columns[l], &left[l], &right[r])? != Ordering::Equal {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
