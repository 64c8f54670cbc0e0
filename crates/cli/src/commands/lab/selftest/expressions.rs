//! `isopod selftest expressions`.

use lab::selftest::expressions::{ENOUGH, Figures, measure};

use super::super::{Cases, Form, code};
use crate::{
    arguments::Where,
    errors::of_lab,
    output::{by_count, plural, say},
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
    let all = args.form.on_each(&args.on, None, show, |lab, target| {
        measure(lab, target, cases, seed).map(Some).map_err(of_lab)
    })?;
    Ok(code(all.iter().any(|one| one.different > 0)))
}

fn show(result: &Figures) {
    say!("{} · seed {}", result.server, result.seed);
    say!(
        "  {}, {} decided ({} of them errors, {} asked for every row in WHERE), {:.0} per second",
        plural(result.cases, "expression"),
        result.census.decided,
        result.census.errors,
        result.census.as_where,
        result.per_second
    );
    say!("  {:.2}% unsure", result.unsure_percent);
    for (reason, count) in by_count(&result.census.unsure) {
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
