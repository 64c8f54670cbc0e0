//! `isopod generate --stats`: the cases are run, and it is shown how good they are.
//!
//! All of them are run once from the fast reset and counted as a hunt counts them. A sample is also run in serial orders and
//! session by session, which tells whether a case truly conflicted and which statements would fail without anybody else.

use std::collections::BTreeMap;

use campaign::{
    Counter, Quality, Sample,
    quality::{Chance, chances},
};
use execute::{Reset, Runner};
use generate::{Generator, Profile};
use model::{ErrorClass, Level, Product, Target, Trace};
use serde::Serialize;

use super::Args;
use crate::{
    errors, interrupt,
    output::{plural, say},
    progress::Progress,
    targets,
};

/// What one target came to.
#[derive(Serialize)]
struct Stats {
    target: String,
    server: String,
    seed: String,
    profile: String,
    profile_hash: String,
    levels: Vec<Level>,
    quality: Quality,
    sample: Sample,
    chances: Vec<Chance>,
    /// Features that the product has and that did not occur.
    never: Vec<&'static str>,
}

/// Runs it.
pub fn run(args: &Args, profile: &Profile) -> anyhow::Result<u8> {
    let mut all = Vec::new();
    for target in &args.on.targets(Some(args.level))? {
        if interrupt::asked() {
            break;
        }
        let stats = measure(args, profile, target)?;
        if !args.json {
            show(&stats, target.product);
        }
        all.push(stats);
    }
    if args.json {
        say!("{}", serde_json::to_string_pretty(&all)?);
    }
    Ok(if interrupt::asked() { 2 } else { 0 })
}

fn measure(args: &Args, profile: &Profile, target: &Target) -> anyhow::Result<Stats> {
    let levels = args.level.on(target.product)?;
    let cases = args.cases.unwrap_or(50_000);
    let mut runner = targets::runner(target, &args.on.how, args.on.how.options(Reset::Fast))?;
    let info = runner.info().map_err(|error| anyhow::anyhow!(error))?;
    let mut generator = Generator::with(args.seed, target.product, &info.version, &levels, profile.clone());
    let mut counter = Counter::new(target.product);
    let mut sample = Sample::default();
    let mut progress = Progress::new(format!("{target}"), cases);
    // Spread over all schemas: a step that shares no factor with what a schema and a set hold.
    let every = (cases / args.sample.max(1)).max(1);
    for number in args.first..args.first.saturating_add(cases) {
        if interrupt::asked() {
            break;
        }
        let made = generator.case(number);
        let mut one = |case: &model::Case| once(&mut runner, case, levels[0], number);
        let trace = one(&made.case)?;
        counter.add(&made, &trace);
        if number % every == number / every % every && sample.cases < args.sample {
            sample.add(number, &made.case, &trace, one)?;
        }
        progress.step();
    }
    progress.end();
    let quality = counter.quality;
    Ok(Stats {
        target: target.to_string(),
        server: format!("{} {}", info.product, info.version),
        seed: args.seed.to_string(),
        profile: profile.name.clone(),
        profile_hash: profile.hash(),
        chances: chances(&quality, target.product),
        never: never(&quality, target.product, &info.version),
        levels,
        quality,
        sample,
    })
}

fn once(runner: &mut Runner, case: &model::Case, level: Level, number: u64) -> anyhow::Result<Trace> {
    let run =
        runner.run(case, level).map_err(|error| errors::of_case(&format!("case {number}"), case, error))?;
    Ok(run.trace)
}

/// Features that the server can have, and that did not occur.
fn never(quality: &Quality, product: Product, version: &model::Version) -> Vec<&'static str> {
    let possible = generate::features::possible(&dialect::capabilities(product, version));
    possible.into_iter().filter(|name| !quality.features.contains_key(*name)).collect()
}

/// So much of so many, in percent with one digit.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_string();
    }
    format!("{}.{}%", part * 100 / whole, part * 1000 / whole % 10)
}

fn show(stats: &Stats, product: Product) {
    let (quality, sample) = (&stats.quality, &stats.sample);
    let levels: Vec<&str> = stats.levels.iter().map(|level| level.short()).collect();
    say!(
        "{} · {} of seed {} · profile {} {} · {}",
        stats.server,
        plural(quality.cases, "case"),
        stats.seed,
        stats.profile,
        stats.profile_hash,
        levels.join(" ")
    );
    say!("");
    say!("Conflicts");
    say!(
        "  {:>6} of all cases waited or were refused by another transaction",
        percent(quality.conflicting, quality.cases)
    );
    say!(
        "  {:>6} waited, {} were refused",
        percent(quality.waited, quality.cases),
        percent(quality.refused, quality.cases)
    );
    say!(
        "  {:>6} of a sample of {} truly conflicted; {} differ from a serial order without either",
        percent(sample.conflicting, sample.cases),
        sample.cases,
        percent(sample.by_comparison, sample.cases)
    );
    for (name, share) in &quality.strategies {
        say!(
            "  {:>8} cases by {name:<16} {} waited or were refused",
            share.cases,
            percent(share.conflicting, share.cases)
        );
    }
    failures(quality, sample);
    features(stats);
    opportunities(stats, product);
}

fn failures(quality: &Quality, sample: &Sample) {
    say!("");
    say!("Statements that failed, of {}", quality.statements);
    classes(&quality.failed, quality.statements);
    for example in &quality.not_understood {
        say!("    not understood: {example}");
    }
    say!(
        "  run by their session alone: {} of {} ({})",
        sample.failures_alone(),
        sample.statements_alone,
        percent(sample.failures_alone(), sample.statements_alone)
    );
    classes(&sample.failed_alone, sample.statements_alone);
    for example in &sample.examples {
        say!("    {example}");
    }
}

fn classes(counts: &BTreeMap<ErrorClass, u64>, whole: u64) {
    for (class, count) in counts {
        say!("  {count:>8}  {:>6}  {class}", percent(*count, whole));
    }
}

fn features(stats: &Stats) {
    say!("");
    say!("Features, by the number of cases");
    let mut features: Vec<(&String, &u64)> = stats.quality.features.iter().collect();
    features.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
    for line in features.chunks(4) {
        let cells: Vec<String> = line.iter().map(|(name, count)| format!("{count:>8} {name:<20}")).collect();
        say!("{}", cells.join("").trim_end());
    }
    match stats.never.as_slice() {
        [] => say!("  every feature occurred"),
        never => say!("  never: {}", never.join(", ")),
    }
}

fn opportunities(stats: &Stats, product: Product) {
    say!("");
    say!(
        "Opportunities: cases that could have shown it. Where nothing was found, its rate is below the last figure (95%)"
    );
    for chance in &stats.chances {
        let below = chance.below.as_deref().unwrap_or("no chance");
        say!("  {:<20} {:<4} {:>8}   {below}", chance.name, chance.level, chance.cases);
    }
    for opportunity in oracles::opportunities::ALL.iter() {
        let none: Vec<&str> = stats
            .levels
            .iter()
            .filter(|level| !(opportunity.exists)(product).contains(level))
            .map(|level| level.short())
            .collect();
        if !none.is_empty() {
            say!("  {:<20} does not apply on {product} at {}", opportunity.name, none.join(", "));
        }
    }
}
