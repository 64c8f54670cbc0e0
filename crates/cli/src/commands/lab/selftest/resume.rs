//! `isopod selftest resume`.

use anyhow::Context;
use lab::selftest::resume::{Figures, Plan, measure};

use super::super::{Cases, Form, code};
use crate::{
    arguments::{Where, count},
    errors::of_lab,
    output::{plural, say, tell},
};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    /// How many times the hunt is killed; the seed draws the moments, too
    #[arg(long, default_value_t = 10, value_parser = count)]
    times: u64,
    #[command(flatten)]
    cases: Cases<3000>,
    /// How many workers it has
    #[arg(long, default_value_t = 2, value_parser = count)]
    workers: u64,
    #[command(flatten)]
    form: Form,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    let exe = std::env::current_exe()?;
    let Cases { cases, seed } = args.cases;
    let all = args.form.on_each(&args.on, None, show, |lab, target| {
        let temporary = provision::scratch::temporary().context("no place for the hunts can be made")?;
        let folder = temporary.path();
        let plan = Plan { times: args.times, cases, workers: args.workers, seed, exe: &exe, folder };
        let figures = measure(lab, &plan, target);
        if !matches!(&figures, Ok(figures) if figures.differences.is_empty()) {
            tell!("note: what the hunts left behind is in {}", temporary.keep().display());
        }
        figures.map(Some).map_err(of_lab)
    })?;
    Ok(code(all.iter().any(|one| !one.differences.is_empty())))
}

fn show(result: &Figures) {
    let hunts = plural(result.hunts, "hunt");
    say!(
        "{} · killed {} in {hunts} of {} each",
        result.target,
        plural(result.killed, "time"),
        plural(result.cases, "case")
    );
    let findings = plural(result.findings as u64, "finding");
    match (result.differences.is_empty(), result.findings_compared) {
        (true, true) => say!("  the same cases and the same {findings} as without a kill"),
        (true, false) => {
            say!("  the same cases as without a kill (findings depend on the server and are not compared)")
        }
        (false, _) => result.differences.iter().for_each(|line| say!("  {line}")),
    }
}
