//! `isopod selftest recovery`: the server is killed in the middle of a case. The outcome must say so, a new instance
//! must come up, and the next case must run on it.

use std::{process::Command, thread, time::Instant};

use execute::{Reset, Runner};
use model::{Case, Level, Reply, Seed, SessionSpec, Setup, Step, Target, seed::Rng};
use serde::Serialize;

use crate::Lab;

/// So many blows in a row that all fall between two cases are no accident.
const BLOWS: usize = 10;

/// What one target came to.
#[derive(Serialize)]
pub struct Figures {
    pub target: String,
    pub server: String,
    pub killed: u64,
    /// How many traces say that the server died.
    pub seen: u64,
    /// Blows that fell between two cases; they do not count, and another followed.
    pub between: u64,
    /// How many of the next cases ran whole, on a new server.
    pub recovered: u64,
}

pub fn measure(lab: &Lab<'_>, target: &Target, times: u64, seed: Seed) -> crate::Result<Figures> {
    let level = dialect::of(target.product).default_level;
    // Not pinned: the killer needs a CPU of its own to strike in the middle.
    let mut runner = lab.unpinned(target, Reset::Clean)?;
    let info = runner.info()?;
    let server = format!("{} {}", info.product, info.version);
    let mut progress = lab.job(target.to_string(), times);
    let mut rng = seed.rng("recovery", 0);
    let mut result =
        Figures { target: target.to_string(), server, killed: 0, seen: 0, between: 0, recovered: 0 };
    for _ in 0..times {
        if lab.stopped() {
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
        let next = runner.run(&case(20), level)?;
        let whole = |reply: &Reply| matches!(reply, Reply::Rows(_) | Reply::Done { .. });
        result.recovered += u64::from(next.trace.outcomes.iter().all(|outcome| whole(&outcome.reply)));
        progress.step();
    }
    drop(progress);
    Ok(result)
}

/// Kills the server while a long case runs on it. True if the trace says so.
fn killed_in_the_middle(runner: &mut Runner, level: Level, rng: &mut Rng) -> crate::Result<bool> {
    let case = case(400);
    let run = |runner: &mut Runner| runner.run(&case, level);
    // How long it takes, once its tables are there: the blow is to fall among its steps, not before the first one.
    run(runner)?;
    let begun = Instant::now();
    run(runner)?;
    let steps = runner.timing().steps;
    let before = begun.elapsed().saturating_sub(steps);
    let after = before + steps.mul_f64(rng.below(1000) as f64 / 1000.0);
    let executor = runner.executor()?;
    let Some(pid) = executor.server().pid() else {
        return Err("only servers that Isopod started can be killed".into());
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
