//! `isopod corpus test`: every case on every target, under the settings that matter, at every level.
//!
//! One target after the other on one worker: that is what makes the results certain. A target that cannot be brought up,
//! or a case that cannot be run, is said at once and does not keep the rest from running.

use std::path::PathBuf;

use anyhow::Context;
use execute::Reset;
use lab::corpus::{
    cell::{self, Cell, Place, Tested},
    table::markdown,
};
use model::{Case, Level, Target, Trace};
use oracles::expectations;

use super::summary;
use crate::{
    arguments::{Levels, Where, count, levels},
    corpus::{self, Entry},
    errors, files, interrupt, judged,
    output::{self, say, tell},
    progress::Progress,
    targets,
};

#[derive(clap::Args)]
pub struct Args {
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
    /// Write the results into this file: a Markdown table of cases, versions and levels
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Every case, target and level, as JSON
    #[arg(long)]
    json: bool,
}

/// The case that is shown in full.
const EXAMPLE: &str = "phenomena/write-skew";

/// After so many cases that could not be run at all a target is given up.
const PATIENCE: usize = 3;

/// A target under one set of settings, with the cases that are for it.
struct Job<'a> {
    target: Target,
    levels: Vec<Level>,
    entries: Vec<&'a Entry>,
}

impl Job<'_> {
    fn runs(&self, repeat: u64) -> u64 {
        (self.entries.len() * self.levels.len()) as u64 * repeat
    }
}

pub fn run(args: Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let entries = corpus::matching(&args.words)?;
    if let Some(file) = &args.table {
        // Better now than in twenty minutes.
        files::writable(file)?;
    }
    let jobs = jobs(&args, &entries)?;
    let all: u64 = jobs.iter().map(|job| job.runs(args.repeat)).sum();
    let mut progress = Progress::new(String::new(), all);
    let mut all: Vec<Tested> = Vec::new();
    let (mut errors, mut examples) = (Vec::new(), 0);
    let mut reached = 0;
    for (i, job) in jobs.iter().enumerate() {
        if interrupt::asked() {
            break;
        }
        let which = if jobs.len() > 1 { format!("{} of {}: ", i + 1, jobs.len()) } else { String::new() };
        progress.now(format!("{which}{}", job.target));
        let before = errors.len();
        match one(&args, job, &mut progress, &mut examples, &mut errors) {
            Ok(tested) => {
                if !args.json {
                    let every = args.list || !args.words.is_empty();
                    progress.above(|| summary::target(&tested, every));
                }
                all.push(tested);
            }
            Err(error) => {
                errors.push(error.context(format!("{} was not tested", job.target)));
            }
        }
        reached += job.runs(args.repeat);
        progress.reached(reached);
        // A lone target's error is the command's own, and is shown there.
        if jobs.len() > 1 {
            progress.above(|| errors[before..].iter().for_each(errors::show));
        }
    }
    progress.end();
    if all.iter().all(|tested| tested.cells.is_empty())
        && let Some(error) = errors.pop()
    {
        return Err(error);
    }
    if jobs.len() == 1 {
        errors.iter().for_each(errors::show);
    }
    finish(&args, &entries, &all, errors.len())
}

/// Shows and writes what there is.
fn finish(args: &Args, entries: &[Entry], all: &[Tested], failed: usize) -> anyhow::Result<u8> {
    let cells: Vec<&Cell> = all.iter().flat_map(|tested| &tested.cells).collect();
    let surprises = cells.iter().filter(|cell| cell.surprise).count();
    if args.json {
        output::json(&cells)?;
    } else {
        summary::targets(all);
        summary::total(&cells, args.repeat, surprises);
    }
    match &args.table {
        Some(file) if interrupt::asked() => {
            tell!("note: {} was not written, because not everything was run", file.display());
        }
        Some(file) => {
            let cases: Vec<(&str, &Case)> = entries.iter().map(|entry| (entry.name, &entry.case)).collect();
            files::replace(file, &markdown(&cases, all, args.repeat))
                .with_context(|| format!("cannot write {}", file.display()))?;
            tell!("the table is in {}", file.display());
        }
        None => {}
    }
    if failed > 0 {
        let things = if failed == 1 { "thing" } else { "things" };
        tell!("{failed} {things} could not be tested, see above");
    }
    Ok(if interrupt::asked() || failed > 0 { 2 } else { u8::from(surprises > 0) })
}

