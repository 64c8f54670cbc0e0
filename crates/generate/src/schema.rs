//! Tables and rows as the generator knows them, with the values that predicates and writes are drawn from.

use eval::Datum;
use model::{SqlType, schema::KeyKind, sql::Expr};

/// The tables of a case.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Which one of its seed.
    pub number: u64,
    /// In the order in which they are created: a parent stands before its children.
    pub tables: Vec<Table>,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its indexes, the primary key first.
    pub indexes: Vec<Index>,
    /// The table that its rows refer to.
    pub parent: Option<Parent>,
    /// CHECK constraints.
    pub checks: Vec<Expr>,
    /// Is it partitioned?
    pub partitioned: bool,
    /// The rows that it begins with, a datum for each column; of a generated column too.
    pub rows: Vec<Vec<Datum>>,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: SqlType,
    /// May it be NULL?
    pub nullable: bool,
    /// Its DEFAULT.
    pub default: Option<Datum>,
    /// What it is computed from, if it is generated.
    pub generated: Option<Expr>,
    /// Values that rows, predicates and writes draw from, so that they meet.
    pub pool: Vec<Datum>,
}

/// An index.
#[derive(Clone, Debug)]
pub struct Index {
    /// Its name; none for a primary key.
    pub name: Option<String>,
    /// Primary, unique or plain.
    pub kind: KeyKind,
    /// Its columns, in order.
    pub parts: Vec<Part>,
}

/// One column of an index.
#[derive(Clone, Debug)]
pub struct Part {
    /// Which column of the table.
    pub column: usize,
    /// Only so many of its characters.
    pub prefix: Option<u16>,
    /// Descending?
    pub descending: bool,
}

/// A foreign key.
#[derive(Clone, Debug)]
pub struct Parent {
    /// The table referred to, by its place in the schema.
    pub table: usize,
    /// The columns that refer.
    pub columns: Vec<usize>,
    /// The columns referred to.
    pub referred: Vec<usize>,
}
