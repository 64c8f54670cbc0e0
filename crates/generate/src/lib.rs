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
pub mod digest;
pub mod expressions;
pub mod features;
pub mod orders;
pub mod profile;
mod rows;
pub mod schema;
mod scripts;
pub mod set;
pub mod statements;
pub mod workload;

use dialect::Capabilities;
use model::{Case, Level, Product, Seed, SessionSpec, Setup, Step, Version};

pub use conflicts::Strategy;
pub use digest::Digest;
pub use orders::OrderKind;
pub use profile::Profile;
pub use schema::Schema;
pub use set::{Script, Set};

use orders::Lane;
use statements::Statements;

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
    /// The kind of its order.
    pub order: OrderKind,
    /// What it uses, by name, each once and sorted: `update`, `unique`, `savepoint`, `order:waiter`.
    pub features: Vec<&'static str>,
}

/// Makes the cases of one seed for one server.
pub struct Generator {
    seed: Seed,
    levels: Vec<Level>,
    profile: Profile,
    hash: String,
    caps: Capabilities,
    schema: Option<MadeSchema>,
    set: Option<MadeSet>,
}

/// The schema of the last case, which is most often that of the next one too.
struct MadeSchema {
    schema: Schema,
    setup: Vec<String>,
}

/// The set of the last case, its statements as text.
struct MadeSet {
    set: Set,
    lanes: Vec<Lane>,
    texts: Vec<Vec<String>>,
    features: Vec<&'static str>,
}

impl Generator {
    /// Cases of this seed, at these levels, by the profile `wide`.
    pub fn new(seed: Seed, product: Product, version: &Version, levels: &[Level]) -> Generator {
        Generator::with(seed, product, version, levels, Profile::default())
    }

    /// Cases of this seed, at these levels, by a profile.
    pub fn with(
        seed: Seed,
        product: Product,
        version: &Version,
        levels: &[Level],
        profile: Profile,
    ) -> Generator {
        let caps = dialect::capabilities(product, version);
        let hash = profile.hash();
        Generator { seed, levels: levels.to_vec(), profile, hash, caps, schema: None, set: None }
    }

    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// How many cases in a row have one schema.
    pub fn cases_per_schema(&self) -> u64 {
        self.profile.cases.orders_per_set * self.profile.cases.sets_per_schema
    }

    /// Schema number `number`.
    pub fn schema(&mut self, number: u64) -> &Schema {
        &self.made_schema(number).schema
    }

    /// Set number `number`, and the schema that it is for.
    pub fn set(&mut self, number: u64) -> (&Schema, &Set) {
        self.make_set(number);
        match (&self.schema, &self.set) {
            (Some(schema), Some(set)) => (&schema.schema, &set.set),
            _ => unreachable!("both were just made"),
        }
    }

    fn made_schema(&mut self, number: u64) -> &MadeSchema {
        let (seed, caps, profile) = (self.seed, &self.caps, &self.profile);
        let known = self.schema.take().filter(|known| known.schema.number == number);
        self.schema.insert(known.unwrap_or_else(|| {
            let schema = schema::draw(&mut seed.rng("schema", number), number, caps, profile);
            let setup = schema.setup(caps);
            MadeSchema { schema, setup }
        }))
    }

    fn make_set(&mut self, number: u64) {
        self.made_schema(number / self.profile.cases.sets_per_schema);
        let Some(schema) = &self.schema else { unreachable!("it was just made") };
        let known = self.set.take().filter(|known| known.set.number == number);
        self.set = Some(known.unwrap_or_else(|| {
            let statements = Statements { schema: &schema.schema, caps: &self.caps, profile: &self.profile };
            let set = Set::draw(&mut self.seed.rng("set", number), number, &statements, &self.levels);
            let print = |script: &Script| {
                script.statements.iter().map(|one| dialect::sql::print(self.caps.product, one)).collect()
            };
            let features = features::of(&schema.schema, &set);
            MadeSet { lanes: set.lanes(), texts: set.scripts.iter().map(print).collect(), features, set }
        }));
    }

    /// What a case says about where it comes from.
    fn notes(&self, number: u64, kind: OrderKind) -> Vec<String> {
        let strategy = self.set.as_ref().map_or("", |made| made.set.strategy.name());
        let order = kind.name().trim_start_matches("order:");
        vec![
            format!("strategy {strategy}, order {order}"),
            format!("seed {}, number {number}, profile {} {}", self.seed, self.profile.name, self.hash),
        ]
    }

    /// Case number `number`.
    pub fn case(&mut self, number: u64) -> Made {
        self.make_set(number / self.profile.cases.orders_per_set);
        let (Some(schema), Some(made)) = (&self.schema, &self.set) else {
            unreachable!("both were just made")
        };
        let mut rng = self.seed.rng("order", number);
        let (kind, order) = orders::draw(&mut rng, &self.profile.orders, &made.lanes, &made.set.pairs);
        let mut next = vec![0; made.texts.len()];
        let step = |session: usize| {
            let sql = made.texts[session][next[session]].clone();
            next[session] += 1;
            Step { session, sql, expect: Vec::new() }
        };
        let steps = order.into_iter().map(step).collect();
        let session = |(at, script): (usize, &Script)| SessionSpec {
            name: format!("T{}", at + 1),
            level: Some(script.level),
            autocommit: script.autocommit,
        };
        let case = Case {
            title: format!("Case {number} of {} ({})", self.seed, made.set.strategy.name()),
            sessions: made.set.scripts.iter().enumerate().map(session).collect(),
            setup: Setup { statements: schema.setup.clone() },
            steps,
            notes: self.notes(number, kind),
            products: vec![self.caps.product],
            ..Case::default()
        };
        Made {
            case,
            schema: schema.schema.number,
            set: made.set.number,
            strategy: made.set.strategy,
            order: kind,
            features: with(&made.features, kind.name()),
        }
    }
}

/// The list with one more name, still sorted.
fn with(features: &[&'static str], one: &'static str) -> Vec<&'static str> {
    let mut all = features.to_vec();
    let at = all.partition_point(|name| *name < one);
    all.insert(at, one);
    all
}
