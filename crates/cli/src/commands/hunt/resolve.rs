//! From arguments to settings: a new run, or one that goes on.

use std::path::{Path, PathBuf};

use campaign::{Budget, Campaign, HuntTarget, Known, Panel, RunReader, RunWriter, Servers, Settings};
use generate::Profile;
use model::{
    JudgeOverrides, Level, Product, Seed,
    shell::{self, quoted},
};

use super::arguments::Args;
use crate::{
    arguments::{Levels, Where},
    choice::{Choice, embedded},
    clock::{minute, now, stamp},
    corpus,
    errors::Advised,
    interrupt, learned, oracle_args, own_runs, targets,
};

/// How long a hunt without arguments lasts, and one that says nothing of an end.
const SHORT: u64 = 20;

/// Decides everything before the hunt begins.
pub fn resolve<'a>(args: &Args, servers: &'a dyn Servers) -> anyhow::Result<Campaign<'a>> {
    let known = args.known.as_deref().map(Known::read).transpose().map_err(|error| {
        Advised::new(
            format!("what is known cannot be read: {error}"),
            ["--known wants a folder with findings (a verdict.json each, as a run keeps them) or case files"],
        )
    })?;
    let mut known = known.unwrap_or_default();
    known.entries.extend(corpus::known_to_fail()?);
    if let Some(path) = &args.resume {
        return resume(args, path, known, servers);
    }
    let profile = args.profile.load()?;
    let panel = Panel::new(oracle_args::hunting(&args.oracle)?, JudgeOverrides::all(&args.judge_as));
    let settings = settings(args, &profile, &panel)?;
    let path = match &args.out {
        Some(path) => path.clone(),
        None => unused(Path::new("isopod-runs")),
    };
    let folder = RunWriter::create(&path, &settings).map_err(|error| {
        Advised::new(
            error.to_string(),
            [
                format!("to go on with the run that is there: {}", resume_command(&path)),
                "or name another folder: --out DIR".to_string(),
            ],
        )
    })?;
    own_runs::mark(&folder)?;
    Ok(Campaign { settings, panel, profile, folder, known, servers, stop: &interrupt::asked })
}

/// The command that goes on with the run in this folder.
pub fn resume_command(run: &Path) -> String {
    shell::command(["isopod", "hunt", "--resume", &run.display().to_string()])
}

fn resume<'a>(
    args: &Args,
    path: &Path,
    known: Known,
    servers: &'a dyn Servers,
) -> anyhow::Result<Campaign<'a>> {
    let run = RunReader::read(path).map_err(|error| {
        Advised::new(
            format!("there is no run to go on with: {error}"),
            ["--resume wants the folder of a run, with its settings.json"],
        )
    })?;
    let command = ["isopod", "hunt", "--resume", &path.display().to_string()];
    own_runs::check(&run, args.how.trust, |_| true, &command)?;
    let folder = RunWriter::resume(&run).map_err(|error| {
        Advised::new(
            error.to_string(),
            [
                format!(
                    "begin a new run; --seed {} --profile {} makes the same cases",
                    run.settings.seed,
                    quoted(&run.settings.profile)
                ),
                format!(
                    "what it has found counts as known with --known {}",
                    quoted(&path.join("findings").display().to_string())
                ),
            ],
        )
    })?;
    let mut settings = run.settings;
    if settings.isopod != env!("CARGO_PKG_VERSION") {
        anyhow::bail!(Advised::new(
            format!("the run was begun by Isopod {}", settings.isopod),
            ["another version may make other cases of the same seed: begin a new run"]
        ));
    }
    if let Some(budget) = budget(args) {
        settings.budget = budget;
    }
    if let Some(workers) = args.workers {
        settings.workers = workers as usize;
    }
    for hunted in &settings.targets {
        targets::ensure_installed(&hunted.target)?;
    }
    let profile = Profile::parse(&settings.profile, &settings.profile_text)?;
    let panel = Panel::new(oracle_args::named(&settings.oracles)?, settings.judge_as.clone());
    Ok(Campaign { settings, panel, profile, folder, known, servers, stop: &interrupt::asked })
}

