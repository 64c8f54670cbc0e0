//! Runs the machine's package clients: what they say, how far they have come, and what is tried again.
//!
//! apt, npm and Maven differ in what they print, but not in what may go wrong: the registry is away, busy (HTTP 429) or
//! the disk is full. [`fetch`] runs one of them until it has done its work, and tries again, later and later, what may
//! pass by itself. How much has come in so far is seen in the folder that the client writes to: apt tells a
//! percentage, the others nothing at all.

use std::{
    env,
    io::{BufRead, BufReader, Read},
    os::{fd::AsRawFd, unix::process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{
    cancellation,
    copy::disk_use,
    error::{ErrorKind, Result, ServerError},
    install::Progress,
    os,
};

/// How often it is looked how much has come.
const WATCH: Duration = Duration::from_millis(500);

/// With fewer bytes free than this a disk is full.
const FULL: u64 = 64 << 10;

/// Where the program is that would be started under this name.
pub fn on_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// A program that asks nothing and speaks English.
pub fn quiet(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("LC_ALL", "C").env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
    command
}

/// What a client fetches.
pub struct Download<'a> {
    /// The folder that grows while it fetches.
    pub into: &'a Path,
    /// About how many bytes will come, if that is known.
    pub about: Option<u64>,
    /// Reads a percentage, and what is being done, from a line of its output.
    pub status: fn(&str) -> Option<(u8, String)>,
}

/// Runs a client; what may pass by itself is tried again, later and later. Gives what it printed.
pub fn fetch(
    command: &dyn Fn() -> Command,
    what: &Download<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<String> {
    let mut wait = Duration::from_secs(1);
    let mut attempt = 1;
    loop {
        let mut meter = DownloadMeter::new(what.into);
        let mut told = None;
        let error = match run(&mut command(), Some(what.into), &mut |line| {
            told = line.and_then(what.status).or_else(|| told.take());
            let Some((bytes, rate)) = meter.read() else { return };
            let (percent, doing) = told.clone().map_or((None, String::new()), |(p, w)| (Some(p), w));
            let percent = percent.or_else(|| Some((bytes * 100 / what.about?.max(1)).min(99) as u8));
            progress(Progress::Download { percent, bytes, rate, what: doing });
        }) {
            Ok(output) => return Ok(output),
            Err(error) => error,
        };
        if attempt >= patience(&error) {
            return Err(error);
        }
        let reason = error.help.first().cloned().unwrap_or_else(|| error.title.clone());
        progress(Progress::Retry { attempt, after: wait, reason });
        cancellation::pause(wait)?;
        wait *= 2;
        attempt += 1;
    }
}

/// How much has come into a folder, and how fast.
struct DownloadMeter<'a> {
    folder: &'a Path,
    before: u64,
    begun: Instant,
    read: Instant,
}

impl DownloadMeter<'_> {
    fn new(folder: &Path) -> DownloadMeter<'_> {
        let now = Instant::now();
        DownloadMeter { folder, before: disk_use(folder), begun: now, read: now }
    }

    /// Bytes, and bytes in a second. Nothing when it was read a moment ago: looking costs something too.
    fn read(&mut self) -> Option<(u64, u64)> {
        if self.read.elapsed() < WATCH {
            return None;
        }
        self.read = Instant::now();
        let bytes = disk_use(self.folder).saturating_sub(self.before);
        Some((bytes, (bytes as f64 / self.begun.elapsed().as_secs_f64()) as u64))
    }
}

/// How often a failure is worth trying in all.
fn patience(error: &ServerError) -> u32 {
    let said = error.help.join(" ");
    let busy = [
        "429",
        "Too Many Requests",
        " 502 ",
        " 503 ",
        " 504 ",
        "E502",
        "E503",
        "E504",
        "Hash Sum mismatch",
        "unexpected size",
        "EINTEGRITY",
        "Checksum validation failed",
    ];
    match error.kind {
        ErrorKind::Unreachable if busy.iter().any(|word| said.contains(word)) => 6,
        ErrorKind::Unreachable => 2,
        _ => 1,
    }
}

/// Runs a program to its end; gives what it printed, or the reason why it failed.
///
/// `writes_to` is where it puts its files, if it does. `heard` gets every line, and nothing when there was none for
/// a while.
pub fn run(
    command: &mut Command,
    writes_to: Option<&Path>,
    heard: &mut dyn FnMut(Option<&str>),
) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    // If we are killed, so is the client: it must not go on writing into a folder that is nobody's.
    os::die_with_parent(command);
    command.process_group(0);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| ServerError::spawn(&program, &error))?;
    let failed =
        |error: std::io::Error| ServerError::new(ErrorKind::Tool, format!("{program} failed: {error}"));
    let mut stderr = child.stderr.take();
    let errors = thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(stderr) = &mut stderr {
            let _ = stderr.read_to_end(&mut text);
        }
        String::from_utf8_lossy(&text).into_owned()
    });
    let mut output = String::new();
    if let Some(stdout) = child.stdout.take() {
        let fd = stdout.as_raw_fd();
        let mut stdout = BufReader::new(stdout);
        let mut bytes = Vec::new();
        let mut end = |error: ServerError| {
            os::kill_group(child.id());
            let _ = child.wait();
            Err(error)
        };
        loop {
            if cancellation::asked() {
                return end(cancellation::interrupted());
            }
            if stdout.buffer().is_empty() && !os::readable(fd, cancellation::LOOK) {
                // On a full disk apt may neither go on nor end: whoever watches it must.
                if writes_to.and_then(os::free_bytes).is_some_and(|free| free < FULL) {
                    return end(ServerError::disk_full(writes_to.unwrap_or(Path::new("."))));
                }
                heard(None);
                continue;
            }
            if stdout.read_until(b'\n', &mut bytes).map_err(failed)? == 0 {
                break;
            }
            let text = String::from_utf8_lossy(&bytes);
            heard(Some(text.trim_end()));
            output.push_str(&text);
            bytes.clear();
        }
    }
    let status = child.wait().map_err(failed)?;
    let errors = errors.join().unwrap_or_default();
    cancellation::check()?;
    if status.success() { Ok(output) } else { Err(explain(&program, &output, &errors)) }
}

