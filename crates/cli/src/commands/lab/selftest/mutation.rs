//! `isopod selftest mutation`.

use std::path::PathBuf;

use lab::selftest::mutation::{Figures, Plan, WANTED, measure, read};
use model::{Seed, Target};
use report::findings::{share, thousands};

use super::super::{Form, ProfileName, code, with};
use crate::{
    arguments::{Levels, Where, count, levels},
    errors::of_lab,
    oracle_args,
    output::{by_count, percent, plural, say},
};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    /// Take kept traces instead of running cases: files, folders of them, or run folders
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["chosen", "basedir", "profile"])]
    traces: Vec<PathBuf>,
    /// How many cases are run (by default 2000), or read (by default all)
    #[arg(long, value_parser = count)]
    cases: Option<u64>,
    /// Stop when so many were accepted
    #[arg(long, value_parser = count)]
    accepted: Option<u64>,
    /// Isolation levels (RU, RC, RR, SER), or all
    #[arg(long, default_value = "all", value_parser = levels)]
    level: Levels,
    /// Where the cases and the mutations come from
    #[arg(long, default_value = "150D-0000-0001")]
    seed: Seed,
    #[command(flatten)]
    profile: ProfileName,
    /// Who judges
    #[arg(long, default_value = "model", value_name = "NAME")]
    oracle: String,
    /// Show so many of each mutation that went through
    #[arg(long, value_name = "MUTANTS", default_value_t = 3)]
    show: usize,
    #[command(flatten)]
    form: Form,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    oracle_args::named(std::slice::from_ref(&args.oracle))?;
    let plan = Plan {
        cases: args.cases,
        accepted: args.accepted,
        seed: args.seed,
        oracle: &args.oracle,
        examples: args.show,
    };
    let targets = if args.traces.is_empty() { args.on.targets(None)? } else { Vec::new() };
    let all = with(&args.on.how, |lab| {
        if !args.traces.is_empty() {
            let read = read(lab, &plan, &args.traces).map_err(of_lab)?;
            return args.form.each(read, |figures| Ok(Some(figures)), show);
        }
        let one = |target: &Target| {
            let profile = args.profile.load()?;
            let levels = args.level.on(target.product)?;
            measure(lab, &plan, target, profile, &levels).map(Some).map_err(of_lab)
        };
        args.form.each(&targets, one, show)
    })?;
    let few = |one: &Figures| one.mutants == 0 || one.flagged * 100 < one.mutants * WANTED;
    Ok(code(all.iter().any(few)))
}

fn show(result: &Figures) {
    say!("{} · {} · judged by {}", result.target, result.server, result.oracle);
    say!(
        "  {}, {} accepted ({}), {} mutants, {} flagged: {} ({WANTED}% are wanted)",
        plural(result.cases, "case"),
        thousands(result.accepted),
        share(result.accepted, result.cases),
        thousands(result.mutants),
        thousands(result.flagged),
        percent(result.flagged, result.mutants)
    );
    for (name, counted) in &result.mutations {
        say!(
            "  {name:12}  {:>7} mutants  {:>7} flagged  {:>7} through  {:>6}",
            thousands(counted.mutants),
            thousands(counted.flagged),
            thousands(counted.mutants - counted.flagged),
            percent(counted.flagged, counted.mutants)
        );
        if counted.suspected > 0 {
            let suspected = thousands(counted.suspected);
            say!("    {suspected:>9}  of those flagged are lock-suspects: without further runs no finding");
        }
        for (name, count) in by_count(&counted.through) {
            say!("    {:>9}  {name}", thousands(count));
        }
        counted.examples.iter().for_each(|example| say!("      {example}"));
    }
}
