//! `isopod run`: case files on servers, as timelines.

use std::path::PathBuf;

use execute::{PostCheckInterval, Reset, Runner};
use model::{Case, Level, Target, Trace};
use serde::Serialize;

use crate::{
    arguments::{Levels, Where, count, levels},
    errors::{self, Advised},
    interrupt, judged, loading,
    output::say,
    targets,
};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  isopod run lost-update.iso                                  on embedded SQLite
  isopod run key-change.iso --target mysql@9.7 --level RR     on a real server, at one level
  isopod run cases/ --target mariadb@10.11 --level all --repeat 20

A file without expectations just runs. Crashes, hangs, internal errors and broken invariants are told
whether or not the file expects anything. Exit code 1: one of these, or an expectation was not met.")]
pub struct Args {
    /// Case files, or folders of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    on: Where,
    /// The isolation level (RU, RC, RR, SER), or all; by default the product's own default
    #[arg(long, value_parser = levels)]
    level: Option<Levels>,
    /// Run each case so many times and say how often it came out the same
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = count)]
    repeat: u64,
    /// The traces and what was expected, as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Ran<'a> {
    file: String,
    case: &'a Case,
    target: String,
    level: Level,
    runs: u64,
    alike: u64,
    trace: &'a Trace,
    status: &'static str,
    /// What the oracles complain about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    violations: Vec<model::Violation>,
}

/// What has come of it so far.
#[derive(Default)]
struct Done {
    /// Was an expectation not met, or did two runs differ?
    missed: bool,
    printed: Vec<serde_json::Value>,
}

pub fn run(args: Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let cases = load(&args.files)?;
    let targets = args.on.targets(args.level)?;
    check(&args, &cases, &targets)?;
    let mut done = Done::default();
    for target in &targets {
        let cases: Vec<_> = cases.iter().filter(|(_, case)| applies(case, target)).collect();
        if cases.is_empty() {
            continue;
        }
        if interrupt::asked() {
            break;
        }
        let levels = Levels::or_default(args.level, target.product)?;
        let mut options = args.on.how.options(Reset::Clean);
        options.label = true;
        if target.attached().is_none() {
            options.postchecks = PostCheckInterval::ALWAYS;
        }
        let mut runner = targets::runner(target, &args.on.how, options)?;
        for (name, case) in cases {
            for &level in &levels {
                if !interrupt::asked() {
                    one(&args, &mut runner, (name, case), target, level, &mut done)?;
                }
            }
        }
        targets::say_notes(&runner);
    }
    if args.json {
        say!("{}", serde_json::to_string_pretty(&done.printed)?);
    }
    Ok(if interrupt::asked() { 2 } else { u8::from(done.missed) })
}

fn applies(case: &Case, target: &Target) -> bool {
    oracles::expectations::applies(case, target.product)
}

/// Reads the files. Every broken one is shown, not only the first.
fn load(files: &[PathBuf]) -> anyhow::Result<Vec<(String, Case)>> {
    let (mut cases, mut broken) = (Vec::new(), Vec::new());
    for file in loading::files(files)? {
        match loading::load(&file) {
            Ok(case) => cases.push((file.display().to_string(), case)),
            Err(error) => broken.push(error),
        }
    }
    if let Some(last) = broken.pop() {
        for error in &broken {
            errors::show(error);
            eprintln!();
        }
        return Err(last);
    }
    Ok(cases)
}

/// May all of them run there?
fn check(args: &Args, cases: &[(String, Case)], targets: &[Target]) -> anyhow::Result<()> {
    for (name, case) in cases {
        // Of `all` those count that the case is for.
        for target in targets.iter().filter(|_| !args.on.all()) {
            if !applies(case, target) {
                let names: Vec<&str> = case.products.iter().map(|product| product.name()).collect();
                anyhow::bail!(Advised::new(
                    format!("{name} is not for {}", target.product),
                    [
                        format!("it is for: {}", names.join(", ")),
                        format!("run it with --target {}, or change its `for` line", names[0])
                    ]
                ));
            }
        }
        let mut there = targets.iter().filter(|target| applies(case, target));
        there.try_for_each(|target| targets::check(name, case, target, &args.on.how))?;
    }
    if !targets.iter().any(|target| cases.iter().any(|(_, case)| applies(case, target))) {
        anyhow::bail!(Advised::new(
            "none of these cases is for a server that is installed",
            ["what can be had: isopod server list"]
        ));
    }
    Ok(())
}

/// One case on one target at one level, as often as asked.
fn one(
    args: &Args,
    runner: &mut Runner,
    (name, case): (&str, &Case),
    target: &Target,
    level: Level,
    done: &mut Done,
) -> anyhow::Result<()> {
    let mut once = || {
        let run = runner.run(case, level).map_err(|error| errors::of_case(name, case, error))?;
        anyhow::Ok((run, runner.timing().opaque_setup))
    };
    let (run, opaque_setup) = once()?;
    if let Some(why) = opaque_setup {
        eprintln!("note: {name}: the setup is run anew each time, slower: {why}");
    }
    let (mut alike, mut runs) = (1, 1);
    for _ in 1..args.repeat {
        if interrupt::asked() {
            break;
        }
        alike += u64::from(once()?.0.trace.same(&run.trace));
        runs += 1;
    }
    let report = oracles::expectations::check(case, &run.trace);
    let violations = judged::violations(&run);
    done.missed |= report.missed() || alike < runs || !violations.is_empty();
    if args.json {
        let ran = Ran {
            file: name.to_string(),
            case,
            target: target.to_string(),
            level,
            runs,
            alike,
            trace: &run.trace,
            status: report.name(),
            violations,
        };
        done.printed.push(serde_json::to_value(&ran)?);
        return Ok(());
    }
    say!("{}", judged::timeline(case, &run.trace, &report, name));
    violations
        .iter()
        .for_each(|violation| say!("{}", judged::complaint(violation, run.trace.server.product)));
    if runs > 1 {
        say!("{alike} of {runs} runs alike\n");
    }
    targets::still_there(name, target, &run.trace)
}
