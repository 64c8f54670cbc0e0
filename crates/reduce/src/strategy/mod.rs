//! Which candidate of a layer is tried next.
//!
//! Candidates of one operation (drop a SELECT, replace an expression by its child) stand and fall together more often than not,
//! so that is what a strategy learns about. All strategies end at a point where nothing of the layer works; they differ in
//! how many candidates it takes to get there.

mod bandit;
mod in_order;
mod learned;
mod random;
mod table;

use model::Seed;

pub use bandit::Bandit;
pub use in_order::InOrder;
pub use learned::{Learned, Record};
pub use random::Random;
pub use table::Table;

/// A candidate that may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    pub operation: &'static str,
    /// The list of the layer that it is in.
    pub pass: usize,
    /// Its place there.
    pub at: usize,
}

pub trait Strategy {
    fn name(&self) -> &'static str;

    /// One of the offers; none if the layer is done. `from` is the place of the one that was chosen last.
    fn choose(&mut self, offers: &[Offer], from: (usize, usize)) -> Option<usize>;

    /// Hears whether one of this operation worked.
    fn learn(&mut self, operation: &'static str, worked: bool);

    /// What it has learned so far; nothing where it learns nothing.
    fn learned(&self) -> Option<&Learned> {
        None
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// As listed.
    InOrder,
    Random,
    /// By a table of probabilities.
    Table,
    /// The best so far, mostly.
    Bandit,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::InOrder, Kind::Random, Kind::Table, Kind::Bandit];

    /// As the command line says it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::InOrder => "in-order",
            Kind::Random => "random",
            Kind::Table => "table",
            Kind::Bandit => "bandit",
        }
    }

    /// What it does, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Kind::InOrder => "As listed, the largest pieces first; the same for every case",
            Kind::Random => "Any",
            Kind::Table => "Drawn by a table of probabilities that follows what worked",
            Kind::Bandit => "What worked best so far, and now and then any",
        }
    }

    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// A strategy of this kind that begins with what was learned before.
    pub fn begin(self, seed: Seed, learned: Learned) -> Box<dyn Strategy> {
        let rng = seed.rng("reduce", 0);
        match self {
            Kind::InOrder => Box::new(InOrder),
            Kind::Random => Box::new(Random(rng)),
            Kind::Table => Box::new(Table { rng, learned }),
            Kind::Bandit => Box::new(Bandit { rng, learned }),
        }
    }
}

/// The operations on offer, each once, in their order.
fn operations(offers: &[Offer]) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = Vec::new();
    for offer in offers {
        if !found.contains(&offer.operation) {
            found.push(offer.operation);
        }
    }
    found
}

/// Any offer of this operation.
fn any_of(rng: &mut model::Rng, offers: &[Offer], operation: &str) -> Option<usize> {
    let fitting: Vec<usize> = (0..offers.len()).filter(|at| offers[*at].operation == operation).collect();
    if fitting.is_empty() { None } else { Some(*rng.pick(&fitting)) }
}
