//! A value inside an expression, the column that it may come from, and how it is written as SQL.

use dialect::SqlFamily;
use model::{
    Product, SqlType,
    sql::{CastSpelling, Expr, Literal, TypeName, UnaryOp},
};

use crate::{dates, decimal::Decimal};

/// A value with the type that it has inside an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
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
    Text(String),
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
    pub name: String,
    pub ty: SqlType,
    /// Its collation, where it is not the default of a fresh schema.
    pub collation: Option<String>,
}

impl Datum {
    pub fn is_null(&self) -> bool {
        matches!(self, Datum::Null)
    }

    /// The datum as an expression that the product's dialect can read, and that gives this datum again: in the same type
    /// where the product has constants of it, as a string where a date is one (MySQL, SQLite).
    pub fn literal(&self, product: Product) -> Expr {
        let text = |text: &str| Expr::Literal(Literal::Text(dialect::sql::text_literal(product, text)));
        let cast = |expr: Expr, words: &[&str]| Expr::Cast {
            expr: Box::new(expr),
            ty: TypeName {
                words: words.iter().map(|word| word.to_string()).collect(),
                args: Vec::new(),
                suffix: Vec::new(),
            },
            spelling: CastSpelling::Call,
        };
        let postgres = dialect::of(product).family == SqlFamily::Postgres;
        match self {
            Datum::Null => Expr::Literal(Literal::Null),
            Datum::Bool(b) => Expr::Literal(Literal::Bool(*b)),
            Datum::Int(n) => Expr::int(*n),
            Datum::UInt(n) => Expr::Literal(Literal::number(*n)),
            Datum::Decimal(d) => {
                let size = Decimal { unscaled: d.unscaled.abs(), ..*d };
                signed(d.unscaled < 0, size.to_string())
            }
            Datum::Double(d) if postgres => cast(text(&format!("{d:e}")), &["DOUBLE", "PRECISION"]),
            Datum::Double(d) => signed(*d < 0.0, format!("{:e}", d.abs())),
            Datum::Text(value) => text(value),
            Datum::Bytes(bytes) => {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                if postgres {
                    cast(text(&format!("\\x{hex}")), &["BYTEA"])
                } else {
                    Expr::Literal(Literal::Bytes(format!("x'{hex}'")))
                }
            }
            Datum::Date(y, m, d) if postgres => cast(text(&dates::day_text(*y, *m, *d)), &["DATE"]),
            Datum::Date(y, m, d) => text(&dates::day_text(*y, *m, *d)),
            Datum::DateTime(y, m, d, s) if postgres => {
                cast(text(&dates::moment_text(*y, *m, *d, *s)), &["TIMESTAMP"])
            }
            Datum::DateTime(y, m, d, s) => text(&dates::moment_text(*y, *m, *d, *s)),
        }
    }
}

fn signed(negative: bool, size: String) -> Expr {
    let size = Expr::Literal(Literal::Number(size));
    if negative { Expr::Unary { op: UnaryOp::Neg, expr: Box::new(size) } } else { size }
}
