//! `isopod server`: real servers, fetched and run without root.

use std::path::PathBuf;

use anyhow::Context;
use dbms::attach::Connector;
use dialect::Hosting;
use model::{Product, Target, shell};
use provision::{StartOptions, Store};

use crate::{
    choice::Choice,
    errors::{self, Advised},
    installing, interrupt,
    output::say,
};

/// What to do.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Fetch servers into the cache folder; one that is there already is left alone
    #[command(after_help = "\
Examples:
  isopod server install mariadb@10.11 mysql@9.7 postgres@18
  isopod server install all

They go to ~/.cache/isopod, or to the folder that ISOPOD_CACHE names. `isopod run` and the others
install what they need by themselves.")]
    Install {
        /// Which: mariadb@10.11, mysql@9.7; or all that can be had here
        #[arg(required = true)]
        targets: Vec<Choice>,
    },
    /// Start a throw-away instance that stays until it is stopped, and say how to reach it
    #[command(after_help = "\
Examples:
  isopod server start mariadb@10.11
  isopod server start 'mysql@9.7?log_bin=OFF' --tcp
  isopod server start 'postgres?basedir=/opt/postgres'       one that you unpacked or built

Its data is in memory and is gone when it is stopped. Who comes by the socket is this user and needs no
password; by the port everybody on this machine could come, so that has one, made anew at each start.")]
    Start {
        /// Which: mariadb@10.11, or with settings 'mysql@9.7?log_bin=OFF'
        target: Target,
        /// Listen on a TCP port of 127.0.0.1 too, not only on a Unix socket
        #[arg(long)]
        tcp: bool,
    },
    /// Stop an instance that `server start` started, and remove its folder
    #[command(after_help = "\
Examples:
  isopod server stop 8765-0
  isopod server stop all")]
    Stop {
        /// Its name as `server list` shows it, or all
        which: String,
    },
    /// Show what can be had, what is installed, and what runs
    #[command(after_help = "\
Example:
  isopod server list

What is installed is shown with its exact version and its size on disk; the rest with the size of the
download, or with the reason why it cannot be had on this machine. No network is asked.")]
    List,
    /// Remove what dead processes left behind; what still runs is left alone
    #[command(after_help = "\
Examples:
  isopod server prune
  isopod server prune --target mysql://user@host:3306

With --target it drops, on servers that run already, the schemas that dead runs of Isopod left there
(isopod_ and 24 digits), and nothing else.")]
    Prune {
        /// Remove the installed servers too; they are fetched again when they are needed
        #[arg(long, conflicts_with = "targets")]
        installs: bool,
        /// Servers that are not ours: mysql://user@host:port
        #[arg(long = "target", short = 't', value_name = "TARGET")]
        targets: Vec<Target>,
    },
}

pub fn run(command: Command) -> anyhow::Result<u8> {
    interrupt::listen();
    match command {
        Command::Install { targets } => install(&targets),
        Command::Start { target, tcp } => start(&target, tcp),
        Command::Stop { which } => stop(&which),
        Command::List => list(),
        Command::Prune { installs, targets } if targets.is_empty() => prune(installs),
        Command::Prune { targets, .. } => prune_attached(&targets),
    }
}

fn failed(error: provision::ServerError) -> anyhow::Error {
    Advised::from(error).into()
}

fn embedded(target: &Target) -> bool {
    dialect::of(target.product).runs != Hosting::Server
}

/// A server that runs already is neither installed nor started.
fn ours(target: &Target) -> anyhow::Result<()> {
    anyhow::ensure!(
        target.attached().is_none(),
        "{target} runs already, and is not ours to install or to start"
    );
    Ok(())
}

fn install(targets: &[Choice]) -> anyhow::Result<u8> {
    let store = Store::open().map_err(failed)?;
    for choice in targets {
        match choice {
            Choice::One(target) => {
                ours(target)?;
                install_one(&store, target)?;
            }
            Choice::All => install_all(&store)?,
        }
    }
    Ok(0)
}

fn install_one(store: &Store, target: &Target) -> anyhow::Result<()> {
    if embedded(target) {
        say!("{target} is built in; there is nothing to install");
        return Ok(());
    }
    if let Some(there) = store.installed(target) {
        say!("{target} is installed already: {} in {}", there.version(), there.folder().display());
        return Ok(());
    }
    let installed = ensure(store, target)?;
    say!("{target} is installed: {} in {}", installed.version(), installed.folder().display());
    Ok(())
}

/// Installs whatever can be had. What cannot be had here is no failure; what could be but did not work is one, and does
/// not keep the others from being installed.
fn install_all(store: &Store) -> anyhow::Result<()> {
    let mut wrong = Vec::new();
    for listed in store.list() {
        let name = listed.line.name();
        match &listed.obstacle {
            Some(why) if listed.installed.is_empty() => say!("{name} cannot be had here: {why}"),
            Some(_) | None => {
                let target = name.parse()?;
                if let Err(error) = install_one(store, &target) {
                    if interrupt::asked() {
                        return Err(error);
                    }
                    errors::show(&error.context(format!("{name} is not installed")));
                    wrong.push(name);
                }
            }
        }
    }
    say!("cache: {}, {}", store.root().display(), megabytes(store.size()));
    anyhow::ensure!(wrong.is_empty(), "{} could not be installed", wrong.join(", "));
    Ok(())
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}

