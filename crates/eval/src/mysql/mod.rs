//! Expressions as MySQL and MariaDB compute them.
//!
//! A server item can be asked for its value as a whole number, a binary number, an exact number or a string, and which one
//! an operator asks for depends on the static types of its operands. This is done here in the same way: [`types`] gives
//! the type of every expression before any row is looked at, [`values`] gives the value in whatever form it has by
//! itself, and [`convert`] turns it into what the operator asks for. That a CASE hands through the branch as it is, and
//! only what is shown has the common type, follows from that.
//!
//! ```text
//! 1 / 3            type DECIMAL with 4 digits behind the point, value 0.333333333 (nine: whole words of digits)
//! 1 / 3            shown: 0.3333
//! (1 / 3) * 3      shown: 1.0000, because the value is what is multiplied (MySQL 9 rounds it first: 0.9999)
//! ```
//!
//! * [`compare`]: comparisons, IN, BETWEEN, LIKE, and the collation that decides;
//! * [`condition`] and [`propagated`]: what the optimizer does to a WHERE;
//! * [`arithmetic`]: + - * / DIV % and bits, with their overflows;
//! * [`functions`]: the functions by name;
//! * [`store`]: what a column makes of a value in strict mode;
//! * [`rules`]: in what the versions differ.

mod arithmetic;
mod collation;
mod compare;
mod condition;
mod convert;
mod functions;
mod propagated;
mod rules;
mod store;
mod types;
mod values;

use model::{ErrorClass, SqlType, sql::Expr};

use crate::{Column, Datum, Evaluator, Fault};

use rules::Rules;

/// An integer or binary number that does not fit: error 1690.
const OVERFLOW: Fault = Fault::Error(ErrorClass::Range);
/// More digits than we compute with.
const DIGITS: Fault = Fault::unsure("an exact number of more than 38 digits");

/// Expressions over one row.
pub(super) struct Row<'a> {
    columns: &'a [Column],
    row: &'a [Datum],
    rules: Rules,
}

fn of<'a>(of: &'a Evaluator, row: &'a [Datum]) -> Row<'a> {
    Row { columns: of.columns, row, rules: Rules::of(of) }
}

/// The value of an expression over a row, as a SELECT shows it.
pub(crate) fn value(eval: &Evaluator, expr: &Expr, row: &[Datum]) -> Result<Datum, Fault> {
    let row = of(eval, row);
    row.mixes(expr)?;
    row.early(expr)?;
    row.shown(expr)
}

/// Is it true as a condition?
pub(crate) fn truth(eval: &Evaluator, expr: &Expr, row: &[Datum]) -> Result<Option<bool>, Fault> {
    foreseen(eval, expr)?;
    truth_foreseen(eval, expr, row)
}

/// What a condition is for every row.
pub(crate) fn foreseen(eval: &Evaluator, expr: &Expr) -> Result<(), Fault> {
    of(eval, &[]).foreseen(expr)
}

/// Is it true as a condition of which nothing was foreseen?
pub(crate) fn truth_foreseen(eval: &Evaluator, expr: &Expr, row: &[Datum]) -> Result<Option<bool>, Fault> {
    of(eval, row).condition(expr)
}

/// What a column holds after the value was stored there.
pub(crate) fn store(of: &Evaluator, value: &Datum, ty: &SqlType) -> Result<Datum, Fault> {
    store::store(&Rules::of(of), value, ty)
}
