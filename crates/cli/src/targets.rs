//! From a target to a runner: installs what is missing, with progress, and says so; or attaches to a server that runs
//! already, with less freedom there.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use dbms::{
    attach::Door,
    launch::{LaunchError, Launcher, Settle},
};
use execute::{Options, Runner};
use model::{Case, Reply, Target, Trace, target::Settings};

use crate::{
    arguments::{How, SettleBy},
    errors::Advised,
    installing,
    progress::Line,
};

/// Asks the servers that run already what they really are: behind `mysql://` may be a MariaDB.
pub fn resolve(targets: &mut [Target]) -> anyhow::Result<()> {
    for target in targets.iter_mut().filter(|target| target.attached().is_some()) {
        let door = Door::new(target, None).map_err(|error| advised(error.into()))?;
        target.product = door.look().map_err(|error| advised(error.into()))?.product;
    }
    Ok(())
}

/// Must a case be looked at before it runs there?
pub fn guarded(target: &Target, how: &How) -> bool {
    target.attached().is_some() && !how.trust
}

/// Refuses a case that reaches outside of its schema, on a server that is not ours.
pub fn check(name: &str, case: &Case, target: &Target, how: &How) -> anyhow::Result<()> {
    let found = if guarded(target, how) { objections(case, target) } else { Vec::new() };
    if found.is_empty() {
        return Ok(());
    }
    let lines = found.iter().map(|objection| format!("{}: {}\n    {}", objection.place, objection.why, objection.sql));
    let advice = lines.chain([
        "on a server that is not ours a case may only work in its own schema".to_string(),
        "if you trust it: --trust; or use a server that Isopod starts".to_string(),
    ]);
    Err(Advised { message: format!("{name} was not run on {}", target.bare()), advice: advice.collect() }.into())
}

fn objections(case: &Case, target: &Target) -> Vec<dialect::guard::Objection> {
    dialect::guard::objections(target.product, case)
}

/// May it run there?
pub fn allowed(case: &Case, target: &Target, how: &How) -> bool {
    !guarded(target, how) || objections(case, target).is_empty()
}

/// A server that is not ours and that went away in the middle of a case is the end of the run.
pub fn still_there(name: &str, target: &Target, trace: &Trace) -> anyhow::Result<()> {
    let died = trace.outcomes.iter().any(|outcome| outcome.reply == Reply::ServerDied);
    if !died || target.attached().is_none() {
        return Ok(());
    }
    Err(Advised {
        message: format!("{} went away in the middle of {name}", target.bare()),
        advice: vec![
            "it is not ours, so Isopod cannot start it again".to_string(),
            format!("when it is back: isopod server prune --target {}", target.bare()),
        ],
    }
    .into())
}

/// Brings up a server for the target and a runner on it.
pub fn runner(target: &Target, how: &How, options: Options) -> anyhow::Result<Runner> {
    let settle = how.settle.map(|settle| match settle {
        SettleBy::Proc => Settle::Proc,
        SettleBy::Sql => Settle::Sql,
    });
    let options = Options { guarded: guarded(target, how), ..options };
    let exe = std::env::current_exe()?;
    let line = Line::new();
    let launcher = Launcher::new(target.clone(), settle, exe, &mut |event| installing::say(&line, &event));
    line.end();
    let mut launcher = launcher.map_err(advised)?;
    let launch = Box::new(move || {
        let server = launcher.launch()?;
        launcher.notes().iter().for_each(|note| say_once(note));
        Ok(server)
    });
    let runner = Runner::new(launch, options, how.placement()).map_err(|error| {
        match error.downcast::<LaunchError>() {
            Ok(error) => advised(*error),
            Err(error) => anyhow::anyhow!(error),
        }
    })?;
    if let Some(note) = &runner.placed().note {
        say_once(note);
    }
    Ok(runner)
}

/// An error of `dbms` with its advice.
pub fn advised(error: LaunchError) -> anyhow::Error {
    Advised { advice: error.advice(), message: error.to_string() }.into()
}

/// What a run lacks is said once, not once per server.
fn say_once(note: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(note.to_string()) {
        eprintln!("note: {note}");
    }
}

/// The settings under which a product's corpus is tested, beside those that the user gave. Combinations that
/// contradict the user's are left out. A server that runs already is tested as it is.
pub fn variants(target: &Target) -> Vec<Target> {
    if target.attached().is_some() {
        return vec![target.clone()];
    }
    let mut found: Vec<Target> = Vec::new();
    for variant in dialect::of(target.product).variants {
        let wanted: Settings =
            variant.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let contradicts = |name: &String, value: &String| {
            target.settings.get(name).is_some_and(|given| !given.eq_ignore_ascii_case(value))
        };
        if wanted.iter().any(|(name, value)| contradicts(name, value)) {
            continue;
        }
        let mut settings = wanted;
        settings.extend(target.settings.clone());
        let variant = Target { settings, ..target.clone() };
        if !found.contains(&variant) {
            found.push(variant);
        }
    }
    if found.is_empty() { vec![target.clone()] } else { found }
}
