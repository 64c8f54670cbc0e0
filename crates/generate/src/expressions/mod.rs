//! Random expressions, directed by types: a condition, or a value that a column can take.
//!
//! Every expression is asked for by [`Family`], so that PostgreSQL, which refuses what does not fit, gets only what fits.
//! Where a product converts on its own (MySQL, SQLite), operands of another family are mixed in on purpose: see
//! [`mixing`]. Constants come from the pools of the columns two times in three, so that predicates hit rows. Nothing
//! depends on the clock or on chance. Parentheses are part of the tree, so that it reads back as it was.
//!
//! * [`conditions`]: comparisons, logic, IN, BETWEEN, LIKE, tests;
//! * [`values`]: arithmetic, bits, CASE, CAST, functions;
//! * `postgres` and `sqlite`: what only these have;
//! * [`constants`]: what rows and constants are drawn from;
//! * [`family`]: what family an expression has, for those who count.

mod build;
pub mod conditions;
pub mod constants;
pub mod family;
pub mod mixing;
mod postgres;
mod sqlite;
pub mod values;

use dialect::SqlFamily;
use eval::Datum;
use model::{
    Product, Rng, SqlType, Version,
    sql::{ColumnRef, Expr},
};

pub use family::Family;

/// A column that expressions may name.
#[derive(Clone, Debug)]
pub struct ExprColumn<'a> {
    /// Its table, where names are qualified.
    pub table: Option<&'a str>,
    pub name: &'a str,
    pub ty: SqlType,
    /// May it be NULL?
    pub nullable: bool,
    /// Values that it is compared with.
    pub pool: &'a [Datum],
}

impl ExprColumn<'_> {
    /// The column as an expression.
    pub fn expr(&self) -> Expr {
        Expr::Column(ColumnRef { table: self.table.map(Into::into), name: self.name.into() })
    }
}

/// How often what is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    /// One operand in this many is of another family, where the product converts.
    pub mix: usize,
    /// One constant in this many is NULL.
    pub null: usize,
    /// One constant in this many is at the border of a type.
    pub border: usize,
}

impl Default for Weights {
    fn default() -> Weights {
        Weights { mix: 8, null: 24, border: 16 }
    }
}

/// Makes expressions over some columns.
#[derive(Clone, Debug)]
pub struct Expressions<'a> {
    pub product: Product,
    pub version: &'a Version,
    /// The columns that may be named.
    pub columns: &'a [ExprColumn<'a>],
    /// How often what is made.
    pub weights: Weights,
}

impl Expressions<'_> {
    /// A condition, at most so deep.
    pub fn condition(&self, rng: &mut Rng, depth: usize) -> Expr {
        self.make_condition(rng, depth)
    }

    /// A value of this type's family, at most so deep.
    pub fn any_value(&self, rng: &mut Rng, ty: &SqlType, depth: usize) -> Expr {
        self.make(rng, Family::of(self.product, ty), depth)
    }

    /// A value that can be stored in a column of this type, mostly without an error: constants, columns that fit, steps up and
    /// down by a little, and choices among these.
    pub fn value(&self, rng: &mut Rng, ty: &SqlType, depth: usize) -> Expr {
        self.storable(rng, ty, depth)
    }

    /// A constant for a column of this type: from its pool, or any that fits.
    pub fn constant(&self, rng: &mut Rng, ty: &SqlType) -> Datum {
        let pools: Vec<&Datum> =
            self.columns.iter().filter(|column| column.ty == *ty).flat_map(|column| column.pool).collect();
        if !pools.is_empty() && rng.ratio(2, 3) {
            return (*rng.pick(&pools)).clone();
        }
        constants::datum(rng, self.product, ty)
    }

    /// Does the product convert operands on its own?
    fn converts(&self) -> bool {
        self.sql() != SqlFamily::Postgres
    }

    /// Does it speak MySQL's SQL?
    fn mysql(&self) -> bool {
        self.sql() == SqlFamily::Mysql
    }

    /// Whose SQL it is.
    fn sql(&self) -> SqlFamily {
        dialect::of(self.product).family
    }
}

#[cfg(test)]
mod tests;
