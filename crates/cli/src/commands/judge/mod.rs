//! `isopod judge`: traces that are stored, judged again without a server. One of a finding, or all that a hunt has kept.

mod examples;
mod kept;
mod one;

use std::path::PathBuf;

use campaign::Guise;
use model::{Level, Reason, Verdict};
use oracles::{Answer, Oracle};

use super::hunt::judges;
use crate::{arguments::count, errors::Advised};

use examples::Examples;

/// Options.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  isopod judge runs/1/findings/9b1f0a2c                  a finding's folder: its case and its trace
  isopod judge case.iso trace.json --oracle invariants   one oracle only
  isopod judge --traces runs/1                           all that `isopod hunt --keep-traces` kept, counted
  isopod judge --traces runs/1 --judge-as SER            as if every session had run at SERIALIZABLE

By default crash, invariants and model judge. An oracle that wants to see more runs (vote, decoupled) is
undecided here, and twins are not run, so what a concession explains is known by what it looks like. Exit codes: 0 nothing found, 1 findings, 2 the
job could not be done.")]
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
    /// Who judges, with commas; by default those who need no server: crash, invariants, model
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    oracle: Vec<String>,
    /// The level of sessions without one of their own; by default what the trace says
    #[arg(long)]
    level: Option<Level>,
    /// Tell the oracles another level (RR), version (10.11.19) or setting (name=value) than the true one
    #[arg(long, value_name = "WHAT")]
    judge_as: Vec<Guise>,
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

/// Runs it.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let bench = Bench {
        oracles: judges::named(&args.oracle)?,
        level: args.level,
        guise: args.judge_as.iter().cloned().fold(Guise::default(), Guise::and),
    };
    if !args.traces.is_empty() {
        let examples = args.out.as_deref().map(|folder| Examples::new(folder, args.each));
        return kept::run(&args.traces, &bench, examples, args.json);
    }
    match (&args.case, &args.trace) {
        (Some(case), Some(trace)) => one::run(case, trace, &bench, args.json),
        (Some(folder), None) if folder.is_dir() => {
            one::run(&folder.join("case.iso"), &folder.join("trace.json"), &bench, args.json)
        }
        (Some(_), None) | (None, _) => Err(Advised {
            message: "a case alone cannot be judged".into(),
            advice: vec![
                "write: isopod judge CASE TRACE, or the folder of a finding".into(),
                "to run a case and have it judged: isopod run CASE --target TARGET".into(),
            ],
        }
        .into()),
    }
}

/// Those who judge, and what they are told.
struct Bench {
    oracles: Vec<Box<dyn Oracle>>,
    level: Option<Level>,
    guise: Guise,
}

impl Bench {
    /// The run as the oracles see it.
    fn shown(&self, mut answer: Answer) -> Answer {
        answer.trace.level = self.level.unwrap_or(answer.trace.level);
        self.guise.over(&answer).into_owned()
    }

    /// What one of them says.
    fn verdict(oracle: &dyn Oracle, shown: &Answer) -> Verdict {
        if !campaign::judge::admissible(shown) {
            return Verdict::Undecided { reason: Reason::LateAnswer };
        }
        oracles::judge(oracle, shown)
    }
}