/// Installs with progress on standard error.
fn ensure(store: &Store, target: &Target) -> anyhow::Result<provision::Installed> {
    installing::shown(|told| store.ensure(target, told)).map_err(failed)
}

fn start(target: &Target, tcp: bool) -> anyhow::Result<u8> {
    ours(target)?;
    anyhow::ensure!(!embedded(target), "{target} is embedded: it runs inside `isopod run` only");
    let store = Store::open().map_err(failed)?;
    let installed = ensure(&store, target)?;
    let options = StartOptions { tcp, ..StartOptions::default() };
    let running = installed.start_detached(&std::env::current_exe()?, target, &options).map_err(failed)?;
    say!("{}  {}  pid {}", running.id, running.title(), running.pid());
    say!("  socket  {}", running.socket().display());
    if let Some(port) = running.port() {
        say!("  port    127.0.0.1:{port}");
    }
    say!("  client  {}", client(target.product, &running));
    say!("  user    {}, by the socket without a password", running.superuser());
    if let Some(file) = running.password_file() {
        let password =
            std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        say!("  password for the port: {}, also in {}", password.trim_end(), file.display());
    }
    say!("  stop it with: {}", shell::command(["isopod", "server", "stop", &running.id]));
    Ok(0)
}

/// The vendor's client, told how to reach it.
fn client(product: Product, running: &provision::RunningInstance) -> String {
    let (socket, user) = (running.socket(), running.superuser());
    let Some(client) = &dialect::of(product).client else { return "none".to_string() };
    let (place, port) = match client.wants_folder {
        true => (socket.parent().unwrap_or(socket), running.port()),
        false => (socket, None),
    };
    let port = port.map_or(String::new(), |port| format!(" -p {port}"));
    format!("{} {} {}{port} {} {user}", client.program, client.socket, place.display(), client.user)
}

fn stop(which: &str) -> anyhow::Result<u8> {
    let one = (which != "all").then_some(which);
    let stopped = provision::stop(one).map_err(failed)?;
    stopped.iter().for_each(|stopped| say!("stopped {}", stopped.id));
    if stopped.is_empty() {
        say!("nothing to stop");
    }
    Ok(0)
}

fn list() -> anyhow::Result<u8> {
    let store = Store::open().map_err(failed)?;
    let mut rows = vec![["target".into(), "from".into(), "installed".into()]];
    rows.push(["sqlite".into(), "this binary".into(), "built in".into()]);
    rows.push([
        "reference".into(),
        "this binary".into(),
        "built in, for `isopod demo` and tests of Isopod".into(),
    ]);
    for listed in store.list() {
        let there: Vec<String> = listed
            .installed
            .iter()
            .map(|installed| {
                let manifest = installed.manifest();
                let pinned = if manifest.pinned == Some(false) { ", not pinned" } else { "" };
                format!("{} ({}{pinned})", installed.version(), megabytes(manifest.bytes))
            })
            .collect();
        let there = match listed.obstacle {
            _ if !there.is_empty() => there.join(", "),
            Some(why) => format!("cannot be had here: {why}"),
            None => format!("- (a download of {} MB)", listed.line.fetch),
        };
        rows.push([listed.line.name(), listed.line.origin(), there]);
    }
    let width = |column: usize| rows.iter().map(|row: &[String; 3]| row[column].len()).max().unwrap_or(0);
    let (names, origins) = (width(0), width(1));
    for [name, origin, there] in &rows {
        say!("{name:names$}  {origin:origins$}  {there}");
    }
    say!("cache: {}, {}", store.root().display(), megabytes(store.size()));
    let running = provision::running();
    if !running.is_empty() {
        say!("\nrunning:");
    }
    for instance in running {
        let whose = if instance.detached() { "until stopped" } else { "for a running isopod" };
        say!("  {:20} {:24} pid {:<8} {whose}", instance.id, instance.target(), instance.pid());
    }
    Ok(0)
}

fn prune(installs: bool) -> anyhow::Result<u8> {
    let store = Store::open().map_err(failed)?;
    let pruned = store.prune(installs).map_err(failed)?;
    for (folder, instance) in &pruned.in_use {
        say!("left {} alone: {instance} runs from it", folder.display());
    }
    let gone: Vec<PathBuf> =
        pruned.leftovers.into_iter().chain(pruned.installs).chain(dbms::sqlite::prune()).collect();
    for folder in &gone {
        say!("removed {}", folder.display());
    }
    if gone.is_empty() {
        say!("nothing to remove");
    }
    Ok(0)
}

fn prune_attached(targets: &[Target]) -> anyhow::Result<u8> {
    let mut kept = Vec::new();
    for target in targets {
        let connector = Connector::new(target, None).map_err(Advised::from)?;
        let pruned = connector.prune().map_err(Advised::from)?;
        pruned.gone.iter().for_each(|name| say!("dropped {name} on {}", target.bare()));
        if pruned.gone.is_empty() && pruned.kept.is_empty() {
            say!("nothing to remove on {}", target.bare());
        }
        kept.extend(pruned.kept.into_iter().map(|(name, why)| format!("{name} on {}: {why}", target.bare())));
    }
    if kept.is_empty() {
        return Ok(0);
    }
    kept.push("the user who made them, or an administrator, can drop them".to_string());
    Err(Advised::new("some of what was left behind could not be dropped", kept).into())
}
