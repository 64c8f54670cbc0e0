//! The shell script of a finding with the product's own client, on a server with its vendor's settings: no flag of ours that changes
//! anything, no pinning, no priority.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use model::{Product, Target, target::Settings};
use provision::{ConfigMode, Installed, Instance, StartOptions};
use report::{BugReport, scripts};

use super::Plan;
use crate::Lab;

/// So often; each time must show it.
pub const RUNS: u64 = 20;

/// Old versions and slow disks: a redo log of the vendor's size is made at the first start, and in MariaDB 11.4 a key.
const PATIENCE: Duration = Duration::from_secs(180);

/// What came of the runs.
pub struct Rate {
    pub showed: u64,
    pub of: u64,
    /// With this client, in its own words.
    pub client: String,
}

impl Rate {
    pub fn always(&self) -> bool {
        self.of == RUNS && self.showed == self.of
    }

    /// `20 of 20 runs`
    pub fn words(&self) -> String {
        format!("{} of {} runs", self.showed, self.of)
    }
}

/// Runs it so often. A reason in words where it could not be done.
pub fn rate(lab: &Lab<'_>, plan: &Plan<'_>, bug: &BugReport, installed: &Installed) -> Result<Rate, String> {
    let script = scripts::shell::script(bug).map_err(|withheld| withheld.to_string())?;
    let script = script.ok_or_else(|| {
        format!("{} has no client that a script could drive", dialect::of(bug.product()).title)
    })?;
    let client = client(bug.product())?;
    let folder = provision::scratch::temporary().map_err(|error| error.to_string())?;
    let path = folder.path().join(format!("{}.sh", bug.finding.id));
    fs::write(&path, script).map_err(|error| format!("{}: {error}", path.display()))?;
    let server = start(plan.exe, installed)?;
    let title = format!("{} with {}", bug.finding.id, client.program.display());
    let mut progress = lab.job(title, RUNS);
    let mut rate = Rate { showed: 0, of: 0, client: client.version.clone() };
    for _ in 0..RUNS {
        if lab.stopped() {
            return Err("it was stopped".into());
        }
        rate.showed += u64::from(run(lab, &path, &client, &server)?);
        rate.of += 1;
        progress.step();
    }
    Ok(rate)
}

/// A server with its vendor's settings.
fn start(exe: &Path, installed: &Installed) -> Result<Instance, String> {
    let manifest = installed.manifest();
    let target = Target {
        product: manifest.product,
        version: Some(manifest.version.clone()),
        settings: Settings::new(),
        place: model::Place::Cache,
    };
    let options = StartOptions { patience: PATIENCE, config: ConfigMode::Vendor, ..StartOptions::default() };
    installed.start(exe, &target, &options).map_err(|error| {
        let lines: Vec<&str> =
            std::iter::once(error.title.as_str()).chain(error.help.iter().map(String::as_str)).collect();
        format!("with its vendor's settings: {}", lines.join("; "))
    })
}

/// One run: did the wrong answer come again?
fn run(lab: &Lab<'_>, script: &Path, client: &Client, server: &Instance) -> Result<bool, String> {
    let socket = server.socket();
    let folder = socket.parent().unwrap_or(socket);
    let at = if client.kind.wants_folder { folder } else { socket };
    let mut command = Command::new("bash");
    command.arg(script).args(client.kind.no_defaults).arg(client.kind.socket).arg(at);
    command.args(client.kind.database).arg(client.kind.user).arg(server.superuser());
    command.env("CLIENT", &client.program).stdin(Stdio::null());
    for name in ["MYSQL_PWD", "MYSQL_HOST", "PGOPTIONS", "PGSERVICE", "PGPASSWORD", "PGPORT"] {
        command.env_remove(name);
    }
    let output = command.output().map_err(|error| format!("bash cannot be run: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing").trim();
    match output.status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        Some(3) => {
            Err("the script cannot check the answer: line breaks or `|` in it, a statement that Isopod killed before it, or the server died".into())
        }
        _ if lab.stopped() => Err("it was stopped".into()),
        _ => Err(format!("the script could not be run: {last}")),
    }
}

/// A client of the machine.
struct Client {
    kind: &'static dialect::Client,
    program: PathBuf,
    version: String,
}

/// The client that CLIENT names, or the product's own.
fn client(product: Product) -> Result<Client, String> {
    let kind = dialect::of(product).client.as_ref().ok_or_else(|| format!("{product} has no server"))?;
    let (name, package) = (kind.program, kind.package);
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = || env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    let program = env::var_os("CLIENT").filter(|named| !named.is_empty()).map(PathBuf::from).or_else(on_path);
    let Some(program) = program else {
        return Err(format!("`{name}` is not on this machine: install Debian's {package}, or set CLIENT"));
    };
    let said = Command::new(&program).arg("--version").stdin(Stdio::null()).output();
    let said = said.map_err(|error| format!("{} cannot be run: {error}", program.display()))?;
    // `mariadb  Ver 15.1 Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64) using ...`
    let text = String::from_utf8_lossy(&said.stdout);
    let line = text.lines().next().unwrap_or("").split(", for ").next().unwrap_or("").trim();
    let line = line
        .strip_prefix(&*program.to_string_lossy())
        .map_or(line.to_string(), |rest| format!("{name} {rest}"));
    Ok(Client { kind, program, version: line.split_whitespace().collect::<Vec<_>>().join(" ") })
}
