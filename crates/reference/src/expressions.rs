//! Expressions over rows, by the evaluator that everybody uses, with MySQL's rules.
//!
//! A [`ColumnScope`] is what the names in an expression refer to: the columns of a table.

use std::{cmp::Ordering, sync::LazyLock};

use eval::{Column, Datum, Evaluator};
use model::{
    SqlType, Version,
    sql::{BinaryOp, Expr, Literal},
};

use crate::{
    error::{StatementResult, fault},
    server::PRODUCT,
};

/// The version that this engine gives itself.
pub static VERSION: LazyLock<Version> = LazyLock::new(|| Version(vec![1, 0]));

/// What names refer to.
#[derive(Clone, Debug, Default)]
pub struct ColumnScope {
    columns: Vec<Column>,
}

impl ColumnScope {
    /// The columns of a table, which may have another name here.
    pub fn new(columns: &[Column], alias: Option<&str>) -> ColumnScope {
        let mut columns = columns.to_vec();
        if let Some(alias) = alias {
            columns.iter_mut().for_each(|column| column.table = Some(alias.to_string()));
        }
        ColumnScope { columns }
    }

    pub fn has(&self, table: Option<&str>, name: &str) -> bool {
        let fits = |column: &Column| {
            let same_table = match (table, &column.table) {
                (Some(wanted), Some(table)) => wanted.eq_ignore_ascii_case(table),
                (Some(_), None) => false,
                (None, _) => true,
            };
            same_table && column.name.eq_ignore_ascii_case(name)
        };
        self.columns.iter().any(fits)
    }

    /// The value of an expression over a row.
    pub fn value(&self, expr: &Expr, row: &[Datum]) -> StatementResult<Datum> {
        if let Some(value) = self.whole(expr, row) {
            return Ok(value.map_or(Datum::Null, Datum::Int));
        }
        self.evaluator().value(expr, row).map_err(fault)
    }

    /// Does a condition hold for a row? Unknown is no.
    pub fn holds(&self, condition: &Expr, row: &[Datum]) -> StatementResult<bool> {
        if let Some(holds) = self.compared(condition, row) {
            return Ok(holds);
        }
        let truth = self.evaluator().truth(condition, row).map_err(fault)?;
        Ok(truth == Some(true))
    }

    /// Is a condition false for a row? A CHECK lets the unknown pass.
    pub fn fails(&self, condition: &Expr, row: &[Datum]) -> StatementResult<bool> {
        let truth = self.evaluator().truth(condition, row).map_err(fault)?;
        Ok(truth == Some(false))
    }

    /// Most expressions are a column or a constant that is a small whole number, or NULL: those need no evaluator.
    fn whole(&self, expr: &Expr, row: &[Datum]) -> Option<Option<i64>> {
        match expr {
            Expr::Literal(Literal::Number(text)) if text.len() < 10 => text.parse().ok().map(Some),
            Expr::Literal(Literal::Null) => Some(None),
            Expr::Column(column) if column.table.is_none() => {
                let named = |other: &Column| other.name.eq_ignore_ascii_case(&column.name.name);
                match row.get(self.columns.iter().position(named)?)? {
                    Datum::Int(n) => Some(Some(*n)),
                    Datum::Null => Some(None),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// And most conditions compare two of these.
    fn compared(&self, condition: &Expr, row: &[Datum]) -> Option<bool> {
        let Expr::Binary { left, op, right } = condition else { return None };
        let fits: fn(Ordering) -> bool = match op {
            BinaryOp::Eq => Ordering::is_eq,
            BinaryOp::Lt => Ordering::is_lt,
            BinaryOp::Le => Ordering::is_le,
            BinaryOp::Gt => Ordering::is_gt,
            BinaryOp::Ge => Ordering::is_ge,
            _ => return None,
        };
        match (self.whole(left, row)?, self.whole(right, row)?) {
            (Some(left), Some(right)) => Some(fits(left.cmp(&right))),
            (None, _) | (_, None) => Some(false),
        }
    }

    fn evaluator(&self) -> Evaluator<'_> {
        Evaluator { product: PRODUCT, version: &VERSION, columns: &self.columns }
    }
}

/// What a column holds after a value was stored there.
pub fn stored(value: &Datum, ty: &SqlType) -> StatementResult<Datum> {
    // Most values are whole numbers that fit.
    if let (Datum::Int(n), SqlType::Int { bits: 32, unsigned: false }) = (value, ty)
        && i32::try_from(*n).is_ok()
    {
        return Ok(Datum::Int(*n));
    }
    let of = Evaluator { product: PRODUCT, version: &VERSION, columns: &[] };
    of.store(value, ty).map_err(fault)
}

/// Which of two values of one column comes first. NULL is before everything.
pub fn compare(left: &Datum, right: &Datum, column: &Column) -> StatementResult<Ordering> {
    match (left, right) {
        (Datum::Null, Datum::Null) => return Ok(Ordering::Equal),
        (Datum::Null, _) => return Ok(Ordering::Less),
        (_, Datum::Null) => return Ok(Ordering::Greater),
        (Datum::Int(left), Datum::Int(right)) => return Ok(left.cmp(right)),
        (Datum::UInt(left), Datum::UInt(right)) => return Ok(left.cmp(right)),
        (Datum::Decimal(left), Datum::Decimal(right)) => return Ok(left.compare(*right)),
        (Datum::Bytes(left), Datum::Bytes(right)) => return Ok(left.cmp(right)),
        (Datum::Date(..) | Datum::DateTime(..), Datum::Date(..) | Datum::DateTime(..)) => {
            return Ok(moment(left).cmp(&moment(right)));
        }
        (Datum::Text(left), Datum::Text(right)) if left == right => return Ok(Ordering::Equal),
        _ => {}
    }
    let side = |name: &str| Column { table: None, name: name.into(), ..column.clone() };
    let columns = [side("l"), side("r")];
    let of = Evaluator { product: PRODUCT, version: &VERSION, columns: &columns };
    let row = [left.clone(), right.clone()];
    let [less, equal] = &*QUESTIONS;
    let is = |expr| of.truth(expr, &row).map(|truth| truth == Some(true)).map_err(fault);
    Ok(if is(less)? {
        Ordering::Less
    } else if is(equal)? {
        Ordering::Equal
    } else {
        Ordering::Greater
    })
}

/// What is asked of two values `l` and `r`.
static QUESTIONS: LazyLock<[Expr; 2]> = LazyLock::new(|| {
    [BinaryOp::Lt, BinaryOp::Eq].map(|op| Expr::binary(Expr::column("l"), op, Expr::column("r")))
});

/// A day or a moment, as something that can be compared.
fn moment(value: &Datum) -> Option<(i32, u8, u8, u32)> {
    match value {
        Datum::Date(y, m, d) => Some((*y, *m, *d, 0)),
        Datum::DateTime(y, m, d, s) => Some((*y, *m, *d, *s)),
        _ => None,
    }
}

/// A type that holds this value.
pub fn type_of(value: &Datum) -> SqlType {
    match value {
        Datum::Null | Datum::Bool(_) | Datum::Int(_) => SqlType::Int { bits: 64, unsigned: false },
        Datum::UInt(_) => SqlType::Int { bits: 64, unsigned: true },
        Datum::Decimal(decimal) => SqlType::Decimal { precision: 38, scale: decimal.scale },
        Datum::Double(_) => SqlType::Double,
        Datum::Text(_) => SqlType::Text,
        Datum::Bytes(_) => SqlType::Blob,
        Datum::Date(..) => SqlType::Date,
        Datum::DateTime(..) => SqlType::DateTime,
    }
}
