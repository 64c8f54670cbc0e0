//! How a column keeps a constant, by its type: what was written comes back like this.

use model::{
    Product,
    sql::{Literal, TypeName},
};

use crate::SqlFamily;

/// A type, as far as it says how a constant comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredType {
    /// A whole number between these.
    Int(i128, i128),
    /// Digits in all, and behind the point.
    Decimal(u32, u32),
    /// Characters, at most this many.
    Text(usize),
    /// Characters, padded with blanks.
    Padded(usize),
    /// Bytes.
    Bytes,
    /// TRUE and FALSE as values of their own.
    Bool,
    /// A date.
    Date,
    /// A date and a time, in whole seconds.
    DateTime,
    /// Anything else. Two different values of it may be written alike.
    Other,
}

impl StoredType {
    pub(super) fn of(product: Product, ty: &TypeName) -> StoredType {
        let words: Vec<String> = ty.words.iter().map(|word| word.to_ascii_uppercase()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let number = |i: usize| match ty.args.get(i) {
            Some(Literal::Number(text)) => text.parse::<u32>().ok(),
            Some(_) | None => None,
        };
        let unsigned = ty.suffix.iter().any(|word| word.eq_ignore_ascii_case("UNSIGNED"));
        let int = |bits: u32| match unsigned {
            true => StoredType::Int(0, (1 << bits) - 1),
            false => StoredType::Int(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        };
        let plain = ty
            .suffix
            .iter()
            .all(|word| word.eq_ignore_ascii_case("UNSIGNED") || word.eq_ignore_ascii_case("SIGNED"));
        if !plain {
            return StoredType::Other;
        }
        let family = crate::of(product).family;
        let (postgres, sqlite) = (family == SqlFamily::Postgres, family == SqlFamily::Sqlite);
        match words[..] {
            // SQLite takes any whole number of 64 bits, whatever the column is called.
            ["TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "INTEGER" | "BIGINT"] if sqlite => int(64),
            ["TINYINT" | "INT1"] => int(8),
            ["SMALLINT" | "INT2"] if postgres || words[0] == "SMALLINT" => int(16),
            ["MEDIUMINT"] => int(24),
            ["INT" | "INTEGER" | "INT4"] => int(32),
            ["BIGINT" | "INT8"] => int(64),
            ["BOOL" | "BOOLEAN"] if postgres => StoredType::Bool,
            ["BOOL" | "BOOLEAN"] if !sqlite => int(8),
            ["DECIMAL" | "NUMERIC" | "DEC"] if !sqlite && !ty.args.is_empty() => {
                StoredType::Decimal(number(0).unwrap_or(0), number(1).unwrap_or(0))
            }
            ["CHAR" | "CHARACTER"] if !sqlite => StoredType::Padded(number(0).unwrap_or(1) as usize),
            ["VARCHAR" | "CHAR"] if sqlite => StoredType::Text(usize::MAX),
            ["VARCHAR"] => StoredType::Text(number(0).map_or(usize::MAX, |n| n as usize)),
            ["TEXT"] => StoredType::Text(if postgres || sqlite { usize::MAX } else { 16_000 }),
            ["BLOB" | "BYTEA" | "BINARY" | "VARBINARY"] => StoredType::Bytes,
            ["DATE"] if !sqlite => StoredType::Date,
            ["DATETIME"] if !sqlite && ty.args.is_empty() => StoredType::DateTime,
            ["TIMESTAMP"] if postgres => StoredType::DateTime,
            _ => StoredType::Other,
        }
    }

    /// Are two values that are written alike the same value? Not so for floating point, of which few digits are shown.
    pub fn shows_all(self) -> bool {
        self != StoredType::Other
    }
}
