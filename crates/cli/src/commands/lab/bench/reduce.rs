//! `isopod bench reduce`.

use std::path::PathBuf;

use lab::bench::reduce::{Plan, measure};
use model::Seed;

use super::{
    super::{Form, with},
    reduce_table,
};
use crate::{
    arguments::{How, count},
    errors::of_lab,
    output, own_runs,
};

#[derive(clap::Args)]
pub struct Args {
    /// Run folders of `isopod hunt`, best with --no-reduce and --keep 50
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// How many findings at most, dealt over the known families in turn
    #[arg(long, value_parser = count)]
    findings: Option<u64>,
    /// Only the default strategy, and no drift without the fingerprint
    #[arg(long)]
    quick: bool,
    /// So many smaller cases are tried at most for each
    #[arg(long, value_name = "CASES", default_value_t = reduce::Budget::default().candidates, value_parser = count)]
    candidates: u64,
    /// Where the chance of the strategies begins
    #[arg(long, default_value = "0000-0000-0001")]
    seed: Seed,
    /// Write the reduced cases of the default strategy into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    form: Form,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    own_runs::check_all(&args.runs, args.how.trust, &["isopod", "bench", "reduce"])?;
    let plan = Plan {
        runs: &args.runs,
        findings: args.findings,
        quick: args.quick,
        candidates: args.candidates,
        seed: args.seed,
    };
    let measured = with(&args.how, |lab| measure(lab, &plan).map_err(of_lab))?;
    let Some((figures, reduced)) = measured else { return Ok(2) };
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder)?;
        for (id, case) in &reduced {
            std::fs::write(folder.join(format!("{id}.iso")), model::casefile::print(case)?)?;
        }
    }
    output::show(args.form.json, &figures, reduce_table::show)?;
    Ok(0)
}
