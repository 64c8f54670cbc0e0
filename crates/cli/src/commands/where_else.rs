//! `isopod where`: one case at all levels, on all installed versions and with the settings that matter turned over.

use std::{collections::BTreeMap, path::PathBuf};

use campaign::{
    JudgeOverrides, Panel,
    matrix::{self, Matrix},
};
use execute::Reset;
use model::{Case, Fingerprint, Level, Product, Target};
use oracles::mvcc;
use serde::Serialize;

use crate::{
    arguments::{How, Levels, count},
    choice::{Choice, choices},
    errors::Advised,
    interrupt, loading, oracle_args,
    output::say,
    progress::Progress,
    targets,
};

/// Options.
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

/// A level of one place.
#[derive(Debug, Default, Serialize)]
pub struct Cell {
    runs: u64,
    wrong: u64,
    undecided: u64,
    /// The fingerprints, in words, or the reports by which they are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    as_what: Vec<String>,
    /// The same, to be compared.
    #[serde(skip)]
    fingerprints: Vec<Fingerprint>,
}

impl Cell {
    fn new(cell: matrix::Cell) -> Cell {
        let mut as_what = Vec::new();
        for violation in &cell.violations {
            let fingerprint = &violation.fingerprint;
            let what = mvcc::known(fingerprint)
                .unwrap_or_else(|| format!("{}, {}", fingerprint.symptom, fingerprint.statement));
            if !as_what.contains(&what) {
                as_what.push(what);
            }
        }
        let fingerprints = cell.violations.into_iter().map(|violation| violation.fingerprint).collect();
        Cell { runs: cell.runs, wrong: cell.wrong, undecided: cell.undecided, as_what, fingerprints }
    }

    /// Is the same thing wrong there, and not another one that this case happens to show, too?
    pub fn shows(&self, fingerprint: &Fingerprint) -> bool {
        self.fingerprints.iter().any(|one| same(one, fingerprint))
    }

    /// What is wrong there, in words.
    pub fn as_what(&self) -> String {
        self.as_what.join(", ")
    }

    /// Are all of them right, and is that certain?
    pub fn right(&self) -> bool {
        self.runs > 0 && self.wrong == 0 && self.undecided == 0
    }
}

/// One place.
#[derive(Serialize)]
pub struct Row {
    /// The server, as a target.
    pub target: String,
    /// Why it could not be run there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// What came of it at each level.
    pub levels: BTreeMap<&'static str, Cell>,
}

/// Runs it.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let case = loading::load(&args.case)?;
    let panel = Panel::new(oracle_args::hunting(&args.oracle)?, JudgeOverrides::default());
    let tried = Attempt { how: &args.how, panel: &panel, runs: args.runs, found_at: None };
    let rows = tried.everywhere(&case, &places(&args.chosen, &case)?, "places")?;
    match args.json {
        true => say!("{}", serde_json::to_string_pretty(&rows)?),
        false => show(&rows),
    }
    let wrong = rows.iter().flat_map(|row| row.levels.values()).any(|cell| cell.wrong > 0);
    Ok(u8::from(wrong))
}

/// How a case is tried in a place.
pub struct Attempt<'a> {
    /// How it runs.
    pub how: &'a How,
    /// Who judges.
    pub panel: &'a Panel,
    /// How often.
    pub runs: u64,
    /// The level at which the case was found, if that is known.
    pub found_at: Option<Level>,
}

impl Attempt<'_> {
    /// Tries it in all of these places, or in those before the user asked to stop.
    pub fn everywhere(&self, case: &Case, places: &[Target], name: &str) -> anyhow::Result<Vec<Row>> {
        let mut progress = Progress::new(name, places.len() as u64);
        let mut rows = Vec::new();
        for (at, target) in places.iter().enumerate() {
            if interrupt::asked() {
                break;
            }
            rows.push(row(self, case, target)?);
            progress.reached(at as u64 + 1);
        }
        progress.end();
        Ok(rows)
    }
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
        return Err(Advised {
            message: "no server that this case is for is installed".into(),
            advice: vec!["install one: isopod server install mariadb@10.11".into()],
        }
        .into());
    }
    places.dedup();
    Ok(places)
}