/// What a failing package client said, in one line, and what kind of failure that is.
fn explain(program: &str, output: &str, errors: &str) -> ServerError {
    // Maven complains on its standard output.
    let complaints = || errors.lines().chain(output.lines().filter(|line| line.contains("[ERROR]")));
    let has = |words: &[&str]| words.iter().any(|word| errors.contains(word) || output.contains(word));
    let telling =
        ["429", "FetchError", "Could not transfer", "failed, reason", "ENOSPC", "notarget", "No match"];
    let said = complaints()
        .find(|line| line.starts_with("E:") || telling.iter().any(|word| line.contains(word)))
        .or_else(|| complaints().find(|line| line.contains("rror:") || line.contains("[ERROR]")))
        .or_else(|| complaints().find(|line| !line.trim().is_empty()))
        .unwrap_or("it said nothing")
        .trim();
    let said: String = said.trim_start_matches("[ERROR]").trim().chars().take(400).collect();
    if has(&["No space left on device", "enough free space", "Disk quota exceeded", "ENOSPC"]) {
        return ServerError::new(ErrorKind::DiskFull, "the disk is full")
            .help(format!("{program}: {said}"))
            .help("make room, or set ISOPOD_CACHE to a folder on a larger disk");
    }
    if has(&[
        "Failed to fetch",
        "Could not connect",
        "Could not resolve",
        "Unable to connect",
        "Temporary failure",
        "Could not transfer",
        "Too Many Requests",
        "Unknown host",
        "FetchError",
        "EINTEGRITY",
        "E429",
        "E502",
        "E503",
        "E504",
        "ECONNREFUSED",
        "ECONNRESET",
        "ENOTFOUND",
        "ETIMEDOUT",
        "EAI_AGAIN",
    ]) {
        let client = match program {
            "npm" => "npm's settings (registry, proxy)",
            "mvn" => "Maven's settings (mirrors and proxies in settings.xml)",
            _ => "the machine's apt settings (sources, proxy)",
        };
        return ServerError::new(ErrorKind::Unreachable, "the package registry cannot be reached")
            .help(format!("{program}: {said}"))
            .help(format!("check the network and {client}, then run the same command again"));
    }
    ServerError::new(ErrorKind::Tool, format!("{program} failed")).help(format!("{program}: {said}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_apart() {
        let kind = |program, text| explain(program, "", text).kind;
        for (program, text, expected) in [
            (
                "apt-get",
                "E: Failed to fetch http://x  Could not connect to 127.0.0.1:9",
                ErrorKind::Unreachable,
            ),
            ("dpkg-deb", "dpkg-deb: error: write failed (No space left on device)", ErrorKind::DiskFull),
            ("apt-get", "E: Unable to locate package x", ErrorKind::Tool),
            (
                "npm",
                "npm error code ECONNREFUSED\nnpm error FetchError: request to x failed",
                ErrorKind::Unreachable,
            ),
            ("npm", "npm error code E404\nnpm error 404 No match found for version 99", ErrorKind::Tool),
            ("npm", "npm error nospc ENOSPC: no space left on device, write", ErrorKind::DiskFull),
        ] {
            assert_eq!(kind(program, text), expected, "{text}");
        }
    }

    #[test]
    fn a_busy_registry_is_asked_again() {
        let said = "[INFO] Scanning\n[ERROR] Failed to execute goal: Could not transfer artifact x from/to central: \
                    status code: 429, reason phrase: Too Many Requests (429)\n[ERROR] \n";
        for error in [
            explain("apt-get", "", "E: Failed to fetch http://x  429  Too Many Requests"),
            explain("npm", "", "npm error code E429\nnpm error 429 Too Many Requests - GET x"),
            explain("mvn", said, ""),
        ] {
            assert_eq!(patience(&error), 6, "{:?}", error.help);
        }
        assert_eq!(patience(&explain("npm", "", "npm error code ENOTFOUND")), 2);
        assert_eq!(patience(&explain("npm", "", "npm error code E404")), 1);
    }

    #[test]
    fn a_client_is_heard_while_it_runs() {
        let mut lines = Vec::new();
        let mut command = quiet("sh");
        command.args(["-c", "echo one; echo two"]);
        let output = run(&mut command, None, &mut |line| lines.extend(line.map(str::to_string))).unwrap();
        assert_eq!((output.as_str(), lines.join(" ").as_str()), ("one\ntwo\n", "one two"));
        let missing = run(&mut quiet("isopod-no-such-program"), None, &mut |_| {}).unwrap_err();
        assert_eq!(missing.kind, ErrorKind::MissingTool);
    }
}
