//! `isopod selftest levels`.

use lab::selftest::levels::{Lie, Plan, planned, tell};
use model::{JudgeOverrides, Level, Target};
use report::findings::{clock, thousands};

use super::super::{Form, Generated, code, with};
use crate::{
    arguments::{Where, count},
    errors::of_lab,
    oracle_args,
    output::{say, short},
};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    #[command(flatten)]
    cases: Generated<2000>,
    /// Another lie instead: a level (RR), a version (10.11.19) or a setting (name=value), for cases at all levels
    #[arg(long, value_name = "WHAT")]
    judge_as: Vec<JudgeOverrides>,
    /// Stop each hunt at the first finding
    #[arg(long)]
    first: bool,
    /// Who judges, with commas; by default all
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    oracle: Vec<String>,
    /// How many workers; with more than one the first case that is found need not be the lowest
    #[arg(long, default_value_t = 1, value_parser = count)]
    workers: u64,
    #[command(flatten)]
    form: Form,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    oracle_args::named(&args.oracle)?;
    let Generated { of, profile } = &args.cases;
    let plan = Plan {
        cases: of.cases,
        first: args.first,
        seed: of.seed,
        profile: &profile.load()?,
        oracles: &args.oracle,
        workers: args.workers,
    };
    let targets = args.on.targets(None)?;
    let lies = targets.iter().flat_map(|target| {
        planned(&args.judge_as, target)
            .into_iter()
            .map(move |(levels, overrides)| (target, levels, overrides))
    });
    let lies = with(&args.on.how, |lab| {
        let one = |(target, levels, overrides): (&Target, Vec<Level>, JudgeOverrides)| {
            tell(lab, &plan, target, &levels, overrides).map(Some).map_err(of_lab)
        };
        args.form.each(lies, one, show)
    })?;
    Ok(code(lies.iter().any(|lie| lie.after.is_none())))
}

fn show(lie: &Lie) {
    say!("{} · ran at {}, judged as {}", lie.server, short(&lie.ran_at, " "), lie.judged_as);
    match (lie.after, lie.millis) {
        (Some(after), millis) => {
            let by = lie.oracle.as_deref().unwrap_or_default();
            let print = lie.fingerprint.as_deref().unwrap_or_default();
            let time = millis.map_or(String::new(), |millis| format!(" ({})", clock(millis)));
            say!("  found out in case {}{time} by {by}: {print}", thousands(after));
        }
        (None, _) => say!("  not found out"),
    }
    let rate = match lie.cases.checked_div(lie.new) {
        Some(each) => format!(", one in {}", thousands(each.max(1))),
        None => String::new(),
    };
    say!(
        "  {} cases, {} violated, {} of them new{rate}, {} undecided, {} flaky{}",
        thousands(lie.cases),
        thousands(lie.violated),
        thousands(lie.new),
        thousands(lie.undecided),
        thousands(lie.flaky),
        match lie.others {
            0 => String::new(),
            others => format!(", {} there without the lie, too", thousands(others)),
        }
    );
}
