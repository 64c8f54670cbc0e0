//! `isopod generate`: the cases of a seed, as files that run without the generator.

mod stats;

use std::{fs, path::PathBuf};

use anyhow::Context;
use generate::{Digest, Generator};
use model::{Product, Seed, Version, casefile};

use crate::{
    arguments::{Levels, Where, count, levels},
    commands::lab::ProfileName,
    interrupt,
    output::{self, plural, say, tell},
    progress::Progress,
};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  isopod generate --dialect mariadb@10.11 --cases 1            one case, to look at
  isopod generate --dialect postgres --cases 500 --out cases   files for isopod run
  isopod generate --dialect sqlite --cases 10000 --hash        one number for all of them
  isopod generate --stats --target mysql@9.7                   how good they are: run and counted

The same seed, dialect, version, levels and profile give the same cases, byte for byte, on every machine.")]
pub struct Args {
    /// Whose SQL, and of which version if not the newest: mysql, mariadb@10.11, postgres@18, sqlite
    #[arg(long, value_name = "DIALECT", value_parser = dialect, required_unless_present = "stats")]
    dialect: Option<(Product, Version)>,
    /// Where the cases come from
    #[arg(long, default_value = "150D-0000-0001")]
    seed: Seed,
    /// How many cases: 10 by default, 50000 with --stats
    #[arg(long, value_parser = count)]
    cases: Option<u64>,
    /// The number of the first one
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    first: u64,
    #[command(flatten)]
    profile: ProfileName,
    /// The isolation level (RU, RC, RR, SER), or all that the product has
    #[arg(long, default_value = "all", value_parser = levels)]
    level: Levels,
    /// Write each case into a file of its own in this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one hash over all cases instead of the cases
    #[arg(long, conflicts_with = "out")]
    hash: bool,
    /// Run the cases on --target and show how good they are: conflicts, failures, features, opportunities
    #[arg(long, conflicts_with_all = ["out", "hash", "dialect"])]
    stats: bool,
    /// With --stats: compare so many of the cases with serial orders, and run their sessions alone
    #[arg(long, value_name = "CASES", default_value_t = 2000, requires = "stats")]
    sample: u64,
    /// With --stats: the figures, as JSON
    #[arg(long, requires = "stats")]
    json: bool,
    #[command(flatten)]
    on: Where,
}

/// Reads `mariadb@10.11`.
fn dialect(text: &str) -> Result<(Product, Version), String> {
    let (product, version) = text.split_once('@').map_or((text, None), |(p, v)| (p, Some(v)));
    let product: Product = product.parse().map_err(|error: model::target::BadTarget| error.to_string())?;
    let version = match version {
        Some(version) => version.parse().map_err(|error: model::target::BadTarget| error.to_string())?,
        None => dialect::newest(product),
    };
    Ok((product, version))
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let profile = args.profile.load()?;
    let Some((product, version)) = &args.dialect else { return stats::run(args, &profile) };
    let cases = args.cases.unwrap_or(10);
    let (name, hash) = (profile.name.clone(), profile.hash());
    let mut generator = Generator::with(args.seed, *product, version, &args.level.on(*product)?, profile);
    if let Some(folder) = &args.out {
        fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    let mut progress = Progress::new("generate".to_string(), cases);
    let mut sum = Digest::default();
    let mut done = 0;
    for number in args.first..args.first.saturating_add(cases) {
        if interrupt::asked() {
            break;
        }
        let made = generator.case(number);
        let text = casefile::print(&made.case).with_context(|| format!("case {number}"))?;
        sum.add(&text);
        match &args.out {
            Some(folder) => {
                let file = folder.join(format!("case-{number:08}.iso"));
                fs::write(&file, text).with_context(|| format!("{} cannot be written", file.display()))?;
            }
            None if args.hash => {}
            None if number > args.first => output::data(&format!("\n{}", text.trim_end())),
            None => output::data(text.trim_end()),
        }
        done += 1;
        progress.step();
    }
    progress.end();
    if args.hash {
        say!("{sum}");
    }
    tell!("{} of {}, profile {name} {hash}", plural(done, "case"), args.seed);
    Ok(if interrupt::asked() { 2 } else { 0 })
}
