//! `isopod selftest mutation`: traces that an oracle accepted are made wrong in one place each and shown to it again. What share of
//! them does it notice, and what let the others through?

use std::collections::BTreeMap;

use campaign::mutate::{Mutant, Mutation};
use execute::{Reset, Runner};
use generate::Generator;
use model::{Seed, Target, Verdict};
use oracles::{Answer, Oracle};
use report::findings::{share, thousands};
use serde::Serialize;

use crate::{
    arguments::{Levels, Where, count, levels},
    commands::hunt::judges,
    errors, interrupt,
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
    /// How many cases are run
    #[arg(long, default_value_t = 2000, value_parser = count)]
    cases: u64,
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

/// What came of one kind of mutation.
#[derive(Default, Serialize)]
struct Counted {
    mutants: u64,
    flagged: u64,
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
    for target in &args.on.targets(None)? {
        if interrupt::asked() {
            break;
        }
        let result = measure(args, target)?;
        if !args.json {
            show(&result);
        }
        results.push(result);
    }
    if args.json {
        say!("{}", serde_json::to_string_pretty(&results)?);
    }
    let few = |result: &Result| result.mutants == 0 || result.flagged * 100 < result.mutants * WANTED;
    Ok(if interrupt::asked() { 2 } else { u8::from(results.iter().any(few)) })
}

fn measure(args: &Args, target: &Target) -> anyhow::Result<Result> {
    let profile = profiles::load(&args.profile)?;
    let oracle = judges::named(std::slice::from_ref(&args.oracle))?.remove(0);
    let mut runner = targets::runner(target, &args.on.how, args.on.how.options(Reset::Fast))?;
    let info = runner.info().map_err(|error| anyhow::anyhow!(error))?;
    let levels = args.level.on(target.product)?;
    let mut generator = Generator::with(args.seed, info.product, &info.version, &levels, profile);
    let mut result = Result {
        target: target.to_string(),
        server: format!("{} {}", info.product, info.version),
        oracle: args.oracle.clone(),
        cases: 0,
        accepted: 0,
        mutants: 0,
        flagged: 0,
        mutations: BTreeMap::new(),
    };
    let mut progress = Progress::new(target.to_string(), args.cases);
    for number in 0..args.cases {
        if interrupt::asked() {
            break;
        }
        let seen = once(&mut runner, &mut generator, number, levels[0])?;
        progress.step();
        result.cases += 1;
        if !campaign::judge::admissible(&seen) {
            continue;
        }
        let Verdict::Holds { by } = oracles::judge(oracle.as_ref(), &seen) else { continue };
        result.accepted += 1;
        for mutation in Mutation::ALL {
            let mut rng = args.seed.rng(mutation.name(), number);
            if let Some(mutant) = mutation.of(&seen.case, &seen.trace, &mut rng) {
                let counted = result.mutations.entry(mutant.name).or_default();
                judge(oracle.as_ref(), number, &seen, &by, mutant, counted, args.show);
            }
        }
    }
    progress.end();
    result.mutants = result.mutations.values().map(|counted| counted.mutants).sum();
    result.flagged = result.mutations.values().map(|counted| counted.flagged).sum();
    Ok(result)
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

fn judge(
    oracle: &dyn Oracle,
    number: u64,
    seen: &Answer,
    before: &[String],
    mutant: Mutant,
    counted: &mut Counted,
    examples: usize,
) {
    let shown = Answer { case: seen.case.clone(), trace: mutant.trace, aftermath: Default::default() };
    counted.mutants += 1;
    let through = match oracles::judge(oracle, &shown) {
        Verdict::Violated(_) => {
            counted.flagged += 1;
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
    if counted.examples.len() < examples {
        let step = mutant.step.map(|step| &seen.case.steps[step]);
        let level = step.and_then(|step| seen.case.sessions[step.session].level).unwrap_or(seen.trace.level);
        let sql = step.map_or(String::new(), |step| format!(" · {level}: {}", step.sql));
        counted.examples.push(format!("case {number} · {} · {}{sql}", mutant.what, through.join(", ")));
    }
    through.into_iter().for_each(|name| *counted.through.entry(name).or_default() += 1);
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
