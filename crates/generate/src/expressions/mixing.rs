//! Which families may stand where another was asked for.
//!
//! Products that convert on their own are given such mixtures on purpose: that is where they differ from each other and
//! from the standard. Left out is what is an error, or depends on more than the value (a number beside a date).

use model::Rng;

use super::{Expressions, Family};

/// What the operand is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Compared,
    /// Computed with, as a number.
    Computed,
    /// Computed with, alone: a sign, ABS.
    Alone,
    /// A matter of bits.
    Bits,
    /// An argument that becomes text.
    Spelled,
    /// One of several results: CASE, COALESCE.
    Chosen,
}

const NUMBERS: [Family; 3] = [Family::Int, Family::Decimal, Family::Double];

impl Expressions<'_> {
    /// The family that an operand is made of, where `asked` would be plain.
    pub(super) fn mixed(&self, rng: &mut Rng, place: Place, asked: Family) -> Family {
        if !rng.ratio(1, self.weights.mix) {
            return asked;
        }
        use Family::*;
        let numeric = NUMBERS.contains(&asked);
        let choice: &[Family] = match (place, asked) {
            // Numbers of all kinds compare with each other everywhere; what is computed has the wider type of the two.
            (Place::Compared, _) if numeric && !self.converts() => &NUMBERS,
            (Place::Computed | Place::Alone | Place::Chosen, Decimal) if !self.converts() => &[Int],
            (Place::Computed | Place::Alone | Place::Chosen, Double) if !self.converts() => &[Int, Decimal],
            (Place::Compared, Date | DateTime) => &[Date, DateTime],
            _ if !self.converts() => return asked,
            (Place::Compared, _) if numeric => &[Int, Decimal, Double, Text],
            (Place::Compared, Text) => &[Int, Decimal, Double],
            (Place::Computed, _) if numeric && self.mysql() => &[Int, Decimal, Double, Text, Date, DateTime],
            (Place::Computed, _) if numeric => &[Int, Decimal, Double, Text],
            (Place::Alone, _) if numeric => &[Int, Decimal, Double, Text],
            (Place::Bits, _) => &[Int, Decimal, Double, Text],
            (Place::Spelled, Text) if self.mysql() => &[Int, Decimal, Double, Date, DateTime],
            (Place::Spelled, Text) => &[Int, Decimal, Date, DateTime],
            (Place::Chosen, _) if numeric => &[Int, Decimal, Double],
            (
                Place::Compared | Place::Computed | Place::Alone | Place::Spelled | Place::Chosen,
                Null | Bool | Int | Decimal | Double | Text | Bytes | Date | DateTime,
            ) => return asked,
        };
        *rng.pick(choice)
    }
}
