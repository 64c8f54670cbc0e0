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

use crate::{
    arguments::{How, Where, count},
    interrupt,
    output::{plural, say},
    progress::Progress,
    targets,
};

use census::Census;
use compare::{Checker, Difference, Found, Question};
use world::World;

/// Options.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    /// How many expressions
    #[arg(long, default_value_t = 100_000, value_parser = count)]
    cases: u64,
    /// Where the expressions come from: the same seed gives the same ones
    #[arg(long, default_value = "150D-0000-0005")]
    seed: Seed,
    /// The counts, as JSON
    #[arg(long)]
    json: bool,
}

/// What one target came to.
#[derive(Serialize)]
struct Result {
    target: String,
    server: String,
    seed: Seed,
    /// Expressions made.
    cases: u64,
    /// Expressions of which the evaluator said what comes, an error included.
    decided: u64,
    /// Of these, expressions that are an error.
    errors: u64,
    /// Of these, conditions that were asked for every row in WHERE.
    as_where: u64,
    /// Expressions that the evaluator left open, and why.
    unsure: BTreeMap<&'static str, u64>,
    /// Unsure in a hundred.
    unsure_percent: f64,
    /// Expressions for which the server said something else.
    different: u64,
    /// One of each sort.
    differences: Vec<Difference>,
    /// How often each operator was decided with an operand of each family.
    pairs: BTreeMap<String, BTreeMap<&'static str, u64>>,
    /// Pairs of operator and family that were decided fewer than 100 times.
    rare: Vec<String>,
    per_second: f64,
}

/// Fewer than this is too few to say that an operator is understood.
const ENOUGH: u64 = 100;
/// Expressions in one SELECT.
const BATCH: usize = 64;
/// Expressions over one table.
const PER_TABLE: u64 = 4096;

/// Runs it.
pub fn run(args: Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let mut results = Vec::new();
    for target in &args.on.targets(None)? {
        let result = measure(&args, target)?;
        if !args.json {
            show(&result);
        }
        results.push(result);
        if interrupt::asked() {
            break;
        }
    }
    if args.json {
        say!("{}", serde_json::to_string_pretty(&results)?);
    }
    let faults = results.iter().any(|result| result.different > 0);
    Ok(if interrupt::asked() { 2 } else { u8::from(faults) })
}

fn measure(args: &Args, target: &Target) -> anyhow::Result<Result> {
    // Making expressions and computing them go on at the same time, so client and server want a CPU each.
    let how = How { no_pin: true, ..args.on.how.clone() };
    let mut runner = targets::runner(target, &how, how.options(Reset::Clean))?;
    let info = runner.info().map_err(|error| anyhow::anyhow!(error))?.clone();
    let executor = runner.executor().map_err(|error| anyhow::anyhow!(error))?;
    let mut session = executor.server().connect()?;
    let mut progress = Progress::new(format!("{target}"), args.cases);
    let begun = Instant::now();
    let mut census = Census::default();
    let mut found = Found::default();
    let mut made = 0;
    while made < args.cases && !interrupt::asked() {
        let world = World::new(args.seed, made / PER_TABLE, info.product);
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
        let mut rng = args.seed.rng("expressions", made);
        let until = args.cases.min(made + PER_TABLE);
        let mut asked: Option<Vec<Question>> = None;
        while made < until && !interrupt::asked() {
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
    progress.end();
    let seconds = begun.elapsed().as_secs_f64();
    let (pairs, rare) = (census.table(), census.rare(ENOUGH));
    let unsure: u64 = census.unsure.values().sum();
    Ok(Result {
        target: target.to_string(),
        server: format!("{} {}", info.product, info.version),
        seed: args.seed,
        cases: made,
        decided: census.decided,
        errors: census.errors,
        as_where: census.as_where,
        unsure: census.unsure,
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

fn show(result: &Result) {
    say!("{} · seed {}", result.server, result.seed);
    say!(
        "  {}, {} decided ({} of them errors, {} asked for every row in WHERE), {:.0} per second",
        plural(result.cases, "expression"),
        result.decided,
        result.errors,
        result.as_where,
        result.per_second
    );
    say!("  {:.2}% unsure", result.unsure_percent);
    let mut reasons: Vec<_> = result.unsure.iter().collect();
    reasons.sort_by_key(|(reason, count)| (std::cmp::Reverse(**count), **reason));
    for (reason, count) in reasons {
        say!("    {count:>7}  {reason}");
    }
    say!("  operators and how often each was decided, by the family of an operand:");
    for (operator, families) in &result.pairs {
        let counts: Vec<String> =
            families.iter().map(|(family, count)| format!("{family} {count}")).collect();
        say!("    {operator:<16} {}", counts.join("  "));
    }
    if !result.rare.is_empty() {
        say!("  decided fewer than {ENOUGH} times: {}", result.rare.join(", "));
    }
    say!(
        "  {} in which the server differs, of {}",
        plural(result.different, "expression"),
        plural(result.differences.len() as u64, "sort")
    );
    for difference in &result.differences {
        say!("    {} times: {}", difference.times, difference.sql);
        say!("      expected {}, the server says {}", difference.expected, difference.actual);
    }
}
