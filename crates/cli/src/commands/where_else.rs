//! `isopod where`: one case at all levels, on all installed versions and with the settings that matter turned over.

use std::{collections::BTreeSet, path::PathBuf};

use campaign::Panel;
use lab::places::{Attempt, HEADS, PlaceResult, word};
use model::{Case, JudgeOverrides, Product, Target};

use super::lab::with;
use crate::{
    arguments::{How, count},
    choice::{Choice, choices},
    errors::Advised,
    loading, oracle_args,
    output::{self, say},
    targets,
};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  isopod where isopod-runs/2026-11-15T20-31/findings/9b1f0a2c
  isopod where case.iso --target mariadb@10.11 --target mariadb@11.8 --runs 20

Every session of the case runs at the level of the column, whatever the file says of levels; a
case that needs sessions at different levels runs as it is, in one column. Without --target it
runs on every installed server that it is for (a case of MySQL also on MariaDB, and the other way
round), on MariaDB once more with innodb_snapshot_isolation turned over, on MySQL with log_bin.

A cell says how many of the runs are wrong, and by which report that is known; `right`; or `?`
where nobody can tell. Exit codes: 0 nothing is wrong anywhere, 1 something is, 2 the job could
not be done.")]
pub struct Args {
    /// A case file, or the folder of a finding
    #[arg(value_name = "CASE")]
    case: PathBuf,
    /// Servers; by default all that are installed
    #[arg(long = "target", short = 't', value_name = "TARGET")]
    chosen: Vec<Choice>,
    /// How often it is run in each place, from clean resets
    #[arg(long, default_value_t = 3, value_parser = count)]
    runs: u64,
    #[command(flatten)]
    how: How,
    /// Who judges, with commas; by default those that a hunt asks
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    oracle: Vec<String>,
    /// The table, as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    let case = loading::load(&args.case)?;
    let panel = Panel::new(oracle_args::hunting(&args.oracle)?, JudgeOverrides::default());
    let attempt = Attempt { panel: &panel, runs: args.runs, found_at: None };
    let places = places(&args.chosen, &case)?;
    let rows = with(&args.how, |lab| Ok(attempt.everywhere(lab, &case, &places, "places")))?;
    output::show(args.json, &rows, |rows| show(rows))?;
    let wrong = rows.iter().flat_map(|row| row.levels.values()).any(|cell| cell.wrong > 0);
    Ok(u8::from(wrong))
}

/// Where it runs: the servers chosen; without any all that are installed, also with settings turned over.
pub fn places(chosen: &[Choice], case: &Case) -> anyhow::Result<Vec<Target>> {
    let installed = || -> anyhow::Result<Vec<Target>> {
        let here = choices()?.here.into_iter();
        // MySQL and MariaDB understand each other's cases, most of the time.
        let family = |product: Product| dialect::of(product).family;
        let applies = |target: &Target| {
            let alike = Product::databases().filter(|other| family(*other) == family(target.product));
            alike.into_iter().any(|product| oracles::expectations::applies(case, product))
        };
        Ok(here.filter(applies).collect())
    };
    let mut places = Vec::new();
    for choice in chosen {
        match choice {
            Choice::One(target) => places.push(targets::resolve(target)?),
            Choice::All => places.extend(installed()?),
        }
    }
    if chosen.is_empty() {
        for target in installed()? {
            // What is installed has its version.
            let dialect = dialect::of(target.product);
            let flipped = target.version.as_ref().and_then(|v| dialect.with_flipped_switch(&target, v));
            places.push(target);
            places.extend(flipped);
        }
    }
    if places.is_empty() {
        anyhow::bail!(Advised::new(
            "no server that this case is for is installed",
            ["install one: isopod server install mariadb@10.11"]
        ));
    }
    places.dedup();
    Ok(places)
}

fn show(rows: &[PlaceResult]) {
    let heads: Vec<&str> =
        HEADS.into_iter().filter(|head| rows.iter().any(|row| row.levels.contains_key(head))).collect();
    let widest = rows.iter().map(|row| row.target.len()).max().unwrap_or(0);
    say!("{:widest$}  {}", "", heads.iter().map(|head| format!("{head:<14}")).collect::<String>().trim_end());
    let mut names: BTreeSet<&String> = BTreeSet::new();
    for row in rows {
        let cells: String = heads.iter().map(|head| format!("{:<14}", word(row.levels.get(head)))).collect();
        say!("{:widest$}  {}", row.target, cells.trim_end());
        if let Some(why) = &row.refused {
            say!("{:widest$}  not run: {why}", "");
        }
        names.extend(row.levels.values().flat_map(|cell| &cell.as_what));
    }
    for name in names {
        say!("wrong as: {name}");
    }
}
