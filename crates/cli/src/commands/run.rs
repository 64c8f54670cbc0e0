//! `isopod run`: case files on servers, as timelines.

use std::path::PathBuf;

use campaign::{CleanServer, Panel};
use clap::ValueEnum;
use execute::Reset;
use model::{Case, Finding, JudgeOverrides, Level, Target, Trace, Verdict, Violation};
use serde::Serialize;

use crate::{
    arguments::{Levels, Where, count, levels},
    errors::{self, Advised},
    interrupt, judged, loading, oracle_args,
    output::{self, say, tell},
    targets,
};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  isopod run lost-update.iso                                  on embedded SQLite
  isopod run key-change.iso --target mysql@9.7 --level RR     on a real server, at one level
  isopod run cases/ --target mariadb@10.11 --level all --repeat 20

A file without expectations just runs. What is wrong is told whether or not the file expects anything: by
those who judge a run by itself, or, for the case of a finding in its folder, by those who filed it.
Exit code 1: something is wrong, or an expectation was not met.")]
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
    /// Who judges, with commas; by default those who need no further runs, and for a finding those who filed it
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    oracle: Vec<String>,
    /// What the tables are like when a case begins; by default clean, and for a finding as it came back
    #[arg(long, value_enum, value_name = "HOW")]
    reset: Option<ResetBy>,
    /// The traces and what was expected, as JSON
    #[arg(long)]
    json: bool,
}

/// How the tables are reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ResetBy {
    /// Nothing of the last case is left, and an open read view keeps old versions
    Clean,
    /// The same without the read view: old versions are purged while the case runs
    Purged,
    /// Emptied by TRUNCATE since they were made
    Truncated,
    /// Made anew by the setup as it is written
    Rebuilt,
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
    violations: Vec<Violation>,
}

/// A case to be run.
struct Loaded {
    name: String,
    case: Case,
    /// The finding whose case it is.
    filed: Option<Finding>,
}

impl Loaded {
    /// Who judges it.
    fn panel(&self, args: &Args) -> anyhow::Result<Panel> {
        let filed = self.filed.as_ref().filter(|_| args.oracle.is_empty());
        let by = filed.and_then(|finding| Panel::of_one(&finding.oracle, finding.judged_as.clone()));
        match by {
            Some(panel) => Ok(panel),
            None => Ok(Panel::new(oracle_args::named(&args.oracle)?, JudgeOverrides::default())),
        }
    }

    fn reset(&self, args: &Args) -> Reset {
        match (args.reset, &self.filed) {
            (Some(ResetBy::Clean), _) | (None, None) => Reset::Clean,
            (Some(ResetBy::Purged), _) => Reset::Purged,
            (Some(ResetBy::Truncated), _) => Reset::Truncated,
            (Some(ResetBy::Rebuilt), _) => Reset::Rebuilt,
            (None, Some(finding)) => campaign::confirm::reset(finding.condition),
        }
    }
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
        let cases: Vec<_> = cases.iter().filter(|of| applies(&of.case, target)).collect();
        if cases.is_empty() {
            continue;
        }
        if interrupt::asked() {
            break;
        }
        let levels = Levels::or_default(args.level, target.product)?;
        let mut options = args.on.how.options(Reset::Clean);
        options.label = true;
        let mut server = CleanServer::new(targets::runner(target, &args.on.how, options)?, target);
        for of in cases {
            for &level in &levels {
                if !interrupt::asked() {
                    one(&args, &mut server, of, target, level, &mut done)?;
                }
            }
        }
        targets::say_notes(server.runner());
    }
    if args.json {
        output::json(&done.printed)?;
    }
    Ok(if interrupt::asked() { 2 } else { u8::from(done.missed) })
}

fn applies(case: &Case, target: &Target) -> bool {
    oracles::expectations::applies(case, target.product)
}

/// Reads the files. Every broken one is shown, not only the first.
fn load(files: &[PathBuf]) -> anyhow::Result<Vec<Loaded>> {
    let (mut cases, mut broken) = (Vec::new(), Vec::new());
    for file in loading::files(files)? {
        match loading::load(&file) {
            Ok(case) => {
                let (name, filed) = (file.display().to_string(), loading::filed(&file)?);
                cases.push(Loaded { name, case, filed });
            }
            Err(error) => broken.push(error),
        }
    }
    if let Some(last) = broken.pop() {
        for error in &broken {
            errors::show(error);
            tell!("");
        }
        return Err(last);
    }
    Ok(cases)
}

/// May all of them run there?
fn check(args: &Args, cases: &[Loaded], targets: &[Target]) -> anyhow::Result<()> {
    for Loaded { name, case, .. } in cases {
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
    if !targets.iter().any(|target| cases.iter().any(|of| applies(&of.case, target))) {
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
    server: &mut CleanServer,
    of: &Loaded,
    target: &Target,
    level: Level,
    done: &mut Done,
) -> anyhow::Result<()> {
    let Loaded { name, case, .. } = of;
    let (panel, reset) = (of.panel(args)?, of.reset(args));
    let once = |server: &mut CleanServer| {
        server.run(case, level, reset).map_err(|error| errors::of_case(name, case, error))
    };
    let run = once(server)?;
    if let Some(why) = server.runner().timing().opaque_setup {
        tell!("note: {name}: the setup is run anew each time, slower: {why}");
    }
    let (mut alike, mut runs) = (1, 1);
    for _ in 1..args.repeat {
        if interrupt::asked() {
            break;
        }
        alike += u64::from(once(server)?.trace.same(&run.trace));
        runs += 1;
    }
    let report = oracles::expectations::check(case, &run.trace);
    let violations: Vec<Violation> = panel
        .judge(&run, server)
        .filter_map(|(_, verdict)| match verdict {
            Verdict::Violated(violation) => Some(violation),
            Verdict::Holds { .. } | Verdict::Undecided { .. } => None,
        })
        .collect();
    done.missed |= report.missed() || alike < runs || !violations.is_empty();
    if args.json {
        let ran = Ran {
            file: name.clone(),
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
    say!("{}", judged::timeline(case, &run.trace, &report, &violations, name));
    violations
        .iter()
        .for_each(|violation| say!("{}", judged::complaint(violation, run.trace.server.product)));
    if runs > 1 {
        say!("{alike} of {runs} runs alike\n");
    }
    targets::still_there(name, target, &run.trace)
}
