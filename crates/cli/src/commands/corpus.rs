//! `isopod corpus`: the built-in cases. `test` knows for each case, target, setting and level whether it must pass or
//! is known to fail, and fails on either surprise.

use std::collections::BTreeMap;

use execute::{Reset, Runner};
use model::{Level, Target, Trace, Version};
use oracles::expectations::{self, Report};
use serde::Serialize;

use crate::{
    arguments::{Levels, Where, count, levels},
    corpus::{self, Entry},
    errors, interrupt, judged,
    output::say,
    progress::Progress,
    targets,
};

/// What to do with the corpus.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Show the built-in cases: their names, titles and links
    #[command(after_help = "\
Examples:
  isopod corpus list                    all of them
  isopod corpus list mdev write-skew    those with such a name or link
  isopod corpus list own-writes-visible --show > my.iso")]
    List(ListArgs),
    /// Run the built-in cases; exit code 0 only without a surprise in either direction
    #[command(after_help = "\
Examples:
  isopod corpus test                                        on embedded SQLite
  isopod corpus test mdev-32898 --target mysql@9.7 --show   one case, with its timelines
  isopod corpus test --target mariadb@10.11 --target mysql@9.7 --repeat 20

Each target is tested under the settings that matter to it (binary log on and off, snapshot
isolation on and off, journal mode), unless the target sets them or --as-is is given. Exit code 0
only if every case came out as its file says: as it should, or as it is known to fail.")]
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
    /// The isolation level (RU, RC, RR, SER), or all
    #[arg(long, value_parser = levels, default_value = "all")]
    level: Levels,
    /// Run each case so many times; runs that differ are a surprise
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = count)]
    repeat: u64,
    /// Test each target with its settings as given; do not vary those that matter
    #[arg(long)]
    as_is: bool,
    /// Print a timeline for each case, not only for surprises
    #[arg(long)]
    show: bool,
    /// A line for every case, not only for those that are known to fail or surprise
    #[arg(long)]
    list: bool,
    /// Every case, target and level, as JSON
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
    statuses: BTreeMap<String, u64>,
    runs: u64,
    /// Runs whose trace was that of the first.
    alike: u64,
    surprise: bool,
    known: Vec<String>,
    unspecified_steps: Vec<usize>,
}

/// The case that is shown in full.
const EXAMPLE: &str = "phenomena/write-skew";

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
            say!("-- {}\n{}", entry.name, entry.text.trim_end());
            if entries.len() > 1 {
                say!("");
            }
            continue;
        }
        let links = if entry.case.links.is_empty() {
            String::new()
        } else {
            format!("  [{}]", entry.case.links.join(", "))
        };
        say!("{:width$}  {}{links}", entry.name, entry.case.title);
    }
    Ok(0)
}

