//! `isopod bench fold`.

use std::path::PathBuf;

use lab::bench::fold::measure;
use model::Case;

use super::{
    super::{Form, with},
    fold_table,
};
use crate::{
    arguments::{How, count},
    commands::where_else::places,
    errors::of_lab,
    output, own_runs,
};

#[derive(clap::Args)]
pub struct Args {
    /// Run folders of `isopod hunt`, best of many seeds
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// How many findings at most, dealt over the runs in turn
    #[arg(long, value_parser = count)]
    findings: Option<u64>,
    /// What nothing explains: only on its own server, not on all that are installed
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    form: Form,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    own_runs::check_all(&args.runs, args.how.trust, &["isopod", "bench", "fold"])?;
    let everywhere = |case: &Case| places(&[], case).map_err(anyhow::Error::into_boxed_dyn_error);
    let everywhere = (!args.quick).then_some(&everywhere as _);
    let folding = with(&args.how, |lab| measure(lab, &args.runs, args.findings, everywhere).map_err(of_lab))?;
    let Some(folding) = folding else { return Ok(2) };
    output::show(args.form.json, &folding, fold_table::show)?;
    Ok(u8::from(!folding.mixed.is_empty() || !folding.split.is_empty()))
}
