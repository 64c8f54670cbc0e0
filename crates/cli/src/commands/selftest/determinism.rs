//! `isopod selftest determinism`: random cases, twice, the second time in shuffled order. How many give another trace?

use std::{collections::BTreeMap, time::Duration};

use execute::{Reset, Runner};
use model::{Level, Seed, Trace};
use serde::Serialize;

use super::differences::{Why, why};
use crate::{
    arguments::{Levels, Where, count, levels},
    errors, interrupt,
    output::{plural, say},
    progress::Progress,
    targets,
};

/// Options.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    /// How many cases
    #[arg(long, default_value_t = 1000, value_parser = count)]
    cases: u64,
    /// The isolation level (RU, RC, RR, SER), or all; by default the product's own default
    #[arg(long, value_parser = levels)]
    level: Option<Levels>,
    /// Where the cases come from: the same seed gives the same cases
    #[arg(long, default_value = "150D-0000-0001")]
    seed: Seed,
    /// After each decision that statements wait, watch so many microseconds for an answer that proves it false
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 150)]
    watch: u64,
    /// The counts, as JSON
    #[arg(long)]
    json: bool,
}

/// What one target and level came to.
#[derive(Serialize)]
struct Result {
    target: String,
    server: String,
    level: Level,
    settle: &'static str,
    realtime: bool,
    /// Cases that ran twice.
    cases: u64,
    /// Cases that ran at least once; more than `cases` only after Ctrl-C.
    begun: u64,
    statements: u64,
    waits: u64,
    false_decisions: u64,
    differ: u64,
    why: BTreeMap<Why, u64>,
    /// The numbers of the cases that differ without an explanation.
    unexplained: Vec<u64>,
}

/// Runs it.
pub fn run(args: Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let mut results = Vec::new();
    for target in &args.on.targets(args.level)? {
        for level in Levels::or_default(args.level, target.product)? {
            if interrupt::asked() {
                break;
            }
            let mut options = args.on.how.options(Reset::Clean);
            options.watch = Some(Duration::from_micros(args.watch));
            options.tries = 1;
            let mut runner = targets::runner(target, &args.on.how, options)?;
            let result = measure(&args, &mut runner, target, level)?;
            if !args.json {
                show(&result);
            }
            results.push(result);
        }
    }
    if args.json {
        say!("{}", serde_json::to_string_pretty(&results)?);
    }
    let faults = results.iter().any(|result| !result.unexplained.is_empty() || result.false_decisions > 0);
    Ok(if interrupt::asked() { 2 } else { u8::from(faults) })
}

fn measure(args: &Args, runner: &mut Runner, target: &model::Target, level: Level) -> anyhow::Result<Result> {
    let product = target.product;
    let mut progress = Progress::new(format!("{target} {level}"), args.cases * 2);
    let mut one = |number: u64, runner: &mut Runner| -> anyhow::Result<Trace> {
        let case = generate::workload::case(args.seed, number, product);
        let run = runner
            .run(&case, level)
            .map_err(|error| errors::of_case(&format!("case {number}"), &case, error))?;
        progress.step();
        Ok(run.trace)
    };
    let mut first = Vec::new();
    for number in 0..args.cases {
        if interrupt::asked() {
            break;
        }
        first.push(one(number, runner)?);
    }
    let mut order: Vec<usize> = (0..first.len()).collect();
    args.seed.rng("shuffle", 0).shuffle(&mut order);
    let (mut compared, mut differ) = (0, 0);
    let mut reasons: BTreeMap<Why, u64> = BTreeMap::new();
    let mut unexplained = Vec::new();
    for number in order {
        if interrupt::asked() {
            break;
        }
        let second = one(number as u64, runner)?;
        compared += 1;
        // A trace with a false decision is no evidence; the decision itself is counted.
        if first[number].false_decisions + second.false_decisions > 0 {
            continue;
        }
        if let Some(reason) = why(&first[number], &second) {
            differ += 1;
            *reasons.entry(reason).or_default() += 1;
            if reason == Why::Unexplained {
                unexplained.push(number as u64);
            }
        }
    }
    progress.end();
    let counts = runner.counts();
    let info = runner.info().map_err(|error| anyhow::anyhow!(error))?;
    Ok(Result {
        target: target.to_string(),
        server: format!("{} {}", info.product, info.version),
        level,
        settle: runner.executor().map_err(|error| anyhow::anyhow!(error))?.settles_by(),
        realtime: runner.placed().realtime,
        cases: compared,
        begun: first.len() as u64,
        statements: counts.statements,
        waits: counts.waits,
        false_decisions: counts.false_decisions,
        differ,
        why: reasons,
        unexplained,
    })
}

fn show(result: &Result) {
    let priority = if result.realtime { "real-time priority" } else { "ordinary priority" };
    say!("{} · {} · settled by {} · {priority}", result.server, result.level, result.settle);
    say!(
        "  {} twice, {}, {} waited, {}",
        plural(result.cases, "case"),
        plural(result.statements, "statement"),
        result.waits,
        plural(result.false_decisions, "false decision")
    );
    if result.begun > result.cases {
        let once = plural(result.begun - result.cases, "case");
        say!("  interrupted: {once} ran once only, not compared");
    }
    say!("  {} of {} gave another trace", result.differ, plural(result.cases, "case"));
    for reason in Why::ALL {
        if let Some(count) = result.why.get(&reason) {
            say!("    {count:>5}  {}", reason.words());
        }
    }
    if !result.unexplained.is_empty() {
        let numbers: Vec<String> = result.unexplained.iter().take(20).map(u64::to_string).collect();
        say!("  unexplained case numbers: {}", numbers.join(", "));
    }
}
