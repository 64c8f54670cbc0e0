//! `isopod selftest expressions`: random expressions over random rows, computed by the evaluator and by a server.

mod census;
mod compare;
mod world;

use std::{collections::BTreeMap, time::Instant};

use eval::Evaluator;
use execute::Reset;
use generate::expressions::{ExprColumn, Expressions, Weights};
use model::{Seed, Target};
use serde::Serialize;

use crate::Lab;

pub use census::Census;
pub use compare::Difference;
use compare::{Checker, Differences, Question};
use world::World;

/// What one target came to.
#[derive(Serialize)]
pub struct Figures {
    pub target: String,
    pub server: String,
    pub seed: Seed,
    /// Expressions made.
    pub cases: u64,
    #[serde(flatten)]
    pub census: Census,
    /// Unsure in a hundred.
    pub unsure_percent: f64,
    /// Expressions for which the server said something else.
    pub different: u64,
    /// One of each sort.
    pub differences: Vec<Difference>,
    /// How often each operator was decided with an operand of each family.
    pub pairs: BTreeMap<String, BTreeMap<&'static str, u64>>,
    /// Pairs of operator and family that were decided fewer than 100 times.
    pub rare: Vec<String>,
    pub per_second: f64,
}

/// Fewer than this is too few to say that an operator is understood.
pub const ENOUGH: u64 = 100;
/// Expressions in one SELECT.
const BATCH: usize = 64;
/// Expressions over one table.
const PER_TABLE: u64 = 4096;

pub fn measure(lab: &Lab<'_>, target: &Target, cases: u64, seed: Seed) -> crate::Result<Figures> {
    // Making expressions and computing them go on at the same time, so client and server want a CPU each.
    let mut runner = lab.unpinned(target, Reset::Clean)?;
    let info = runner.info()?.clone();
    let executor = runner.executor()?;
    let mut session = executor.server().connect()?;
    let mut progress = lab.job(format!("{target}"), cases);
    let begun = Instant::now();
    let mut census = Census::default();
    let mut found = Differences::default();
    let mut made = 0;
    while made < cases && !lab.stopped() {
        let world = World::new(seed, made / PER_TABLE, info.product);
        world.create(session.as_mut())?;
        let columns = world.columns();
        let named: Vec<ExprColumn> = world.named();
        let expressions = Expressions {
            product: info.product,
            version: &info.version,
            columns: &named,
            // More mixtures than a case wants, so that every operator meets every type.
            weights: Weights { mix: 4, ..Weights::default() },
        };
        let of = Evaluator { product: info.product, version: &info.version, columns: &columns };
        let mut checker = Checker { of, world: &world, found: &mut found };
        let mut rng = seed.rng("expressions", made);
        let until = cases.min(made + PER_TABLE);
        let mut asked: Option<Vec<Question>> = None;
        while made < until && !lab.stopped() {
            let many = BATCH.min((until - made) as usize);
            let row = rng.below(world.rows.len());
            let batch: Vec<Question> =
                (0..many).map(|_| Question::new(&mut rng, &expressions, &world, &of, row)).collect();
            made += many as u64;
            // The server has worked on the last ones in the meantime.
            if let Some(last) = asked.take() {
                checker.receive(session.as_mut(), &last)?;
                batch_counted(&mut census, &last, &named, info.product);
            }
            checker.send(session.as_mut(), &batch);
            asked = Some(batch);
            progress.reached(made);
        }
        if let Some(last) = asked.take() {
            checker.receive(session.as_mut(), &last)?;
            batch_counted(&mut census, &last, &named, info.product);
        }
        world.drop(session.as_mut())?;
    }
    drop(progress);
    let seconds = begun.elapsed().as_secs_f64();
    let (pairs, rare) = (census.table(), census.rare(ENOUGH));
    let unsure: u64 = census.unsure.values().sum();
    Ok(Figures {
        target: target.to_string(),
        server: format!("{} {}", info.product, info.version),
        seed,
        cases: made,
        census,
        unsure_percent: unsure as f64 * 100.0 / made.max(1) as f64,
        different: found.different,
        differences: found.differences.into_values().collect(),
        pairs,
        rare,
        per_second: made as f64 / seconds,
    })
}

fn batch_counted(census: &mut Census, batch: &[Question], columns: &[ExprColumn], product: model::Product) {
    batch.iter().for_each(|question| census.count(question, columns, product));
}
