//! From a target to a runner: installs what is missing, with progress, and says so.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use dbms::launch::{LaunchError, Launcher, Settle};
use execute::{Options, Runner};
use model::{Target, target::Settings};

use crate::{
    arguments::{How, SettleBy},
    errors::Advised,
    installing,
    progress::Line,
};

/// Brings up a server for the target and a runner on it.
pub fn runner(target: &Target, how: &How, options: Options) -> anyhow::Result<Runner> {
    let settle = match how.settle {
        SettleBy::Proc => Settle::Proc,
        SettleBy::Sql => Settle::Sql,
    };
    let exe = std::env::current_exe()?;
    let line = Line::new();
    let launcher = Launcher::new(target.clone(), settle, exe, &mut |event| installing::say(&line, &event));
    line.end();
    let mut launcher = launcher.map_err(advised)?;
    let launch = Box::new(move || launcher.launch().map_err(Into::into));
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
/// contradict the user's are left out.
pub fn variants(target: &Target) -> Vec<Target> {
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
