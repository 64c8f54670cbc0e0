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
    /// Of which version.
    pub version: &'a Version,
    /// The columns that names refer to.
    pub columns: &'a [Column],
}

impl Evaluator<'_> {
    /// The value of an expression over a row, which has a datum for each column: what a SELECT would show.
    pub fn value(&self, expr: &Expr, row: &[Datum]) -> Result<Datum, Fault> {
        match self.product {
            Product::Mysql | Product::Mariadb | Product::Reference => mysql::value(self, expr, row),
            Product::Postgres => postgres::value(self, expr, row),
            Product::Sqlite => sqlite::value(self, expr, row),
        }
    }

    /// Is it true as a condition? None is unknown (NULL).
    pub fn truth(&self, expr: &Expr, row: &[Datum]) -> Result<Option<bool>, Fault> {
        match self.product {
            Product::Mysql | Product::Mariadb | Product::Reference => mysql::truth(self, expr, row),
            Product::Postgres => postgres::truth(self, expr, row),
            Product::Sqlite => sqlite::truth(self, expr, row),
        }
    }

    /// What can be said of a condition before any row is looked at: a fault that it has for every row. Whoever asks for many
    /// rows asks this once, and then [`Evaluator::truth_foreseen`].
    pub fn foreseen(&self, expr: &Expr) -> Result<(), Fault> {
        match self.product {
            Product::Mysql | Product::Mariadb | Product::Reference => mysql::foreseen(self, expr),
            Product::Postgres | Product::Sqlite => Ok(()),
        }
    }

    /// As [`Evaluator::truth`], of a condition of which [`Evaluator::foreseen`] said nothing.
    pub fn truth_foreseen(&self, expr: &Expr, row: &[Datum]) -> Result<Option<bool>, Fault> {
        match self.product {
            Product::Mysql | Product::Mariadb | Product::Reference => mysql::truth_foreseen(self, expr, row),
            Product::Postgres => postgres::truth(self, expr, row),
            Product::Sqlite => sqlite::truth(self, expr, row),
        }
    }

    /// What a column of this type holds after the value of an expression was stored there by INSERT or UPDATE, in the
    /// product's default mode (strict, where there is a choice). An error is that of the statement.
    pub fn store(&self, value: &Datum, ty: &SqlType) -> Result<Datum, Fault> {
        match self.product {
            Product::Mysql | Product::Mariadb | Product::Reference => mysql::store(self, value, ty),
            Product::Postgres => postgres::store(self, value, ty),
            Product::Sqlite => sqlite::store(self, value, ty),
        }
    }
}
