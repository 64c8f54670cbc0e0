//! `isopod run`: case files on servers, as timelines.

use std::path::PathBuf;

use execute::Reset;
use model::{Case, Level, Target, Trace};
use serde::Serialize;

use crate::{
    arguments::{Levels, Where, count, levels},
    errors::{self, Advised},
    interrupt, judged, loading,
    output::say,
    targets,
};

/// Options.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  isopod run lost-update.iso                                  on embedded SQLite
  isopod run key-change.iso --target mysql@9.7 --level RR     on a real server, at one level
  isopod run cases/ --target mariadb@10.11 --level all --repeat 20

A file without expectations just runs. Exit code 1: an expectation was not met.")]
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
    status: String,
}

/// Runs it.
pub fn run(args: Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let files = loading::files(&args.files)?;
    let mut cases = Vec::new();
    let mut broken = Vec::new();
    for file in &files {
        match loading::load(file) {
            Ok(case) => cases.push((file, case)),
            Err(error) => broken.push(error),
        }
    }
    // Every broken file is shown, not only the first.
    if let Some(last) = broken.pop() {
        for error in &broken {
            errors::show(error);
            eprintln!();
        }
        return Err(last);
    }
    let targets = args.on.targets(args.level)?;
    let applies = |case: &Case, target: &Target| oracles::expectations::applies(case, target.product);
    for (file, case) in &cases {
        // Of `all` those count that the case is for.
        for target in targets.iter().filter(|_| !args.on.all()) {
            if !applies(case, target) {
                let names: Vec<&str> = case.products.iter().map(|product| product.name()).collect();
                return Err(Advised {
                    message: format!("{} is not for {}", file.display(), target.product),
                    advice: vec![
                        format!("it is for: {}", names.join(", ")),
                        format!("run it with --target {}, or change its `for` line", names[0]),
                    ],
                }
                .into());
            }
        }
        let name = file.display().to_string();
        let mut there = targets.iter().filter(|target| applies(case, target));
        there.try_for_each(|target| targets::check(&name, case, target, &args.on.how))?;
    }
    if !targets.iter().any(|target| cases.iter().any(|(_, case)| applies(case, target))) {
        return Err(Advised {
            message: "none of these cases is for a server that is installed".into(),
            advice: vec!["what can be had: isopod server list".into()],
        }
        .into());
    }
    let mut missed = false;
    let mut printed = Vec::new();
    for target in &targets {
        if !cases.iter().any(|(_, case)| applies(case, target)) {
            continue;
        }
        if interrupt::asked() {
            break;
        }
        let levels = Levels::or_default(args.level, target.product)?;
        let mut options = args.on.how.options(Reset::Clean);
        options.label = true;
        let mut runner = targets::runner(target, &args.on.how, options)?;
        for (file, case) in cases.iter().filter(|(_, case)| applies(case, target)) {
            for &level in &levels {
                if interrupt::asked() {
                    break;
                }
                let name = file.display().to_string();
                let run = runner.run(case, level).map_err(|error| errors::of_case(&name, case, error))?;
                if let Some(why) = &run.opaque_setup {
                    eprintln!("note: {name}: the setup is run anew each time, slower: {why}");
                }
                let (mut alike, mut done) = (1, 1);
                for _ in 1..args.repeat {
                    if interrupt::asked() {
                        break;
                    }
                    let again =
                        runner.run(case, level).map_err(|error| errors::of_case(&name, case, error))?;
                    alike += u64::from(again.trace.same(&run.trace));
                    done += 1;
                }
                let report = oracles::expectations::check(case, &run.trace);
                missed |= judged::missed(&report) || alike < done;
                if args.json {
                    let ran = Ran {
                        file: name,
                        case,
                        target: target.to_string(),
                        level,
                        runs: done,
                        alike,
                        trace: &run.trace,
                        status: judged::status(&report),
                    };
                    printed.push(serde_json::to_value(&ran)?);
                    continue;
                }
                say!("{}", judged::timeline(case, &run.trace, &report, &name));
                if done > 1 {
                    say!("{alike} of {done} runs alike\n");
                }
                targets::still_there(&name, target, &run.trace)?;
            }
        }
    }
    if args.json {
        say!("{}", serde_json::to_string_pretty(&printed)?);
    }
    Ok(if interrupt::asked() { 2 } else { u8::from(missed) })
}
