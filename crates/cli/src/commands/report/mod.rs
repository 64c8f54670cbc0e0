//! `isopod report`: the pages, the Markdown and the scripts of a run.

mod gather;
mod open;
mod ready;
mod write;

use std::path::PathBuf;

use campaign::RunReader;
use lab::ready::Which;
use model::{Place, Target};

use crate::{
    arguments::How,
    errors::Advised,
    output::{plural, say},
    own_runs,
};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  isopod report isopod-runs/2026-11-15T20-31
  isopod report isopod-runs/2026-11-15T20-31 --open
  isopod report isopod-runs/2026-11-15T20-31 --where     also where else: all versions, all levels
  isopod report isopod-runs/2026-11-15T20-31 --ready     also which new ones are ready to be filed

It writes the folder `report` into that of the run, and replaces one that is there: index.html for
the run; for each finding a page, Markdown for a bug tracker, and scripts that show it without
Isopod; findings.json for other programs. Every page is a file by itself that asks for nothing
from elsewhere.

--ready fills in a checklist of seven items by running it, for one finding of each group: the
script 20 times with the product's own client on a server with its vendor's settings; the newest
release of its line; who built it; on MariaDB snapshot isolation; the sentence of the manual;
whether there is something to see; whether it is more than READ UNCOMMITTED. What fails, or was
not checked, is said with the reason; only what passes everything is called ready. It takes a
minute or two for each group, and the table of --where comes with it.

Exit codes: 0 it is written, 2 the job could not be done.")]
pub struct Args {
    /// The folder of a run, as `isopod hunt` names it
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Run the smallest case of each group on all installed servers, at all levels, and put the table into the report
    #[arg(long = "where")]
    elsewhere: bool,
    /// Fill in the checklist of what may be filed: for the new findings, for all, or for the one of this name
    #[arg(
        long,
        value_name = "all|ID",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "new"
    )]
    ready: Option<Which>,
    #[command(flatten)]
    how: How,
    /// Open the page of the run in a browser
    #[arg(long)]
    open: bool,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    let past = RunReader::read(&args.run).map_err(|error| {
        Advised::new(
            error.to_string(),
            ["write: isopod report RUN, the folder that `isopod hunt` has named as its `out`"],
        )
    })?;
    if args.ready.is_some() {
        let command = ["isopod", "report", &args.run.display().to_string(), "--ready"];
        // What is checked runs on servers of ours, but for those that were found in a folder.
        let used = |target: &Target| matches!(target.place, Place::Folder(_));
        own_runs::check(&past, args.how.trust, used, &command)?;
    }
    let mut data = gather::gather(&past);
    if args.elsewhere || args.ready.is_some() {
        ready::run(&mut data, &args.how, args.ready.as_ref(), args.elsewhere)?;
    }
    let page = write::write(&args.run.join("report"), &data)?;
    say!(
        "{} in {}, {}",
        plural(data.bugs.len() as u64, "finding"),
        plural(data.run.groups.len() as u64, "group"),
        page.display()
    );
    ready::show(&data);
    if args.open {
        open::open(&page)?;
    }
    Ok(0)
}
