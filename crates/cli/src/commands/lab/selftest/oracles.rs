//! `isopod selftest oracles`.

use lab::selftest::oracles::{Clean, Figures, Plan, Planted, clean, forbids, plant};
use model::Level;
use reference::Bug;
use report::findings::thousands;

use super::super::{Form, Generated, code, with};
use crate::{
    arguments::{How, count},
    commands::demo,
    errors::of_lab,
    interrupt, judged, oracle_args,
    output::{self, by_count, plural, say, short},
};

/// Options. The cases are those for each bug, at most.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    cases: Generated<20_000>,
    /// How many cases at each level without a bug; by default as many as for a bug
    #[arg(long, value_name = "CASES")]
    clean: Option<u64>,
    /// Only these bugs; by default all
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    bug: Vec<String>,
    /// Only at this level; by default at those that forbid the bug, and without a bug at each
    #[arg(long)]
    level: Option<Level>,
    /// Who judges, with commas; by default all
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    oracle: Vec<String>,
    /// How many workers; by default one for a bug, so that the first case that shows it is told, and one for each CPU without
    #[arg(long, value_parser = count)]
    workers: Option<u64>,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    form: Form,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    oracle_args::named(&args.oracle)?;
    let bugs = bugs(&args.bug)?;
    let (Generated { of, profile }, json) = (&args.cases, args.form.json);
    let profile = &profile.load()?;
    let plan = Plan { seed: of.seed, profile, oracles: &args.oracle, workers: args.workers };
    let figures = with(&args.how, |lab| {
        let mut figures = Figures::default();
        let width = Bug::ALL.iter().map(|bug| bug.name().len()).max().unwrap_or(0);
        for bug in bugs {
            if interrupt::asked() {
                break;
            }
            let levels = args.level.map_or_else(|| forbids::levels(bug.name()).to_vec(), |level| vec![level]);
            let planted = plant(lab, &plan, bug, levels, of.cases).map_err(of_lab)?;
            if !json {
                show_planted(&planted, width);
            }
            figures.bugs.push(planted);
        }
        let levels = args.level.map_or_else(|| Level::ALL.to_vec(), |level| vec![level]);
        // Whoever asks for one bug asks for that one.
        let wanted = args.clean != Some(0) && (args.bug.is_empty() || args.clean.is_some());
        for level in levels.into_iter().filter(|_| wanted) {
            if interrupt::asked() {
                break;
            }
            let clean = clean(lab, &plan, level, args.clean.unwrap_or(of.cases)).map_err(of_lab)?;
            if !json {
                show_clean(&clean);
            }
            figures.clean.push(clean);
        }
        Ok(figures)
    })?;
    output::show(json, &figures, |figures| {
        let caught = figures.bugs.iter().filter(|planted| planted.caught).count();
        say!("\n{caught} of {} caught", plural(figures.bugs.len() as u64, "bug"));
    })?;
    let failed = figures.bugs.iter().any(|planted| !planted.caught)
        || figures.clean.iter().any(|clean| !clean.findings.is_empty());
    Ok(code(failed))
}

fn bugs(names: &[String]) -> anyhow::Result<Vec<Bug>> {
    if names.is_empty() {
        return Ok(Bug::ALL.to_vec());
    }
    names.iter().map(|name| demo::named(name)).collect()
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
            let levels = short(&planted.levels, " ");
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
    for (case, violation) in &clean.findings {
        let story = judged::words(violation, reference::PRODUCT).story();
        say!("  {} · case {case} · {story}", violation.fingerprint);
    }
    for (oracle, verdicts) in &clean.verdicts {
        let undecided = verdicts.undecided();
        if undecided > 0 {
            say!("  {oracle} undecided: {}", thousands(undecided));
        }
        for (reason, count) in by_count(&verdicts.undecided) {
            say!("    {:>9}  {reason}", thousands(count));
        }
    }
}
