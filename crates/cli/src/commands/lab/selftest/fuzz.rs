//! `isopod selftest fuzz`.

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::Context;
use lab::selftest::fuzz::{Figures, Plan, TARGETS, input_of, measure, seeds_of};
use model::Seed;
use report::findings::thousands;

use super::super::{code, with};
use crate::{
    arguments::{How, count},
    errors::of_lab,
    output::{self, plural, say},
};

#[derive(clap::Args)]
pub struct Args {
    /// So many inputs of each kind
    #[arg(long, default_value_t = 10_000, value_parser = count)]
    inputs: u64,
    /// Where chance begins
    #[arg(long, default_value = "0000-0000-0001")]
    seed: Seed,
    /// Only these kinds, with commas
    #[arg(long, value_delimiter = ',', value_name = "KIND", value_parser = kinds())]
    only: Vec<String>,
    /// Write the inputs that failed into this folder, each as KIND-NUMBER
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write what inputs are made of into this folder, for another fuzzer, and end
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    seeds: Option<PathBuf>,
    #[command(flatten)]
    how: How,
    /// The figures, as JSON
    #[arg(long)]
    json: bool,
}

fn kinds() -> clap::builder::PossibleValuesParser {
    TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().into()
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    if let Some(folder) = &args.seeds {
        for target in &TARGETS {
            for (number, seed) in seeds_of(target.name).map_err(of_lab)?.iter().enumerate() {
                put(&folder.join(target.name), &format!("{number:04}"), seed)?;
            }
        }
        return Ok(0);
    }
    let plan = Plan { inputs: args.inputs, seed: args.seed, only: &args.only };
    // What panics says is counted and shown, and not where it was said.
    std::panic::set_hook(Box::new(|_| {}));
    let all = with(&args.how, |lab| measure(lab, &plan).map_err(of_lab));
    drop(std::panic::take_hook());
    let all = all?;
    if let Some(folder) = &args.out {
        for (name, figures) in &all {
            for number in figures.failed.keys() {
                let input = input_of(name, args.seed, *number).map_err(of_lab)?;
                put(folder, &format!("{name}-{number}"), &input)?;
            }
        }
    }
    output::show(args.json, &all, show)?;
    Ok(code(all.values().any(|figures| figures.failures > 0 || !figures.slow.is_empty())))
}

fn put(folder: &std::path::Path, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    let file = folder.join(name);
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, bytes));
    written.with_context(|| format!("{} cannot be written", file.display()))
}

fn show(all: &BTreeMap<&'static str, Figures>) {
    for (name, figures) in all {
        let Figures { seeds, inputs, per_second, failed, failures, slow } = figures;
        let (inputs, rate) = (thousands(*inputs), thousands(*per_second));
        say!(
            "{name:<8}  {inputs:>11} inputs of {seeds:>4} seeds  {rate:>8}/s  {}",
            plural(*failures, "failure")
        );
        for (number, said) in failed {
            say!("    input {number}: {}", report::text::cut(&report::text::clean(said), 200));
        }
        if !slow.is_empty() {
            say!("    longer than a second: {slow:?}");
        }
    }
}
