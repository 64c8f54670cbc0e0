//! A transaction of a run.

use model::Level;

use crate::moment::Moment;

/// From BEGIN, or the first statement without it, to the end; or one statement that committed by itself.
#[derive(Clone, Debug)]
pub struct Transaction {
    pub session: usize,
    /// None where the trace does not say: after a SET, or a text without a tree.
    pub level: Option<Level>,
    pub begin: Moment,
    /// When the snapshot was taken that its plain reads share, where the level has one.
    pub snapshot: Option<Moment>,
    pub end: Moment,
    /// The step whose answer ended it, be it its last or the next BEGIN; none if we rolled it back, or nothing ended it.
    pub ended_by: Option<usize>,
    pub fate: Fate,
    /// In order, its BEGIN and its COMMIT too.
    pub steps: Vec<usize>,
}

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Committed,
    /// Rolled back, by whomever.
    Undone,
    /// The trace does not say.
    Unknown,
}

impl Transaction {
    pub fn committed(&self) -> bool {
        self.fate == Fate::Committed
    }

    pub fn undone(&self) -> bool {
        self.fate == Fate::Undone
    }

    /// Were both open at the same time?
    pub fn overlaps(&self, other: &Transaction) -> bool {
        self.begin < other.end && other.begin < self.end
    }
}
