//! How a constant comes back from a column: its bytes in a result, where that is certain.
//!
//! `07` comes back from an INT as `7`, `1.5` from a DECIMAL(6,2) as `1.50`. Whatever a server might clip, round, pad or
//! refuse is uncertain, and then nothing is said about the column at all.

use dialect::{
    SqlFamily,
    sql::{StoredType, text_value},
};
use model::{
    Product,
    sql::{Expr, Literal, UnaryOp},
};

/// The bytes that come back; an inner none is NULL, an outer none means that it is not certain.
pub type StoredValue = Option<Option<Vec<u8>>>;

/// How a value that is written to a column comes back.
pub fn known(product: Product, stored: StoredType, nullable: bool, expr: &Expr) -> StoredValue {
    let (negative, literal) = literal(expr)?;
    let text = |literal: &str| (!negative).then(|| text_value(product, literal)).flatten();
    let bytes = match (stored, literal) {
        // Some servers put a zero where NULL is not allowed.
        (_, Literal::Null) => return (nullable && !negative).then_some(None),
        (StoredType::Int(low, high), Literal::Number(digits)) => whole(digits, negative, low, high)?,
        (StoredType::Int(..), Literal::Bool(truth)) if !negative => i128::from(*truth).to_string(),
        (StoredType::Decimal(precision, scale), Literal::Number(digits)) => {
            decimal(digits, negative, precision as usize, scale as usize)?
        }
        (StoredType::Text(most), Literal::Text(written)) => {
            text(written).filter(|text| text.chars().count() <= most && text.len() <= 4 * most.min(4000))?
        }
        (StoredType::Padded(most), Literal::Text(written))
            if dialect::of(product).family != SqlFamily::Postgres =>
        {
            text(written).filter(|text| text.chars().count() <= most && !text.ends_with(' '))?
        }
        (StoredType::Bool, Literal::Bool(truth)) if !negative => if *truth { "t" } else { "f" }.to_string(),
        (StoredType::Date, Literal::Text(written)) => text(written).filter(|text| is_date(text))?,
        (StoredType::DateTime, Literal::Text(written)) => {
            text(written).filter(|text| text.len() == 19 && is_date(&text[..10]) && is_time(&text[10..]))?
        }
        _ => return None,
    };
    Some(Some(bytes.into_bytes()))
}

/// The literal that an expression is, and whether a minus stands before it.
fn literal(expr: &Expr) -> Option<(bool, &Literal)> {
    match expr {
        Expr::Literal(literal) => Some((false, literal)),
        Expr::Paren(inner) => literal(inner),
        Expr::Unary { op: UnaryOp::Neg, expr } => match literal(expr)? {
            (false, literal) => Some((true, literal)),
            (true, _) => None,
        },
        _ => None,
    }
}

fn whole(digits: &str, negative: bool, low: i128, high: i128) -> Option<String> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let size: i128 = plain.then(|| digits.parse().ok()).flatten()?;
    let value = if negative { -size } else { size };
    (low..=high).contains(&value).then(|| value.to_string())
}

fn decimal(digits: &str, negative: bool, precision: usize, scale: usize) -> Option<String> {
    let (before, behind) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let before = before.trim_start_matches('0');
    let fits = plain(before) && plain(behind) && behind.len() <= scale && before.len() + scale <= precision;
    if !fits {
        return None;
    }
    let before = if before.is_empty() { "0" } else { before };
    let zero = before == "0" && behind.bytes().all(|byte| byte == b'0');
    let sign = if negative && !zero { "-" } else { "" };
    match scale {
        0 => Some(format!("{sign}{before}")),
        _ => Some(format!("{sign}{before}.{behind:0<scale$}")),
    }
}

/// `2024-02-28`: days that every month has.
fn is_date(text: &str) -> bool {
    let number = |range: std::ops::Range<usize>| text.get(range).and_then(|part| part.parse::<u32>().ok());
    let form = text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(i, b)| if i == 4 || i == 7 { b == b'-' } else { b.is_ascii_digit() });
    form && number(0..4).is_some_and(|year| year >= 1000)
        && number(5..7).is_some_and(|month| (1..=12).contains(&month))
        && number(8..10).is_some_and(|day| (1..=28).contains(&day))
}

/// ` 23:59:59`
fn is_time(text: &str) -> bool {
    let form = text.len() == 9
        && text.bytes().enumerate().all(|(i, b)| match i {
            0 => b == b' ',
            3 | 6 => b == b':',
            _ => b.is_ascii_digit(),
        });
    form && &text[1..3] < "24" && &text[4..6] < "60" && &text[7..9] < "60"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(ty: StoredType, sql: &str) -> Option<String> {
        let text = format!("UPDATE t SET c = {sql}");
        let Some(model::sql::Statement::Update(update)) = dialect::sql::parse(Product::Mysql, &text).tree()
        else {
            panic!("{sql}")
        };
        known(Product::Mysql, ty, true, &update.assignments[0].value)
            .map(|bytes| bytes.map_or("NULL".into(), |bytes| String::from_utf8(bytes).unwrap()))
    }

    #[test]
    fn constants_come_back_in_their_column_s_form() {
        let int = StoredType::Int(-128, 127);
        for (ty, sql, expected) in [
            (int, "007", Some("7")),
            (int, "-0", Some("0")),
            (int, "(-5)", Some("-5")),
            (int, "128", None),
            (int, "'5'", None),
            (int, "1 + 1", None),
            (int, "TRUE", Some("1")),
            (int, "NULL", Some("NULL")),
            (StoredType::Decimal(6, 2), "1.5", Some("1.50")),
            (StoredType::Decimal(6, 2), "-12", Some("-12.00")),
            (StoredType::Decimal(6, 2), "1.555", None),
            (StoredType::Decimal(6, 2), "12345", None),
            (StoredType::Text(3), "'a''b'", Some("a'b")),
            (StoredType::Text(3), "'abcd'", None),
            (StoredType::Padded(3), "'a '", None),
            (StoredType::Date, "'2024-02-28'", Some("2024-02-28")),
            (StoredType::Date, "'2024-02-30'", None),
            (StoredType::DateTime, "'2024-02-28 23:59:59'", Some("2024-02-28 23:59:59")),
            (StoredType::DateTime, "'2024-02-28 24:59:59'", None),
            (StoredType::Other, "1", None),
        ] {
            assert_eq!(back(ty, sql).as_deref(), expected, "{ty:?} {sql}");
        }
    }
}
