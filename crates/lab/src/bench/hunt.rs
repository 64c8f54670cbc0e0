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
use crate::{Lab, levels};

pub struct Plan<'a> {
    pub cases: u64,
    pub seed: Seed,
    pub profile: &'a Profile,
    /// Use real-time priority where it is permitted, for both sides.
    pub realtime: bool,
}

/// So many cases in a row before the other side's turn.
const TURN: u64 = 100;

#[derive(Serialize)]
pub struct Figures {
    pub target: String,
    pub server: String,
    pub profile: String,
    pub profile_hash: String,
    pub settle: &'static str,
    pub pinned: bool,
    pub realtime: bool,
    pub cases: u64,
    pub statements: u64,
    pub waits: u64,
    /// Cases per second: bare, through the hunt, and through the hunt without the time until waits were known.
    pub bare_per_second: f64,
    pub hunt_per_second: f64,
    pub hunt_without_waits_per_second: f64,
    /// Of bare.
    pub ratio: f64,
    pub ratio_without_waits: f64,
    /// Where the time of a case goes, in microseconds: the hunt's way.
    pub generate_us: f64,
    pub reset_us: f64,
    pub steps_us: f64,
    pub waits_us: f64,
    pub rest_us: f64,
    /// Cases per second by one worker and by two, each with a CPU and a server of its own.
    pub one_worker_per_second: f64,
    pub two_workers_per_second: f64,
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

/// Where a worker runs: the last CPU is the first one's, as in the other commands.
fn place(lab: &Lab<'_>, worker: usize, realtime: bool) -> Placement {
    let cpus = execute::os::cpus();
    let cpu = cpus.iter().rev().nth(worker % cpus.len().max(1)).copied();
    Placement { pin: lab.placement.pin, realtime, cpu }
}

fn runner(lab: &Lab<'_>, target: &Target, worker: usize, realtime: bool) -> crate::Result<Runner> {
    Ok(lab.servers.open(target, lab.options(Reset::Fast), place(lab, worker, realtime))?)
}

/// Measures a target; nothing if the user asked to stop.
pub fn measure(lab: &Lab<'_>, plan: &Plan<'_>, target: &Target) -> crate::Result<Option<Figures>> {
    let profile = plan.profile;
    let mut runner = runner(lab, target, 0, plan.realtime)?;
    let info = runner.info()?;
    let levels = levels(target.product);
    let generator = || Generator::with(plan.seed, info.product, &info.version, levels, profile.clone());
    let mut times = Times::default();
    let mut progress = lab.job(target.to_string(), plan.cases);
    let executor = runner.executor()?;
    let settle = executor.settles_by();
    let mut bare = executor.bare(levels)?;
    let mut generator_here = generator();
    let mut first = 0;
    while first < plan.cases {
        if lab.stopped() {
            return Ok(None);
        }
        let until = plan.cases.min(first + TURN);
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
    drop(progress);
    let placed = runner.placed();
    drop(runner);
    let rate = |cases: u64, time: Duration| cases as f64 / time.as_secs_f64();
    let workers = |count: usize| workers(lab, plan, target, count, &generator);
    let (one, two) = (workers(1)?, workers(2)?);
    let each = |time: Duration| us(time) / times.cases as f64;
    let without = times.hunt - times.waits;
    Ok(Some(Figures {
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
) -> crate::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for number in numbers {
        let begun = Instant::now();
        let made = generator.case(number);
        let generated = begun.elapsed();
        let run = executor.run(&made.case, level)?;
        times.hunt += begun.elapsed();
        times.generate += generated;
        times.reset += executor.timing.reset;
        times.steps += executor.timing.steps;
        times.waits += executor.timing.proof;
        times.waited += executor.timing.waits.len() as u64;
        times.statements += run.trace.outcomes.len() as u64;
        times.cases += 1;
        cases.push(made.case);
    }
    Ok(cases)
}

/// Cases per second by so many workers, each with a CPU and a server of its own.
fn workers(
    lab: &Lab<'_>,
    plan: &Plan<'_>,
    target: &Target,
    count: usize,
    generator: &(dyn Fn() -> Generator + Sync),
) -> crate::Result<f64> {
    let level = levels(target.product)[0];
    let work = |worker: usize, ready: &std::sync::Barrier| -> crate::Result<Duration> {
        let runner = runner(lab, target, worker, false);
        ready.wait();
        let mut runner = runner?;
        let mut generator = generator();
        let (share, begun) = (plan.cases / 2, Instant::now());
        let first = worker as u64 * share.next_multiple_of(generator.cases_per_schema());
        for number in first..first + share {
            if lab.stopped() {
                break;
            }
            let made = generator.case(number);
            runner.run(&made.case, level)?;
        }
        Ok(begun.elapsed())
    };
    let ready = std::sync::Barrier::new(count);
    let times: Vec<crate::Result<Duration>> = thread::scope(|scope| {
        let begun: Vec<_> = (0..count)
            .map(|worker| {
                let (work, ready) = (&work, &ready);
                scope.spawn(move || work(worker, ready))
            })
            .collect();
        begun.into_iter().map(|one| one.join().unwrap_or_else(|_| Err("a worker panicked".into()))).collect()
    });
    let mut sum = 0.0;
    for time in times {
        sum += (plan.cases / 2) as f64 / time?.as_secs_f64();
    }
    Ok(sum)
}
