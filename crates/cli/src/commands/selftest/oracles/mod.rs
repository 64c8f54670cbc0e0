//! `isopod selftest oracles`: every bug that can be planted in Isopod's own engine must be found by a hunt, and the engine without a
//! bug must be hunted in silence.

mod forbids;

use std::{cell::RefCell, collections::BTreeMap, path::Path};

use campaign::{JudgeOverrides, Verdicts, events::Found};
use execute::{Placement, Reset, Runner};
use generate::Profile;
use model::{Level, Seed, Target};
use oracles::Answer;
use reference::Bug;
use report::findings::thousands;
use serde::Serialize;

use super::hunts::{Done, Hunt, complaints, filed};
use crate::{
    arguments::{How, count},
    errors::Advised,
    interrupt,
    output::{plural, say},
    profiles, targets,
};

/// Options.
#[derive(clap::Args)]
pub struct Args {
    /// How many cases for each bug, at most
    #[arg(long, default_value_t = 20_000, value_parser = count)]
    cases: u64,
    /// How many cases at each level without a bug; by default as many as for a bug
    #[arg(long, value_name = "CASES")]
    clean: Option<u64>,
    /// Only these bugs; by default all
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    bug: Vec<String>,
    /// Only at this level; by default at those that forbid the bug, and without a bug at each
    #[arg(long)]
    level: Option<Level>,
    /// Where the cases come from
    #[arg(long, default_value = "150D-0000-0001")]
    seed: Seed,
    /// What is drawn how often: wide, core, pages, or a TOML file that names what it changes
    #[arg(long, default_value = "wide", value_name = "NAME|FILE")]
    profile: String,
    /// Who judges, with commas; by default all
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    oracle: Vec<String>,
    /// How many workers; by default one for a bug, so that the first case that shows it is told, and one for each CPU without
    #[arg(long, value_parser = count)]
    workers: Option<u64>,
    #[command(flatten)]
    how: How,
    /// What came of it, as JSON
    #[arg(long)]
    json: bool,
}

/// A statement of the engine that says nothing for so many seconds is hung; all others take microseconds.
const HUNG_AFTER: u64 = 1;

/// A bug, and what came of it.
#[derive(Serialize)]
struct Planted {
    bug: &'static str,
    levels: Vec<Level>,
    /// Cases done.
    cases: u64,
    caught: bool,
    /// The number of the case that caught it, from 1.
    after: Option<u64>,
    oracle: Option<String>,
    fingerprint: Option<String>,
    story: Option<String>,
    /// Findings before that are there without the bug, too: they catch nothing.
    others: u64,
    /// Suspicions that clean runs did not show.
    flaky: u64,
}

/// The engine without a bug.
#[derive(Serialize)]
struct Clean {
    level: Level,
    cases: u64,
    findings: Vec<String>,
    flaky: u64,
    verdicts: BTreeMap<String, Verdicts>,
}

#[derive(Default, Serialize)]
struct Result {
    bugs: Vec<Planted>,
    clean: Vec<Clean>,
}

/// Runs it.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let profile = profiles::load(&args.profile)?;
    let bugs = bugs(&args.bug)?;
    let how = How { hung_after: HUNG_AFTER, ..args.how.clone() };
    let mut result = Result::default();
    let width = Bug::ALL.iter().map(|bug| bug.name().len()).max().unwrap_or(0);
    for bug in bugs {
        if interrupt::asked() {
            break;
        }
        let levels = args.level.map_or_else(|| forbids::levels(bug.name()).to_vec(), |level| vec![level]);
        let planted = plant(args, &how, &profile, bug, levels)?;
        if !args.json {
            show_planted(&planted, width);
        }
        result.bugs.push(planted);
    }
    let levels = args.level.map_or_else(|| Level::ALL.to_vec(), |level| vec![level]);
    // Whoever asks for one bug asks for that one.
    for level in
        levels.into_iter().filter(|_| args.clean != Some(0) && (args.bug.is_empty() || args.clean.is_some()))
    {
        if interrupt::asked() {
            break;
        }
        let done = hunt(args, &how, &profile, None, &[level], args.clean.unwrap_or(args.cases))?;
        let clean = clean(level, done);
        if !args.json {
            show_clean(&clean);
        }
        result.clean.push(clean);
    }
    if args.json {
        say!("{}", serde_json::to_string_pretty(&result)?);
    } else {
        let caught = result.bugs.iter().filter(|planted| planted.caught).count();
        say!("\n{caught} of {} caught", plural(result.bugs.len() as u64, "bug"));
    }
    let failed = result.bugs.iter().any(|planted| !planted.caught)
        || result.clean.iter().any(|clean| !clean.findings.is_empty());
    Ok(if interrupt::asked() { 2 } else { u8::from(failed) })
}

fn bugs(names: &[String]) -> anyhow::Result<Vec<Bug>> {
    if names.is_empty() {
        return Ok(Bug::ALL.to_vec());
    }
    let find = |name: &String| {
        let found = Bug::ALL.iter().find(|bug| bug.name().eq_ignore_ascii_case(name)).copied();
        found.ok_or_else(|| {
            let error = reference::BadPlant::Bug(name.clone());
            Advised { message: error.to_string(), advice: error.advice() }.into()
        })
    };
    names.iter().map(find).collect()
}