/// What is to be run, in order. What is missing is installed first.
fn jobs<'a>(args: &Args, entries: &'a [Entry]) -> anyhow::Result<Vec<Job<'a>>> {
    let mut jobs = Vec::new();
    for target in args.on.targets(Some(args.level))? {
        let levels = args.level.on(target.product)?;
        let applies = |entry: &&Entry| expectations::applies(&entry.case, target.product);
        let (entries, refused): (Vec<&Entry>, Vec<&Entry>) = entries
            .iter()
            .filter(applies)
            .partition(|entry| targets::allowed(&entry.case, &target, &args.on.how));
        if !refused.is_empty() {
            let cases = if refused.len() == 1 { "case" } else { "cases" };
            tell!("note: {} {cases} not run on a server that is not ours: --trust", refused.len());
        }
        if entries.is_empty() {
            continue;
        }
        let variants = if args.as_is {
            vec![target.clone()]
        } else {
            dialect::variants(&target, targets::ensure_installed(&target)?.as_ref())
        };
        for target in variants {
            jobs.push(Job { target, levels: levels.clone(), entries: entries.clone() });
        }
    }
    Ok(jobs)
}

/// One target. Cases that could not be run go to `failed`.
fn one(
    args: &Args,
    job: &Job<'_>,
    progress: &mut Progress,
    examples: &mut usize,
    failed: &mut Vec<anyhow::Error>,
) -> anyhow::Result<Tested> {
    let mut options = args.on.how.options(Reset::Clean);
    options.label = !args.json;
    let mut runner = targets::runner(&job.target, &args.on.how, options)?;
    let info = runner.info().map_err(|error| anyhow::anyhow!(error))?;
    let mut tested = Tested {
        target: job.target.clone(),
        product: info.product,
        version: info.version,
        levels: job.levels.clone(),
        cells: Vec::new(),
    };
    let before = failed.len();
    // A server that is not ours and went away does not come back by trying.
    let patience = if job.target.attached().is_some() { 1 } else { PATIENCE };
    for entry in &job.entries {
        for &level in &job.levels {
            if interrupt::asked() || failed.len() - before >= patience {
                break;
            }
            let Entry { name, case, .. } = entry;
            let place = Place { name, case, target: &job.target, level, repeat: args.repeat };
            let once = || -> anyhow::Result<Trace> {
                let run = runner.run(case, level).map_err(|error| errors::of_case(name, case, error))?;
                targets::still_there(name, &job.target, &run.trace)?;
                progress.step();
                Ok(run.trace)
            };
            let shown = match cell::count(&place, &interrupt::asked, once) {
                Ok(Some(shown)) => shown,
                Ok(None) => continue,
                Err(error) => {
                    failed.push(error.context(format!("{} {level}: {} was not run", job.target, entry.name)));
                    continue;
                }
            };
            // Whoever tests the whole corpus sees one case in full, once: the rest are only counted.
            let example = args.words.is_empty() && entry.name == EXAMPLE && *examples == 0;
            *examples += usize::from(example);
            if (shown.cell.surprise || args.show || example) && !args.json {
                let timeline = judged::timeline(&entry.case, &shown.trace, &shown.report, &[], entry.name);
                progress.above(|| say!("{timeline}"));
            }
            tested.cells.push(shown.cell);
        }
    }
    targets::say_notes(&runner);
    Ok(tested)
}
