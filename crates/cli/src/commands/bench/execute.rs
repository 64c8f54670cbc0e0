//! `isopod bench execute`: the same statements bare on one connection and through the executor, in one run.
//!
//! Absolute times are noise on a shared machine, so the two are measured in turns and the ratio is what counts.

use std::time::{Duration, Instant};

use execute::{Executor, Reset, ask};
use model::{Case, Level, SessionSpec, Setup, Step, Target};
use serde::Serialize;

use super::us;
use crate::{
    arguments::{How, SettleBy, Where, count},
    interrupt,
    output::say,
    targets,
};

/// Options.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    /// How often each is measured; what is shown is the median
    #[arg(long, default_value_t = 50, value_parser = count)]
    turns: u64,
    /// The figures, as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Result {
    target: String,
    server: String,
    /// How waits were known where statements were counted.
    settle: &'static str,
    pinned: bool,
    realtime: bool,
    /// Medians over the turns, statements per second.
    bare_per_second: f64,
    executor_per_second: f64,
    ratio: f64,
    /// For each way to know that a statement waits, the one above first; none where nothing waits.
    waits: Vec<Waits>,
    reset_clean_us: f64,
    reset_fast_us: f64,
}

/// From sending a statement to knowing that it waits, in microseconds.
#[derive(Serialize)]
struct Waits {
    settle: &'static str,
    known_median_us: f64,
    known_p99_us: f64,
}

impl Waits {
    fn of(settle: &'static str, times: Vec<Duration>) -> Option<Waits> {
        (!times.is_empty()).then(|| Waits {
            settle,
            known_median_us: us(median(times.clone())),
            known_p99_us: us(percentile(times, 99)),
        })
    }
}

