//! What the name of a column's type means, for those who compute with it.

use model::{
    Product, SqlType,
    sql::{Literal, TypeName},
};

use crate::SqlFamily;

/// The type that a name means; none if nobody here computes with it.
pub fn column_type(product: Product, name: &TypeName) -> Option<SqlType> {
    let mut words = name.words.iter().chain(&name.suffix).map(|word| word.to_ascii_uppercase());
    let first = words.next()?;
    let unsigned = words.any(|word| word == "UNSIGNED");
    let number = |i: usize| match name.args.get(i) {
        Some(Literal::Number(text)) => text.parse::<u16>().ok(),
        Some(_) | None => None,
    };
    let int = |bits| SqlType::Int { bits, unsigned };
    Some(match first.as_str() {
        "TINYINT" => int(8),
        "SMALLINT" => int(16),
        "MEDIUMINT" => int(24),
        "INT" | "INTEGER" => int(32),
        "BIGINT" => int(64),
        "DECIMAL" | "NUMERIC" | "DEC" => SqlType::Decimal {
            precision: number(0).unwrap_or(10).try_into().ok()?,
            scale: number(1).unwrap_or(0).try_into().ok()?,
        },
        "FLOAT" => SqlType::Float,
        "DOUBLE" | "REAL" => SqlType::Double,
        "CHAR" => SqlType::Char(number(0).unwrap_or(1)),
        "VARCHAR" => SqlType::Varchar(number(0)?),
        "TEXT" | "TINYTEXT" | "MEDIUMTEXT" | "LONGTEXT" => SqlType::Text,
        "BLOB" | "TINYBLOB" | "MEDIUMBLOB" | "LONGBLOB" => SqlType::Blob,
        "BOOL" | "BOOLEAN" => SqlType::Bool,
        "DATE" => SqlType::Date,
        "DATETIME" => SqlType::DateTime,
        "TIMESTAMP" if crate::of(product).family == SqlFamily::Postgres => SqlType::DateTime,
        _ => return None,
    })
}