fn test(mut args: TestArgs) -> anyhow::Result<u8> {
    interrupt::listen();
    let entries = corpus::matching(&args.words)?;
    targets::resolve(&mut args.on.targets)?;
    // A level that one of the targets does not have is said before anything runs.
    for target in &args.on.targets {
        args.level.on(target.product)?;
    }
    let (mut cells, mut examples) = (Vec::new(), 0);
    for target in &args.on.targets {
        let levels = args.level.on(target.product)?;
        let variants = if args.as_is { vec![target.clone()] } else { targets::variants(target) };
        for target in &variants {
            let (mine, refused): (Vec<&Entry>, Vec<&Entry>) = entries
                .iter()
                .filter(|entry| expectations::applies(&entry.case, target.product))
                .partition(|entry| targets::allowed(&entry.case, target, &args.on.how));
            if !refused.is_empty() {
                let cases = plural(refused.len() as u64, "case");
                eprintln!("note: {cases} not run on a server that is not ours: --trust");
            }
            if interrupt::asked() || mine.is_empty() {
                continue;
            }
            let mut options = args.on.how.options(Reset::Clean);
            options.label = !args.json;
            let mut runner = targets::runner(target, &args.on.how, options)?;
            let mut progress =
                Progress::new(target.to_string(), (mine.len() * levels.len()) as u64 * args.repeat);
            let from = cells.len();
            for entry in mine {
                for &level in &levels {
                    if interrupt::asked() {
                        break;
                    }
                    cells.push(cell(&args, &mut runner, entry, target, level, &mut progress, &mut examples)?);
                }
            }
            progress.end();
            if !args.json {
                let info = runner.info().map_err(|error| anyhow::anyhow!(error))?;
                let every = args.list || !args.words.is_empty();
                summary(target, &info.version, &cells[from..], &levels, every);
            }
        }
    }
    let surprises = cells.iter().filter(|cell| cell.surprise).count();
    if args.json {
        say!("{}", serde_json::to_string_pretty(&cells)?);
    } else {
        total(&args, &cells, surprises);
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
    examples: &mut usize,
) -> anyhow::Result<Cell> {
    let mut first: Option<(Trace, Report)> = None;
    let mut odd: Option<(Trace, Report)> = None;
    let mut statuses: BTreeMap<String, u64> = BTreeMap::new();
    let (mut alike, mut runs) = (0, 0);
    for _ in 0..args.repeat {
        if interrupt::asked() && first.is_some() {
            break;
        }
        let run = runner
            .run(&entry.case, level)
            .map_err(|error| errors::of_case(entry.name, &entry.case, error))?;
        targets::still_there(entry.name, target, &run.trace)?;
        let report = expectations::check(&entry.case, &run.trace);
        *statuses.entry(judged::status(&report)).or_default() += 1;
        let first = first.get_or_insert_with(|| (run.trace.clone(), report.clone()));
        alike += u64::from(run.trace.same(&first.0));
        runs += 1;
        if judged::surprise(&report) && odd.is_none() {
            odd = Some((run.trace, report));
        }
        progress.step();
    }
    let surprise = odd.is_some() || alike < runs;
    let Some((trace, report)) = odd.or(first) else { anyhow::bail!("nothing was run") };
    // Whoever tests the whole corpus sees one case in full, once: the rest are only counted.
    let example = args.words.is_empty() && entry.name == EXAMPLE && *examples == 0;
    *examples += usize::from(example);
    if (surprise || args.show || example) && !args.json {
        say!("{}", judged::timeline(&entry.case, &trace, &report, entry.name));
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

/// One line per case: its levels side by side. Without `every`, cases that are as they should be at every level are
/// only counted.
fn summary(target: &Target, version: &Version, cells: &[Cell], levels: &[Level], every: bool) {
    let settings: String = target.settings.iter().map(|(name, value)| format!(" · {name}={value}")).collect();
    say!("{} {version}{settings}", target.product);
    let mut names: Vec<&str> = cells.iter().map(|cell| cell.case).collect();
    names.dedup();
    let row = |name: &str| cells.iter().filter(|cell| cell.case == name).collect::<Vec<&Cell>>();
    let fine = |cell: &&Cell| !cell.surprise && cell.known.is_empty();
    // A case that was interrupted between two levels is listed with those it has.
    let quiet = |name: &str| !every && row(name).len() == levels.len() && row(name).iter().all(fine);
    let (counted, listed): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| quiet(name));
    if !listed.is_empty() {
        let width = listed.iter().map(|name| name.len()).max().unwrap_or(0);
        let heads: String = levels.iter().map(|level| format!("{:10}", level.short())).collect();
        say!("  {:width$}  {}", "", heads.trim_end());
        for name in &listed {
            let words: String = row(name).iter().map(|cell| format!("{:10}", words(cell))).collect();
            let mut links: Vec<&str> =
                row(name).iter().flat_map(|cell| &cell.known).map(String::as_str).collect();
            links.sort_unstable();
            links.dedup();
            say!("{}", format!("  {name:width$}  {words}{}", links.join(", ")).trim_end());
        }
    }
    if !counted.is_empty() {
        let case = if listed.is_empty() { "case" } else { "other case" };
        let levels: Vec<&str> = levels.iter().map(|level| level.short()).collect();
        say!("  {} as they should be at {}", plural(counted.len() as u64, case), levels.join(", "));
    }
    say!("");
}

fn words(cell: &Cell) -> String {
    match (cell.surprise, cell.known.is_empty()) {
        (true, _) if cell.alike < cell.runs => format!("DIFFER {}/{}", cell.alike, cell.runs),
        (true, _) => "SURPRISE".into(),
        (false, false) => "known".into(),
        (false, true) => "ok".into(),
    }
}

/// The last line.
fn total(args: &TestArgs, cells: &[Cell], surprises: usize) {
    if interrupt::asked() {
        say!("interrupted; so far:");
    }
    if cells.is_empty() {
        say!("none of these cases is for the chosen targets, so nothing was run");
        return;
    }
    let (known, all) = (cells.iter().filter(|cell| known(cell)).count(), cells.len());
    let each = match (args.repeat, interrupt::asked()) {
        (1, _) => String::new(),
        (times, false) => format!(", {times} times each"),
        (times, true) => format!(", up to {times} times each"),
    };
    let surprises_text = plural(surprises as u64, "surprise");
    say!(
        "{all} checks (case, target, level){each}: {} as they should be, {known} known to fail, {surprises_text}",
        all - known - surprises
    );
}

fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
