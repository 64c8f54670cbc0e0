//! The process between us and a server: it sees to it that the server and its folder are gone when we are.
//!
//! The keeper is our own binary, started with the first argument `__keeper` in a process group of its own (a session, if the server is to outlive us). Its input is a
//! pipe that only we hold: the first line says what to start ([`InstanceSpec`]), and when the pipe ends, whether we ended
//! well, panicked or were killed, the keeper kills the server, removes the folder and ends. If somebody kills the keeper
//! instead, the kernel kills the server, and the folder is known as a dead one's by its lock.
//!
//! PostgreSQL has a process per session, each in a session of its own: no signal to a group reaches them all. So
//! the keeper adopts those whose parent has ended, and when it ends a server it kills whatever was started by it.
//!
//! The main thread does the work and starts the server, because the bond "dies with its parent" is to the thread;
//! three others turn the end of the pipe, the end of the server and a signal into events.

use std::{
    fs::{self, File},
    io::{self, BufRead, Write},
    os::unix::{
        fs::{OpenOptionsExt, PermissionsExt, lchown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::Duration,
};

use model::procfs;

use super::{
    copy::copy_tree,
    os::{self, ReapResult},
    ready::{self, ReadyCheck, wait_until_open},
    scratch::Scratch,
    settings,
    spec::{InstanceSpec, SupervisorReport},
};

/// The file in an instance's folder that holds the password of its superuser for TCP.
pub const PASSWORD: &str = "password";

/// What a server printed before it opened its error log. One without such a log prints into that.
pub const OUTPUT: &str = "server.out";

enum SupervisorEvent {
    /// The pipe ended, or a signal came.
    Stop,
    /// The server's process ended.
    Ended,
}

/// The keeper's whole life. The command line calls it when its first argument is `__keeper`.
pub fn supervisor_main() -> ! {
    os::block_end_signals();
    os::adopt_orphans();
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    let code = match (read, serde_json::from_str::<InstanceSpec>(&line)) {
        (Ok(_), Ok(spec)) => {
            keep(&spec);
            0
        }
        (Ok(_) | Err(_), Ok(_) | Err(_)) => 2,
    };
    std::process::exit(code)
}

fn keep(spec: &InstanceSpec) {
    let (sender, events) = mpsc::channel();
    if !spec.detached {
        on_thread(&sender, || {
            let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
            SupervisorEvent::Stop
        });
    }
    on_thread(&sender, || {
        os::wait_for_end_signal();
        SupervisorEvent::Stop
    });
    let failed = |error: io::Error| {
        let disk_full = error.kind() == io::ErrorKind::StorageFull;
        report(&SupervisorReport::Failed { reason: error.to_string(), disk_full, log: String::new() });
    };
    let scratch = match prepare(spec) {
        Ok(scratch) => scratch,
        Err(error) => return failed(error),
    };
    let folder = scratch.path();
    let mut server = match spawn(spec, folder) {
        Ok(server) => server,
        Err(error) => return failed(error),
    };
    let pid = server.id();
    on_thread(&sender, move || {
        os::wait_until_ended(pid);
        SupervisorEvent::Ended
    });

    match come_up(spec, folder, pid, &events) {
        StartResult::Up => {
            report(&SupervisorReport::Up { pid });
            run(spec, &mut server, &events);
        }
        StartResult::Stopped => end(&mut server),
        StartResult::Failed(reason) => {
            end(&mut server);
            let log = log_of(folder);
            let disk_full = log.contains("No space left on device");
            // Removed before it is reported: whoever reads the report may rely on it.
            drop(scratch);
            report(&SupervisorReport::Failed { reason, disk_full, log });
        }
    }
}

fn on_thread(sender: &Sender<SupervisorEvent>, wait: impl FnOnce() -> SupervisorEvent + Send + 'static) {
    let sender = sender.clone();
    thread::spawn(move || {
        let event = wait();
        let _ = sender.send(event);
    });
}

fn prepare(spec: &InstanceSpec) -> io::Result<Scratch> {
    let scratch = Scratch::create(&spec.parent, &spec.name)?;
    let folders = [settings::TMP, settings::DATA].map(|name| scratch.path().join(name));
    fs::create_dir(&folders[0])?;
    copy_tree(&spec.template, &folders[1])?;
    if let Some((path, text)) = &spec.file {
        private(path, text)?;
    }
    hand_over(scratch.path(), &folders, spec.user)?;
    make_log(scratch.path(), spec.user)?;
    if let Some(password) = &spec.password {
        private(&scratch.path().join(PASSWORD), &format!("{password}\n"))?;
    }
    Ok(scratch)
}

/// The folder around them is not the server's, so it cannot make its log there by itself.
pub fn make_log(folder: &Path, user: Option<u32>) -> io::Result<()> {
    let log = folder.join(settings::ERROR_LOG);
    private(&log, "")?;
    user.map_or(Ok(()), |user| give(&log, user))
}

/// Writes a file that nobody else can read.
fn private(path: &Path, text: &str) -> io::Result<()> {
    let _ = fs::remove_file(path);
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

/// Closes the folders of a server to everybody but itself. If it runs as another user, they become his, and the one
/// around them stays ours but lets him through.
pub fn hand_over(around: &Path, folders: &[PathBuf], user: Option<u32>) -> io::Result<()> {
    for folder in folders {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
        if let Some(user) = user {
            give(folder, user)?;
        }
    }
    match user {
        Some(_) => fs::set_permissions(around, fs::Permissions::from_mode(0o711)),
        None => Ok(()),
    }
}

fn give(path: &Path, user: u32) -> io::Result<()> {
    lchown(path, Some(user), Some(user))?;
    if fs::symlink_metadata(path)?.is_dir() {
        for entry in fs::read_dir(path)? {
            give(&entry?.path(), user)?;
        }
    }
    Ok(())
}

fn spawn(spec: &InstanceSpec, folder: &Path) -> io::Result<Child> {
    let (program, args) = spec.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let output = File::options().create(true).append(true).open(folder.join(&spec.output))?;
    let mut command = Command::new(program);
    command
        .args(args)
        .env_clear()
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0);
    // Whatever else of our environment could change what the server does is not for it.
    if let Some(zone) = std::env::var_os("TZ") {
        command.env("TZ", zone);
    }
    run_as(&mut command, spec.user);
    os::die_with_parent(&mut command);
    command.spawn()
}

/// The program runs as this user, and belongs to no other groups. Said before the bond to the parent is made: the
/// kernel forgets that bond when the user changes.
pub fn run_as(command: &mut Command, user: Option<u32>) {
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
}

enum StartResult {
    Up,
    Stopped,
    Failed(String),
}

fn come_up(spec: &InstanceSpec, folder: &Path, pid: u32, events: &Receiver<SupervisorEvent>) -> StartResult {
    let check = ReadyCheck { socket: &spec.socket, sign: spec.sign, user: &spec.superuser };
    let mut instead = None;
    let patience = Duration::from_millis(spec.patience_ms);
    let up = wait_until_open(check, patience, &mut |pause| {
        match events.recv_timeout(pause) {
            Ok(SupervisorEvent::Stop) => instead = Some(StartResult::Stopped),
            Ok(SupervisorEvent::Ended) => {
                instead = Some(StartResult::Failed("the server ended while it was starting".to_string()))
            }
            Err(_) => {}
        }
        instead.is_none()
    });
    if let Some(instead) = instead {
        return instead;
    }
    if !up {
        return StartResult::Failed(format!("no connection after {} s", patience.as_secs()));
    }
    let record = spec.record(std::process::id(), pid);
    if let Some(sql) = &spec.first
        && let Err(error) = ready::say(check, sql, patience)
    {
        return StartResult::Failed(error.to_string());
    }
    // It held a password.
    if let Some((path, _)) =
        spec.file.as_ref().filter(|(path, _)| path.starts_with(folder.join(settings::TMP)))
    {
        let _ = fs::remove_file(path);
    }
    let written = serde_json::to_string(&record)
        .map_err(io::Error::from)
        .and_then(|text| private(&folder.with_added_extension("json"), &text));
    match written {
        Ok(()) => StartResult::Up,
        Err(error) => StartResult::Failed(error.to_string()),
    }
}

/// Until we are told to stop. A server that ends by itself is reported, and its folder kept readable until then.
fn run(spec: &InstanceSpec, server: &mut Child, events: &Receiver<SupervisorEvent>) {
    let mut ended = false;
    loop {
        match events.recv() {
            Ok(SupervisorEvent::Ended) => {
                ended = true;
                let status =
                    server.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                report(&SupervisorReport::Ended { status });
                if spec.detached {
                    return end_orphans();
                }
            }
            Ok(SupervisorEvent::Stop) | Err(_) => {
                if ended {
                    end_orphans();
                } else {
                    end(server);
                }
                return;
            }
        }
    }
}

/// The data is thrown away, so the server need not be asked.
fn end(server: &mut Child) {
    os::freeze(server.id());
    for child in children(server.id()) {
        os::kill(child);
    }
    os::kill_group(server.id());
    let _ = server.wait();
    end_orphans();
}

/// Kills what a server that has ended had started. Nothing that is killed takes long to end.
fn end_orphans() {
    loop {
        children(std::process::id()).into_iter().for_each(os::kill);
        match os::reap() {
            ReapResult::One => {}
            ReapResult::Running => thread::sleep(Duration::from_millis(1)),
            ReapResult::None => return,
        }
    }
}

/// The processes that a process has started and that have not been waited for.
fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads
        .filter_map(|thread| fs::read(thread.path().join("children")).ok())
        .flat_map(|numbers| procfs::children(&numbers))
        .collect()
}

fn report(report: &SupervisorReport) {
    if let Ok(text) = serde_json::to_string(report) {
        // Whether anybody still listens is not our concern: the end of our input says so.
        let mut out = io::stdout().lock();
        let _ = writeln!(out, "{text}").and_then(|()| out.flush());
    }
}

/// What a server wrote, the part before its log was open first.
pub fn log_of(folder: &Path) -> String {
    logs(folder).iter().map(|path| read_log(path)).collect()
}

/// The files that a server prints and writes its errors to.
pub fn logs(folder: &Path) -> [PathBuf; 2] {
    [folder.join(OUTPUT), folder.join(settings::ERROR_LOG)]
}

/// A log that may not be there, or hold anything.
pub fn read_log(path: &Path) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// What stands before the reason in a line of an error log: of the MySQL family, and of PostgreSQL.
const MARKS: [&str; 5] = ["[ERROR]", "PANIC:", "FATAL:", "ERROR:", "HINT:"];

/// The lines of an error log that say why, without times and numbers in front.
pub fn errors_of(log: &str) -> Vec<String> {
    let mut lines: Vec<String> = log
        .lines()
        .filter_map(|line| MARKS.iter().find_map(|mark| line.split_once(mark)).map(|(_, rest)| rest))
        .map(|rest| rest.split("[Server]").last().unwrap_or(rest).trim().to_string())
        .filter(|line| !line.is_empty() && line != "Aborting")
        .collect();
    if lines.is_empty() {
        lines = log.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_string).collect();
        lines = lines.split_off(lines.len().saturating_sub(5));
    }
    lines.truncate(6);
    lines
}