fn budget(args: &Args) -> Option<Budget> {
    args.cases.map(Budget::Cases).or(args.time.map(Budget::Seconds))
}

fn settings(args: &Args, profile: &Profile, panel: &Panel) -> anyhow::Result<Settings> {
    let chosen = if args.targets.is_empty() { vec![Choice::One(embedded())] } else { args.targets.clone() };
    let on = Where { chosen, basedir: args.basedir.clone(), how: args.how.clone() };
    let all = on.all();
    let mut hunted = Vec::new();
    for target in on.targets(None)? {
        let levels = match at(args, target.product) {
            Ok(levels) => levels,
            Err(_) if all => continue,
            Err(error) => return Err(error),
        };
        // What is missing is installed now, one after the other, and not by all workers at once.
        targets::ensure_installed(&target)?;
        hunted.push(HuntTarget { target, levels });
    }
    if hunted.is_empty() {
        anyhow::bail!(Advised::new("no server has these levels", ["what can be had: isopod server list"]));
    }
    let oracles = panel.judges().map(|judge| judge.oracle.name().to_string()).collect();
    let workers = args.workers.map_or_else(|| execute::os::cpus().len().max(1), |workers| workers as usize);
    Ok(Settings {
        started: minute(now().as_secs()),
        isopod: env!("CARGO_PKG_VERSION").to_string(),
        seed: args.seed.unwrap_or_else(new_seed),
        targets: hunted,
        budget: budget(args).unwrap_or(Budget::Seconds(SHORT)),
        workers,
        profile: profile.name.clone(),
        profile_text: profile.text(),
        profile_hash: profile.hash(),
        oracles,
        confirm: args.confirm as u32,
        keep: args.keep,
        renew_cases: args.renew_cases,
        renew_bytes: args.renew_mb << 20,
        hung_after: args.how.hung_after,
        pin: !args.how.no_pin,
        settings_swarm: args.settings_swarm,
        reduce: if args.no_reduce { 0 } else { reduce::Budget::default().candidates },
        strategy: args.strategy.name().to_string(),
        learned: args.learned.as_deref().map(began).transpose()?,
        keep_traces: args.keep_traces,
        judge_as: JudgeOverrides::all(&args.judge_as),
    })
}

/// What the reduction begins with.
fn began(path: &Path) -> anyhow::Result<campaign::Learned> {
    match learned::load(path)? {
        (counts, Some(hash)) => Ok(campaign::Learned { hash, counts }),
        (_, None) => Err(Advised::new(
            format!("{} is not there", path.display()),
            [
                "a hunt with --strategy table or bandit leaves one in its folder: learned.json",
                "or begin without --learned",
            ],
        )
        .into()),
    }
}

/// The levels asked for that the product has; all of them by default.
fn at(args: &Args, product: Product) -> anyhow::Result<Vec<Level>> {
    if args.level.is_empty() {
        return Levels::All.on(product);
    }
    let mut found = Vec::new();
    for levels in &args.level {
        found.extend(levels.on(product)?);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// A seed that nobody chose.
fn new_seed() -> Seed {
    let drawn = Seed(now().as_nanos() as u64 ^ u64::from(std::process::id()) << 32);
    Seed(drawn.sub("new seed", 0) & ((1 << 48) - 1))
}

/// A folder named after the time that is not there yet.
fn unused(parent: &Path) -> PathBuf {
    let name = stamp(now().as_secs());
    let names = std::iter::once(name.clone()).chain((2..).map(|i| format!("{name}-{i}")));
    names.map(|name| parent.join(name)).find(|path| !path.exists()).unwrap_or_else(|| parent.join(&name))
}
