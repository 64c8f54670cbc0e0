//! Draws columns and their types.

use dialect::Capabilities;
use model::{Rng, SqlType};

use super::{Column, Table};
use crate::profile::{Profile, weighted};

/// Draws a type of one sort.
type DrawType = fn(&mut Rng, &Capabilities) -> SqlType;

/// The types of a schema: a subset of all, by weight. Whole numbers are always among them.
pub struct Types(Vec<(u32, DrawType)>);

const fn int(bits: u8) -> SqlType {
    SqlType::Int { bits, unsigned: false }
}

impl Types {
    pub fn draw(rng: &mut Rng, caps: &Capabilities, profile: &Profile) -> Types {
        let weights = &profile.types;
        let all: [(u32, DrawType); 14] = [
            (weights.int, |_, _| int(32)),
            (weights.small_int, |rng, caps| {
                let most = caps.int_bits.iter().position(|bits| *bits == 32).unwrap_or(0);
                int(*rng.pick(&caps.int_bits[..most + 1]))
            }),
            (weights.big_int, |_, caps| int(caps.int_bits.last().copied().unwrap_or(32))),
            (if caps.unsigned { weights.unsigned } else { 0 }, |rng, caps| {
                let narrow = caps.int_bits.first().copied().unwrap_or(32);
                SqlType::Int { bits: *rng.pick(&[narrow, 32, 64]), unsigned: true }
            }),
            (weights.decimal, |rng, _| {
                let (precision, scale) = *rng.pick(&[(6, 2), (10, 0), (8, 4)]);
                SqlType::Decimal { precision, scale }
            }),
            (weights.float, |_, _| SqlType::Float),
            (weights.double, |_, _| SqlType::Double),
            (weights.char, |rng, _| SqlType::Char(*rng.pick(&[3, 8]))),
            (weights.varchar, |rng, _| SqlType::Varchar(*rng.pick(&[5, 12]))),
            (weights.text, |_, _| SqlType::Text),
            (weights.blob, |_, _| SqlType::Blob),
            (weights.boolean, |_, _| SqlType::Bool),
            (weights.date, |_, _| SqlType::Date),
            (weights.datetime, |_, _| SqlType::DateTime),
        ];
        let kept = all.into_iter().enumerate().filter(|(i, _)| *i == 0 || rng.ratio(1, 2));
        Types(kept.map(|(_, sort)| sort).collect())
    }

    pub fn pick(&self, rng: &mut Rng, caps: &Capabilities) -> SqlType {
        let weights: Vec<u32> = self.0.iter().map(|(weight, _)| *weight).collect();
        weighted(rng, &weights).map_or(int(32), |at| (self.0[at].1)(rng, caps))
    }
}

/// A column with nothing said about it yet.
pub fn plain(at: usize, ty: SqlType) -> Column {
    Column {
        name: NAMES[at].to_string(),
        ty,
        nullable: true,
        default: None,
        generated: None,
        pool: Vec::new(),
    }
}

/// Names of columns: six drawn ones, one that refers, one that is generated, one that is long.
const NAMES: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

/// May it be in a key that forbids equal values?
pub fn keyable(ty: &SqlType) -> bool {
    use SqlType::*;
    matches!(ty, Int { .. } | Decimal { .. } | Char(_) | Varchar(_) | Date | DateTime)
}

/// Does it need a prefix in an index, where there are such?
pub fn needs_prefix(ty: &SqlType) -> bool {
    matches!(ty, SqlType::Text | SqlType::Blob)
}

/// Is it a number that can be counted with?
pub fn whole(table: &Table, column: usize) -> bool {
    matches!(table.columns[column].ty, SqlType::Int { .. })
}
