//! What rows and constants are drawn from: small values that meet each other, and the borders of the types.
//!
//! Text keeps to letters, digits and blanks, in both cases and with blanks at either end: there every collation agrees about the
//! order except for what we want to see (case, trailing blanks). Binary numbers have few digits, so that every product
//! writes them alike.

use dialect::SqlFamily;
use eval::{Datum, Decimal};
use model::{Product, Rng, SqlType};

use super::Family;

const TEXTS: [&str; 22] = [
    "", "a", "A", "b", "B", "ab", "aB", "AB ", "a ", " a", "abc", "ABC", "b1", "z", "Zz", "0", "1", "2",
    "12", "1a", "7 ", "100",
];

const DAYS: [(i32, u8, u8); 7] =
    [(1999, 12, 31), (2000, 1, 1), (2000, 2, 29), (2020, 2, 29), (2021, 3, 4), (2021, 12, 31), (2038, 1, 19)];

const BYTES: [&[u8]; 8] = [b"", b"\x00", b"a", b"A", b"ab", b"a ", b"\xff", b"12"];

/// Doubles as quarters.
const QUARTERS: [i32; 12] = [0, 1, 2, 4, 6, 8, -1, -4, -10, 13, 40, 400];

const SMALL: [i64; 12] = [0, 1, 2, 3, 4, 5, 7, 10, 12, -1, -2, 100];

/// A random value that a column of this type can hold, never NULL.
pub fn datum(rng: &mut Rng, product: Product, ty: &SqlType) -> Datum {
    let sql = dialect::of(product).family;
    match ty {
        SqlType::Int { bits, unsigned } => int(rng, *bits, *unsigned),
        SqlType::Bool if sql == SqlFamily::Postgres => Datum::Bool(rng.ratio(1, 2)),
        SqlType::Bool => Datum::Int(rng.below(2) as i64),
        SqlType::Decimal { precision, scale } => decimal(rng, *precision, *scale),
        SqlType::Float | SqlType::Double => Datum::Double(double(rng)),
        SqlType::Char(n) | SqlType::Varchar(n) => {
            let mut text = text(rng, Some(usize::from(*n)));
            // A blank at the end of CHAR is not kept; PostgreSQL fills up with them.
            if matches!(ty, SqlType::Char(_)) && sql != SqlFamily::Sqlite {
                text.truncate(text.trim_end().len());
            }
            Datum::Text(text)
        }
        SqlType::Text => Datum::Text(text(rng, None)),
        SqlType::Blob => Datum::Bytes(rng.pick(&BYTES).to_vec()),
        SqlType::Date => day(rng),
        SqlType::DateTime => moment(rng),
    }
}

/// A random constant of a family.
pub(super) fn of_family(rng: &mut Rng, family: Family, unsigned: bool, border: usize) -> Datum {
    match family {
        Family::Null => Datum::Null,
        Family::Bool => Datum::Bool(rng.ratio(1, 2)),
        Family::Int if rng.ratio(1, border) => {
            let bits = *rng.pick(&[8, 16, 32, 64]);
            let unsigned = unsigned && rng.ratio(1, 2);
            int(rng, bits, unsigned)
        }
        Family::Int => Datum::Int(*rng.pick(&SMALL)),
        Family::Decimal => {
            let scale = rng.between(1, 3) as u8;
            decimal(rng, 6, scale)
        }
        Family::Double => Datum::Double(double(rng)),
        Family::Text => Datum::Text(text(rng, None)),
        Family::Bytes => Datum::Bytes(rng.pick(&BYTES).to_vec()),
        Family::Date => day(rng),
        Family::DateTime => moment(rng),
    }
}

fn int(rng: &mut Rng, bits: u8, unsigned: bool) -> Datum {
    if unsigned {
        let top = u64::MAX >> (64 - u32::from(bits));
        return Datum::UInt(match rng.below(6) {
            0 => top,
            1 => top - 1,
            2 => top / 2 + 1,
            _ => rng.pick(&SMALL).unsigned_abs(),
        });
    }
    let top = i64::MAX >> (64 - u32::from(bits));
    Datum::Int(match rng.below(8) {
        0 => top,
        1 => -top - 1,
        2 => top - 1,
        _ => *rng.pick(&SMALL),
    })
}

fn decimal(rng: &mut Rng, precision: u8, scale: u8) -> Datum {
    let top = 10i128.pow(u32::from(precision.min(30))) - 1;
    let unit = 10i128.pow(u32::from(scale));
    let unscaled = match rng.below(10) {
        0 => top,
        1 => -top,
        2 => 1,
        3 => 0,
        4 => unit / 2,
        _ => i128::from(*rng.pick(&SMALL)) * unit + [0, unit / 2, unit / 4, 1][rng.below(4)],
    };
    Datum::Decimal(Decimal { unscaled: unscaled.clamp(-top, top), scale })
}

fn double(rng: &mut Rng) -> f64 {
    f64::from(*rng.pick(&QUARTERS)) / 4.0
}

fn text(rng: &mut Rng, longest: Option<usize>) -> String {
    let text = *rng.pick(&TEXTS);
    text[..text.len().min(longest.unwrap_or(text.len()))].to_string()
}

fn day(rng: &mut Rng) -> Datum {
    let (year, month, day) = *rng.pick(&DAYS);
    Datum::Date(year, month, day)
}

fn moment(rng: &mut Rng) -> Datum {
    let (year, month, day) = *rng.pick(&DAYS);
    Datum::DateTime(year, month, day, *rng.pick(&[0, 0, 1, 43_200, 86_399]))
}