fn row(tried: &Attempt<'_>, case: &Case, target: &Target) -> anyhow::Result<Row> {
    let mut row = Row { target: target.to_string(), refused: None, levels: BTreeMap::new() };
    let mut server = match targets::clean_server(target, tried.how) {
        Ok(server) => server,
        Err(error) => {
            row.refused = Some(error.to_string());
            return Ok(row);
        }
    };
    let Attempt { panel, runs: times, found_at, .. } = *tried;
    let matrix = Matrix { panel, times, reset: Reset::Clean, found_at, first_only: true };
    for (column, cell) in matrix.run(case, &mut server, &Levels::All.on(target.product)?) {
        match cell {
            Ok(cell) => row.levels.insert(column.short(), Cell::new(cell)),
            Err(error) => {
                let refused = Some(error.to_string());
                return Ok(Row { refused, levels: BTreeMap::new(), ..row });
            }
        };
    }
    Ok(row)
}

/// Is it the same symptom, at whatever level? By what explains it, or by where it shows in which kind of statement.
fn same(one: &Fingerprint, other: &Fingerprint) -> bool {
    if one.deviations().is_some() || other.deviations().is_some() {
        return one.cause == other.cause;
    }
    one.statement == other.statement && one.symptom.visible() == other.symptom.visible()
}

/// The columns of a table.
pub const HEADS: [&str; 5] = ["RU", "RC", "RR", "SER", "mixed"];

fn show(rows: &[Row]) {
    let heads: Vec<&str> =
        HEADS.into_iter().filter(|head| rows.iter().any(|row| row.levels.contains_key(head))).collect();
    let widest = rows.iter().map(|row| row.target.len()).max().unwrap_or(0);
    say!("{:widest$}  {}", "", heads.iter().map(|head| format!("{head:<14}")).collect::<String>().trim_end());
    let mut names: Vec<&String> = Vec::new();
    for row in rows {
        let cells: String = heads.iter().map(|head| format!("{:<14}", word(row.levels.get(head)))).collect();
        say!("{:widest$}  {}", row.target, cells.trim_end());
        if let Some(why) = &row.refused {
            say!("{:widest$}  not run: {why}", "");
        }
        names.extend(row.levels.values().flat_map(|cell| &cell.as_what));
    }
    names.sort_unstable();
    names.dedup();
    for name in names {
        say!("wrong as: {name}");
    }
}

/// What a cell says.
pub fn word(cell: Option<&Cell>) -> String {
    match cell {
        None => "-".into(),
        Some(cell) if cell.wrong > 0 => format!("{} of {} wrong", cell.wrong, cell.runs),
        Some(cell) if cell.undecided > 0 => "?".into(),
        Some(_) => "right".into(),
    }
}

#[cfg(test)]
mod tests {
    use model::{RuleId, ShownBy, Symptom, sql::StatementKind, verdict::Cause};

    use super::*;

    #[test]
    fn the_same_symptom_is_known_at_another_level_and_by_another_oracle() {
        let print =
            |symptom, cause, statement, level| Fingerprint { symptom, cause, statement, level: Some(level) };
        let by = |name: &str| Cause::Deviations([name.into()].into());
        let of = |kind| ShownBy::Statement(Some(kind));
        let (alone, rule) = (Cause::Alone { after_wait: false }, Cause::Rule(RuleId::OneSnapshot));
        let (select, update) = (of(StatementKind::Select), of(StatementKind::Update));
        let (low, high) = (Level::ReadUncommitted, Level::ReadCommitted);
        let found = print(Symptom::WrongRows, alone.clone(), select, low);
        let cell =
            Cell { fingerprints: vec![print(Symptom::WrongMatch, rule, select, high)], ..Cell::default() };
        assert!(cell.shows(&found));
        for (symptom, cause, statement) in [
            (Symptom::NeedlessError, by("conflict-by-inner-read"), of(StatementKind::Insert)),
            (Symptom::WrongRows, by("noop-without-version"), select),
            (Symptom::WrongFinalState, alone, ShownBy::FinalState),
        ] {
            let other = print(symptom, cause, statement, high);
            assert!(!Cell { fingerprints: vec![other.clone()], ..Cell::default() }.shows(&found), "{other}");
        }
        let named = print(Symptom::WrongCount, by("moved-across-scan"), update, low);
        let face = print(Symptom::WrongMatch, by("moved-across-scan"), of(StatementKind::Delete), high);
        assert!(Cell { fingerprints: vec![face], ..Cell::default() }.shows(&named), "one bug has many faces");
    }
}
