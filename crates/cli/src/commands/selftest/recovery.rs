//! `isopod selftest recovery`: the server is killed in the middle of a case. The outcome must say so, a new instance
//! must come up, and the next case must run on it.

use std::{process::Command, thread, time::Duration};

use execute::{Reset, Runner};
use model::{Case, Level, Reply, Seed, SessionSpec, Setup, Step};

use crate::{arguments::Where, interrupt, progress::Progress, targets};

/// Options.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    /// How many times
    #[arg(long, default_value_t = 10)]
    times: u64,
    /// Draws the moment of each kill
    #[arg(long, default_value = "150D-0000-0001")]
    seed: Seed,
}

/// Runs it.
pub fn run(args: Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let mut failed = false;
    for target in &args.on.targets {
        let level = dialect::of(target.product).default_level;
        // Not pinned: the killer needs a CPU of its own to strike in the middle.
        let mut runner = targets::runner(target, &args.on.how, args.on.how.options(Reset::Clean))?;
        let mut progress = Progress::new(format!("{target}"), args.times);
        let mut rng = args.seed.rng("recovery", 0);
        let (mut died, mut done) = (0, 0);
        for _ in 0..args.times {
            if interrupt::asked() {
                break;
            }
            let after = Duration::from_micros(500 + rng.below(20_000) as u64);
            died += u64::from(killed_in_the_middle(&mut runner, level, after)?);
            let next = runner.run(&case(20), level).map_err(|error| anyhow::anyhow!(error))?;
            let whole = next
                .trace
                .outcomes
                .iter()
                .all(|outcome| matches!(outcome.reply, Reply::Rows(_) | Reply::Done { .. }));
            anyhow::ensure!(whole, "the case after a death did not run: {:?}", next.trace.outcomes);
            done += 1;
            progress.step();
        }
        progress.end();
        println!(
            "{target}: killed {done} times; {died} traces say that the server died; each next case ran on a new one"
        );
        failed |= died != done;
    }
    Ok(u8::from(failed))
}

/// Kills the server while a long case runs on it. True if the trace says so.
fn killed_in_the_middle(runner: &mut Runner, level: Level, after: Duration) -> anyhow::Result<bool> {
    let executor = runner.executor().map_err(|error| anyhow::anyhow!(error))?;
    let Some(pid) = executor.server().pid() else {
        anyhow::bail!("only servers that Isopod started can be killed")
    };
    let killer = thread::spawn(move || {
        thread::sleep(after);
        Command::new("kill").arg("-9").arg(pid.to_string()).status()
    });
    let mut trace = None;
    // The case is repeated until the blow falls inside one.
    for _ in 0..1000 {
        let run = runner.run(&case(200), level).map_err(|error| anyhow::anyhow!(error))?;
        let died = run.trace.outcomes.iter().any(|outcome| outcome.reply == Reply::ServerDied);
        trace = Some(run.trace);
        if died || killer.is_finished() {
            break;
        }
    }
    let _ = killer.join();
    Ok(trace.is_some_and(|trace| trace.outcomes.iter().any(|outcome| outcome.reply == Reply::ServerDied)))
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
