//! `isopod selftest recovery`.

use lab::selftest::recovery::{Figures, measure};
use model::Seed;

use super::super::{Form, code};
use crate::{
    arguments::{Where, count},
    errors::of_lab,
    output::{plural, say},
};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    /// How many times the server is killed
    #[arg(long, default_value_t = 10, value_parser = count)]
    times: u64,
    /// Draws the moment of each kill
    #[arg(long, default_value = "150D-0000-0001")]
    seed: Seed,
    #[command(flatten)]
    form: Form,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    let all = args.form.on_each(&args.on, None, show, |lab, target| {
        measure(lab, target, args.times, args.seed).map(Some).map_err(of_lab)
    })?;
    Ok(code(all.iter().any(|one| one.seen < one.killed || one.recovered < one.killed)))
}

fn show(result: &Figures) {
    say!("{} · killed {} in the middle of a case", result.server, plural(result.killed, "time"));
    let say = if result.seen == 1 { "says" } else { "say" };
    say!("  {} {say} that the server died", plural(result.seen, "trace"));
    if result.between > 0 {
        say!("  {} fell between two cases", plural(result.between, "more blow"));
    }
    say!("  {} of the next cases ran whole, on a new server", result.recovered);
}
