//! `isopod judge`: traces that are stored, judged again without a server. One of a finding, or all that a hunt has kept.

mod kept;
mod one;

use std::path::PathBuf;

use campaign::{Panel, overrides::overridden};
use dialect::Execution;
use model::{JudgeOverrides, Level};

use crate::{arguments::count, errors::Advised, oracle_args};

use lab::examples::Examples;

#[derive(clap::Args)]
#[command(after_help = format!("\
Examples:
  isopod judge runs/1/findings/9b1f0a2c                  a finding's folder: its case and its trace
  isopod judge case.iso trace.json --oracle invariants   one oracle only
  isopod judge --traces runs/1                           all that `isopod hunt --keep-traces` kept, counted
  isopod judge --traces runs/1 --judge-as SER            as if every session had run at SERIALIZABLE

By default {} judge. An oracle that needs a server ({}) is
undecided here, and twins are not run, so what a known deviation explains is known by what it looks like. Exit codes: 0 nothing found, 1 findings, 2 the
job could not be done.", oracle_args::without_server(), oracle_args::with_server()))]
pub struct Args {
    /// A case file; or the folder of a finding, which has both files
    #[arg(value_name = "CASE", required_unless_present = "traces")]
    case: Option<PathBuf>,
    /// What happened when it ran: a trace as JSON; an aftermath.json beside it is read, too
    #[arg(value_name = "TRACE")]
    trace: Option<PathBuf>,
    /// Files of kept traces, or folders of them, or run folders: print counts only
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["case", "trace"])]
    traces: Vec<PathBuf>,
    #[arg(long, value_delimiter = ',', value_name = "NAME", help = oracle_args::help_stored())]
    oracle: Vec<String>,
    /// The level of sessions without one of their own; by default what the trace says
    #[arg(long)]
    level: Option<Level>,
    /// Tell the oracles another level (RR), version (10.11.19) or setting (name=value) than the true one
    #[arg(long, value_name = "WHAT")]
    judge_as: Vec<JudgeOverrides>,
    /// With --traces: put the first runs of each violation and of each reason for being undecided into this folder
    #[arg(long, value_name = "DIR", requires = "traces")]
    out: Option<PathBuf>,
    /// With --out: so many of each
    #[arg(long, default_value_t = 3, value_parser = count, value_name = "RUNS", requires = "out")]
    each: u64,
    /// The verdicts or the counts, as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    let stored = Stored {
        panel: Panel::new(oracle_args::named(&args.oracle)?, JudgeOverrides::default()),
        level: args.level,
        overrides: JudgeOverrides::all(&args.judge_as),
    };
    if !args.traces.is_empty() {
        let examples = args.out.as_deref().map(|folder| Examples::new(folder, args.each));
        return kept::run(&args.traces, &stored, examples, args.json);
    }
    match (&args.case, &args.trace) {
        (Some(case), Some(trace)) => one::run(case, trace, &stored, args.json),
        (Some(folder), None) if folder.is_dir() => {
            one::run(&folder.join("case.iso"), &folder.join("trace.json"), &stored, args.json)
        }
        (Some(_), None) | (None, _) => Err(Advised::new(
            "a case alone cannot be judged",
            [
                "write: isopod judge CASE TRACE, or the folder of a finding",
                "to run a case and have it judged: isopod run CASE --target TARGET",
            ],
        )
        .into()),
    }
}

/// Those who judge stored runs, and what they are told.
struct Stored {
    panel: Panel,
    level: Option<Level>,
    overrides: JudgeOverrides,
}

impl Stored {
    /// The run as the oracles, and those who read, see it.
    fn shown(&self, mut execution: Execution) -> Execution {
        execution.trace.level = self.level.unwrap_or(execution.trace.level);
        overridden(&self.overrides, &execution).into_owned()
    }
}
