//! `isopod bench strategies`.

use lab::bench::strategies::{Figure, Figures, Plan, measure};

use super::super::{Form, Generated, code};
use crate::{
    arguments::{Levels, Where, count, levels},
    errors::of_lab,
    output::say,
};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    /// How many seeds; those behind the first are derived from it. Each strategy gets all cases for each seed
    #[arg(long, default_value_t = 10, value_parser = count)]
    seeds: u64,
    #[command(flatten)]
    cases: Generated<100>,
    /// The isolation level (RU, RC, RR, SER), or all that the product has
    #[arg(long, default_value = "all", value_parser = levels)]
    level: Levels,
    #[command(flatten)]
    form: Form,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    let Generated { of, profile } = &args.cases;
    let profile = &profile.load()?;
    args.form.on_each(&args.on, Some(args.level), show, |lab, target| {
        let levels = &args.level.on(target.product)?;
        let plan = Plan { seeds: args.seeds, cases: of.cases, seed: of.seed, profile, levels };
        measure(lab, &plan, target).map_err(of_lab)
    })?;
    Ok(code(false))
}

fn show(measured: &Figures) {
    say!(
        "{} · {} seeds of {} cases for each strategy · median (worst)",
        measured.server,
        measured.seeds,
        measured.cases
    );
    let names: Vec<&str> =
        measured.lines.first().map(|line| line.families.iter().map(|f| f.name).collect()).unwrap_or_default();
    let heads: Vec<String> = names.iter().map(|name| format!("{name:>14}")).collect();
    say!("  {:<16}{:>14}{:>14}{}", "strategy", "conflicting", "pairs", heads.join(""));
    for line in &measured.lines {
        let cell = |figure: &Figure| format!("{:>14}", format!("{} ({})", figure.median, figure.worst));
        let families: Vec<String> = line.families.iter().map(cell).collect();
        say!("  {:<16}{}{}{}", line.strategy, cell(&line.conflicting), cell(&line.pairs), families.join(""));
    }
    say!("  pairs: kinds of statement of two sessions that met at a table, each with its level");
}
