//! Expressions over rows, by the evaluator, and the few comparisons that keys need.

use std::{cell::RefCell, cmp::Ordering};

use eval::{Column, Datum, Evaluator, Fault};
use model::{
    Product, SqlType, Version,
    sql::{BinaryOp, Expr},
};

use super::{
    evaluation_cache::{ByRow, EvaluationCache, Places, address, at},
    schema::Values,
};

/// Computes as one server does.
#[derive(Clone, Copy, Debug)]
pub struct RowEvaluator<'a> {
    pub product: Product,
    pub version: &'a Version,
    /// What was computed before.
    pub known: Option<&'a RefCell<EvaluationCache>>,
}

impl RowEvaluator<'_> {
    fn over<'b>(&'b self, columns: &'b [Column]) -> Evaluator<'b> {
        Evaluator { product: self.product, version: self.version, columns }
    }

    pub fn value(&self, columns: &[Column], expr: &Expr, row: &[Datum]) -> Result<Datum, Fault> {
        self.over(columns).value(expr, row)
    }

    /// Is a condition true? None is unknown.
    pub fn truth(&self, columns: &[Column], expr: &Expr, row: &[Datum]) -> Result<Option<bool>, Fault> {
        self.over(columns).truth(expr, row)
    }

    /// As [`RowEvaluator::value`], of an expression that stays where it is as long as what is known of it.
    pub fn known_value(&self, columns: &[Column], expr: &Expr, row: &[Datum]) -> Result<Datum, Fault> {
        let Some(known) = self.known else { return self.value(columns, expr, row) };
        if let Some(said) = known.borrow().values.get(at(expr), row) {
            return said;
        }
        let said = self.value(columns, expr, row);
        known.borrow_mut().values.put(address(expr), row, said.clone());
        said
    }

    /// As [`RowEvaluator::truth`], likewise. The columns are always those of its statement.
    pub fn known_truth(&self, columns: &[Column], expr: &Expr, row: &Values) -> Result<Option<bool>, Fault> {
        self.by_row(|known| &mut known.truths, columns, expr, row)
    }

    /// As [`RowEvaluator::truth`], likewise. The columns are always those of its table.
    pub fn known_range(&self, columns: &[Column], expr: &Expr, row: &Values) -> Result<Option<bool>, Fault> {
        self.by_row(|known| &mut known.ranges, columns, expr, row)
    }

    fn by_row(
        &self,
        of: impl Fn(&mut EvaluationCache) -> &mut ByRow<Option<bool>>,
        columns: &[Column],
        expr: &Expr,
        row: &Values,
    ) -> Result<Option<bool>, Fault> {
        let Some(known) = self.known else { return self.truth(columns, expr, row) };
        if let Some(said) = of(&mut known.borrow_mut()).get(address(expr), row) {
            return said;
        }
        let foreseen = self.known_of(|known| &mut of(known).foreseen, expr, || self.foreseen(columns, expr));
        let said = foreseen.and_then(|()| self.truth_foreseen(columns, expr, row));
        of(&mut known.borrow_mut()).put(address(expr), row, said.clone());
        said
    }

    /// As [`RowEvaluator::known_truth`], of a row that was joined for this.
    pub fn known_join(&self, columns: &[Column], expr: &Expr, row: &[Datum]) -> Result<Option<bool>, Fault> {
        let Some(known) = self.known else { return self.truth(columns, expr, row) };
        if let Some(said) = known.borrow().joins.get(at(expr), row) {
            return said;
        }
        let foreseen =
            self.known_of(|known| &mut known.truths.foreseen, expr, || self.foreseen(columns, expr));
        let said = foreseen.and_then(|()| self.truth_foreseen(columns, expr, row));
        known.borrow_mut().joins.put(address(expr), row, said.clone());
        said
    }

    /// What something at this place comes to for a row of each of two tables.
    pub fn known_pair(
        &self,
        place: usize,
        rows: [&Values; 2],
        find: impl FnOnce() -> Result<bool, Fault>,
    ) -> Result<bool, Fault> {
        let Some(known) = self.known else { return find() };
        if let Some(said) = known.borrow().pairs.get(place, rows) {
            return said;
        }
        let said = find();
        known.borrow_mut().pairs.put(place, rows, said.clone());
        said
    }

    /// What a condition is for every row.
    pub fn foreseen(&self, columns: &[Column], expr: &Expr) -> Result<(), Fault> {
        self.over(columns).foreseen(expr)
    }

    /// As [`RowEvaluator::truth`], of a condition of which nothing was foreseen.
    pub fn truth_foreseen(
        &self,
        columns: &[Column],
        expr: &Expr,
        row: &[Datum],
    ) -> Result<Option<bool>, Fault> {
        self.over(columns).truth_foreseen(expr, row)
    }

    /// A row, the same one for the same values.
    pub fn kept(&self, row: Vec<Datum>) -> Values {
        match self.known {
            Some(known) => known.borrow_mut().keep(row),
            None => row.into(),
        }
    }

    /// The row that something that stays where it is makes of a row of one table.
    pub fn known_row<O>(
        &self,
        of: impl Fn(&mut EvaluationCache) -> &mut ByRow<Values>,
        by: &O,
        row: &Values,
        make: impl FnOnce() -> Result<Values, Fault>,
    ) -> Result<Values, Fault> {
        let Some(known) = self.known else { return make() };
        if let Some(said) = of(&mut known.borrow_mut()).get(address(by), row) {
            return said;
        }
        let said = make();
        of(&mut known.borrow_mut()).put(address(by), row, said.clone());
        said
    }

    /// What is found out once of something that stays where it is.
    pub fn known_of<O, T: Clone>(
        &self,
        place: impl Fn(&mut EvaluationCache) -> &mut Places<T>,
        of: &O,
        find: impl FnOnce() -> T,
    ) -> T {
        let Some(known) = self.known else { return find() };
        if let Some(said) = place(&mut known.borrow_mut()).get(&address(of)) {
            return said.clone();
        }
        let said = find();
        place(&mut known.borrow_mut()).insert(address(of), said.clone());
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
        if left == right {
            return Ok(Ordering::Equal);
        }
        let Some(known) = self.known else { return self.compared(column, &[left.clone(), right.clone()]) };
        let of =
            |(ty, collation): &(SqlType, Option<String>)| *ty == column.ty && *collation == column.collation;
        if let Some(said) = known.borrow().orders.get(of, [left, right]) {
            return said;
        }
        let row = [left.clone(), right.clone()];
        let said = self.compared(column, &row);
        known.borrow_mut().orders.put((column.ty.clone(), column.collation.clone()), &row, said.clone());
        said
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