/// Runs it.
pub fn run(args: Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let mut results = Vec::new();
    for target in &args.on.targets(None)? {
        let Some(result) = measure(&args, target)? else { return Ok(2) };
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

/// Measures a target; nothing if the user asked to stop.
fn measure(args: &Args, target: &Target) -> anyhow::Result<Option<Result>> {
    let level = dialect::of(target.product).default_level;
    let mut times: Vec<[Duration; 2]> = Vec::new();
    let (mut waits, mut clean, mut fast) = (Vec::new(), Vec::new(), Vec::new());
    let mut runner = targets::runner(target, &args.on.how, args.on.how.options(Reset::Clean))?;
    let straight = no_waits();
    let steps = straight.steps.len() as f64;
    let info = runner.info().map_err(|error| anyhow::anyhow!(error))?;
    {
        let executor = runner.executor().map_err(|error| anyhow::anyhow!(error))?;
        let mut wire = executor.server().connect()?;
        executor.run(&straight, level)?;
        for _ in 0..args.turns {
            if interrupt::asked() {
                return Ok(None);
            }
            let run = executor.run(&straight, level)?;
            let begun = Instant::now();
            for step in &straight.steps {
                ask::ask(wire.as_mut(), &step.sql, ask::LIMIT)?;
            }
            times.push([begun.elapsed(), run.timing.steps]);
            clean.push(run.timing.reset);
            waits.extend(hot(executor, level)?);
        }
    }
    let settle = runner.executor().map_err(|error| anyhow::anyhow!(error))?.settles_by();
    let placed = runner.placed();
    drop(runner);
    let mut ways = vec![(settle, waits)];
    // Without waits there is nothing to know, whichever way.
    if !ways[0].1.is_empty()
        && let Some(other) = other_way(args, target)
    {
        let mut runner = targets::runner(target, &other, other.options(Reset::Clean))?;
        let executor = runner.executor().map_err(|error| anyhow::anyhow!(error))?;
        let mut waits = Vec::new();
        for _ in 0..args.turns {
            if interrupt::asked() {
                return Ok(None);
            }
            waits.extend(hot(executor, level)?);
        }
        ways.push((executor.settles_by(), waits));
    }
    let mut runner = targets::runner(target, &args.on.how, args.on.how.options(Reset::Fast))?;
    // One more than is counted: the first builds the tables.
    for turn in 0..=args.turns {
        let run = runner.run(&straight, level).map_err(|error| anyhow::anyhow!(error))?;
        if turn > 0 {
            fast.push(run.timing.reset);
        }
    }
    let rate = |i: usize| steps / median(times.iter().map(|pair| pair[i]).collect()).as_secs_f64();
    Ok(Some(Result {
        target: target.to_string(),
        server: format!("{} {}", info.product, info.version),
        settle,
        pinned: placed.cpu.is_some(),
        realtime: placed.realtime,
        bare_per_second: rate(0),
        executor_per_second: rate(1),
        ratio: rate(1) / rate(0),
        waits: ways.into_iter().filter_map(|(settle, times)| Waits::of(settle, times)).collect(),
        reset_clean_us: us(median(clean)),
        reset_fast_us: us(median(fast)),
    }))
}

/// The other way to know that a statement waits. Of a server that somebody else started only the one that was asked for
/// is sure to work.
fn other_way(args: &Args, target: &Target) -> Option<How> {
    let settle = Some(match args.on.how.settle {
        None | Some(SettleBy::Proc) => SettleBy::Sql,
        Some(SettleBy::Sql) => SettleBy::Proc,
    });
    target.attached().is_none().then(|| How { settle, ..args.on.how.clone() })
}

fn median(times: Vec<Duration>) -> Duration {
    percentile(times, 50)
}

fn percentile(mut times: Vec<Duration>, percent: usize) -> Duration {
    times.sort_unstable();
    times.get(times.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default()
}

/// Four sessions, one whole transaction after the other, so that one connection can do the same.
fn no_waits() -> Case {
    let transaction = |i: usize| {
        let row = i % 4 + 1;
        [
            "BEGIN".to_string(),
            format!("SELECT b FROM t WHERE a = {row}"),
            format!("UPDATE t SET b = b + 1 WHERE a = {row}"),
            "COMMIT".to_string(),
        ]
        .map(|sql| Step { session: i % 4, sql, expect: Vec::new() })
    };
    Case { steps: (0..100).flat_map(transaction).collect(), ..base() }
}

/// Every third statement waits until the other commits.
fn hot(executor: &mut Executor, level: Level) -> anyhow::Result<Vec<Duration>> {
    let turn = |i: usize| {
        let (holder, waiter) = (i % 4, (i + 1) % 4);
        [
            (holder, "BEGIN"),
            (holder, "UPDATE t SET b = 1 WHERE a = 1"),
            (waiter, "UPDATE t SET b = 2 WHERE a = 1"),
            (holder, "COMMIT"),
        ]
        .map(|(session, sql)| Step { session, sql: sql.into(), expect: Vec::new() })
    };
    let case = Case { steps: (0..20).flat_map(turn).collect(), ..base() };
    Ok(executor.run(&case, level)?.timing.waits)
}

fn base() -> Case {
    Case {
        title: "bench".into(),
        sessions: (1..=4).map(|i| SessionSpec::plain(format!("T{i}"))).collect(),
        setup: Setup {
            statements: vec![
                "CREATE TABLE t(a INT PRIMARY KEY, b INT)".into(),
                "INSERT INTO t VALUES (1, 0), (2, 0), (3, 0), (4, 0)".into(),
            ],
        },
        ..Case::default()
    }
}

fn show(result: &Result) {
    let place = match (result.pinned, result.realtime) {
        (true, true) => "one CPU, real-time priority",
        (true, false) => "one CPU",
        (false, _) => "not pinned",
    };
    say!("{} · settled by {} · {place}", result.server, result.settle);
    say!("  bare, one connection      {:>10.0} statements/s", result.bare_per_second);
    say!(
        "  through the executor      {:>10.0} statements/s   {:.2} of bare",
        result.executor_per_second,
        result.ratio
    );
    if result.waits.is_empty() {
        say!("  nothing waits here");
    }
    for Waits { settle, known_median_us: median, known_p99_us: p99 } in &result.waits {
        say!("  a wait is known after     {median:>10.0} us median, {p99:.0} us p99   by {settle}");
    }
    say!(
        "  reset                     {:>10.0} us clean, {:.0} us fast",
        result.reset_clean_us,
        result.reset_fast_us
    );
}
