//! `isopod bench oracles`: what the oracles see and what they cost, on the same cases in one run.
//!
//! Every case is executed once, as a hunt does it, and then judged by each oracle in turn on the same server: what an oracle
//! asks for (single statements on views, further runs) counts as its own time. Nothing is confirmed or reduced.

use std::time::{Duration, Instant};

use campaign::{CleanRuns, JudgeOverrides, Panel, Verdicts, panel::admissible};
use execute::Reset;
use generate::Generator;
use model::{Seed, Verdict};
use report::findings::thousands;
use serde::Serialize;

use crate::{
    arguments::{Levels, Where, count},
    interrupt, oracle_args,
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
    /// How many cases
    #[arg(long, default_value_t = 1000, value_parser = count)]
    cases: u64,
    /// Where the cases come from
    #[arg(long, default_value = "150D-0000-0001")]
    seed: Seed,
    /// What is drawn how often: wide, core, pages, or a TOML file that names what it changes
    #[arg(long, default_value = "wide", value_name = "NAME|FILE")]
    profile: String,
    /// Who judges, with commas; `vote` is the model on all and the decoupled run on its share
    #[arg(
        long,
        default_value = "invariants,model,decoupled,vote",
        value_delimiter = ',',
        value_name = "NAME"
    )]
    oracle: Vec<String>,
    /// The figures, as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Result {
    target: String,
    server: String,
    profile: String,
    cases: u64,
    /// Cases per minute, executed and not judged.
    executed_per_minute: f64,
    oracles: Vec<Judged>,
    /// Cases that the model and the decoupled run both decide, and of these those about which they do not agree.
    decided_by_both: u64,
    disagreements: u64,
}

/// What one oracle did.
#[derive(Serialize)]
struct Judged {
    oracle: String,
    decided: u64,
    violated: u64,
    /// Fingerprints among these.
    kinds: usize,
    /// Cases per minute, executed and judged.
    per_minute: f64,
    /// Of the same cases executed and not judged.
    ratio: f64,
}

/// Runs it.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    interrupt::listen();
    provision::share_session();
    let mut results = Vec::new();
    for target in &args.on.targets(None)? {
        let Some(result) = measure(args, target)? else { return Ok(2) };
        if !args.json {
            show(&result);
        }
        results.push(result);
    }
    if args.json {
        say!("{}", serde_json::to_string_pretty(&results)?);
    }
    Ok(0)
}

/// What an oracle said and how long it took.
struct Measured {
    oracle: &'static str,
    verdicts: Verdicts,
    took: Duration,
}

/// Measures a target; nothing if the user asked to stop.
fn measure(args: &Args, target: &model::Target) -> anyhow::Result<Option<Result>> {
    targets::version(target)?;
    let profile = profiles::load(&args.profile)?;
    let mut server = targets::clean_server(target, &args.on.how)?;
    server.set_postchecks(false);
    let info = server.info().map_err(|error| anyhow::anyhow!(error))?;
    let levels = Levels::All.on(target.product)?;
    let mut generator = Generator::with(args.seed, info.product, &info.version, &levels, profile.clone());
    let panel = Panel::new(oracle_args::named(&args.oracle)?, JudgeOverrides::default());
    let mut all: Vec<Measured> = panel
        .judges()
        .map(|judge| Measured {
            oracle: judge.oracle.name(),
            verdicts: Verdicts::default(),
            took: Duration::ZERO,
        })
        .collect();
    let mut progress = Progress::new(target.to_string(), args.cases);
    let (mut executed, mut both, mut disagreements) = (Duration::ZERO, 0, 0);
    for number in 0..args.cases {
        if interrupt::asked() {
            return Ok(None);
        }
        let begun = Instant::now();
        let made = generator.case(number);
        let run = server.run(&made.case, levels[0], Reset::Fast);
        let seen = run.map_err(|error| anyhow::anyhow!(error))?;
        executed += begun.elapsed();
        if !admissible(&seen) {
            continue;
        }
        let mut said = Vec::new();
        for (judge, measured) in panel.judges().zip(&mut all) {
            let begun = Instant::now();
            let verdict = judge.verdict(&seen, &mut server);
            measured.took += begun.elapsed();
            measured.verdicts.add(&verdict);
            said.push((measured.oracle, wrong(&verdict)));
        }
        let of = |name: &str| said.iter().find(|(oracle, _)| *oracle == name).and_then(|(_, said)| *said);
        if let (Some(one), Some(two)) = (of("model"), of("decoupled")) {
            both += 1;
            disagreements += u64::from(one != two);
        }
        progress.reached(number + 1);
    }
    progress.end();
    let minutes = |time: Duration| args.cases as f64 / time.as_secs_f64() * 60.0;
    let judged = |measured: &Measured| Judged {
        oracle: measured.oracle.to_string(),
        decided: measured.verdicts.holds + measured.verdicts.violations(),
        violated: measured.verdicts.violations(),
        kinds: measured.verdicts.violated.len(),
        per_minute: minutes(executed + measured.took),
        ratio: executed.as_secs_f64() / (executed + measured.took).as_secs_f64(),
    };
    Ok(Some(Result {
        target: target.to_string(),
        server: format!("{} {}", info.product, info.version),
        profile: profile.name.clone(),
        cases: args.cases,
        executed_per_minute: minutes(executed),
        oracles: all.iter().map(judged).collect(),
        decided_by_both: both,
        disagreements,
    }))
}

/// Is something wrong? Nothing where it cannot be told.
fn wrong(verdict: &Verdict) -> Option<bool> {
    match verdict {
        Verdict::Holds { .. } => Some(false),
        Verdict::Violated(_) => Some(true),
        Verdict::Undecided { .. } => None,
    }
}

fn show(result: &Result) {
    say!("{} · profile {} · {} cases", result.server, result.profile, thousands(result.cases));
    say!("  {:<12}{:>10}{:>10}{:>8}{:>16}", "oracle", "decided", "violated", "kinds", "cases/minute");
    let none = ("not judged", result.executed_per_minute);
    say!("  {:<12}{:>10}{:>10}{:>8}{:>16}", none.0, "", "", "", thousands(none.1 as u64));
    for one in &result.oracles {
        say!(
            "  {:<12}{:>10}{:>10}{:>8}{:>16}   {:.2} of not judged",
            one.oracle,
            thousands(one.decided),
            thousands(one.violated),
            one.kinds,
            thousands(one.per_minute as u64),
            one.ratio
        );
    }
    if result.decided_by_both > 0 {
        say!(
            "  the model and the decoupled run both decide {} cases and disagree about {}",
            thousands(result.decided_by_both),
            thousands(result.disagreements)
        );
    }
}
