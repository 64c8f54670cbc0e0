//! `isopod selftest recovery`: the server is killed in the middle of a case. The outcome must say so, a new instance
//! must come up, and the next case must run on it.

use std::{process::Command, thread, time::Instant};

use execute::{Reset, Runner};
use model::{Case, Level, Reply, Seed, SessionSpec, Setup, Step, Target, seed::Rng};
use serde::Serialize;

use crate::{
    arguments::{How, Where, count},
    interrupt,
    output::{plural, say},
    progress::Progress,
    targets,
};

/// Options.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    /// How many times the server is killed
    #[arg(long, default_value_t = 10, value_parser = count)]
    times: u64,
    /// Draws the moment of each kill
    #[arg(long, default_value = "150D-0000-0001")]
    seed: Seed,
    /// The counts, as JSON
    #[arg(long)]
    json: bool,
}

/// So many blows in a row that all fall between two cases are no accident.
const BLOWS: usize = 10;

/// What one target came to.
#[derive(Serialize)]
struct Result {
    target: String,
    server: String,
    /// How often it was killed.
    killed: u64,
    /// How many traces say that the server died.
    seen: u64,
    /// Blows that fell between two cases; they do not count, and another followed.
    between: u64,
    /// How many of the next cases ran whole, on a new server.
    recovered: u64,
}

/// Runs it.
pub fn run(args: Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let mut results = Vec::new();
    for target in &args.on.targets(None)? {
        if interrupt::asked() {
            break;
        }
        let result = measure(&args, target)?;
        if !args.json {
            show(&result);
        }
        results.push(result);
    }
    if args.json {
        say!("{}", serde_json::to_string_pretty(&results)?);
    }
    let failed = results.iter().any(|result| result.seen < result.killed || result.recovered < result.killed);
    Ok(if interrupt::asked() { 2 } else { u8::from(failed) })
}

fn measure(args: &Args, target: &Target) -> anyhow::Result<Result> {
    let level = dialect::of(target.product).default_level;
    // Not pinned: the killer needs a CPU of its own to strike in the middle.
    let how = How { no_pin: true, ..args.on.how.clone() };
    let mut runner = targets::runner(target, &how, how.options(Reset::Clean))?;
    let info = runner.info().map_err(|error| anyhow::anyhow!(error))?;
    let server = format!("{} {}", info.product, info.version);
    let mut progress = Progress::new(target.to_string(), args.times);
    let mut rng = args.seed.rng("recovery", 0);
    let mut result =
        Result { target: target.to_string(), server, killed: 0, seen: 0, between: 0, recovered: 0 };
    for _ in 0..args.times {
        if interrupt::asked() {
            break;
        }
        for _ in 0..BLOWS {
            if killed_in_the_middle(&mut runner, level, &mut rng)? {
                result.seen += 1;
                break;
            }
            result.between += 1;
        }
        result.killed += 1;
        let next = runner.run(&case(20), level).map_err(|error| anyhow::anyhow!(error))?;
        let whole = |reply: &Reply| matches!(reply, Reply::Rows(_) | Reply::Done { .. });
        result.recovered += u64::from(next.trace.outcomes.iter().all(|outcome| whole(&outcome.reply)));
        progress.step();
    }
    progress.end();
    Ok(result)
}

fn show(result: &Result) {
    say!("{} · killed {} in the middle of a case", result.server, plural(result.killed, "time"));
    let say = if result.seen == 1 { "says" } else { "say" };
    say!("  {} {say} that the server died", plural(result.seen, "trace"));
    if result.between > 0 {
        say!("  {} fell between two cases", plural(result.between, "more blow"));
    }
    say!("  {} of the next cases ran whole, on a new server", result.recovered);
}

/// Kills the server while a long case runs on it. True if the trace says so.
fn killed_in_the_middle(runner: &mut Runner, level: Level, rng: &mut Rng) -> anyhow::Result<bool> {
    let case = case(400);
    let run = |runner: &mut Runner| runner.run(&case, level).map_err(|error| anyhow::anyhow!(error));
    // How long it takes, once its tables are there: the blow is to fall among its steps, not before the first one.
    run(runner)?;
    let begun = Instant::now();
    let steps = run(runner)?.timing.steps;
    let before = begun.elapsed().saturating_sub(steps);
    let after = before + steps.mul_f64(rng.below(1000) as f64 / 1000.0);
    let executor = runner.executor().map_err(|error| anyhow::anyhow!(error))?;
    let Some(pid) = executor.server().pid() else {
        anyhow::bail!("only servers that Isopod started can be killed")
    };
    let killer = thread::spawn(move || {
        thread::sleep(after);
        Command::new("kill").arg("-9").arg(pid.to_string()).status()
    });
    let mut died = false;
    while !died {
        let last = killer.is_finished();
        died = run(runner)?.trace.outcomes.iter().any(|outcome| outcome.reply == Reply::ServerDied);
        if last {
            break;
        }
    }
    let _ = killer.join();
    Ok(died)
}

fn case(steps: usize) -> Case {
    let sql = |i: usize| match i % 4 {
        0 => "BEGIN".to_string(),
        1 => "UPDATE t SET b = b + 1 WHERE a = 1".to_string(),
        2 => "SELECT * FROM t".to_string(),
        _ => "COMMIT".to_string(),
    };
    Case {
        title: "a case to die in".into(),
        sessions: vec![SessionSpec::plain("T1")],
        setup: Setup {
            statements: vec![
                "CREATE TABLE t(a INT PRIMARY KEY, b INT)".into(),
                "INSERT INTO t VALUES (1, 0)".into(),
            ],
        },
        steps: (0..steps).map(|i| Step { session: 0, sql: sql(i), expect: Vec::new() }).collect(),
        ..Case::default()
    }
}
