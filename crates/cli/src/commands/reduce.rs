//! `isopod reduce`: a case that an oracle complains about, made smaller while the same complaint comes back.

use std::path::PathBuf;

use anyhow::Context;
use campaign::{
    Guise,
    confirm::{Confirmed, Rerun, Suspicion, confirm},
    judge::{self, Judge},
    reducing::{How, Smaller, smaller},
    verdicts,
};
use execute::{LaunchError, Looks, Reset, Runner};
use model::{Case, Level, Scene, Shown, Target, Verdict, Violation};
use oracles::{Answer, Oracle};
use serde::Serialize;

use super::hunt::judges;
use crate::{
    arguments::{Levels, Where, count, levels},
    errors::{self, Advised},
    interrupt, loading,
    output::say,
    targets,
};

/// Options.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  isopod reduce runs/1/findings/9b1f0a2c/original.iso --target mysql@9.7
  isopod reduce big.iso --target mariadb@10.11 --level RR --oracle invariants --out small.iso

The first complaint of an oracle is kept: kind, rule, statement and level stay the same. What the case
expects is left out. Exit codes: 0 the case is as small as it gets within the budget, 2 the job could
not be done; that no oracle complains is such a case.")]
pub struct Args {
    /// The case file
    #[arg(value_name = "CASE")]
    case: PathBuf,
    #[command(flatten)]
    on: Where,
    /// The isolation level of sessions without one of their own; by default the product's own default
    #[arg(long, value_parser = levels)]
    level: Option<Levels>,
    /// Whose complaint, with commas; by default that of the first who has one
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    oracle: Vec<String>,
    /// Tell the oracles another level (RR), version (10.11.19) or setting (name=value) than the true one
    #[arg(long, value_name = "WHAT")]
    judge_as: Vec<Guise>,
    /// So many clean runs in a row must show the complaint, before and after
    #[arg(long, value_name = "RUNS", default_value_t = 3, value_parser = count)]
    confirm: u64,
    /// So many smaller cases are tried at most
    #[arg(long, value_name = "CASES", default_value_t = reduce::Budget::default().candidates, value_parser = count)]
    candidates: u64,
    /// Write the case to this file; by default it is printed
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// What came of it, as JSON, the case included
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Result {
    target: String,
    oracle: &'static str,
    violation: Violation,
    from: usize,
    to: usize,
    tried: u64,
    case: String,
}

/// Runs it.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let name = args.case.display().to_string();
    let case = loading::load(&args.case)?;
    let targets = args.on.targets(args.level)?;
    let [target] = &targets[..] else {
        anyhow::bail!("a case is made smaller on one target, and these are {}", targets.len());
    };
    targets::check(&name, &case, target, &args.on.how)?;
    let levels = Levels::or_default(args.level, target.product)?;
    let &[level] = &levels[..] else { anyhow::bail!("a case is made smaller at one level") };
    let runner = targets::runner(target, &args.on.how, args.on.how.options(Reset::Clean))?;
    // A server that is not ours is not looked at more than the cases do.
    let looks = if target.attached().is_none() { Looks::ALWAYS } else { Looks::default() };
    let purges = target.attached().is_none() && dialect::of(target.product).purge_left.is_some();
    let mut server = Server { runner, looks, looking: true, purges };
    let first =
        server.run(&case, level, Reset::Clean).map_err(|error| errors::of_case(&name, &case, error))?;
    let guise = args.judge_as.iter().cloned().fold(Guise::default(), Guise::and);
    let oracles = judges::named(&args.oracle)?;
    let (oracle, violation) = complaint(&oracles, &guise, &first, &mut server).ok_or_else(|| Advised {
        message: format!("no oracle complains about {name} on {}", target.bare()),
        advice: vec!["what each of them says: isopod run CASE --target TARGET".into()],
    })?;
    let judge = Judge { oracle, guise: &guise };
    let suspicion = Suspicion { seen: &first, judge, violation: &violation, leftovers: None };
    let confirmed = confirm(&mut server, &suspicion, args.confirm as u32).ok_or_else(|| Advised {
        message: format!("{} did not come back {} times in a row", violation.fingerprint.rule, args.confirm),
        advice: vec!["what comes only now and then cannot be made smaller; try --confirm 1".into()],
    })?;
    let how = How {
        candidates: args.candidates,
        strategy: &mut reduce::strategy::InOrder,
        over: &interrupt::asked,
        told: &mut |_| {},
    };
    let done = smaller(&mut server, &suspicion, confirmed, how);
    say_result(args, target, oracle.name(), case.steps.len(), done)?;
    Ok(if interrupt::asked() { 2 } else { 0 })
}

/// The first complaint.
fn complaint<'a>(
    oracles: &'a [Box<dyn Oracle>],
    guise: &Guise,
    seen: &Answer,
    server: &mut Server,
) -> Option<(&'a dyn Oracle, Violation)> {
    oracles.iter().find_map(|oracle| {
        let judge = Judge { oracle: oracle.as_ref(), guise };
        match judge.verdict(seen, server) {
            Verdict::Violated(violation) => Some((oracle.as_ref(), violation)),
            Verdict::Holds { .. } | Verdict::Undecided { .. } => None,
        }
    })
}

fn say_result(
    args: &Args,
    target: &Target,
    oracle: &'static str,
    from: usize,
    done: Smaller,
) -> anyhow::Result<()> {
    let Smaller { confirmed: Confirmed { answer, violation, .. }, tried, .. } = done;
    let text = model::casefile::print(&answer.case)?;
    let to = answer.case.steps.len();
    if let Some(path) = &args.out {
        std::fs::write(path, &text).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    if args.json {
        let target = target.to_string();
        let result = Result { target, oracle, violation, from, to, tried, case: text };
        say!("{}", serde_json::to_string_pretty(&result)?);
        return Ok(());
    }
    let print = verdicts::words(&violation.fingerprint);
    eprintln!("{oracle}: {print}\nfrom {from} to {to} statements, {tried} smaller cases tried");
    match &args.out {
        Some(path) => say!("{}", path.display()),
        None => say!("{}", text.trim_end()),
    }
    Ok(())
}

/// One server, on which cases are run from clean resets.
struct Server {
    runner: Runner,
    looks: Looks,
    looking: bool,
    purges: bool,
}

impl Server {
    fn run(&mut self, case: &Case, level: Level, reset: Reset) -> std::result::Result<Answer, LaunchError> {
        self.runner.tune(reset, if self.looking { self.looks } else { Looks::default() });
        let run = self.runner.run(case, level)?;
        Ok(Answer { case: case.clone(), trace: run.trace, aftermath: run.aftermath })
    }
}

impl Rerun for Server {
    fn rerun(&mut self, case: &Case, level: Level, reset: Reset) -> Option<Answer> {
        self.run(case, level, reset).ok().filter(judge::admissible)
    }

    fn play(&mut self, scene: &Scene) -> Option<Shown> {
        self.runner.play(scene).ok()
    }

    fn purges(&self) -> bool {
        self.purges
    }

    fn look(&mut self, look: bool) {
        self.looking = look;
    }
}
