//! `isopod bench strategies`: each way to make transactions collide against none, in the same number of cases.
//!
//! As Fucci's Figure 7 compares its strategies, but by what can be counted in minutes: cases that truly conflicted,
//! opportunities for each known family, and which kinds of statement met at which level. Several seeds, median and worst.

use campaign::{Counter, sample::truly_conflicts};
use execute::{Reset, Runner};
use generate::{Generator, Profile, Strategy};
use model::{Case, Level, Seed, Target, Trace};
use oracles::opportunities::{ALL, Opportunity, Sort};
use serde::Serialize;

use crate::{
    arguments::{Levels, Where, count, levels},
    errors, interrupt,
    output::say,
    profiles,
    progress::Progress,
    targets,
};

/// Options.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    /// How many seeds
    #[arg(long, default_value_t = 10, value_parser = count)]
    seeds: u64,
    /// How many cases for each strategy and seed
    #[arg(long, default_value_t = 100, value_parser = count)]
    cases: u64,
    /// The first seed; the others are derived from it
    #[arg(long, default_value = "150D-0000-0001")]
    seed: Seed,
    /// The profile whose strategies are weighed anew
    #[arg(long, default_value = "wide", value_name = "NAME|FILE")]
    profile: String,
    /// The isolation level (RU, RC, RR, SER), or all that the product has
    #[arg(long, default_value = "all", value_parser = levels)]
    level: Levels,
    /// The figures, as JSON
    #[arg(long)]
    json: bool,
}

/// A figure over the seeds.
#[derive(Serialize)]
struct Figure {
    name: &'static str,
    median: u64,
    worst: u64,
}

impl Figure {
    fn of(name: &'static str, mut figures: Vec<u64>) -> Figure {
        figures.sort_unstable();
        Figure { name, median: figures[figures.len() / 2], worst: figures[0] }
    }
}

/// What a strategy came to.
#[derive(Serialize)]
struct Line {
    strategy: &'static str,
    conflicting: Figure,
    /// Kinds of statement of two sessions that met at a table, with the level.
    pairs: Figure,
    families: Vec<Figure>,
}

#[derive(Serialize)]
struct Measured {
    target: String,
    server: String,
    seeds: u64,
    cases: u64,
    lines: Vec<Line>,
}

/// One strategy with one seed.
struct Counts {
    conflicting: u64,
    pairs: u64,
    families: Vec<u64>,
}

/// Runs it.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let profile = profiles::load(&args.profile)?;
    let mut all = Vec::new();
    for target in &args.on.targets(Some(args.level))? {
        let Some(measured) = measure(args, &profile, target)? else { return Ok(2) };
        if !args.json {
            show(&measured);
        }
        all.push(measured);
    }
    if args.json {
        say!("{}", serde_json::to_string_pretty(&all)?);
    }
    Ok(0)
}

/// Measures a target; nothing if the user asked to stop.
fn measure(args: &Args, profile: &Profile, target: &Target) -> anyhow::Result<Option<Measured>> {
    let levels = args.level.on(target.product)?;
    let mut runner = targets::runner(target, &args.on.how, args.on.how.options(Reset::Fast))?;
    let info = runner.info().map_err(|error| anyhow::anyhow!(error))?;
    let total = Strategy::ALL.len() as u64 * args.seeds * args.cases;
    let mut progress = Progress::new(target.to_string(), total);
    let mut lines = Vec::new();
    for strategy in Strategy::ALL {
        let mut runs: Vec<Counts> = Vec::new();
        for number in 0..args.seeds {
            let seed = Seed(args.seed.sub("strategies", number) >> 16);
            let profile = only(profile, strategy);
            let mut generator = Generator::with(seed, target.product, &info.version, &levels, profile);
            match count_one(args, target, &mut generator, &mut runner, levels[0], &mut progress)? {
                Some(counts) => runs.push(counts),
                None => return Ok(None),
            }
        }
        lines.push(line(strategy, &runs));
    }
    progress.end();
    let server = format!("{} {}", info.product, info.version);
    Ok(Some(Measured { target: target.to_string(), server, seeds: args.seeds, cases: args.cases, lines }))
}

/// The profile with this strategy alone. Few orders of each set, so that few cases are many sets.
fn only(profile: &Profile, strategy: Strategy) -> Profile {
    let mut profile = profile.clone();
    profile.strategies.values_mut().for_each(|weight| *weight = 0);
    profile.strategies.insert(strategy.name().to_string(), 1);
    profile.cases.orders_per_set = 2;
    profile.cases.sets_per_schema = 10;
    profile
}

fn count_one(
    args: &Args,
    target: &Target,
    generator: &mut Generator,
    runner: &mut Runner,
    level: Level,
    progress: &mut Progress,
) -> anyhow::Result<Option<Counts>> {
    let mut counter = Counter::new(target.product);
    let mut conflicting = 0;
    for number in 0..args.cases {
        if interrupt::asked() {
            return Ok(None);
        }
        let made = generator.case(number);
        let mut one = |case: &Case| -> anyhow::Result<Trace> {
            let run = runner
                .run(case, level)
                .map_err(|error| errors::of_case(&format!("case {number}"), case, error))?;
            Ok(run.trace)
        };
        let trace = one(&made.case)?;
        counter.add(&made, &trace);
        conflicting += u64::from(truly_conflicts(&made.case, &trace, one)?);
        progress.step();
    }
    let quality = counter.quality;
    // Only at the levels at which the family can exist.
    let could = |one: &Opportunity| {
        let levels = (one.exists)(target.product).iter();
        levels.map(|&level| quality.could_show(one.name, level)).sum()
    };
    let families = ALL.iter().filter(|o| o.sort == Sort::Family).map(could).collect();
    Ok(Some(Counts { conflicting, pairs: quality.meetings.len() as u64, families }))
}

fn line(strategy: Strategy, runs: &[Counts]) -> Line {
    let families = ALL.iter().filter(|o| o.sort == Sort::Family).enumerate();
    Line {
        strategy: strategy.name(),
        conflicting: Figure::of("conflicting", runs.iter().map(|run| run.conflicting).collect()),
        pairs: Figure::of("pairs", runs.iter().map(|run| run.pairs).collect()),
        families: families
            .map(|(at, family)| Figure::of(family.name, runs.iter().map(|run| run.families[at]).collect()))
            .collect(),
    }
}

fn show(measured: &Measured) {
    say!(
        "{} · {} seeds of {} cases for each strategy · median (worst)",
        measured.server,
        measured.seeds,
        measured.cases
    );
    let names: Vec<&str> =
        measured.lines.first().map(|line| line.families.iter().map(|f| f.name).collect()).unwrap_or_default();
    let heads: Vec<String> = names.iter().map(|name| format!("{name:>14}")).collect();
    say!("  {:<16}{:>14}{:>14}{}", "strategy", "conflicting", "pairs", heads.join(""));
    for line in &measured.lines {
        let cell = |figure: &Figure| format!("{:>14}", format!("{} ({})", figure.median, figure.worst));
        let families: Vec<String> = line.families.iter().map(cell).collect();
        say!("  {:<16}{}{}{}", line.strategy, cell(&line.conflicting), cell(&line.pairs), families.join(""));
    }
    say!("  pairs: kinds of statement of two sessions that met at a table, each with its level");
}
