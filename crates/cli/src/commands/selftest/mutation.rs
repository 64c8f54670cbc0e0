//! `isopod selftest mutation`: traces that an oracle accepted are made wrong in one place each and shown to it again. What share of
//! them does it notice, and what let the others through?
//!
//! The traces are run for this, or are those that a hunt has kept.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    path::PathBuf,
};

use campaign::{
    mutate::{Mutant, Mutation},
    traces::{self, Reader},
};
use execute::{Reset, Runner};
use generate::Generator;
use model::{Seed, Target, Verdict};
use oracles::{Answer, Oracle};
use report::findings::{share, thousands};
use serde::Serialize;

use crate::{
    arguments::{Levels, Where, count, levels},
    errors, interrupt, oracle_args,
    output::{plural, say},
    profiles,
    progress::Progress,
    targets,
};

/// Options.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    /// Take kept traces instead of running cases: files, folders of them, or run folders
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["chosen", "basedir", "profile"])]
    traces: Vec<PathBuf>,
    /// How many cases are run (by default 2000), or read (by default all)
    #[arg(long, value_parser = count)]
    cases: Option<u64>,
    /// Stop when so many were accepted
    #[arg(long, value_parser = count)]
    accepted: Option<u64>,
    /// Isolation levels (RU, RC, RR, SER), or all
    #[arg(long, default_value = "all", value_parser = levels)]
    level: Levels,
    /// Where the cases and the mutations come from
    #[arg(long, default_value = "150D-0000-0001")]
    seed: Seed,
    /// What is drawn how often: wide, core, pages, or a TOML file that names what it changes
    #[arg(long, default_value = "wide", value_name = "NAME|FILE")]
    profile: String,
    /// Who judges
    #[arg(long, default_value = "model", value_name = "NAME")]
    oracle: String,
    /// Show so many of each mutation that went through
    #[arg(long, value_name = "MUTANTS", default_value_t = 3)]
    show: usize,
    /// The counts, as JSON
    #[arg(long)]
    json: bool,
}

/// In percent.
const WANTED: u64 = 95;

/// So many cases are run if nobody says otherwise.
const CASES: u64 = 2000;

/// What came of one kind of mutation.
#[derive(Default, Serialize)]
struct Counted {
    mutants: u64,
    /// Called violated, or suspected to lack a lock.
    flagged: u64,
    /// Of these, only suspected: further runs would have to show the damage.
    suspected: u64,
    /// What let the others through: exemptions that the true trace did not need, reasons for being undecided, or nothing.
    through: BTreeMap<String, u64>,
    /// Some of these: the number of the case, and what was changed.
    examples: Vec<String>,
}

#[derive(Serialize)]
struct Result {
    target: String,
    server: String,
    oracle: String,
    cases: u64,
    /// Cases that the oracle accepted.
    accepted: u64,
    mutants: u64,
    flagged: u64,
    mutations: BTreeMap<&'static str, Counted>,
}

/// Runs it.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let mut results = Vec::new();
    if !args.traces.is_empty() {
        results.extend(read(args)?);
    } else {
        for target in &args.on.targets(None)? {
            if !interrupt::asked() {
                results.push(measure(args, target)?);
            }
        }
    }
    match args.json {
        true => say!("{}", serde_json::to_string_pretty(&results)?),
        false => results.iter().for_each(show),
    }
    let few = |result: &Result| result.mutants == 0 || result.flagged * 100 < result.mutants * WANTED;
    Ok(if interrupt::asked() { 2 } else { u8::from(results.iter().any(few)) })
}

/// Traces of cases that are run for this.
fn measure(args: &Args, target: &Target) -> anyhow::Result<Result> {
    let profile = profiles::load(&args.profile)?;
    let mut runner = targets::runner(target, &args.on.how, args.on.how.options(Reset::Fast))?;
    let info = runner.info().map_err(|error| anyhow::anyhow!(error))?;
    let levels = args.level.on(target.product)?;
    let mut generator = Generator::with(args.seed, info.product, &info.version, &levels, profile);
    let server = format!("{} {}", info.product, info.version);
    let mut test = Test::new(args, target.to_string(), server)?;
    let cases = args.cases.unwrap_or(CASES);
    let mut progress = Progress::new(target.to_string(), cases);
    for number in 0..cases {
        if interrupt::asked() || test.enough() {
            break;
        }
        let seen = once(&mut runner, &mut generator, number, levels[0])?;
        progress.step();
        test.take(number, seen);
    }
    progress.end();
    Ok(test.result())
}

/// Traces that were kept, each server apart.
fn read(args: &Args) -> anyhow::Result<Vec<Result>> {
    let mut tests: BTreeMap<String, Test<'_>> = BTreeMap::new();
    for path in &args.traces {
        for file in traces::files(path)? {
            for kept in Reader::open(&file)? {
                let traces::Kept { number, answer } = kept?;
                let server = &answer.trace.server;
                let name = format!("{} {}", server.product, server.version);
                let test = match tests.entry(name) {
                    Entry::Occupied(found) => found.into_mut(),
                    Entry::Vacant(new) => {
                        let name = new.key().clone();
                        new.insert(Test::new(args, "kept traces".to_string(), name)?)
                    }
                };
                let cases = args.cases.unwrap_or(u64::MAX);
                if interrupt::asked() || test.enough() || test.result.cases >= cases {
                    break;
                }
                test.take(number, Answer { aftermath: Default::default(), ..answer });
            }
        }
    }
    Ok(tests.into_values().map(Test::result).collect())
}

