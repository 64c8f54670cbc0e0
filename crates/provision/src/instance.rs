//! A running throw-away server, seen from our side.

use std::{
    env,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use model::{Target, procfs::Stat};

use super::{
    cache::Installed,
    error::{ErrorKind, Result, ServerError},
    flags::{self, ConfigMode},
    os,
    ready::{self, ReadyCheck},
    running::{self, RunningInstance},
    scratch, secret, settings,
    spec::{InstanceRecord, InstanceSpec, ReadySign, SupervisorReport},
    supervisor, view,
};

/// What must be free beside a copy of the template: logs, tables and temporary files of a run.
const ROOM: u64 = 192 << 20;

/// The longest path of a Unix socket.
const LONGEST_SOCKET: usize = 107;

/// The longest name of one within an instance's folder.
const LONGEST_NAME: &str = "tmp/.s.PGSQL.65535";

/// How long the keeper may take to clean up before it is killed.
const CLEANUP: Duration = Duration::from_secs(10);

/// How long a server that does not take connections may take to end before it counts as running.
const DYING: Duration = Duration::from_secs(5);

/// How an instance is started.
#[derive(Clone, Debug)]
pub struct StartOptions {
    /// Listen on a free TCP port of 127.0.0.1 as well as on the Unix socket?
    pub tcp: bool,
    /// How long the server may take to accept a connection.
    pub patience: Duration,
    /// With which settings beside those of the target.
    pub config: ConfigMode,
}

impl Default for StartOptions {
    fn default() -> StartOptions {
        StartOptions { tcp: false, patience: Duration::from_secs(60), config: ConfigMode::default() }
    }
}

/// A running server. Dropping it stops the server and removes its folder.
#[derive(Debug)]
pub struct Instance {
    keeper: Supervisor,
    id: String,
    record: InstanceRecord,
    sign: ReadySign,
    flags: Vec<String>,
    ended: Option<String>,
}

impl Instance {
    /// Its name among the running ones.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The Unix socket that it listens on.
    pub fn socket(&self) -> &Path {
        &self.record.socket
    }

    /// The TCP port on 127.0.0.1 that it listens on, if it was asked to.
    pub fn port(&self) -> Option<u16> {
        self.record.port
    }

    /// The server's process.
    pub fn pid(&self) -> u32 {
        self.record.pid
    }

    /// The account that may do everything on it. By the Unix socket it needs no password.
    pub fn superuser(&self) -> &str {
        &self.record.superuser
    }

    /// Its folder, with the data and the error log.
    pub fn folder(&self) -> &Path {
        &self.keeper.folder
    }

    /// Every flag that it was started with, to be stored with a run.
    pub fn flags(&self) -> &[String] {
        &self.flags
    }

    /// What it wrote to its error log so far. Readable after its death too, until this is dropped.
    pub fn error_log(&self) -> String {
        supervisor::log_of(&self.keeper.folder)
    }

    /// The files that this is written to.
    pub fn logs(&self) -> Vec<PathBuf> {
        supervisor::logs(&self.keeper.folder).to_vec()
    }

    /// Is it still running? True right after a connection broke means that only the connection did.
    ///
    /// A server with a process per session may have lost one of them and be about to end for that: it is asked
    /// until it takes a connection or ends. Any other is not waited for.
    pub fn alive(&mut self) -> bool {
        if self.sign == ReadySign::Login && self.there() {
            let socket = self.record.socket.clone();
            let user = self.record.superuser.clone();
            let check = ReadyCheck { socket: &socket, sign: ReadySign::Login, user: &user };
            ready::wait_until_open(check, DYING, &mut |pause| {
                std::thread::sleep(pause);
                self.there()
            });
        }
        self.there()
    }

    fn there(&mut self) -> bool {
        if self.ended.is_none() {
            self.ended = self.keeper.ended();
        }
        // The keeper's word may be on its way; the kernel knows at once.
        self.ended.is_none() && !exiting(self.record.pid)
    }

    /// How it ended, once the keeper has said so: `signal: 9 (SIGKILL)`.
    pub fn ended(&mut self) -> Option<&str> {
        self.there();
        self.ended.as_deref()
    }
}

/// Has the process begun to end? It has before its sockets are closed.
fn exiting(pid: u32) -> bool {
    const PF_EXITING: u64 = 4;
    if !cfg!(target_os = "linux") {
        return false;
    }
    let Ok(stat) = std::fs::read(format!("/proc/{pid}/stat")) else { return true };
    let Some(stat) = Stat::parse(&stat) else { return false };
    matches!(stat.state(), Some(b'Z' | b'X')) || stat.flags().unwrap_or(0) & PF_EXITING != 0
}

/// Our end of a keeper.
#[derive(Debug)]
struct Supervisor {
    process: Child,
    /// Its end is what the keeper waits for.
    bond: Option<ChildStdin>,
    reports: BufReader<ChildStdout>,
    folder: PathBuf,
    detached: bool,
}

impl Supervisor {
    fn start(exe: &Path, spec: &InstanceSpec) -> Result<Supervisor> {
        let mut command = Command::new(exe);
        command.arg("__keeper").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // A server that outlives us needs a session of its own.
        if spec.detached || !os::shares_session() {
            os::own_session(&mut command)
        } else {
            os::own_group(&mut command)
        }
        let failed = |error| ServerError::io("start the keeper", exe, &error);
        let mut process = command.spawn().map_err(failed)?;
        let (Some(mut bond), Some(reports)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(ServerError::new(ErrorKind::Io, "the keeper has no pipes"));
        };
        let text = serde_json::to_string(spec).unwrap_or_default();
        // A keeper that could not read it ends without a report, which is noticed below.
        let _ = writeln!(bond, "{text}").and_then(|()| bond.flush());
        let folder = spec.parent.join(&spec.name);
        let reports = BufReader::new(reports);
        Ok(Supervisor { process, bond: Some(bond), reports, folder, detached: spec.detached })
    }

    /// The next report; none when the keeper has ended. Waits.
    fn next(&mut self) -> Option<SupervisorReport> {
        let mut line = String::new();
        self.reports.read_line(&mut line).ok().filter(|&n| n > 0)?;
        serde_json::from_str(&line).ok()
    }

    /// Has the server ended? Does not wait.
    fn ended(&mut self) -> Option<String> {
        let fd = self.reports.get_ref().as_raw_fd();
        while !self.reports.buffer().is_empty() || os::readable(fd, Duration::ZERO) {
            match self.next() {
                Some(SupervisorReport::Up { .. }) => {}
                Some(SupervisorReport::Ended { status }) => return Some(status),
                Some(SupervisorReport::Failed { reason, .. }) => return Some(reason),
                None => return Some("its keeper ended".to_string()),
            }
        }
        None
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.bond = None;
        if self.detached {
            return;
        }
        // Its output ends when it does, and by then the folder is gone.
        let fd = self.reports.get_ref().as_raw_fd();
        let mut gone = false;
        while !gone && (!self.reports.buffer().is_empty() || os::readable(fd, CLEANUP)) {
            gone = self.next().is_none();
        }
        if !gone {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
        if self.folder.exists()
            && let Some(parent) = self.folder.parent()
        {
            scratch::prune(parent);
        }
    }
}

impl Installed {
    /// Starts a throw-away instance with the target's settings. `exe` is the program that has
    /// [`supervisor_main`](super::supervisor_main) behind its first argument `__keeper`: usually the running one.
    pub fn start(&self, exe: &Path, target: &Target, options: &StartOptions) -> Result<Instance> {
        let (keeper, record, flags) = launch(self, exe, target, options, false)?;
        Ok(Instance {
            id: running::id(&keeper.folder),
            keeper,
            record,
            sign: settings::sign(self.manifest().product),
            flags,
            ended: None,
        })
    }

    /// Starts an instance that stays after we are gone, until [`stop`](super::stop).
    pub fn start_detached(
        &self,
        exe: &Path,
        target: &Target,
        options: &StartOptions,
    ) -> Result<RunningInstance> {
        let (keeper, record, _) = launch(self, exe, target, options, true)?;
        Ok(RunningInstance { id: running::id(&keeper.folder), folder: keeper.folder.clone(), record })
    }
}

fn launch(
    installed: &Installed,
    exe: &Path,
    target: &Target,
    options: &StartOptions,
    detached: bool,
) -> Result<(Supervisor, InstanceRecord, Vec<String>)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let manifest = installed.manifest();
    let name = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let folder = room(manifest.template_bytes, &name)?.join(&name);
    let port = if options.tcp { Some(free_port()?) } else { None };
    let product = manifest.product;
    let user = settings::user(product, secret::number()?);
    let root = view::of(&installed.root(), user)?;
    let program = settings::program(&root, manifest);
    let password = port.map(|_| secret::password()).transpose()?;
    let closed =
        password.as_deref().map(|password| settings::closed(product, &manifest.version, &folder, password));
    let mut flags = settings::places(&root, manifest, &folder.join(settings::DATA));
    flags.extend(flags::of(options.config, product, &manifest.version));
    flags.extend(settings::instance(product, &folder, port));
    flags.extend(closed.iter().flat_map(|closed| closed.flags.clone()));
    flags.extend(settings::of_target(product, &target.settings)?);
    let title = format!("{} {}", manifest.product, manifest.version);
    let spec = InstanceSpec {
        title: title.clone(),
        target: target.to_string(),
        parent: folder.parent().map(Path::to_path_buf).unwrap_or_default(),
        name,
        template: installed.folder().join("template"),
        command: [program, flags.clone()].concat(),
        user,
        output: settings::output(product).to_string(),
        socket: settings::socket(product, &folder, port),
        sign: settings::sign(product),
        superuser: settings::superuser(product).to_string(),
        detached,
        port,
        password,
        file: closed.as_ref().map(|closed| closed.file.clone()),
        first: closed.and_then(|closed| closed.first),
        patience_ms: options.patience.as_millis() as u64,
    };
    let mut keeper = Supervisor::start(exe, &spec)?;
    match keeper.next() {
        Some(SupervisorReport::Up { pid }) => {
            let record = spec.record(keeper.process.id(), pid);
            Ok((keeper, record, flags))
        }
        Some(SupervisorReport::Failed { disk_full: true, .. }) => Err(ServerError::disk_full(&folder)),
        Some(SupervisorReport::Failed { reason, log, .. }) => Err(refused(&title, target, &reason, &log)),
        Some(SupervisorReport::Ended { .. }) | None => {
            Err(ServerError::new(ErrorKind::Io, format!("{title} does not start: its keeper ended"))
                .help(format!("the keeper is {} __keeper", exe.display())))
        }
    }
}

/// Why a server did not come up; if its error log names one of the settings, so do we.
fn refused(title: &str, target: &Target, reason: &str, log: &str) -> ServerError {
    let lines = supervisor::errors_of(log);
    let plain = lines.join("\n").to_ascii_lowercase().replace('-', "_");
    let named = target.settings.iter().find(|(name, _)| plain.contains(name.as_str()));
    let mut error = match named {
        Some((name, value)) => {
            ServerError::new(ErrorKind::Refused, format!("{title} does not take the setting {name}={value}"))
        }
        None => ServerError::new(ErrorKind::Refused, format!("{title} does not start: {reason}")),
    };
    error.help = lines;
    error
}

/// A folder with room for an instance: on tmpfs if possible, because every fsync on a disk looks like a wait.
pub fn room(template: u64, name: &str) -> Result<PathBuf> {
    let parents = running::parents();
    let fits = |parent: &&PathBuf| {
        let socket = parent.join(name).join(LONGEST_NAME);
        let base = parent.parent().unwrap_or(parent);
        socket.as_os_str().len() <= LONGEST_SOCKET
            && scratch::usable(parent)
            && os::free_bytes(base).is_some_and(|free| free >= template + ROOM)
    };
    parents.iter().find(fits).cloned().ok_or_else(|| {
        let places: Vec<String> = parents.iter().map(|parent| parent.display().to_string()).collect();
        ServerError::new(ErrorKind::DiskFull, "there is no room for a server's data folder")
            .help(format!("tried {}; {} MiB are needed", places.join(" and "), (template + ROOM) >> 20))
            .help("make room, or set TMPDIR to a folder with a short path on a larger disk")
    })
}

/// A port that nobody listens on at the moment.
fn free_port() -> Result<u16> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| ServerError::new(ErrorKind::Io, format!("no free TCP port on 127.0.0.1: {error}")))
}

/// Folders in which instances may live, best first.
pub fn bases() -> Vec<PathBuf> {
    let mut bases = vec![PathBuf::from("/dev/shm"), env::temp_dir()];
    bases.dedup();
    bases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_process_is_known_as_such() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        assert!(!exiting(child.id()));
        child.kill().unwrap();
        os::wait_until_ended(child.id());
        assert!(exiting(child.id()));
        child.wait().unwrap();
        assert!(exiting(child.id()));
    }

    #[test]
    fn the_setting_at_fault_is_named() {
        let target = "mysql?no_such=4&log_bin=OFF".parse().unwrap();
        let log = "2026 0 [ERROR] [MY-000067] [Server] unknown variable 'no-such=4'.\n2026 0 [ERROR] [X] [Server] Aborting\n";
        let error = refused("mysql 9.7.4", &target, "it ended", log);
        assert_eq!(error.title, "mysql 9.7.4 does not take the setting no_such=4");
        assert_eq!(error.help, ["unknown variable 'no-such=4'."]);
    }
}
