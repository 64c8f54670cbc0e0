//! `isopod selftest levels`: real servers as planted bugs. What ran at one level is judged as if it had run at the next one, or on
//! another version, or with another setting; the oracles must find out.

use campaign::JudgeOverrides;
use model::{Level, Seed, Target};
use report::findings::{clock, thousands};
use serde::Serialize;

use super::hunts::{Hunt, complaints, filed};
use crate::{
    arguments::{Where, count},
    interrupt,
    output::say,
    profiles,
};

/// Options.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    /// How many cases for each lie
    #[arg(long, default_value_t = 2000, value_parser = count)]
    cases: u64,
    /// Another lie instead: a level (RR), a version (10.11.19) or a setting (name=value), for cases at all levels
    #[arg(long, value_name = "WHAT")]
    judge_as: Vec<JudgeOverrides>,
    /// Stop each hunt at the first finding
    #[arg(long)]
    first: bool,
    /// Where the cases come from
    #[arg(long, default_value = "150D-0000-0001")]
    seed: Seed,
    /// What is drawn how often: wide, core, pages, or a TOML file that names what it changes
    #[arg(long, default_value = "wide", value_name = "NAME|FILE")]
    profile: String,
    /// Who judges, with commas; by default all
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    oracle: Vec<String>,
    /// How many workers; with more than one the first case that is found need not be the lowest
    #[arg(long, default_value_t = 1, value_parser = count)]
    workers: u64,
    /// What came of it, as JSON
    #[arg(long)]
    json: bool,
}

/// One lie, and what came of it.
#[derive(Serialize)]
struct Lie {
    target: String,
    server: String,
    ran_at: Vec<Level>,
    judged_as: String,
    cases: u64,
    /// The number of the first case that a finding was made of, from 1.
    after: Option<u64>,
    /// Milliseconds of hunting before it.
    millis: Option<u64>,
    oracle: Option<String>,
    fingerprint: Option<String>,
    /// Cases in which an oracle called something violated; of several oracles the one with most.
    violated: u64,
    /// Cases of findings that are new under the lie.
    new: u64,
    undecided: u64,
    /// Findings before the first one that are there without the lie, too.
    others: u64,
    /// Suspicions that clean runs did not show.
    flaky: u64,
}

/// Runs it.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let mut lies = Vec::new();
    for target in &args.on.targets(None)? {
        for (levels, overrides) in planned(args, target) {
            if interrupt::asked() {
                break;
            }
            let lie = tell(args, target, &levels, overrides)?;
            if !args.json {
                show(&lie);
            }
            lies.push(lie);
        }
    }
    if args.json {
        say!("{}", serde_json::to_string_pretty(&lies)?);
    }
    let believed = lies.iter().any(|lie| lie.after.is_none());
    Ok(if interrupt::asked() { 2 } else { u8::from(believed) })
}

/// Which lies there are for a target.
fn planned(args: &Args, target: &Target) -> Vec<(Vec<Level>, JudgeOverrides)> {
    let has = dialect::of(target.product).levels;
    if !args.judge_as.is_empty() {
        let overrides = JudgeOverrides::all(&args.judge_as);
        return vec![(has.to_vec(), overrides)];
    }
    let pairs = has.windows(2).map(|pair| (vec![pair[0]], JudgeOverrides::of_level(pair[1])));
    pairs.collect()
}

fn tell(args: &Args, target: &Target, levels: &[Level], overrides: JudgeOverrides) -> anyhow::Result<Lie> {
    let hunt = Hunt {
        target,
        levels,
        cases: args.cases,
        until_first: args.first,
        seed: args.seed,
        profile: &profiles::load(&args.profile)?,
        oracles: &args.oracle,
        judge_as: overrides.clone(),
        workers: args.workers,
        how: &args.on.how,
        // Whatever an oracle says of the true run, it does not say because of the lie. But another version need not have what
        // is known of this one: if that is new under the lie, the lie is found out.
        shows: &|found, folder| {
            let mut of_the_truth = complaints(&found.oracle, &filed(folder)?);
            if found.known.is_none() && overrides.version.is_some() {
                of_the_truth.retain(|print| oracles::mvcc::known(print).is_none());
            }
            Ok(of_the_truth.is_empty())
        },
    };
    let done = hunt.run()?;
    if let Some(reason) = done.lost {
        anyhow::bail!("{target} was abandoned: {reason}");
    }
    let hunted = &done.summary.targets[0];
    let verdicts = hunted.quality.verdicts.values();
    let version = hunted.version.clone().unwrap_or_default();
    let first = done.first.as_ref();
    Ok(Lie {
        target: target.to_string(),
        server: format!("{} {version}", target.product),
        ran_at: levels.to_vec(),
        judged_as: overrides.to_string(),
        cases: hunted.tally.cases,
        after: first.map(|found| found.case + 1),
        millis: first.and_then(|found| {
            let row = done.summary.findings.iter().find(|row| row.filed.contains(&found.id));
            row.map(|row| row.first_at)
        }),
        oracle: first.map(|found| found.oracle.clone()),
        fingerprint: first.map(|found| campaign::verdicts::words(&found.fingerprint)),
        violated: verdicts.map(|verdicts| verdicts.violations()).max().unwrap_or(0),
        new: done.summary.new_ones().map(|row| row.cases).sum(),
        undecided: hunted.tally.undecided,
        others: done.others,
        flaky: hunted.tally.flaky,
    })
}

fn show(lie: &Lie) {
    let levels: Vec<&str> = lie.ran_at.iter().map(|level| level.short()).collect();
    say!("{} · ran at {}, judged as {}", lie.server, levels.join(" "), lie.judged_as);
    match (lie.after, lie.millis) {
        (Some(after), millis) => {
            let by = lie.oracle.as_deref().unwrap_or_default();
            let print = lie.fingerprint.as_deref().unwrap_or_default();
            let time = millis.map_or(String::new(), |millis| format!(" ({})", clock(millis)));
            say!("  found out in case {}{time} by {by}: {print}", thousands(after));
        }
        (None, _) => say!("  not found out"),
    }
    let rate = match lie.cases.checked_div(lie.new) {
        Some(each) => format!(", one in {}", thousands(each.max(1))),
        None => String::new(),
    };
    say!(
        "  {} cases, {} violated, {} of them new{rate}, {} undecided, {} flaky{}",
        thousands(lie.cases),
        thousands(lie.violated),
        thousands(lie.new),
        thousands(lie.undecided),
        thousands(lie.flaky),
        match lie.others {
            0 => String::new(),
            others => format!(", {} there without the lie, too", thousands(others)),
        }
    );
}
