//! `isopod bench execute`: the same statements bare on one connection and through the executor, in one run.
//!
//! Absolute times are noise on a shared machine, so the two are measured in turns and the ratio is what counts.

use std::time::{Duration, Instant};

use campaign::Servers;
use execute::{Executor, Reset, ask};
use model::{Case, Level, SessionSpec, Setup, Step, Target};
use serde::Serialize;

use super::us;
use crate::Lab;

#[derive(Serialize)]
pub struct Figures {
    pub target: String,
    pub server: String,
    /// How waits were known where statements were counted.
    pub settle: &'static str,
    pub pinned: bool,
    pub realtime: bool,
    /// Medians over the turns, statements per second.
    pub bare_per_second: f64,
    pub executor_per_second: f64,
    pub ratio: f64,
    /// For each way to know that a statement waits, the one above first; none where nothing waits.
    pub waits: Vec<Waits>,
    pub reset_clean_us: f64,
    pub reset_fast_us: f64,
}

/// From sending a statement to knowing that it waits, in microseconds.
#[derive(Serialize)]
pub struct Waits {
    pub settle: &'static str,
    pub known_median_us: f64,
    pub known_p99_us: f64,
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

/// Measures a target, each as often as `turns` says; nothing if the user asked to stop. `other_way`: brings up servers whose waits are known in the
/// other way, by /proc or in SQL.
pub fn measure(
    lab: &Lab<'_>,
    target: &Target,
    turns: u64,
    other_way: Option<&dyn Servers>,
) -> crate::Result<Option<Figures>> {
    let level = dialect::of(target.product).default_level;
    let mut times: Vec<[Duration; 2]> = Vec::new();
    let (mut waits, mut clean, mut fast) = (Vec::new(), Vec::new(), Vec::new());
    let mut runner = lab.runner(target, lab.options(Reset::Clean))?;
    let straight = no_waits();
    let steps = straight.steps.len() as f64;
    let info = runner.info()?;
    {
        let executor = runner.executor()?;
        let mut wire = executor.server().connect()?;
        executor.run(&straight, level)?;
        for _ in 0..turns {
            if lab.stopped() {
                return Ok(None);
            }
            executor.run(&straight, level)?;
            let begun = Instant::now();
            for step in &straight.steps {
                ask::ask(wire.as_mut(), &step.sql, ask::LIMIT)?;
            }
            times.push([begun.elapsed(), executor.timing.steps]);
            clean.push(executor.timing.reset);
            waits.extend(hot(executor, level)?);
        }
    }
    let settle = runner.executor()?.settles_by();
    let placed = runner.placed();
    drop(runner);
    let mut ways = vec![(settle, waits)];
    // Without waits there is nothing to know, whichever way.
    if !ways[0].1.is_empty()
        && let Some(servers) = other_way
    {
        let mut runner = servers.open(target, lab.options(Reset::Clean), lab.placement)?;
        let executor = runner.executor()?;
        let mut waits = Vec::new();
        for _ in 0..turns {
            if lab.stopped() {
                return Ok(None);
            }
            waits.extend(hot(executor, level)?);
        }
        ways.push((executor.settles_by(), waits));
    }
    let mut runner = lab.runner(target, lab.options(Reset::Fast))?;
    // One more than is counted: the first builds the tables.
    for turn in 0..=turns {
        runner.run(&straight, level)?;
        if turn > 0 {
            fast.push(runner.timing().reset);
        }
    }
    let rate = |i: usize| steps / median(times.iter().map(|pair| pair[i]).collect()).as_secs_f64();
    Ok(Some(Figures {
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
fn hot(executor: &mut Executor, level: Level) -> crate::Result<Vec<Duration>> {
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
    executor.run(&case, level)?;
    Ok(std::mem::take(&mut executor.timing.waits))
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
