//! `isopod bench hunt`: generated cases through generator, executor and reset, against the same statements sent bare.
//!
//! The two take turns on one server and one CPU, so that what else the machine does falls on both. No oracle judges.

use std::{
    thread,
    time::{Duration, Instant},
};

use execute::{Executor, Placement, Reset, Runner};
use generate::{Generator, Profile};
use model::{Case, Seed, Target};
use serde::Serialize;

use super::us;
use crate::{
    arguments::{Levels, Where, count},
    interrupt,
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
    #[arg(long, default_value_t = 3000, value_parser = count)]
    cases: u64,
    /// Where the cases come from
    #[arg(long, default_value = "150D-0000-0001")]
    seed: Seed,
    /// What is drawn how often: wide, core, pages, or a TOML file that names what it changes
    #[arg(long, default_value = "wide", value_name = "NAME|FILE")]
    profile: String,
    /// Use real-time priority where it is permitted, for both sides: less noise on a machine that does other things too. A
    /// hunt itself runs at ordinary priority
    #[arg(long)]
    realtime: bool,
    /// The figures, as JSON
    #[arg(long)]
    json: bool,
}

/// So many cases in a row before the other side's turn.
const TURN: u64 = 100;

#[derive(Serialize)]
struct Result {
    target: String,
    server: String,
    profile: String,
    profile_hash: String,
    settle: &'static str,
    pinned: bool,
    realtime: bool,
    cases: u64,
    statements: u64,
    waits: u64,
    /// Cases per second: bare, through the hunt, and through the hunt without the time until waits were known.
    bare_per_second: f64,
    hunt_per_second: f64,
    hunt_without_waits_per_second: f64,
    /// Of bare.
    ratio: f64,
    ratio_without_waits: f64,
    /// Where the time of a case goes, in microseconds: the hunt's way.
    generate_us: f64,
    reset_us: f64,
    steps_us: f64,
    waits_us: f64,
    rest_us: f64,
    /// Cases per second by one worker and by two, each with a CPU and a server of its own.
    one_worker_per_second: f64,
    two_workers_per_second: f64,
}

/// What one side took.
#[derive(Default)]
struct Times {
    bare: Duration,
    hunt: Duration,
    generate: Duration,
    reset: Duration,
    steps: Duration,
    waits: Duration,
    waited: u64,
    statements: u64,
    cases: u64,
}

/// Runs it.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    interrupt::listen();
    provision::share_session();
    let profile = profiles::load(&args.profile)?;
    let mut results = Vec::new();
    for target in &args.on.targets(None)? {
        let Some(result) = measure(args, target, &profile)? else { return Ok(2) };
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

/// Where a worker runs: the last CPU is the first one's, as in the other commands.
fn place(args: &Args, worker: usize, realtime: bool) -> Placement {
    let cpus = execute::os::cpus();
    let cpu = cpus.iter().rev().nth(worker % cpus.len().max(1)).copied();
    Placement { pin: !args.on.how.no_pin, realtime, cpu }
}

fn runner(args: &Args, target: &Target, worker: usize, realtime: bool) -> anyhow::Result<Runner> {
    targets::runner_at(target, &args.on.how, args.on.how.options(Reset::Fast), place(args, worker, realtime))
}

/// Measures a target; nothing if the user asked to stop.
fn measure(args: &Args, target: &Target, profile: &Profile) -> anyhow::Result<Option<Result>> {
    targets::version(target)?;
    let mut runner = runner(args, target, 0, args.realtime)?;
    let info = runner.info().map_err(|error| anyhow::anyhow!(error))?;
    let levels = Levels::All.on(target.product)?;
    let generator = || Generator::with(args.seed, info.product, &info.version, &levels, profile.clone());
    let mut times = Times::default();
    let mut progress = Progress::new(target.to_string(), args.cases);
    let executor = runner.executor().map_err(|error| anyhow::anyhow!(error))?;
    let settle = executor.settles_by();
    let mut bare = executor.bare(&levels)?;
    let mut generator_here = generator();
    let mut first = 0;
    while first < args.cases {
        if interrupt::asked() {
            return Ok(None);
        }
        let until = args.cases.min(first + TURN);
        let cases = hunt_turn(executor, &mut generator_here, first..until, levels[0], &mut times)?;
        for case in &cases {
            let plan = executor.plan(case);
            let begun = Instant::now();
            bare.run(executor, case, &plan, levels[0])?;
            times.bare += begun.elapsed();
        }
        first = until;
        progress.reached(first);
    }
    progress.end();
    let placed = runner.placed();
    drop(runner);
    let rate = |cases: u64, time: Duration| cases as f64 / time.as_secs_f64();
    let workers = |count: usize| workers(args, target, count, &generator);
    let (one, two) = (workers(1)?, workers(2)?);
    let each = |time: Duration| us(time) / times.cases as f64;
    let without = times.hunt - times.waits;
    Ok(Some(Result {
        target: target.to_string(),
        server: format!("{} {}", info.product, info.version),
        profile: profile.name.clone(),
        profile_hash: profile.hash(),
        settle,
        pinned: placed.cpu.is_some(),
        realtime: placed.realtime,
        cases: times.cases,
        statements: times.statements,
        waits: times.waited,
        bare_per_second: rate(times.cases, times.bare),
        hunt_per_second: rate(times.cases, times.hunt),
        hunt_without_waits_per_second: rate(times.cases, without),
        ratio: times.bare.as_secs_f64() / times.hunt.as_secs_f64(),
        ratio_without_waits: times.bare.as_secs_f64() / without.as_secs_f64(),
        generate_us: each(times.generate),
        reset_us: each(times.reset),
        steps_us: each(times.steps - times.waits),
        waits_us: each(times.waits),
        rest_us: each(times.hunt - times.generate - times.reset - times.steps),
        one_worker_per_second: one,
        two_workers_per_second: two,
    }))
}

/// The hunt's own way; gives the cases back for the other side.
fn hunt_turn(
    executor: &mut Executor,
    generator: &mut Generator,
    numbers: std::ops::Range<u64>,
    level: model::Level,
    times: &mut Times,
) -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for number in numbers {
        let begun = Instant::now();
        let made = generator.case(number);
        let generated = begun.elapsed();
        let run = executor.run(&made.case, level)?;
        times.hunt += begun.elapsed();
        times.generate += generated;
        times.reset += run.timing.reset;
        times.steps += run.timing.steps;
        times.waits += run.timing.proof;
        times.waited += run.timing.waits.len() as u64;
        times.statements += run.trace.outcomes.len() as u64;
        times.cases += 1;
        cases.push(made.case);
    }
    Ok(cases)
}

