//! Makes cases from seeds: (seed, profile, dialect) to case, always the same one.
//!
//! ```text
//! profile --> schema (tables, rows) --> set (a script per session, made to collide) --> order --> case
//!               one serves many sets        one runs in several orders
//! ```
//!
//! [`Generator::case`] gives case number n at once, without those before it, so that a hunt can be dealt over workers, stopped
//! and resumed. [`workload`] is something else: the small fixed cases with which the executor tests itself.

pub mod conflicts;
pub mod expressions;
pub mod orders;
pub mod profile;
pub mod schema;
pub mod set;
pub mod workload;

use model::{Case, Level, Product, Seed, Version};

pub use conflicts::Strategy;
pub use schema::Schema;
pub use set::{Script, Set};

/// A case and where it comes from.
#[derive(Clone, Debug)]
pub struct Made {
    /// The case itself. It replays without the generator.
    pub case: Case,
    /// Which schema: cases with the same number have the same tables.
    pub schema: u64,
    /// Which set of transactions: cases with the same number differ only in the submitted order.
    pub set: u64,
    /// How its transactions were made to collide.
    pub strategy: Strategy,
    /// What it uses, by name, each once and sorted: `update`, `unique`, `savepoint`, `order:waiter`.
    pub features: Vec<&'static str>,
}

/// Makes the cases of one seed for one server.
pub struct Generator {
    seed: Seed,
    product: Product,
    levels: Vec<Level>,
}

impl Generator {
    /// Cases of this seed, at these levels.
    pub fn new(seed: Seed, product: Product, _version: &Version, levels: &[Level]) -> Generator {
        Generator { seed, product, levels: levels.to_vec() }
    }

    /// So many cases in a row have one schema.
    pub fn cases_per_schema(&self) -> u64 {
        200
    }

    /// Case number `number`.
    pub fn case(&mut self, number: u64) -> Made {
        let mut case = workload::case(self.seed, number, self.product);
        let level = self.levels[number as usize % self.levels.len()];
        case.sessions.iter_mut().for_each(|session| session.level = Some(level));
        Made {
            case,
            schema: number / self.cases_per_schema(),
            set: number / 10,
            strategy: Strategy::None,
            features: Vec::new(),
        }
    }
}
