//! `isopod corpus`: the built-in cases. `test` knows for each case, target, setting and level whether it must pass or
//! is known to fail, and fails on either surprise.

use std::collections::BTreeMap;

use execute::{Reset, Runner};
use model::{Level, Target, Trace};
use oracles::expectations::{self, Report};
use serde::Serialize;

use crate::{
    arguments::{Levels, Where, levels},
    corpus::{self, Entry},
    interrupt, judged,
    progress::Progress,
    targets,
};

/// What to do with the corpus.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Show the built-in cases
    List(ListArgs),
    /// Run the built-in cases; exit code 0 only without a surprise in either direction
    #[command(after_help = "\
Examples:
  isopod corpus test                                        on embedded SQLite
  isopod corpus test mdev-32898 --target mysql@9.7 --show   one case, with its timelines
  isopod corpus test --target mariadb@10.11 --target mysql@9.7 --repeat 20

Each target is tested under the settings that matter to it (binary log on and off, snapshot isolation on and off,
journal mode), unless the target sets them or --as-is is given.")]
    Test(TestArgs),
}

/// Options of `list`.
#[derive(clap::Args)]
pub struct ListArgs {
    /// Only cases whose name or link holds one of these
    words: Vec<String>,
    /// Print the case files themselves
    #[arg(long)]
    show: bool,
}

/// Options of `test`.
#[derive(clap::Args)]
pub struct TestArgs {
    /// Only cases whose name or link holds one of these
    words: Vec<String>,
    #[command(flatten)]
    on: Where,
    /// The isolation level, or all
    #[arg(long, value_parser = levels, default_value = "all")]
    level: Levels,
    /// Run each case so many times
    #[arg(long, default_value_t = 1)]
    repeat: usize,
    /// Do not vary the settings of the targets
    #[arg(long)]
    as_is: bool,
    /// Show a timeline for each case, not only for surprises
    #[arg(long)]
    show: bool,
    /// Every cell as JSON
    #[arg(long)]
    json: bool,
}

/// One case on one target at one level.
#[derive(Serialize)]
struct Cell {
    case: &'static str,
    target: String,
    server: String,
    level: Level,
    /// How often each status came.
    statuses: BTreeMap<String, usize>,
    runs: usize,
    /// Runs whose trace was that of the first.
    alike: usize,
    surprise: bool,
    known: Vec<String>,
    unspecified_steps: Vec<usize>,
}

/// Runs it.
pub fn run(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::List(args) => list(args),
        Command::Test(args) => test(args),
    }
}

fn list(args: ListArgs) -> anyhow::Result<u8> {
    let entries = corpus::matching(&args.words)?;
    let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    for entry in &entries {
        if args.show {
            println!("-- {}\n{}", entry.name, entry.text);
            continue;
        }
        let links = if entry.case.links.is_empty() {
            String::new()
        } else {
            format!("  [{}]", entry.case.links.join(", "))
        };
        println!("{:width$}  {}{links}", entry.name, entry.case.title);
    }
    Ok(0)
}

fn test(args: TestArgs) -> anyhow::Result<u8> {
    interrupt::listen();
    let entries = corpus::matching(&args.words)?;
    let mut cells = Vec::new();
    for target in &args.on.targets {
        let levels = args.level.on(target.product)?;
        let variants = if args.as_is { vec![target.clone()] } else { targets::variants(target) };
        for target in &variants {
            let mine: Vec<&Entry> =
                entries.iter().filter(|entry| expectations::applies(&entry.case, target.product)).collect();
            let mut options = args.on.how.options(Reset::Clean);
            options.label = args.show;
            let mut runner = targets::runner(target, &args.on.how, options)?;
            let mut progress =
                Progress::new(target.to_string(), (mine.len() * levels.len() * args.repeat) as u64);
            let from = cells.len();
            for entry in mine {
                for &level in &levels {
                    if interrupt::asked() {
                        break;
                    }
                    cells.push(cell(&args, &mut runner, entry, target, level, &mut progress)?);
                }
            }
            progress.end();
            if !args.json {
                summary(target, &cells[from..], &mut runner)?;
            }
        }
    }
    let surprises = cells.iter().filter(|cell| cell.surprise).count();
    if args.json {
        println!("{}", serde_json::to_string_pretty(&cells)?);
    } else {
        let (known, all) = (cells.iter().filter(|cell| known(cell)).count(), cells.len());
        let runs: usize = cells.iter().map(|cell| cell.runs).sum();
        println!(
            "{all} cells, {runs} runs: {} as they should be, {known} known to fail, {surprises} surprises",
            all - known - surprises
        );
    }
    Ok(if interrupt::asked() { 2 } else { u8::from(surprises > 0) })
}

fn known(cell: &Cell) -> bool {
    !cell.surprise && !cell.known.is_empty()
}

fn cell(
    args: &TestArgs,
    runner: &mut Runner,
    entry: &Entry,
    target: &Target,
    level: Level,
    progress: &mut Progress,
) -> anyhow::Result<Cell> {
    let mut first: Option<(Trace, Report)> = None;
    let mut odd: Option<(Trace, Report)> = None;
    let mut statuses: BTreeMap<String, usize> = BTreeMap::new();
    let (mut alike, mut runs) = (0, 0);
    for _ in 0..args.repeat.max(1) {
        if interrupt::asked() && first.is_some() {
            break;
        }
        let run = runner.run(&entry.case, level).map_err(|error| anyhow::anyhow!(error))?;
        let report = expectations::check(&entry.case, &run.trace);
        *statuses.entry(judged::status(&report)).or_default() += 1;
        let first = first.get_or_insert_with(|| (run.trace.clone(), report.clone()));
        alike += usize::from(run.trace.same(&first.0));
        runs += 1;
        if judged::surprise(&report) && odd.is_none() {
            odd = Some((run.trace, report));
        }
        progress.step();
    }
    let surprise = odd.is_some() || alike < runs;
    let Some((trace, report)) = odd.or(first) else { anyhow::bail!("nothing was run") };
    if (surprise || args.show) && !args.json {
        anstream::println!("{}", judged::timeline(&entry.case, &trace, &report, entry.name));
    }
    let info = runner.info().map_err(|error| anyhow::anyhow!(error))?;
    Ok(Cell {
        case: entry.name,
        target: target.to_string(),
        server: format!("{} {}", info.product, info.version),
        level,
        surprise,
        known: judged::known(&entry.case, &report),
        unspecified_steps: judged::unspecified(&report),
        statuses,
        runs,
        alike,
    })
}

/// One line per case: its levels side by side.
fn summary(target: &Target, cells: &[Cell], runner: &mut Runner) -> anyhow::Result<()> {
    let info = runner.info().map_err(|error| anyhow::anyhow!(error))?;
    println!("{target} · {} {}", info.product, info.version_text);
    let width = cells.iter().map(|cell| cell.case.len()).max().unwrap_or(0);
    let mut names: Vec<&str> = cells.iter().map(|cell| cell.case).collect();
    names.dedup();
    for name in names {
        let levels: Vec<String> = cells.iter().filter(|cell| cell.case == name).map(words).collect();
        println!("  {name:width$}  {}", levels.join("  "));
    }
    println!();
    Ok(())
}

fn words(cell: &Cell) -> String {
    let what = match (cell.surprise, cell.known.is_empty()) {
        (true, _) => "SURPRISE",
        (false, false) => "known",
        (false, true) => "ok",
    };
    let count = if cell.runs > 1 { format!(" {}/{}", cell.alike, cell.runs) } else { String::new() };
    format!("{:15}", format!("{} {what}{count}", cell.level))
}
