//! Families of types: within one, products convert on their own.

use dialect::SqlFamily;
use model::{
    Product, SqlType,
    sql::{BinaryOp, Expr, FunctionArgs, Literal, UnaryOp},
};

use super::ExprColumn;

model::named! {
    /// A family of types, each wider than those before it.
    pub enum Family {
        /// NULL alone.
        Null = "null",
        /// Truth values, where they are no numbers.
        Bool = "bool",
        /// Whole numbers, signed or not.
        Int = "int",
        /// Exact numbers.
        Decimal = "decimal",
        /// Binary numbers.
        Double = "double",
        Text = "text",
        Bytes = "bytes",
        Date = "date",
        DateTime = "datetime",
    }
}

impl Family {
    /// That of a column.
    pub fn of(product: Product, ty: &SqlType) -> Family {
        match ty {
            SqlType::Bool if dialect::of(product).family == SqlFamily::Postgres => Family::Bool,
            SqlType::Int { .. } | SqlType::Bool => Family::Int,
            SqlType::Decimal { .. } => Family::Decimal,
            SqlType::Float | SqlType::Double => Family::Double,
            SqlType::Char(_) | SqlType::Varchar(_) | SqlType::Text => Family::Text,
            SqlType::Blob => Family::Bytes,
            SqlType::Date => Family::Date,
            SqlType::DateTime => Family::DateTime,
        }
    }
}

/// The family of an expression, as far as its shape says: for counting, not for judging.
pub fn family(product: Product, columns: &[ExprColumn], expr: &Expr) -> Family {
    let of = |expr: &Expr| family(product, columns, expr);
    let truth = if dialect::of(product).family == SqlFamily::Postgres { Family::Bool } else { Family::Int };
    match expr {
        Expr::Literal(literal) => match literal {
            Literal::Null => Family::Null,
            Literal::Bool(_) => truth,
            Literal::Number(text) if text.contains(['e', 'E']) => Family::Double,
            Literal::Number(text) if text.contains('.') => Family::Decimal,
            Literal::Number(_) => Family::Int,
            Literal::Text(_) => Family::Text,
            Literal::Bytes(_) => Family::Bytes,
        },
        Expr::Column(name) => {
            let table = name.table.as_ref().map(|table| table.name.name.as_str());
            columns
                .iter()
                .find(|column| column.name == name.name.name && (table.is_none() || table == column.table))
                .map_or(Family::Null, |column| Family::of(product, &column.ty))
        }
        Expr::Paren(inner) => of(inner),
        Expr::Unary { op: UnaryOp::Neg | UnaryOp::Plus, expr } => match of(expr) {
            Family::Text | Family::Bytes => Family::Double,
            other => other,
        },
        Expr::Unary { op: UnaryOp::BitNot, .. } => Family::Int,
        Expr::Unary { op: UnaryOp::Not | UnaryOp::Bang, .. } => truth,
        Expr::Binary { left, op, right } => binary(truth, *op, of(left), of(right)),
        Expr::IsNull { .. }
        | Expr::IsBool { .. }
        | Expr::In { .. }
        | Expr::Between { .. }
        | Expr::Like { .. }
        | Expr::Exists(_) => truth,
        Expr::Collate { expr, .. } => of(expr),
        Expr::Case { whens, otherwise, .. } => {
            let results = whens.iter().map(|when| &when.then).chain(otherwise.as_deref());
            results.map(of).fold(Family::Null, Family::max)
        }
        Expr::Cast { ty, .. } => named(ty.words.first().map_or("", String::as_str)),
        Expr::Function { name, args, .. } => {
            let args = match args {
                FunctionArgs::Star => &[][..],
                FunctionArgs::List(list) => list,
            };
            function(&name.name, args, of)
        }
        Expr::Variable(_) | Expr::Default | Expr::BareFunction(_) | Expr::Row(_) | Expr::Subquery(_) => {
            Family::Null
        }
    }
}

fn binary(truth: Family, op: BinaryOp, left: Family, right: Family) -> Family {
    use BinaryOp::*;
    let postgres = truth == Family::Bool;
    match op {
        Sub if postgres && left == Family::Date && right == Family::Date => Family::Int,
        Add | Sub if postgres && left == Family::Date => Family::Date,
        Add | Sub | Mul | Div | Rem | Mod | Power => {
            let number = |family| match family {
                Family::Text | Family::Bytes => Family::Double,
                Family::Date | Family::DateTime | Family::Bool => Family::Int,
                other => other,
            };
            number(left).max(number(right))
        }
        IntDiv | BitOr | BitAnd | BitXor | Shl | Shr => Family::Int,
        Concat if left == Family::Bytes && postgres => Family::Bytes,
        Concat => Family::Text,
        Or | OrBars | Xor | And | AndAmps | Eq | EqEq | NullSafeEq | Ne | NeBang | Lt | Le | Gt | Ge | Is
        | IsNot | IsDistinct | IsNotDistinct | Match | NotMatch | MatchNoCase | NotMatchNoCase => truth,
    }
}

fn named(word: &str) -> Family {
    match word.to_ascii_uppercase().as_str() {
        "SIGNED" | "UNSIGNED" | "INTEGER" | "INT" | "SMALLINT" | "BIGINT" => Family::Int,
        "DECIMAL" | "NUMERIC" => Family::Decimal,
        "DOUBLE" | "REAL" | "FLOAT" => Family::Double,
        "BINARY" | "BLOB" | "BYTEA" => Family::Bytes,
        "DATE" => Family::Date,
        "DATETIME" | "TIMESTAMP" => Family::DateTime,
        "BOOLEAN" => Family::Bool,
        _ => Family::Text,
    }
}

fn function(name: &str, args: &[Expr], of: impl Fn(&Expr) -> Family) -> Family {
    match name.to_ascii_uppercase().as_str() {
        "COALESCE" | "IFNULL" | "NULLIF" | "LEAST" | "GREATEST" | "MIN" | "MAX" => {
            args.iter().map(of).fold(Family::Null, Family::max)
        }
        "IF" | "IIF" => args.iter().skip(1).map(of).fold(Family::Null, Family::max),
        "ABS" | "ROUND" | "MOD" | "FLOOR" | "CEIL" | "CEILING" | "TRUNCATE" | "TRUNC" => {
            match args.first().map_or(Family::Null, of) {
                Family::Text | Family::Bytes => Family::Double,
                number => number,
            }
        }
        "LENGTH" | "CHAR_LENGTH" | "OCTET_LENGTH" | "SIGN" | "INSTR" | "LOCATE" | "STRPOS" | "YEAR"
        | "MONTH" | "DAY" | "DAYOFMONTH" | "DATEDIFF" | "BIT_COUNT" | "UNICODE" | "ASCII" => Family::Int,
        "DATE" => Family::Date,
        "SUBSTR" if args.first().map(&of) == Some(Family::Bytes) => Family::Bytes,
        _ => Family::Text,
    }
}
