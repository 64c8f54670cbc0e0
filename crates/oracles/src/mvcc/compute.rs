//! Expressions over rows, by the evaluator, and the few comparisons that keys need.

use std::{cell::RefCell, cmp::Ordering};

use eval::{Column, Datum, Evaluator, Fault};
use model::{
    Product, SqlType, Version,
    sql::{BinaryOp, Expr},
};

use super::computed::{Computed, Memo, address};

/// Computes as one server does.
#[derive(Clone, Copy, Debug)]
pub struct Compute<'a> {
    /// Whose rules.
    pub product: Product,
    /// Of which version.
    pub version: &'a Version,
    /// What was computed before.
    pub known: Option<&'a RefCell<Computed>>,
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

    /// As [`Compute::value`], of an expression that stays where it is as long as what is known of it.
    pub fn known_value(&self, columns: &[Column], expr: &Expr, row: &[Datum]) -> Result<Datum, Fault> {
        self.remembered(|known| &mut known.values, address(expr), row, || self.value(columns, expr, row))
    }

    /// As [`Compute::truth`], likewise. The columns are always those of its statement.
    pub fn known_truth(&self, columns: &[Column], expr: &Expr, row: &[Datum]) -> Result<Option<bool>, Fault> {
        self.remembered(|known| &mut known.truths, address(expr), row, || self.truth(columns, expr, row))
    }

    /// As [`Compute::truth`], likewise. The columns are always those of its table.
    pub fn known_range(&self, columns: &[Column], expr: &Expr, row: &[Datum]) -> Result<Option<bool>, Fault> {
        self.remembered(|known| &mut known.ranges, address(expr), row, || self.truth(columns, expr, row))
    }

    fn remembered<K: PartialEq, T: Clone>(
        &self,
        memo: impl Fn(&mut Computed) -> &mut Memo<K, T>,
        of: K,
        row: &[Datum],
        compute: impl FnOnce() -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let Some(known) = self.known else { return compute() };
        if let Some(said) = memo(&mut known.borrow_mut()).get(&of, row) {
            return said;
        }
        let said = compute();
        memo(&mut known.borrow_mut()).put(of, row, said.clone());
        said
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
        let of = (column.ty.clone(), column.collation.clone());
        let row = [left.clone(), right.clone()];
        self.remembered(|known| &mut known.orders, of, &row, || self.compared(column, &row))
    }

    fn compared(&self, column: &Column, row: &[Datum; 2]) -> Result<Ordering, Fault> {
        let side = |name: &str| Column { table: None, name: name.into(), ..column.clone() };
        let columns = [side("l"), side("r")];
        let is = |op| {
            let expr = Expr::binary(Expr::column("l"), op, Expr::column("r"));
            Ok::<bool, Fault>(self.truth(&columns, &expr, row)? == Some(true))
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
