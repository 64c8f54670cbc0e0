//! How values are written in a result, and what a result's columns are called.

use eval::{Datum, dates};
use model::{Kind, SqlType, rows::Column};

/// The bytes of a cell; none for NULL.
pub fn cell(value: &Datum, ty: Option<&SqlType>) -> Option<Vec<u8>> {
    let text = match value {
        Datum::Null => return None,
        Datum::Bool(truth) => u8::from(*truth).to_string(),
        Datum::Int(n) => n.to_string(),
        Datum::UInt(n) => n.to_string(),
        Datum::Decimal(decimal) => decimal.to_string(),
        Datum::Double(d) if ty == Some(&SqlType::Float) => {
            let short = *d as f32;
            float(d.abs(), &format!("{short}"), &format!("{short:e}"))
        }
        Datum::Double(d) => float(d.abs(), &format!("{d}"), &format!("{d:e}")),
        Datum::Text(text) => text.clone(),
        Datum::Bytes(bytes) => return Some(bytes.clone()),
        Datum::Date(y, m, d) => dates::day_text(*y, *m, *d),
        Datum::DateTime(y, m, d, s) => dates::moment_text(*y, *m, *d, *s),
    };
    Some(text.into_bytes())
}

/// Very large and very small numbers are written with an exponent.
fn float(size: f64, plain: &str, exponent: &str) -> String {
    let plainly = size == 0.0 || (1e-5..1e15).contains(&size);
    let text = if plainly { plain } else { exponent };
    // There is no negative zero for people.
    if size == 0.0 { "0".to_string() } else { text.to_string() }
}

/// What a type's values are.
pub fn kind(ty: &SqlType) -> Kind {
    match ty {
        SqlType::Int { .. } | SqlType::Bool => Kind::Integer,
        SqlType::Decimal { .. } => Kind::Decimal,
        SqlType::Float | SqlType::Double => Kind::Float,
        SqlType::Char(_) | SqlType::Varchar(_) | SqlType::Text => Kind::Text,
        SqlType::Blob => Kind::Bytes,
        SqlType::Date | SqlType::DateTime => Kind::Time,
    }
}

pub fn column(name: &str, ty: &SqlType) -> Column {
    let kind = kind(ty);
    let type_name = match kind {
        Kind::Integer => "INTEGER".to_string(),
        Kind::Text => "TEXT".to_string(),
        kind => format!("{kind:?}").to_uppercase(),
    };
    Column { name: name.to_string(), kind, type_name }
}
