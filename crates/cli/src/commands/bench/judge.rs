//! `isopod bench judge`: how many cases an oracle judges in a second of CPU time, on traces in memory.
//!
//! Everything is read first, so that neither files nor servers count. The runs are judged in the order in which they were
//! kept, for that is how a hunt judges them: orders of one set of transactions come in a row, and sets of one schema too. Each
//! round has an oracle of its own, which remembers nothing of the round before.

use std::{
    panic::resume_unwind,
    path::{Path, PathBuf},
    thread,
    time::Instant,
};

use campaign::{
    Verdicts,
    traces::{self, Reader},
};
use oracles::{Answer, Oracle};
use report::findings::thousands;
use serde::Serialize;

use crate::{arguments::count, errors::Advised, interrupt, oracle_args, output::say};

/// Options.
#[derive(clap::Args)]
pub struct Args {
    /// Run folders of `isopod hunt --keep-traces`, or files of kept traces; each is measured by itself
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Who judges; one that wants to see more runs is measured until it asks for the first
    #[arg(long, default_value = "model", value_name = "NAME")]
    oracle: String,
    /// How many cases of each, from the first on; by default all
    #[arg(long, value_parser = count)]
    cases: Option<u64>,
    /// How often all are judged; what is shown is the median
    #[arg(long, default_value_t = 5, value_parser = count)]
    rounds: u64,
    /// The figures, as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Result {
    run: String,
    server: String,
    oracle: String,
    cases: u64,
    statements: u64,
    rounds: u64,
    holds: u64,
    violated: u64,
    undecided: u64,
    /// Medians over the rounds, by one thread: cases per second that it had a CPU, and per second that passed.
    per_cpu_second: f64,
    per_second: f64,
    /// What a case took of the CPU, in microseconds.
    case_us: f64,
}

/// Runs it.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let mut results = Vec::new();
    for path in &args.runs {
        let Some(result) = measure(args, path)? else { return Ok(2) };
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

/// Measures the traces of a run; nothing if the user asked to stop.
fn measure(args: &Args, path: &Path) -> anyhow::Result<Option<Result>> {
    let seen = load(path, args.cases)?;
    let Some(first) = seen.first() else {
        return Err(Advised {
            message: format!("no run was kept in {}", path.display()),
            advice: vec!["traces are kept by: isopod hunt --keep-traces".into()],
        }
        .into());
    };
    // In a thread of its own, as the workers of a hunt are: it must not get its memory from the holes that reading has left
    // among the traces.
    let judged = thread::scope(|scope| scope.spawn(|| judge(args, &seen)).join());
    let Some(Judged { cpu, wall, verdicts }) = judged.unwrap_or_else(|panic| resume_unwind(panic))? else {
        return Ok(None);
    };
    let (cases, cpu) = (seen.len() as f64, median(cpu));
    Ok(Some(Result {
        run: path.display().to_string(),
        server: format!("{} {}", first.trace.server.product, first.trace.server.version),
        oracle: args.oracle.clone(),
        cases: seen.len() as u64,
        statements: seen.iter().map(|run| run.case.steps.len() as u64).sum(),
        rounds: args.rounds,
        holds: verdicts.holds,
        violated: verdicts.violations(),
        undecided: verdicts.undecided(),
        per_cpu_second: cases / cpu,
        per_second: cases / median(wall),
        case_us: cpu * 1e6 / cases,
    }))
}

/// What judging came to.
struct Judged {
    /// The seconds of each round.
    cpu: Vec<f64>,
    wall: Vec<f64>,
    /// Those of the last round.
    verdicts: Verdicts,
}

/// Judges all of them as often as it was asked for; nothing if the user asked to stop.
fn judge(args: &Args, seen: &[Answer]) -> anyhow::Result<Option<Judged>> {
    let mut judged = Judged { cpu: Vec::new(), wall: Vec::new(), verdicts: Verdicts::default() };
    for _ in 0..args.rounds {
        let oracle = fresh(&args.oracle)?;
        judged.verdicts = Verdicts::default();
        let begun = (execute::os::cpu_time(), Instant::now());
        for run in seen {
            if interrupt::asked() {
                return Ok(None);
            }
            judged.verdicts.add(&oracles::judge(oracle.as_ref(), run));
        }
        judged.cpu.push((execute::os::cpu_time() - begun.0).as_secs_f64());
        judged.wall.push(begun.1.elapsed().as_secs_f64());
    }
    Ok(Some(judged))
}

/// All runs that were kept, or the first of them.
fn load(path: &Path, cases: Option<u64>) -> anyhow::Result<Vec<Answer>> {
    let files = traces::files(path).map_err(|error| Advised {
        message: error.to_string(),
        advice: vec!["traces are kept by: isopod hunt --keep-traces".into()],
    })?;
    let most = cases.map_or(usize::MAX, |cases| usize::try_from(cases).unwrap_or(usize::MAX));
    let mut all = Vec::new();
    for file in &files {
        for kept in Reader::open(file)? {
            if all.len() >= most {
                return Ok(all);
            }
            all.push(kept?.answer);
        }
    }
    Ok(all)
}

/// An oracle that has seen nothing yet.
fn fresh(name: &str) -> anyhow::Result<Box<dyn Oracle>> {
    let mut named = oracle_args::named(&[name.to_string()])?;
    named.pop().ok_or_else(|| anyhow::anyhow!("there is no oracle {name}"))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN).max(1e-9)
}

fn show(result: &Result) {
    say!("{} · {} · {}", result.server, result.oracle, result.run);
    say!(
        "  {} cases, {} statements · {} hold, {} violated, {} undecided",
        thousands(result.cases),
        thousands(result.statements),
        thousands(result.holds),
        thousands(result.violated),
        thousands(result.undecided)
    );
    say!(
        "  judged by one thread      {:>8.0} cases/s of CPU time   {:.1} us each; {:.0} cases/s by the clock",
        result.per_cpu_second,
        result.case_us,
        result.per_second
    );
}