fn hunt(
    args: &Args,
    how: &How,
    profile: &Profile,
    bug: Option<Bug>,
    levels: &[Level],
    cases: u64,
) -> anyhow::Result<Done> {
    let target = reference::target(bug);
    let cpus = execute::os::cpus().len().max(1) as u64;
    let without = Target { settings: Default::default(), ..target.clone() };
    // Nobody is pinned for it: the workers are made by this thread and would inherit that.
    let free = Placement { pin: false, realtime: false, cpu: None };
    let engine = targets::runner_at(&without, how, how.options(Reset::Clean), free)?;
    let engine = RefCell::new(engine);
    let shows = |found: &Found, folder: &Path| without_it(&mut engine.borrow_mut(), bug, found, folder);
    let hunt = Hunt {
        target: &target,
        levels,
        cases,
        until_first: bug.is_some(),
        seed: args.seed,
        profile,
        oracles: &args.oracle,
        judge_as: JudgeOverrides::default(),
        workers: args.workers.unwrap_or(if bug.is_some() { 1 } else { cpus }),
        how,
        shows: &shows,
    };
    let done = hunt.run()?;
    match &done.lost {
        Some(reason) => anyhow::bail!("{target} was abandoned: {reason}"),
        None => Ok(done),
    }
}

/// Is the finding gone when the bug is? One that stays is a mistake of the oracle, or of the engine, and catches nothing.
fn without_it(engine: &mut Runner, bug: Option<Bug>, found: &Found, folder: &Path) -> anyhow::Result<bool> {
    if bug.is_none() {
        return Ok(true);
    }
    let filed = filed(folder)?;
    let run = engine.run(&filed.case, filed.trace.level).map_err(|error| anyhow::anyhow!(error))?;
    let clean = Answer { case: filed.case, trace: run.trace, aftermath: run.aftermath };
    Ok(!complaints(&found.oracle, &clean).contains(&found.fingerprint))
}

fn plant(args: &Args, how: &How, profile: &Profile, bug: Bug, levels: Vec<Level>) -> anyhow::Result<Planted> {
    let done = hunt(args, how, profile, Some(bug), &levels, args.cases)?;
    let tally = done.summary.total();
    let first = done.first.as_ref();
    Ok(Planted {
        bug: bug.name(),
        levels,
        cases: tally.cases,
        caught: first.is_some(),
        after: first.map(|found| found.case + 1),
        oracle: first.map(|found| found.oracle.clone()),
        fingerprint: first.map(|found| campaign::verdicts::words(&found.fingerprint)),
        story: first.map(|found| found.story.clone()),
        others: done.others,
        flaky: tally.flaky,
    })
}

fn clean(level: Level, done: Done) -> Clean {
    let tally = done.summary.total();
    let line = |row: &campaign::summary::Row| {
        let print = campaign::verdicts::words(&row.smallest.violation.fingerprint);
        format!("{print} · case {} · {}", row.smallest.case, row.smallest.violation.story)
    };
    Clean {
        level,
        cases: tally.cases,
        findings: done.summary.findings.iter().map(line).collect(),
        flaky: tally.flaky,
        verdicts: done
            .summary
            .targets
            .into_iter()
            .next()
            .map(|hunted| hunted.quality.verdicts)
            .unwrap_or_default(),
    }
}

fn show_planted(planted: &Planted, width: usize) {
    let name = planted.bug;
    let mut beside = match planted.flaky {
        0 => String::new(),
        flaky => format!(" · {} flaky", thousands(flaky)),
    };
    if planted.others > 0 {
        beside += &format!(" · {} there without it, too", thousands(planted.others));
    }
    match (planted.after, &planted.oracle, &planted.fingerprint) {
        (Some(after), Some(oracle), Some(print)) => {
            say!("{name:width$}  caught in case {:>6}  by {oracle}: {print}{beside}", thousands(after));
        }
        (..) => {
            let levels: Vec<&str> = planted.levels.iter().map(|level| level.short()).collect();
            let levels = levels.join(" ");
            say!("{name:width$}  NOT CAUGHT in {} cases at {levels}{beside}", thousands(planted.cases));
        }
    }
}

fn show_clean(clean: &Clean) {
    let (level, cases) = (clean.level, thousands(clean.cases));
    say!(
        "\nwithout a bug at {level}: {cases} cases, {}, {} flaky",
        plural(clean.findings.len() as u64, "finding"),
        thousands(clean.flaky)
    );
    clean.findings.iter().for_each(|finding| say!("  {finding}"));
    for (oracle, verdicts) in &clean.verdicts {
        let undecided = verdicts.undecided();
        if undecided > 0 {
            say!("  {oracle} undecided: {}", thousands(undecided));
        }
        let mut reasons: Vec<(&model::Reason, &u64)> = verdicts.undecided.iter().collect();
        reasons.sort_by_key(|(reason, count)| (std::cmp::Reverse(**count), *reason));
        reasons.iter().for_each(|(reason, count)| say!("    {:>9}  {reason}", thousands(**count)));
    }
}
