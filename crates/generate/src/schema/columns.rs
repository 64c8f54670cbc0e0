//! Draws columns and their types.

use dialect::Capabilities;
use model::{Rng, SqlType};

use super::{Column, Table};
use crate::profile::{Profile, weighted};

/// The types of a schema: a subset of all, by weight. Whole numbers are always among them.
pub struct Types(Vec<(u32, Kind)>);

#[derive(Clone, Copy)]
enum Kind {
    Int,
    SmallInt,
    BigInt,
    Unsigned,
    Decimal,
    Float,
    Double,
    Char,
    Varchar,
    Text,
    Blob,
    Boolean,
    Date,
    DateTime,
}

impl Types {
    /// Draws the subset.
    pub fn draw(rng: &mut Rng, caps: &Capabilities, profile: &Profile) -> Types {
        let weights = &profile.types;
        let all = [
            (weights.int, Kind::Int),
            (weights.small_int, Kind::SmallInt),
            (weights.big_int, Kind::BigInt),
            (if caps.unsigned { weights.unsigned } else { 0 }, Kind::Unsigned),
            (weights.decimal, Kind::Decimal),
            (weights.float, Kind::Float),
            (weights.double, Kind::Double),
            (weights.char, Kind::Char),
            (weights.varchar, Kind::Varchar),
            (weights.text, Kind::Text),
            (weights.blob, Kind::Blob),
            (weights.boolean, Kind::Boolean),
            (weights.date, Kind::Date),
            (weights.datetime, Kind::DateTime),
        ];
        let kept = all.into_iter().enumerate().filter(|(i, _)| *i == 0 || rng.ratio(1, 2));
        Types(kept.map(|(_, kind)| kind).collect())
    }

    pub fn pick(&self, rng: &mut Rng, caps: &Capabilities) -> SqlType {
        let weights: Vec<u32> = self.0.iter().map(|(weight, _)| *weight).collect();
        let kind = weighted(rng, &weights).map_or(Kind::Int, |at| self.0[at].1);
        let int = |bits| SqlType::Int { bits, unsigned: false };
        let narrow = caps.int_bits.first().copied().unwrap_or(32);
        match kind {
            Kind::Int => int(32),
            Kind::SmallInt => {
                int(*rng.pick(&caps.int_bits[..caps.int_bits.iter().position(|b| *b == 32).unwrap_or(0) + 1]))
            }
            Kind::BigInt => int(caps.int_bits.last().copied().unwrap_or(32)),
            Kind::Unsigned => SqlType::Int { bits: *rng.pick(&[narrow, 32, 64]), unsigned: true },
            Kind::Decimal => {
                let (precision, scale) = *rng.pick(&[(6, 2), (10, 0), (8, 4)]);
                SqlType::Decimal { precision, scale }
            }
            Kind::Float => SqlType::Float,
            Kind::Double => SqlType::Double,
            Kind::Char => SqlType::Char(*rng.pick(&[3, 8])),
            Kind::Varchar => SqlType::Varchar(*rng.pick(&[5, 12])),
            Kind::Text => SqlType::Text,
            Kind::Blob => SqlType::Blob,
            Kind::Boolean => SqlType::Bool,
            Kind::Date => SqlType::Date,
            Kind::DateTime => SqlType::DateTime,
        }
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
const NAMES: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];

/// May it be in a key that forbids equal values?
pub fn keyable(ty: &SqlType) -> bool {
    match ty {
        SqlType::Int { .. }
        | SqlType::Decimal { .. }
        | SqlType::Char(_)
        | SqlType::Varchar(_)
        | SqlType::Date
        | SqlType::DateTime => true,
        SqlType::Float | SqlType::Double | SqlType::Text | SqlType::Blob | SqlType::Bool => false,
    }
}

/// Does it need a prefix in an index, where there are such?
pub fn needs_prefix(ty: &SqlType) -> bool {
    matches!(ty, SqlType::Text | SqlType::Blob)
}

/// Is it a number that can be counted with?
pub fn whole(table: &Table, column: usize) -> bool {
    matches!(table.columns[column].ty, SqlType::Int { .. })
}
