//! `isopod bench oracles`.

use lab::bench::oracles::{Figures, Plan, measure};
use report::findings::thousands;

use super::super::{Form, Generated, code};
use crate::{arguments::Where, errors::of_lab, oracle_args, output::say, targets};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    #[command(flatten)]
    cases: Generated<1000>,
    /// Who judges, with commas; `vote` is the model on all and the decoupled run on its share
    #[arg(
        long,
        default_value = "invariants,model,decoupled,vote",
        value_delimiter = ',',
        value_name = "NAME"
    )]
    oracle: Vec<String>,
    #[command(flatten)]
    form: Form,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    provision::share_session();
    oracle_args::named(&args.oracle)?;
    let Generated { of, profile } = &args.cases;
    let profile = &profile.load()?;
    let plan = Plan { cases: of.cases, seed: of.seed, profile, oracles: &args.oracle };
    args.form.on_each(&args.on, None, show, |lab, target| {
        targets::ensure_installed(target)?;
        measure(lab, &plan, target).map_err(of_lab)
    })?;
    Ok(code(false))
}

fn show(result: &Figures) {
    say!("{} · profile {} · {} cases", result.server, result.profile, thousands(result.cases));
    say!("  {:<12}{:>10}{:>10}{:>8}{:>16}", "oracle", "decided", "violated", "kinds", "cases/minute");
    let none = ("not judged", result.executed_per_minute);
    say!("  {:<12}{:>10}{:>10}{:>8}{:>16}", none.0, "", "", "", thousands(none.1 as u64));
    for one in &result.oracles {
        say!(
            "  {:<12}{:>10}{:>10}{:>8}{:>16}   {:.2} of not judged",
            one.oracle,
            thousands(one.decided),
            thousands(one.violated),
            one.kinds,
            thousands(one.per_minute as u64),
            one.ratio
        );
    }
    if result.decided_by_both > 0 {
        say!(
            "  the model and the decoupled run both decide {} cases and disagree about {}",
            thousands(result.decided_by_both),
            thousands(result.disagreements)
        );
    }
}
