//! `isopod report`: the pages, the Markdown and the scripts of a run.

mod elsewhere;
mod gather;
mod open;
mod write;

use std::path::PathBuf;

use campaign::Past;

use crate::{
    arguments::How,
    errors::Advised,
    interrupt,
    output::{plural, say},
};

/// Options.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  isopod report isopod-runs/2026-11-15T20-31
  isopod report isopod-runs/2026-11-15T20-31 --open
  isopod report isopod-runs/2026-11-15T20-31 --where     also where else: all versions, all levels

It writes the folder `report` into that of the run, and replaces one that is there: index.html for
the run; for each finding a page, Markdown for a bug tracker, and scripts that show it without
Isopod; findings.json for other programs. Every page is a file by itself that asks for nothing
from elsewhere. Exit codes: 0 it is written, 2 the job could not be done.")]
pub struct Args {
    /// The folder of a run, as `isopod hunt` names it
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Run the smallest case of each signature on all installed servers, at all levels, and put the table into the report
    #[arg(long = "where")]
    elsewhere: bool,
    #[command(flatten)]
    how: How,
    /// Open the page of the run in a browser
    #[arg(long)]
    open: bool,
}

/// Runs it.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let past = Past::read(&args.run).map_err(|error| Advised {
        message: error.to_string(),
        advice: vec!["write: isopod report RUN, the folder that `isopod hunt` has named as its `out`".into()],
    })?;
    let mut told = gather::gather(&past);
    if args.elsewhere {
        interrupt::listen();
        elsewhere::fill(&mut told, &args.how)?;
    }
    let page = write::write(&args.run.join("report"), &told)?;
    say!(
        "{} of {}, {}",
        plural(told.findings.len() as u64, "finding"),
        plural(told.run.groups.len() as u64, "signature"),
        page.display()
    );
    if args.open {
        open::open(&page)?;
    }
    Ok(0)
}
