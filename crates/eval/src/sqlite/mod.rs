//! Expressions as SQLite computes them: values have types, expressions do not.
//!
//! [`affinity`] says what a comparison converts before it looks; [`number`] reads texts as numbers and writes numbers as
//! text; [`compute`] walks the tree; [`functions`] are those by name. Almost nothing is an error: a division by zero is NULL,
//! and what does not fit in 64 bits becomes a binary number.

mod affinity;
mod compute;
mod functions;
mod like;
mod number;

use model::{SqlType, sql::Expr};

use crate::{Datum, Evaluator, Fault};
use affinity::Affinity;

/// The value of an expression over a row.
pub(crate) fn value(of: &Evaluator, expr: &Expr, row: &[Datum]) -> Result<Datum, Fault> {
    compute::compute(of, expr, row).map(|found| found.into_owned())
}

/// Is it true as a condition?
pub(crate) fn truth(of: &Evaluator, expr: &Expr, row: &[Datum]) -> Result<Option<bool>, Fault> {
    compute::compute(of, expr, row).map(|found| compute::truth(&found))
}

/// What a column holds after the value was stored there: anything, converted where nothing is lost.
pub(crate) fn store(_of: &Evaluator, value: &Datum, ty: &SqlType) -> Result<Datum, Fault> {
    affinity::stored(Affinity::of(ty), value)
}
