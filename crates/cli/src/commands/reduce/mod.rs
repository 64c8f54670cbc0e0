//! `isopod reduce`: a case that is wrong somewhere, reduced while the same stays wrong.
//!
//! What the same is, in this order: the first complaint of an oracle; else how two targets differ; else what a command says; else
//! an expectation of the file that is not met, and then only what no expectation names may go.

mod by_check;
mod by_difference;
mod by_expectation;
mod by_oracle;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::Context;
use campaign::{
    Panel,
    reducing::{How, by_predicate},
    symptoms::missed,
};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use execute::Reset;
use model::{Case, JudgeOverrides, Level, Product, Seed, Target, Violation};
use reduce::{Budget, Scope, Strategy, Trial, strategy};
use serde::Serialize;

use super::hunt::seconds;
use crate::{
    arguments::{Levels, Where, count, levels},
    choice::{Choice, embedded},
    errors::{self, Advised},
    interrupt, learned, loading, oracle_args,
    output::{self, say, tell},
    progress::Line,
    targets,
};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  isopod reduce runs/1/findings/9b1f0a2c/original.iso --target mysql@9.7
  isopod reduce big.iso --target mariadb@10.11 --level RR --oracle invariants --out small.iso
  isopod reduce big.iso --target mysql@9.7 --differs-from mysql@8.0
  isopod reduce big.iso --check ./still-wrong.sh

The first complaint of an oracle is kept: kind, rule, statement and level stay the same. Where no oracle
complains, it is kept how the target differs from another one (--differs-from), or that a command ends
with exit code 0 when it is given a case file (--check; without --target nothing is run beside it). An
expectation of the file that is not met is kept last, and only what no expectation names is then left
out. Ctrl-C ends the search with the smallest case so far. Exit codes: 0 the case is as small as it gets
within the budget, 2 the job could not be done; that there is nothing to keep is such a case.")]
pub struct Args {
    /// The case file, or the folder of a finding
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
    judge_as: Vec<JudgeOverrides>,
    /// Where no oracle complains: keep how the target differs from this one
    #[arg(long, value_name = "TARGET")]
    differs_from: Option<Target>,
    /// Else: keep that this command, given the path of a case file, ends with exit code 0
    #[arg(long, value_name = "COMMAND")]
    check: Option<String>,
    /// So many clean runs in a row must show it, before and after
    #[arg(long, value_name = "RUNS", default_value_t = 3, value_parser = count)]
    confirm: u64,
    /// So many smaller cases are tried at most
    #[arg(long, value_name = "CASES", default_value_t = Budget::default().candidates, value_parser = count)]
    candidates: u64,
    /// So long is searched at most: 30s, 10m
    #[arg(long = "for", value_name = "TIME", value_parser = seconds)]
    time: Option<u64>,
    /// Which of the smaller cases is tried next
    #[arg(long, value_parser = strategies(), default_value = "in-order")]
    strategy: strategy::Kind,
    /// Where chance begins; strategies other than in-order have it
    #[arg(long, default_value = "0000-0000-0001")]
    seed: Seed,
    /// Begin with what was learned before, and write what is known in the end to the same file
    #[arg(long, value_name = "FILE")]
    learned: Option<PathBuf>,
    /// Write the case to this file; by default it is printed
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// What came of it, as JSON, the case included
    #[arg(long)]
    json: bool,
}

/// The strategies, with what the help says of them.
pub fn strategies() -> impl TypedValueParser<Value = strategy::Kind> {
    let values = strategy::Kind::ALL.map(|kind| PossibleValue::new(kind.name()).help(kind.about()));
    PossibleValuesParser::new(values)
        .map(|name| strategy::Kind::named(&name).unwrap_or(strategy::Kind::InOrder))
}

/// What came of it.
#[derive(Serialize)]
struct Result {
    target: String,
    /// Who says that it is still wrong.
    oracle: String,
    /// What is wrong, in one line.
    keeps: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<Violation>,
    strategy: &'static str,
    seed: Seed,
    /// A hash of what was learned before.
    #[serde(skip_serializing_if = "Option::is_none")]
    learned: Option<String>,
    from: usize,
    to: usize,
    tried: u64,
    /// Is it certain that nothing more can be left out?
    finished: bool,
    case: String,
}

/// What one of the ways to search came to.
struct Done {
    oracle: String,
    keeps: String,
    violation: Option<Violation>,
    case: Case,
    tried: u64,
    finished: bool,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let name = args.case.display().to_string();
    let case = loading::load(&args.case)?;
    let known = args.learned.as_deref().map(learned::load).transpose()?;
    let (learned, hash) = known.unwrap_or_default();
    let mut strategy = args.strategy.begin(args.seed, learned);
    let mut search = Search::new(args, strategy.as_mut());
    let (target, done) = search.all(&name, &case)?;
    search.line.end();
    if let (Some(path), Some(learned)) = (&args.learned, strategy.learned()) {
        learned::save(path, learned)?;
    }
    let text = model::casefile::print(&done.case)?;
    let (from, to) = (case.steps.len(), done.case.steps.len());
    let result = Result {
        target,
        oracle: done.oracle,
        keeps: done.keeps,
        violation: done.violation,
        strategy: args.strategy.name(),
        seed: args.seed,
        learned: hash,
        from,
        to,
        tried: done.tried,
        finished: done.finished,
        case: text,
    };
    show(args, &result)?;
    Ok(if interrupt::asked() { 2 } else { 0 })
}

