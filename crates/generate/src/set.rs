//! A set of transactions: a script for each session, before anybody says in which order they run.

use model::{Level, Rng, sql::Statement};

use crate::{
    conflicts::{self, Plan, Strategy},
    orders::{Lane, Pair, Place, role},
    profile::weighted,
    schema::StatementForm,
    scripts,
    statements::Statements,
};

/// A set of transactions on one schema.
#[derive(Clone, Debug)]
pub struct Set {
    /// Which one of its seed.
    pub number: u64,
    /// How they were made to collide.
    pub strategy: Strategy,
    /// One for each session.
    pub scripts: Vec<Script>,
    /// Statements that were made to collide, by their places in the scripts.
    pub pairs: Vec<Pair>,
    /// What the strategy notes: which pair of Fucci's Table 2.
    pub features: Vec<&'static str>,
}

impl Set {
    /// Draws set number `number`: a strategy, what the sessions do, and how each does it as a transaction.
    pub fn draw(rng: &mut Rng, number: u64, statements: &Statements, levels: &[Level]) -> Set {
        let profile = statements.profile;
        let sessions = weighted(rng, &profile.cases.sessions).unwrap_or(0) + 2;
        let mut plan = conflicts::plan(rng, statements, sessions);
        reader(rng, statements, &mut plan);
        let (strategy, features) = (plan.strategy, plan.features);
        let common = *rng.pick(levels);
        let mixed = profile.cases.mixed_levels.draw(rng);
        let mut framed = Vec::new();
        for body in plan.bodies {
            let level = if mixed { *rng.pick(levels) } else { common };
            framed.push(scripts::frame(rng, statements, level, body));
        }
        let place = |place: Place| {
            let index = *framed.get(place.session)?.places.get(place.index)?;
            Some(Place { index, ..place })
        };
        let pair =
            |pair: &Pair| Some(Pair { first: place(pair.first)?, second: place(pair.second)?, ..*pair });
        let pairs = plan.pairs.iter().filter_map(pair).collect();
        Set { number, strategy, scripts: framed.into_iter().map(|one| one.script).collect(), pairs, features }
    }

    /// The roles of its statements, for drawing an order.
    pub fn lanes(&self) -> Vec<Lane> {
        self.scripts.iter().map(|script| script.statements.iter().map(role).collect()).collect()
    }
}

/// Now and then makes the last of three or more sessions one that only reads, if nothing was made to collide with it.
fn reader(rng: &mut Rng, statements: &Statements, plan: &mut Plan) {
    let last = plan.bodies.len().saturating_sub(1);
    let paired = plan.pairs.iter().any(|pair| pair.first.session == last || pair.second.session == last);
    if last < 2
        || paired
        || plan.bodies[last].ending.is_some()
        || !statements.profile.scripts.reader.draw(rng)
    {
        return;
    }
    let read = |rng: &mut Rng| {
        let table = statements.any_table(rng);
        let kind = *rng.pick(&[StatementForm::Select, StatementForm::Aggregate]);
        statements.of_kind(rng, kind, table)
    };
    plan.bodies[last].statements = (0..rng.between(1, 3)).map(|_| read(rng)).collect();
}

/// What one session does.
#[derive(Clone, Debug)]
pub struct Script {
    pub level: Level,
    pub autocommit: bool,
    /// Its statements from BEGIN to COMMIT, both included where there are any.
    pub statements: Vec<Statement>,
}
