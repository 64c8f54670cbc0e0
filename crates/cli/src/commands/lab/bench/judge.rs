//! `isopod bench judge`.

use std::path::PathBuf;

use lab::bench::judge::{Figures, Plan, measure};
use report::findings::thousands;

use super::super::{Form, code};
use crate::{arguments::count, errors::of_lab, interrupt, oracle_args, output::say};

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
    #[command(flatten)]
    form: Form,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    oracle_args::named(std::slice::from_ref(&args.oracle))?;
    let plan = Plan { oracle: &args.oracle, cases: args.cases, rounds: args.rounds };
    interrupt::listen();
    args.form.each(&args.runs, |run| measure(&plan, &interrupt::asked, run).map_err(of_lab), show)?;
    Ok(code(false))
}

fn show(result: &Figures) {
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
