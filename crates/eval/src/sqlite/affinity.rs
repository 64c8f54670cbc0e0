//! Type affinity: what a column likes to hold, and what a comparison converts.

use model::{
    SqlType,
    sql::{Expr, TypeName},
};

use super::number;
use crate::{Column, Datum, Evaluator, Fault, dates};

/// What a column, or a cast, tends to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Affinity {
    Blob,
    Text,
    Numeric,
    Integer,
    Real,
}

impl Affinity {
    /// That of a column with this type, as the schemas spell it.
    pub fn of(ty: &SqlType) -> Affinity {
        match ty {
            SqlType::Int { .. } => Affinity::Integer,
            SqlType::Decimal { .. } | SqlType::Bool | SqlType::Date | SqlType::DateTime => Affinity::Numeric,
            SqlType::Float | SqlType::Double => Affinity::Real,
            SqlType::Char(_) | SqlType::Varchar(_) | SqlType::Text => Affinity::Text,
            SqlType::Blob => Affinity::Blob,
        }
    }

    /// That of a type's name: by the syllables in it.
    pub fn named(ty: &TypeName) -> Affinity {
        let name = ty.words.join(" ").to_ascii_uppercase();
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        if has(&["INT"]) {
            Affinity::Integer
        } else if has(&["CHAR", "CLOB", "TEXT"]) {
            Affinity::Text
        } else if has(&["BLOB"]) {
            Affinity::Blob
        } else if has(&["REAL", "FLOA", "DOUB"]) {
            Affinity::Real
        } else {
            Affinity::Numeric
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Affinity::Numeric | Affinity::Integer | Affinity::Real)
    }
}

/// The column that a name means, and where it is in the row.
pub(super) fn column<'a>(of: &Evaluator<'a>, name: &model::sql::ColumnRef) -> Option<(usize, &'a Column)> {
    let table = name.table.as_ref().map(|table| table.name.name.as_str());
    let mut columns = of.columns.iter().enumerate();
    columns.find(|(_, column)| {
        column.name.eq_ignore_ascii_case(&name.name.name)
            && (table.is_none() || column.table.as_deref() == table)
    })
}

/// That of an expression: only columns and casts have one.
pub(super) fn affinity(of: &Evaluator, expr: &Expr) -> Option<Affinity> {
    match expr {
        Expr::Column(name) => column(of, name).map(|(_, column)| Affinity::of(&column.ty)),
        Expr::Cast { ty, .. } => Some(Affinity::named(ty)),
        Expr::Paren(expr) | Expr::Collate { expr, .. } => affinity(of, expr),
        _ => None,
    }
}

/// What a comparison of two operands converts to; nothing if nothing.
pub(super) fn compared(left: Option<Affinity>, right: Option<Affinity>) -> Option<Affinity> {
    match (left, right) {
        (Some(left), Some(right)) => (left.is_number() || right.is_number()).then_some(Affinity::Numeric),
        (Some(one), None) | (None, Some(one)) => Some(one),
        (None, None) => None,
    }
}

/// A value as a column of this affinity holds it, and as it is read again.
pub(super) fn stored(affinity: Affinity, datum: &Datum) -> Result<Datum, Fault> {
    let plain = plain(datum)?;
    Ok(match (affinity, &plain) {
        (Affinity::Text, Datum::Int(_) | Datum::Double(_)) => Datum::Text(text(&plain)?),
        (Affinity::Numeric | Affinity::Integer | Affinity::Real, Datum::Text(text)) => {
            match number::numeric(text) {
                Some(found) => return stored(affinity, &found),
                None => plain,
            }
        }
        (Affinity::Numeric | Affinity::Integer, Datum::Double(d)) => {
            let int = number::real_to_int(*d);
            let inner = int > i64::MIN && int < i64::MAX;
            if *d == int as f64 && inner { Datum::Int(int) } else { plain }
        }
        (Affinity::Real, Datum::Int(n)) => Datum::Double(*n as f64),
        _ => plain,
    })
}

/// Only what SQLite has: truth values are whole numbers, exact ones binary, dates text.
pub(super) fn plain(datum: &Datum) -> Result<Datum, Fault> {
    Ok(match datum {
        Datum::Bool(b) => Datum::Int(i64::from(*b)),
        Datum::UInt(n) => i64::try_from(*n).map_or(Datum::Double(*n as f64), Datum::Int),
        Datum::Decimal(d) => Datum::Double(d.to_f64()),
        Datum::Date(y, m, d) => Datum::Text(dates::day_text(*y, *m, *d)),
        Datum::DateTime(y, m, d, s) => Datum::Text(dates::moment_text(*y, *m, *d, *s)),
        Datum::Null | Datum::Int(_) | Datum::Double(_) | Datum::Text(_) | Datum::Bytes(_) => datum.clone(),
    })
}

pub(super) fn text(datum: &Datum) -> Result<String, Fault> {
    match datum {
        Datum::Int(n) => Ok(n.to_string()),
        Datum::Double(d) => number::real_text(*d),
        Datum::Text(text) => Ok(text.clone()),
        Datum::Bytes(bytes) => match String::from_utf8(bytes.clone()) {
            Ok(text) if !text.contains('\0') => Ok(text),
            _ => Err(Fault::unsure("bytes that are no text")),
        },
        _ => Err(Fault::unsure("a value that has no text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_keep_what_they_like() {
        let text = |text: &str| Datum::Text(text.to_string());
        let stored = |affinity, datum: Datum| super::stored(affinity, &datum).unwrap();
        assert_eq!(stored(Affinity::Numeric, Datum::Double(2.0)), Datum::Int(2));
        assert_eq!(stored(Affinity::Numeric, Datum::Double(2.5)), Datum::Double(2.5));
        assert_eq!(stored(Affinity::Integer, text("1.0")), Datum::Int(1));
        assert_eq!(stored(Affinity::Integer, text("1a")), text("1a"));
        assert_eq!(stored(Affinity::Real, Datum::Int(1)), Datum::Double(1.0));
        assert_eq!(stored(Affinity::Text, Datum::Double(1.0)), text("1.0"));
        assert_eq!(stored(Affinity::Blob, text("1")), text("1"));
        assert_eq!(stored(Affinity::Numeric, Datum::Date(2020, 1, 2)), text("2020-01-02"));
    }
}
