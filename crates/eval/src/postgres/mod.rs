//! Expressions as PostgreSQL computes them.

use model::{SqlType, sql::Expr};

use crate::{Datum, Evaluator, Fault};

/// The value of an expression over a row.
pub(crate) fn value(_of: &Evaluator, _expr: &Expr, _row: &[Datum]) -> Result<Datum, Fault> {
    Err(Fault::Unsure("not in the evaluator yet"))
}

/// Is it true as a condition?
pub(crate) fn truth(_of: &Evaluator, _expr: &Expr, _row: &[Datum]) -> Result<Option<bool>, Fault> {
    Err(Fault::Unsure("not in the evaluator yet"))
}

/// What a column holds after the value was stored there.
pub(crate) fn store(_of: &Evaluator, _value: &Datum, _ty: &SqlType) -> Result<Datum, Fault> {
    Err(Fault::Unsure("not in the evaluator yet"))
}
