//! The values that a column's pool begins with: few, so that rows, predicates and writes meet, with the boundaries of the
//! type among them.

use dialect::Capabilities;
use eval::{Datum, Decimal};
use model::{Rng, SqlType};

use crate::profile::Odds;

/// What a pool may hold.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How many values.
    pub size: usize,
    /// How often a value is a boundary of the type.
    pub boundary: Odds,
    /// Only small numbers: others are computed from them.
    pub small: bool,
    /// Text and bytes are 1 to 4 KB long.
    pub long: bool,
}

/// Draws a pool: no two values are alike.
pub fn draw(rng: &mut Rng, ty: &SqlType, caps: &Capabilities, bounds: Bounds) -> Vec<Datum> {
    let mut pool: Vec<Datum> = Vec::new();
    for _ in 0..bounds.size * 4 {
        if pool.len() == bounds.size {
            break;
        }
        let datum = value(rng, ty, caps, bounds);
        if !pool.iter().any(|known| alike(known, &datum)) {
            pool.push(datum);
        }
    }
    pool
}

/// Does a unique key take the two for one? Some collations disregard case and blanks at the end; so do we.
pub fn alike(a: &Datum, b: &Datum) -> bool {
    match (a, b) {
        (Datum::Text(a), Datum::Text(b)) => a.trim_end().eq_ignore_ascii_case(b.trim_end()),
        _ => a == b,
    }
}

/// One value of a type.
pub fn value(rng: &mut Rng, ty: &SqlType, caps: &Capabilities, bounds: Bounds) -> Datum {
    let edge = !bounds.small && bounds.boundary.draw(rng);
    match ty {
        SqlType::Int { bits, unsigned } => whole(rng, *bits, *unsigned, edge),
        SqlType::Decimal { precision, scale } => {
            let most = 10_i128.pow(u32::from(*precision)) - 1;
            let unscaled = if edge {
                *rng.pick(&[most, -most, 0, 1])
            } else {
                rng.below(12) as i128 * 10_i128.pow(u32::from(*scale)) + rng.below(3) as i128
            };
            Datum::Decimal(Decimal { unscaled, scale: *scale })
        }
        // Quarters are exact in both widths.
        SqlType::Float | SqlType::Double => {
            let quarters = if edge { *rng.pick(&[0, -1, 4_000_000]) } else { rng.below(40) as i64 - 8 };
            Datum::Double(quarters as f64 / 4.0)
        }
        SqlType::Char(n) | SqlType::Varchar(n) if !bounds.long => {
            let text = text(rng, edge, usize::from(*n));
            // What is padded cannot be told from what is not.
            Datum::Text(if matches!(ty, SqlType::Char(_)) { text.trim_end().to_string() } else { text })
        }
        SqlType::Char(_) | SqlType::Varchar(_) | SqlType::Text => {
            Datum::Text(if bounds.long { long(rng) } else { text(rng, edge, 12) })
        }
        SqlType::Blob => {
            if bounds.long {
                return Datum::Bytes(long(rng).into_bytes());
            }
            let length = if edge { 0 } else { rng.between(1, 2) };
            Datum::Bytes((0..length).map(|_| *rng.pick(b"\x00\x01aAb\xff")).collect())
        }
        SqlType::Bool => truth(rng.ratio(1, 2), caps),
        SqlType::Date => {
            let (y, m, d) = day(rng, edge);
            Datum::Date(y, m, d)
        }
        SqlType::DateTime => {
            let (y, m, d) = day(rng, edge);
            let seconds = if rng.ratio(1, 2) { 0 } else { rng.below(86_400) as u32 };
            Datum::DateTime(y, m, d, seconds)
        }
    }
}

/// A truth value, which is a number in most products.
pub fn truth(value: bool, caps: &Capabilities) -> Datum {
    if caps.strict_types { Datum::Bool(value) } else { Datum::Int(i64::from(value)) }
}

fn whole(rng: &mut Rng, bits: u8, unsigned: bool, edge: bool) -> Datum {
    if unsigned {
        let most = u64::MAX >> (64 - u32::from(bits));
        return Datum::UInt(if edge { *rng.pick(&[0, 1, most, most - 1]) } else { rng.below(16) as u64 });
    }
    let most = i64::MAX >> (64 - u32::from(bits));
    Datum::Int(if edge {
        *rng.pick(&[0, -1, most, most - 1, -most - 1])
    } else if rng.ratio(1, 10) {
        -(rng.between(1, 9) as i64)
    } else {
        rng.below(20) as i64
    })
}

fn text(rng: &mut Rng, edge: bool, most: usize) -> String {
    if edge {
        return rng.pick(&["", "0", "1", "A", "a ", "%", "_a", "B"]).to_string();
    }
    let length = rng.between(1, most.min(3));
    (0..length).map(|_| char::from(*rng.pick(b"abcdxy12"))).collect()
}

fn long(rng: &mut Rng) -> String {
    let length = rng.between(1000, 4000);
    (0..length).map(|_| char::from(*rng.pick(b"abcdefghijklmnop"))).collect()
}

fn day(rng: &mut Rng, edge: bool) -> (i32, u8, u8) {
    if edge {
        return *rng.pick(&[(1970, 1, 1), (2000, 2, 29), (1999, 12, 31), (9999, 12, 31)]);
    }
    (2020 + rng.below(3) as i32, rng.between(1, 3) as u8, rng.between(1, 4) as u8)
}
