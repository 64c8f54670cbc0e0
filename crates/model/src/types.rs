//! The types of columns, one list for all products. How a type is spelled, and whether a product has it at all, is the
//! dialect's business.

use serde::{Deserialize, Serialize};

/// The type of a column.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SqlType {
    /// A whole number of so many bits: 8, 16, 24, 32, 64.
    Int {
        /// Its width.
        bits: u8,
        unsigned: bool,
    },
    /// `DECIMAL(precision, scale)`
    Decimal {
        /// Digits in all.
        precision: u8,
        /// Digits behind the point.
        scale: u8,
    },
    /// A binary number of 32 bits.
    Float,
    /// A binary number of 64 bits.
    Double,
    /// `CHAR(n)`
    Char(u16),
    /// `VARCHAR(n)`
    Varchar(u16),
    Text,
    /// `BLOB`, `BYTEA`
    Blob,
    /// `BOOLEAN`; a small number where the product has no such type.
    Bool,
    Date,
    /// `DATETIME`, `TIMESTAMP` without a time zone, in whole seconds.
    DateTime,
}
