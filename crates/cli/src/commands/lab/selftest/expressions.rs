//! `isopod selftest expressions`.

use lab::selftest::expressions::{ENOUGH, Figures, measure};

use super::super::{Cases, Form, code, with};
use crate::{
    arguments::Where,
    errors::of_lab,
    output::{plural, say},
};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    #[command(flatten)]
    cases: Cases<100_000, 0x150D_0000_0005>,
    #[command(flatten)]
    form: Form,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    let Cases { cases, seed } = args.cases;
    let targets = args.on.targets(None)?;
    let all = with(&args.on.how, |lab| {
        let one = |target| measure(lab, target, cases, seed).map(Some).map_err(of_lab);
        args.form.each(&targets, one, show)
    })?;
    Ok(code(all.iter().any(|one| one.different > 0)))
}

fn show(result: &Figures) {
    say!("{} · seed {}", result.server, result.seed);
    say!(
        "  {}, {} decided ({} of them errors, {} asked for every row in WHERE), {:.0} per second",
        plural(result.cases, "expression"),
        result.decided,
        result.errors,
        result.as_where,
        result.per_second
    );
    say!("  {:.2}% unsure", result.unsure_percent);
    let mut reasons: Vec<_> = result.unsure.iter().collect();
    reasons.sort_by_key(|(reason, count)| (std::cmp::Reverse(**count), **reason));
    for (reason, count) in reasons {
        say!("    {count:>7}  {reason}");
    }
    say!("  operators and how often each was decided, by the family of an operand:");
    for (operator, families) in &result.pairs {
        let counts: Vec<String> =
            families.iter().map(|(family, count)| format!("{family} {count}")).collect();
        say!("    {operator:<16} {}", counts.join("  "));
    }
    if !result.rare.is_empty() {
        say!("  decided fewer than {ENOUGH} times: {}", result.rare.join(", "));
    }
    say!(
        "  {} in which the server differs, of {}",
        plural(result.different, "expression"),
        plural(result.differences.len() as u64, "sort")
    );
    for difference in &result.differences {
        say!("    {} times: {}", difference.times, difference.sql);
        say!("      expected {}, the server says {}", difference.expected, difference.actual);
    }
}