/// Cases per second by so many workers, each with a CPU and a server of its own.
fn workers(
    args: &Args,
    target: &Target,
    count: usize,
    generator: &(dyn Fn() -> Generator + Sync),
) -> anyhow::Result<f64> {
    let level = Levels::All.on(target.product)?[0];
    let work = |worker: usize, ready: &std::sync::Barrier| -> anyhow::Result<Duration> {
        let runner = runner(args, target, worker, false);
        ready.wait();
        let mut runner = runner?;
        let mut generator = generator();
        let (share, begun) = (args.cases / 2, Instant::now());
        let first = worker as u64 * share.next_multiple_of(generator.cases_per_schema());
        for number in first..first + share {
            if interrupt::asked() {
                break;
            }
            let made = generator.case(number);
            runner.run(&made.case, level).map_err(|error| anyhow::anyhow!(error))?;
        }
        Ok(begun.elapsed())
    };
    let ready = std::sync::Barrier::new(count);
    let times: Vec<anyhow::Result<Duration>> = thread::scope(|scope| {
        let begun: Vec<_> = (0..count)
            .map(|worker| {
                let (work, ready) = (&work, &ready);
                scope.spawn(move || work(worker, ready))
            })
            .collect();
        begun
            .into_iter()
            .map(|one| one.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a worker panicked"))))
            .collect()
    });
    let mut sum = 0.0;
    for time in times {
        sum += (args.cases / 2) as f64 / time?.as_secs_f64();
    }
    Ok(sum)
}

fn show(result: &Result) {
    let place = match (result.pinned, result.realtime) {
        (true, true) => "one CPU, real-time priority",
        (true, false) => "one CPU",
        (false, _) => "not pinned",
    };
    say!(
        "{} · profile {} {} · settled by {} · {place}",
        result.server,
        result.profile,
        result.profile_hash,
        result.settle
    );
    say!("  {} cases, {} statements, {} waits", result.cases, result.statements, result.waits);
    say!(
        "  bare, one connection      {:>8.0} cases/s   resets and final states included",
        result.bare_per_second
    );
    say!("  the hunt's way            {:>8.0} cases/s   {:.2} of bare", result.hunt_per_second, result.ratio);
    say!(
        "    without knowing waits   {:>8.0} cases/s   {:.2} of bare",
        result.hunt_without_waits_per_second,
        result.ratio_without_waits
    );
    say!(
        "  a case takes {:.0} us to generate, {:.0} to reset, {:.0} for its steps, {:.0} to know its waits, {:.0} for the rest",
        result.generate_us,
        result.reset_us,
        result.steps_us,
        result.waits_us,
        result.rest_us
    );
    say!(
        "  workers                   {:>8.0} cases/s by one, {:.0} by two",
        result.one_worker_per_second,
        result.two_workers_per_second
    );
}
