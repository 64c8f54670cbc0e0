//! When something happened in a run: a number that only grows.
//!
//! A step is sent at the beginning of its round and answered inside one, so `a.answered < b.sent` says that b was sent in full
//! knowledge of a. Within a round the moments follow the order in which answers were seen.

/// Moments in one round; more answers than that share the last one.
const PER_ROUND: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u32);

impl Moment {
    /// Later than everything that happened.
    pub const NEVER: Moment = Moment(u32::MAX);

    /// The beginning of a round.
    pub(crate) fn begins(round: usize) -> Moment {
        Moment::answers(round, 0)
    }

    /// The answer at this place of a round, counted from 1.
    pub(crate) fn answers(round: usize, place: usize) -> Moment {
        Moment((round * PER_ROUND + place.min(PER_ROUND - 1)) as u32)
    }

    /// The round that it lies in.
    pub fn round(self) -> usize {
        self.0 as usize / PER_ROUND
    }
}