fn once(
    runner: &mut Runner,
    generator: &mut Generator,
    number: u64,
    level: model::Level,
) -> anyhow::Result<Answer> {
    let case = generator.case(number).case;
    let run =
        runner.run(&case, level).map_err(|error| errors::of_case(&format!("case {number}"), &case, error))?;
    // What was seen beside the trace says nothing about a trace that was changed.
    Ok(Answer { case, trace: run.trace, aftermath: Default::default() })
}

/// The traces of one server, one after the other.
struct Test<'a> {
    args: &'a Args,
    oracle: Box<dyn Oracle>,
    result: Result,
}

impl Test<'_> {
    fn new(args: &Args, target: String, server: String) -> anyhow::Result<Test<'_>> {
        let oracle = oracle_args::named(std::slice::from_ref(&args.oracle))?.remove(0);
        let result = Result {
            target,
            server,
            oracle: args.oracle.clone(),
            cases: 0,
            accepted: 0,
            mutants: 0,
            flagged: 0,
            mutations: BTreeMap::new(),
        };
        Ok(Test { args, oracle, result })
    }

    /// Were as many accepted as are wanted?
    fn enough(&self) -> bool {
        self.args.accepted.is_some_and(|accepted| self.result.accepted >= accepted)
    }

    /// Changes a trace in every way, if it is accepted.
    fn take(&mut self, number: u64, seen: Answer) {
        self.result.cases += 1;
        if !campaign::panel::admissible(&seen) {
            return;
        }
        let Verdict::Holds { by } = oracles::judge(self.oracle.as_ref(), &seen) else { return };
        self.result.accepted += 1;
        for mutation in Mutation::ALL {
            let mut rng = self.args.seed.rng(mutation.name(), number);
            if let Some(mutant) = mutation.of(&seen.case, &seen.trace, &mut rng) {
                self.judge(number, &seen, &by, mutant);
            }
        }
    }

    fn judge(&mut self, number: u64, seen: &Answer, before: &[String], mutant: Mutant) {
        let shown = Answer { case: seen.case.clone(), trace: mutant.trace, aftermath: Default::default() };
        let counted = self.result.mutations.entry(mutant.name).or_default();
        counted.mutants += 1;
        let through = match oracles::judge(self.oracle.as_ref(), &shown) {
            Verdict::Violated(_) => {
                counted.flagged += 1;
                return;
            }
            verdict @ Verdict::Undecided { .. } if oracles::mvcc::suspects(&verdict) => {
                counted.flagged += 1;
                counted.suspected += 1;
                return;
            }
            Verdict::Undecided { reason } => vec![format!("undecided: {reason}")],
            Verdict::Holds { by } => {
                let mut new: Vec<String> = by.into_iter().filter(|name| !before.contains(name)).collect();
                new.sort();
                new.dedup();
                if new.is_empty() { vec!["holds as before".to_string()] } else { new }
            }
        };
        if counted.examples.len() < self.args.show {
            let step = mutant.step.map(|step| &seen.case.steps[step]);
            let level =
                step.and_then(|step| seen.case.sessions[step.session].level).unwrap_or(seen.trace.level);
            let sql = step.map_or(String::new(), |step| format!(" · {level}: {}", step.sql));
            counted.examples.push(format!("case {number} · {} · {}{sql}", mutant.what, through.join(", ")));
        }
        through.into_iter().for_each(|name| *counted.through.entry(name).or_default() += 1);
    }

    fn result(mut self) -> Result {
        let all = || self.result.mutations.values();
        (self.result.mutants, self.result.flagged) =
            (all().map(|counted| counted.mutants).sum(), all().map(|counted| counted.flagged).sum());
        self.result
    }
}

fn show(result: &Result) {
    say!("{} · {} · judged by {}", result.target, result.server, result.oracle);
    say!(
        "  {}, {} accepted ({}), {} mutants, {} flagged: {} ({WANTED}% are wanted)",
        plural(result.cases, "case"),
        thousands(result.accepted),
        share(result.accepted, result.cases),
        thousands(result.mutants),
        thousands(result.flagged),
        percent(result.flagged, result.mutants)
    );
    for (name, counted) in &result.mutations {
        say!(
            "  {name:12}  {:>7} mutants  {:>7} flagged  {:>7} through  {:>6}",
            thousands(counted.mutants),
            thousands(counted.flagged),
            thousands(counted.mutants - counted.flagged),
            percent(counted.flagged, counted.mutants)
        );
        if counted.suspected > 0 {
            let suspected = thousands(counted.suspected);
            say!("    {suspected:>9}  of those flagged are lock-suspects: without further runs no finding");
        }
        let mut through: Vec<(&String, &u64)> = counted.through.iter().collect();
        through.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
        through.iter().for_each(|(name, count)| say!("    {:>9}  {name}", thousands(**count)));
        counted.examples.iter().for_each(|example| say!("      {example}"));
    }
}

/// With a digit behind the point: the wanted share is near the top.
fn percent(part: u64, of: u64) -> String {
    match (part * 1000).checked_div(of) {
        Some(thousandths) => format!("{}.{}%", thousandths / 10, thousandths % 10),
        None => "-".to_string(),
    }
}
