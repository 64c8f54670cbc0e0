//! Expressions over rows, as each database computes them: a value, an error, or "not sure". Never a guess.
//!
//! [`Evaluator`] takes an expression's tree and a row and says what the server would. The generator aims with it, the oracles
//! judge with it, and `isopod selftest expressions` compares it with real servers.
//!
//! * [`Datum`] is a value with the type that it has inside an expression; [`Datum::literal`] writes it as SQL;
//! * [`Fault`] says why there is no value: the server raises an error, or we are [`Fault::Unsure`];
//! * [`same`] says whether a cell of a result is a datum;
//! * [`dates`], [`like`], [`logic`] and [`Decimal`] are what the products have in common.
//!
//! Each product has a folder with its rules: [`mysql`] (MySQL and MariaDB, where versions differ by data), [`postgres`] and
//! [`sqlite`]. They share no rules on purpose: what looks alike differs in the details.

pub mod dates;
mod datum;
mod decimal;
pub mod like;
pub mod logic;
pub mod mysql;
pub mod postgres;
mod same;
pub mod sqlite;

pub use datum::{Column, Datum};
pub use decimal::Decimal;
pub use same::same;

use dialect::Arithmetic;
use model::{ErrorClass, Product, Reason, SqlType, Version, sql::Expr};

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The server raises an error of this class.
    Error(ErrorClass),
    /// We do not know what the server does here, and why we do not.
    Unsure(Reason),
}

impl Fault {
    /// We do not know what the server computes here.
    pub const fn unsure(why: &'static str) -> Fault {
        Fault::Unsure(Reason::Expression(why))
    }
}

/// Computes expressions as one server does.
#[derive(Clone, Copy, Debug)]
pub struct Evaluator<'a> {
    /// Whose rules.
    pub product: Product,
    pub version: &'a Version,
    /// The columns that names refer to.
    pub columns: &'a [Column],
}

/// Of a condition; none is unknown (NULL).
type Truth = Result<Option<bool>, Fault>;

/// How one family of products computes.
struct ExpressionRules {
    value: fn(&Evaluator<'_>, &Expr, &[Datum]) -> Result<Datum, Fault>,
    truth: fn(&Evaluator<'_>, &Expr, &[Datum]) -> Truth,
    foreseen: fn(&Evaluator<'_>, &Expr) -> Result<(), Fault>,
    truth_foreseen: fn(&Evaluator<'_>, &Expr, &[Datum]) -> Truth,
    store: fn(&Evaluator<'_>, &Datum, &SqlType) -> Result<Datum, Fault>,
}

static MYSQL: ExpressionRules = ExpressionRules {
    value: mysql::value,
    truth: mysql::truth,
    foreseen: mysql::foreseen,
    truth_foreseen: mysql::truth_foreseen,
    store: mysql::store,
};

static POSTGRES: ExpressionRules = ExpressionRules {
    value: postgres::value,
    truth: postgres::truth,
    foreseen: |_, _| Ok(()),
    truth_foreseen: postgres::truth,
    store: postgres::store,
};

static SQLITE: ExpressionRules = ExpressionRules {
    value: sqlite::value,
    truth: sqlite::truth,
    foreseen: |_, _| Ok(()),
    truth_foreseen: sqlite::truth,
    store: sqlite::store,
};

impl Evaluator<'_> {
    fn rules(&self) -> &'static ExpressionRules {
        match dialect::of(self.product).arithmetic {
            Arithmetic::Mysql | Arithmetic::Mariadb => &MYSQL,
            Arithmetic::Postgres => &POSTGRES,
            Arithmetic::Sqlite => &SQLITE,
        }
    }

    /// The value of an expression over a row, which has a datum for each column: what a SELECT would show.
    pub fn value(&self, expr: &Expr, row: &[Datum]) -> Result<Datum, Fault> {
        (self.rules().value)(self, expr, row)
    }

    /// Is it true as a condition? None is unknown (NULL).
    pub fn truth(&self, expr: &Expr, row: &[Datum]) -> Result<Option<bool>, Fault> {
        (self.rules().truth)(self, expr, row)
    }

    /// What can be said of a condition before any row is looked at: a fault that it has for every row. Whoever asks for many
    /// rows asks this once, and then [`Evaluator::truth_foreseen`].
    pub fn foreseen(&self, expr: &Expr) -> Result<(), Fault> {
        (self.rules().foreseen)(self, expr)
    }

    /// As [`Evaluator::truth`], of a condition of which [`Evaluator::foreseen`] said nothing.
    pub fn truth_foreseen(&self, expr: &Expr, row: &[Datum]) -> Result<Option<bool>, Fault> {
        (self.rules().truth_foreseen)(self, expr, row)
    }

    /// What a column of this type holds after the value of an expression was stored there by INSERT or UPDATE, in the
    /// product's default mode (strict, where there is a choice). An error is that of the statement.
    pub fn store(&self, value: &Datum, ty: &SqlType) -> Result<Datum, Fault> {
        (self.rules().store)(self, value, ty)
    }
}
