//! Expressions over rows, as each database computes them: a value, an error, or "not sure". Never a guess.
//!
//! [`Evaluator`] takes an expression's tree and a row and says what the server would. The generator aims with it, the oracles
//! judge with it, and `isopod selftest expressions` compares it with real servers.
//!
//! * [`Datum`] is a value with the type that it has inside an expression;
//! * [`Fault`] says why there is no value: the server raises an error, or we are [`Fault::Unsure`].

mod datum;
mod decimal;

pub use datum::{Column, Datum};
pub use decimal::Decimal;

use model::{ErrorClass, Product, Version, sql::Expr};

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The server raises an error of this class.
    Error(ErrorClass),
    /// We do not know what the server does here, and why we do not.
    Unsure(&'static str),
}

/// Computes expressions as one server does.
pub struct Evaluator<'a> {
    /// Whose rules.
    pub product: Product,
    /// Of which version.
    pub version: &'a Version,
    /// The columns that names refer to.
    pub columns: &'a [Column],
}

impl Evaluator<'_> {
    /// The value of an expression over a row, which has a datum for each column.
    pub fn value(&self, _expr: &Expr, _row: &[Datum]) -> Result<Datum, Fault> {
        Err(Fault::Unsure("not in the evaluator yet"))
    }

    /// Is it true as a condition? None is unknown (NULL).
    pub fn truth(&self, _expr: &Expr, _row: &[Datum]) -> Result<Option<bool>, Fault> {
        Err(Fault::Unsure("not in the evaluator yet"))
    }
}
