//! A value inside an expression, and the column that it may come from.

use model::types::SqlType;

use crate::decimal::Decimal;

/// A value with the type that it has inside an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// NULL
    Null,
    /// A truth value, where those are no numbers (PostgreSQL).
    Bool(bool),
    /// A signed whole number.
    Int(i64),
    /// An unsigned whole number (MySQL).
    UInt(u64),
    /// An exact number.
    Decimal(Decimal),
    /// A binary number.
    Double(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A day: year, month, day.
    Date(i32, u8, u8),
    /// A day and a time of day in seconds.
    DateTime(i32, u8, u8, u32),
}

/// A column that an expression may name.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its table, if names may be qualified.
    pub table: Option<String>,
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: SqlType,
    /// Its collation, where it is not the default of a fresh schema.
    pub collation: Option<String>,
}
