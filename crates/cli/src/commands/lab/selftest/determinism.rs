//! `isopod selftest determinism`.

use std::time::Duration;

use lab::selftest::{
    determinism::{Figures, Plan, measure},
    differences::Why,
};
use model::{Level, Target};

use super::super::{Cases, Form, code, with};
use crate::{
    arguments::{Levels, Where, levels},
    errors::of_lab,
    output::{plural, say},
};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    #[command(flatten)]
    cases: Cases<1000>,
    /// The isolation level (RU, RC, RR, SER), or all; by default the product's own default
    #[arg(long, value_parser = levels)]
    level: Option<Levels>,
    /// After each decision that statements wait, watch so many microseconds for an answer that proves it false
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 150)]
    watch: u64,
    #[command(flatten)]
    form: Form,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    let Cases { cases, seed } = args.cases;
    let plan = Plan { cases, seed, watch: Duration::from_micros(args.watch) };
    let mut places: Vec<(Target, Level)> = Vec::new();
    for target in args.on.targets(args.level)? {
        let levels = Levels::or_default(args.level, target.product)?;
        places.extend(levels.into_iter().map(|level| (target.clone(), level)));
    }
    let all = with(&args.on.how, |lab| {
        let one =
            |(target, level): (Target, Level)| measure(lab, &plan, &target, level).map(Some).map_err(of_lab);
        args.form.each(places, one, show)
    })?;
    Ok(code(all.iter().any(|one| !one.unexplained.is_empty() || one.false_decisions > 0)))
}

fn show(result: &Figures) {
    let priority = if result.realtime { "real-time priority" } else { "ordinary priority" };
    say!("{} · {} · settled by {} · {priority}", result.server, result.level, result.settle);
    say!(
        "  {} twice, {}, {} waited, {}",
        plural(result.cases, "case"),
        plural(result.statements, "statement"),
        result.waits,
        plural(result.false_decisions, "false decision")
    );
    if result.begun > result.cases {
        let once = plural(result.begun - result.cases, "case");
        say!("  interrupted: {once} ran once only, not compared");
    }
    say!("  {} of {} gave another trace", result.differ, plural(result.cases, "case"));
    for reason in Why::ALL {
        if let Some(count) = result.why.get(&reason) {
            say!("    {count:>5}  {}", reason.words());
        }
    }
    if !result.unexplained.is_empty() {
        let numbers: Vec<String> = result.unexplained.iter().take(20).map(u64::to_string).collect();
        say!("  unexplained case numbers: {}", numbers.join(", "));
    }
}
