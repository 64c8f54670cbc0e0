//! From a target to a runner: installs what is missing, with progress, and says so; or attaches to a server that runs
//! already, with less freedom there.

use std::{collections::BTreeSet, sync::Mutex};

use campaign::{CleanServer, Servers};
use dbms::{
    attach::Connector,
    launch::{Launcher, Settle},
};
use dialect::Hosting;
use execute::{Guard, Launch, LaunchError, Options, Placement, Reset, Runner, Server};
use model::{Case, Place, Product, Reply, Target, Trace, Version, shell, sync::lock};
use provision::Store;
use reference::ReferenceServer;

use crate::{
    arguments::{How, SettleBy},
    choice,
    errors::Advised,
    installing,
    output::tell,
};

/// Asks a server that runs already what it really is: behind `mysql://` may be a MariaDB.
pub fn resolve(target: &Target) -> anyhow::Result<Target> {
    if target.attached().is_none() {
        return Ok(target.clone());
    }
    let connector = Connector::new(target, None).map_err(Advised::from)?;
    let product = connector.look().map_err(Advised::from)?.product;
    Ok(Target { product, ..target.clone() })
}

/// How a case is looked at before it runs there.
pub fn guard(target: &Target, how: &How) -> Guard {
    match target.attached() {
        _ if how.trust => Guard::Trusted,
        Some(_) => Guard::Schema,
        None => Guard::Machine,
    }
}

/// Refuses a case that reaches outside of its schema, on a server that is not ours, or outside of the database on one that is.
pub fn check(name: &str, case: &Case, target: &Target, how: &How) -> anyhow::Result<()> {
    let guard = guard(target, how);
    let found = objections(case, target, guard);
    if found.is_empty() {
        return Ok(());
    }
    let lines = found
        .iter()
        .map(|objection| format!("{}: {}\n    {}", objection.place, objection.why, objection.sql));
    let advice = match guard {
        Guard::Schema => [
            "on a server that is not ours a case may only work in its own schema",
            "if you trust it: --trust; or use a server that Isopod starts",
        ],
        Guard::Machine | Guard::Trusted => [
            "a case may come from anybody, and this one may reach files, programs or other servers",
            "read it, and if you trust it: --trust",
        ],
    };
    let advice = lines.chain(advice.map(str::to_string));
    Err(Advised::new(format!("{name} was not run on {}", target.bare()), advice).into())
}

fn objections(case: &Case, target: &Target, guard: Guard) -> Vec<dialect::guard::Objection> {
    match guard {
        Guard::Trusted => Vec::new(),
        Guard::Machine => dialect::outside::objections(target.product, case),
        Guard::Schema => dialect::guard::objections(target.product, case),
    }
}

/// May it run there?
pub fn allowed(case: &Case, target: &Target, how: &How) -> bool {
    objections(case, target, guard(target, how)).is_empty()
}

/// A server that is not ours and that went away in the middle of a case is the end of the run.
pub fn still_there(name: &str, target: &Target, trace: &Trace) -> anyhow::Result<()> {
    let died = trace.outcomes.iter().any(|outcome| outcome.reply == Reply::ServerDied);
    if !died || target.attached().is_none() {
        return Ok(());
    }
    Err(Advised::new(
        format!("{} went away in the middle of {name}", target.bare()),
        [
            "it is not ours, so Isopod cannot start it again".to_string(),
            format!(
                "when it is back: {}",
                shell::command(["isopod", "server", "prune", "--target", &target.bare().to_string()])
            ),
        ],
    )
    .into())
}

/// Brings up a server for the target and a runner on it.
pub fn runner(target: &Target, how: &How, options: Options) -> anyhow::Result<Runner> {
    Ok(LocalServers(how).open(target, options, how.placement()).map_err(Advised::from)?)
}

/// A server of the target for clean re-runs.
pub fn clean_server(target: &Target, how: &How) -> anyhow::Result<CleanServer> {
    Ok(CleanServer::new(runner(target, how, how.options(Reset::Clean))?, target))
}

/// The servers that this process can bring up: those of `dbms`, and the reference engine.
pub struct LocalServers<'a>(pub &'a How);

impl Servers for LocalServers<'_> {
    fn open(&self, target: &Target, options: Options, placement: Placement) -> Result<Runner, LaunchError> {
        let options = Options { guard: guard(target, self.0), ..options };
        let launch = match dialect::of(target.product).runs {
            Hosting::Thread => reference(target)?,
            Hosting::Server | Hosting::Child => launcher(target, self.0)?,
        };
        let runner = Runner::new(launch, options, place(target, placement))?;
        say_notes(&runner);
        Ok(runner)
    }

    fn later(&self, product: Product, version: &Version) -> Vec<Version> {
        let dialect = dialect::of(product);
        // Without a cache there is nothing in it.
        let here = choice::choices().map(|choices| choices.here).unwrap_or_default();
        let versions = here.into_iter().filter(|target| target.product == product);
        let later = |one: &Version| one > version && dialect.series(one) == dialect.series(version);
        versions.filter_map(|target| target.version).filter(later).collect()
    }
}

/// What is missing is installed.
fn launcher(target: &Target, how: &How) -> Result<Box<dyn Launch>, LaunchError> {
    let settle = how.settle.map(|settle| match settle {
        SettleBy::Proc => Settle::Proc,
        SettleBy::Sql => Settle::Sql,
    });
    let exe = std::env::current_exe().map_err(|error| {
        LaunchError::not_started(format!("cannot find Isopod's own binary: {error}"), Vec::new())
    })?;
    Ok(Box::new(installing::shown(|told| Launcher::new(target.clone(), settle, exe, told))?))
}

/// The reference engine is part of this process: there is nothing to install, to attach to or to choose a version of.
fn reference(target: &Target) -> Result<Box<dyn Launch>, LaunchError> {
    if target.place != Place::Cache || target.version.is_some() {
        return Err(LaunchError::not_started(
            format!("{target}: the reference engine is built in and has no versions"),
            vec!["write --target reference".to_string()],
        ));
    }
    let target = target.clone();
    Ok(Box::new(move || Ok(Box::new(ReferenceServer::start(&target)?) as Box<dyn Server>)))
}

/// The place of worker and server. An engine in our own thread wakes nobody, so priorities would change nothing.
fn place(target: &Target, wish: Placement) -> Placement {
    match dialect::of(target.product).runs {
        Hosting::Thread => Placement { realtime: false, ..wish },
        Hosting::Server | Hosting::Child => wish,
    }
}

/// Says what the user should know of server and place. Some of it shows only while cases run.
pub fn say_notes(runner: &Runner) {
    runner.notes().iter().for_each(|note| say_once(note));
}

/// What a run lacks is said once, not once per server.
pub fn say_once(note: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if lock(&SAID).insert(note.to_string()) {
        tell!("note: {note}");
    }
}

/// Installs what is missing, and says the exact version where it is known before the server runs.
pub fn ensure_installed(target: &Target) -> anyhow::Result<Option<Version>> {
    match (&target.place, dialect::of(target.product).runs) {
        (Place::Cache | Place::Folder(_), Hosting::Server) => {
            let installed =
                Store::open().and_then(|store| installing::shown(|told| store.ensure(target, told)));
            Ok(Some(installed.map_err(Advised::from)?.version().clone()))
        }
        (Place::Cache | Place::Folder(_), Hosting::Child | Hosting::Thread) | (Place::Attached(_), _) => {
            Ok(None)
        }
    }
}
