//! `isopod bench judge`: how many cases an oracle judges in a second of CPU time, on traces in memory.
//!
//! Everything is read first, so that neither files nor servers count. The runs are judged in the order in which they were
//! kept, for that is how a hunt judges them: orders of one set of transactions come in a row, and sets of one schema too. Each
//! round has an oracle of its own, which remembers nothing of the round before.

use std::{panic::resume_unwind, path::Path, thread, time::Instant};

use campaign::record::traces::{self, TraceReader};
use dialect::Execution;
use model::Verdicts;
use serde::Serialize;

use crate::{Nothing, Stop};

pub struct Plan<'a> {
    /// Who judges; the caller has checked the name.
    pub oracle: &'a str,
    /// At most, of each run; by default all.
    pub cases: Option<u64>,
    /// How often all are judged.
    pub rounds: u64,
}

#[derive(Serialize)]
pub struct Figures {
    pub run: String,
    pub server: String,
    pub oracle: String,
    pub cases: u64,
    pub statements: u64,
    pub rounds: u64,
    pub holds: u64,
    pub violated: u64,
    pub undecided: u64,
    /// Medians over the rounds, by one thread: cases per second that it had a CPU, and per second that passed.
    pub per_cpu_second: f64,
    pub per_second: f64,
    /// What a case took of the CPU, in microseconds.
    pub case_us: f64,
}

/// Measures the traces of a run; nothing if the user asked to stop.
pub fn measure(plan: &Plan<'_>, stop: &Stop, path: &Path) -> crate::Result<Option<Figures>> {
    let seen = load(path, plan.cases)?;
    let Some(first) = seen.first() else {
        return Err(Nothing::Traces(path.display().to_string()).into());
    };
    // In a thread of its own, as the workers of a hunt are: it must not get its memory from the holes that reading has left
    // among the traces.
    let judged = thread::scope(|scope| scope.spawn(|| judge(plan, stop, &seen)).join());
    let Some(Judged { cpu, wall, verdicts }) = judged.unwrap_or_else(|panic| resume_unwind(panic))? else {
        return Ok(None);
    };
    let (cases, cpu) = (seen.len() as f64, median(cpu));
    Ok(Some(Figures {
        run: path.display().to_string(),
        server: format!("{} {}", first.trace.server.product, first.trace.server.version),
        oracle: plan.oracle.to_string(),
        cases: seen.len() as u64,
        statements: seen.iter().map(|run| run.case.steps.len() as u64).sum(),
        rounds: plan.rounds,
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
fn judge(plan: &Plan<'_>, stop: &Stop, seen: &[Execution]) -> crate::Result<Option<Judged>> {
    let mut judged = Judged { cpu: Vec::new(), wall: Vec::new(), verdicts: Verdicts::default() };
    for _ in 0..plan.rounds {
        // One that has seen nothing yet.
        let oracle = crate::oracle(plan.oracle)?;
        judged.verdicts = Verdicts::default();
        let begun = (execute::os::cpu_time(), Instant::now());
        for run in seen {
            if stop() {
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
fn load(path: &Path, cases: Option<u64>) -> crate::Result<Vec<Execution>> {
    let files = traces::files(path).map_err(|error| Nothing::TraceFile(error.into()))?;
    let most = cases.map_or(usize::MAX, |cases| usize::try_from(cases).unwrap_or(usize::MAX));
    let mut all = Vec::new();
    for file in &files {
        for kept in TraceReader::open(file)? {
            if all.len() >= most {
                return Ok(all);
            }
            all.push(kept?.1);
        }
    }
    Ok(all)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN).max(1e-9)
}
