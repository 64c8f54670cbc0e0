//! `isopod generate --stats`: how good the cases are.

use std::collections::BTreeMap;

use campaign::Sample;
use generate::Profile;
use lab::generated::{Plan, Stats, measure};
use model::{ErrorClass, Quality};

use super::Args;
use crate::{
    commands::lab::{Form, code},
    errors::of_lab,
    output::{by_count, percent, plural, say, short},
};

pub fn run(args: &Args, profile: &Profile) -> anyhow::Result<u8> {
    Form { json: args.json }.on_each(&args.on, Some(args.level), show, |lab, target| {
        let levels = &args.level.on(target.product)?;
        let (first, cases, seed) = (args.first, args.cases.unwrap_or(50_000), args.seed);
        let plan = Plan { first, cases, seed, profile, levels, sample: args.sample };
        measure(lab, &plan, target).map(Some).map_err(of_lab)
    })?;
    Ok(code(false))
}

fn show(stats: &Stats) {
    let (quality, sample) = (&stats.quality, &stats.sample);
    say!(
        "{} · {} of seed {} · profile {} {} · {}",
        stats.server,
        plural(quality.cases, "case"),
        stats.seed,
        stats.profile,
        stats.profile_hash,
        short(&stats.levels, " ")
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
    opportunities(stats);
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
    for line in by_count(&stats.quality.features).chunks(4) {
        let cells: Vec<String> = line.iter().map(|(name, count)| format!("{count:>8} {name:<20}")).collect();
        say!("{}", cells.join("").trim_end());
    }
    match stats.never.as_slice() {
        [] => say!("  every feature occurred"),
        never => say!("  never: {}", never.join(", ")),
    }
}

fn opportunities(stats: &Stats) {
    let product = stats.product;
    say!("");
    say!(
        "Opportunities: cases that could have shown it. Where nothing was found, its rate is below the last figure (95%)"
    );
    for chance in &stats.chances {
        let below = chance.below.as_deref().unwrap_or("too few");
        say!("  {:<20} {:<4} {:>8}   {below}", chance.name, chance.level, chance.cases);
    }
    for opportunity in oracles::opportunities::ALL.iter() {
        let mut none = stats.levels.clone();
        none.retain(|level| !(opportunity.exists)(product).contains(level));
        if !none.is_empty() {
            say!("  {:<20} does not apply on {product} at {}", opportunity.name, short(&none, ", "));
        }
    }
}
