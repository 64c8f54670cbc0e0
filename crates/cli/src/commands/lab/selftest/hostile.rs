//! `isopod selftest hostile`.

use std::time::Duration;

use lab::selftest::hostile::{Figures, Plan, measure};
use model::Seed;

use super::super::{Form, code, with};
use crate::{
    arguments::{How, count},
    errors::of_lab,
    output::{plural, say},
};

#[derive(clap::Args)]
pub struct Args {
    /// How many talks: the scenes, and then in turn one that is cut and one that is drawn
    #[arg(long, default_value_t = 300, value_parser = count)]
    talks: u64,
    /// Where the drawn talks come from: the same seed gives the same talks
    #[arg(long, default_value_t = Seed(1))]
    seed: Seed,
    /// Only scenes whose name holds one of these, with commas; nothing is drawn then
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<String>,
    /// How many talks at a time
    #[arg(long, default_value_t = 4, value_parser = count)]
    workers: u64,
    /// How many seconds one may take
    #[arg(long, value_name = "SECONDS", default_value_t = 15, value_parser = count)]
    limit: u64,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    form: Form,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    let exe = std::env::current_exe()?;
    let folder = provision::scratch::temporary()?;
    let plan = Plan {
        talks: args.talks,
        seed: args.seed,
        only: &args.only,
        workers: args.workers,
        limit: Duration::from_secs(args.limit),
        exe: &exe,
        folder: folder.path(),
    };
    let figures = with(&args.how, |lab| measure(lab, &plan).map_err(of_lab))?;
    if args.form.json {
        say!("{}", serde_json::to_string_pretty(&figures)?);
    } else {
        show(&figures);
    }
    Ok(code(!figures.failures.is_empty()))
}

fn show(figures: &Figures) {
    let codes: Vec<String> =
        figures.codes.iter().map(|(code, times)| format!("{code} {}", plural(*times, "time"))).collect();
    say!(
        "{} · {} MySQL, {} PostgreSQL · exit codes {}",
        plural(figures.talks, "talk"),
        figures.mysql,
        figures.postgres,
        codes.join(", ")
    );
    say!("  the longest took {:.1} s: {}", figures.seconds, figures.slowest);
    say!("  the largest had {} MB: {}", figures.memory >> 20, figures.largest);
    for failure in &figures.failures {
        say!("\n{}", failure.talk);
        failure.what.iter().for_each(|line| say!("  {line}"));
    }
    say!("\n{} of {} as they should be", figures.talks - figures.failures.len() as u64, figures.talks);
}