fn show(args: &Args, result: &Result) -> anyhow::Result<()> {
    if let Some(path) = &args.out {
        std::fs::write(path, &result.case)
            .with_context(|| format!("{} cannot be written", path.display()))?;
    }
    if args.json {
        return output::json(result);
    }
    let Result { oracle, keeps, from, to, tried, finished, .. } = result;
    let more = if *finished { "" } else { "; there was no time to try the rest" };
    tell!("{oracle}: {keeps}\nfrom {from} to {to} statements, {tried} smaller cases tried{more}");
    match &args.out {
        Some(path) => say!("{}", path.display()),
        None => output::data(result.case.trim_end()),
    }
    Ok(())
}

/// A search: its arguments, and how far it is.
struct Search<'a> {
    args: &'a Args,
    strategy: &'a mut dyn Strategy,
    line: Line,
    until: Option<Instant>,
}

/// Is the time over, or did the user ask to stop?
fn over(until: Option<Instant>) -> bool {
    interrupt::asked() || until.is_some_and(|until| Instant::now() > until)
}

impl<'a> Search<'a> {
    fn new(args: &'a Args, strategy: &'a mut dyn Strategy) -> Search<'a> {
        let until = args.time.map(|seconds| Instant::now() + Duration::from_secs(seconds));
        Search { args, strategy, line: Line::new(), until }
    }

    /// Finds out what is to be kept, and makes the case smaller. Gives the target's name with it.
    fn all(&mut self, name: &str, case: &Case) -> anyhow::Result<(String, Done)> {
        let args = self.args;
        let untold = Choice::One(embedded());
        if let (Some(command), true, None) = (&args.check, args.on.chosen == [untold], &args.differs_from) {
            let product = case.products.first().copied().unwrap_or(embedded().product);
            return Ok(("none".into(), by_check::smaller(self, name, case, product, command)?));
        }
        let targets = args.on.targets(args.level)?;
        let [target] = &targets[..] else {
            anyhow::bail!("a case is reduced on one target, and these are {}", targets.len());
        };
        targets::check(name, case, target, &args.on.how)?;
        let levels = Levels::or_default(args.level, target.product)?;
        let &[level] = &levels[..] else { anyhow::bail!("a case is reduced at one level") };
        let mut server = targets::clean_server(target, &args.on.how)?;
        let seen =
            server.run(case, level, Reset::Clean).map_err(|error| errors::of_case(name, case, error))?;
        let panel = Panel::new(oracle_args::named(&args.oracle)?, JudgeOverrides::all(&args.judge_as));
        let done = if let Some((judge, violation)) = panel.first_violation(&seen, &mut server) {
            self.unused(judge.oracle.name());
            by_oracle::smaller(self, &mut server, judge, &violation, &seen)?
        } else if let Some(other) = &args.differs_from {
            by_difference::smaller(self, (name, case), (&mut server, target), other, level)?
        } else if let Some(command) = &args.check {
            by_check::smaller(self, name, case, target.product, command)?
        } else if let Some(missed) = missed(&seen) {
            by_expectation::smaller(self, &mut server, &seen, &missed)?
        } else {
            return Err(nothing(name, target, level).into());
        };
        Ok((target.to_string(), done))
    }

    /// What was asked for as well, and is not needed.
    fn unused(&self, oracle: &str) {
        let args = self.args;
        let given = [("--differs-from", args.differs_from.is_some()), ("--check", args.check.is_some())];
        for (name, _) in given.into_iter().filter(|(_, given)| *given) {
            tell!("note: {oracle} complains about the case, so that is kept, and {name} is not asked");
        }
    }

    /// Reduces a case by a predicate that is no complaint.
    fn without_oracle(
        &mut self,
        case: &Case,
        product: Product,
        scope: Scope,
        holds: &mut dyn FnMut(&Case) -> bool,
    ) -> anyhow::Result<(Case, u64, bool)> {
        let (times, until, line) = (self.args.confirm, self.until, &self.line);
        let how = How {
            candidates: self.args.candidates,
            strategy: self.strategy,
            over: &|| over(until),
            told: &mut |trial| told(line, trial),
        };
        let found = by_predicate(case, product, scope, times, holds, how).ok_or_else(|| {
            Advised::new(
                format!("it did not come back {times} times in a row"),
                ["what comes only now and then cannot be reduced; try --confirm 1"],
            )
        })?;
        Ok(found)
    }
}

fn told(line: &Line, trial: &Trial<'_>) {
    let Trial { number, layer, best, .. } = trial;
    line.detail(format!("{number} smaller cases tried, {} statements left ({layer})", best.steps.len()));
}

fn nothing(name: &str, target: &Target, level: Level) -> Advised {
    Advised::new(
        format!("no oracle complains about {name} on {} at {level}", target.bare()),
        [
            "what each of them says: isopod run CASE --target TARGET",
            "something else can be kept: --differs-from TARGET, --check COMMAND",
        ],
    )
}
