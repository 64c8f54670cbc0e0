//! Fetches Debian packages with the machine's own apt, into a private folder, without root.
//!
//! apt is given a folder of its own for everything that it keeps, and an EMPTY list of installed packages, so that it
//! fetches the whole closure, the C library included. The addresses are read from the machine's own configuration
//! and only the suite is exchanged, so proxies and mirrors work as they do for the machine. Signatures are checked
//! against the machine's Debian archive keyring.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    os::{fd::AsRawFd, unix::process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use super::{
    error::{ErrorKind, IoContext, Result, ServerError},
    install::Progress,
    os,
};

/// The keyring that Debian's own package of that name puts there.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Code names and aliases of suites: how the Debian archive is told from other sources of the machine.
const SUITES: &[&str] = &[
    "buster",
    "bullseye",
    "bookworm",
    "trixie",
    "forky",
    "duke",
    "sid",
    "oldoldstable",
    "oldstable",
    "stable",
    "testing",
    "unstable",
];

/// A client that has said nothing for this long is looked after.
const WATCH: Duration = Duration::from_millis(500);

/// With fewer bytes free than this a disk is full.
const FULL: u64 = 64 << 10;

/// An apt of our own in a folder of our own.
pub struct Apt {
    folder: PathBuf,
}

/// Where the machine gets Debian packages from.
#[derive(Debug, PartialEq, Eq)]
struct Archives {
    main: String,
    security: Option<String>,
}

impl Apt {
    /// Prepares the folder for a suite.
    pub fn new(folder: &Path, suite: &str, stable: bool) -> Result<Apt> {
        let archives = archives(&run(quiet("apt-get").args(["update", "--print-uris"]), None, &mut |_| {})?)?;
        for sub in ["state/lists/partial", "cache/archives/partial", "parts", "debs"] {
            fs::create_dir_all(folder.join(sub)).doing("make", &folder.join(sub))?;
        }
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text).doing("write", &path)
        };
        let signed =
            if Path::new(KEYRING).exists() { format!("[signed-by={KEYRING}] ") } else { String::new() };
        let mut sources = format!("deb {signed}{} {suite} main\n", archives.main);
        if stable {
            sources += &format!("deb {signed}{} {suite}-updates main\n", archives.main);
            if let Some(security) = archives.security {
                sources += &format!("deb {signed}{security} {suite}-security main\n");
            }
        }
        write("sources.list", &sources)?;
        write("status", "")?;
        write("conf", &configuration(folder))?;
        Ok(Apt { folder: folder.to_path_buf() })
    }

    /// Fetches the lists of packages.
    pub fn update(&self, progress: &mut dyn FnMut(Progress)) -> Result<()> {
        self.retrying(&["-q", "update"], progress)
    }

    /// The version of a package that would be fetched.
    pub fn candidate(&self, package: &str) -> Result<String> {
        let text = run(self.command("apt-cache").args(["policy", package]), None, &mut |_| {})?;
        text.lines()
            .find_map(|line| line.trim().strip_prefix("Candidate: "))
            .filter(|version| *version != "(none)")
            .map(str::to_string)
            .ok_or_else(|| {
                ServerError::new(
                    ErrorKind::UnknownVersion,
                    format!("apt does not offer the package {package}"),
                )
            })
    }

    /// Fetches a package with everything it depends on, and others alone; gives the files.
    pub fn download(
        &self,
        closure: &str,
        alone: &[&str],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<PathBuf>> {
        let install = ["-q", "-d", "-y", "--no-install-recommends", "install", closure];
        self.retrying(&install, progress)?;
        if !alone.is_empty() {
            self.retrying(&[&["-q", "download"], alone].concat(), progress)?;
        }
        let mut files = Vec::new();
        for folder in [self.folder.join("cache/archives"), self.folder.join("debs")] {
            for entry in fs::read_dir(&folder).doing("read", &folder)? {
                let path = entry.doing("read", &folder)?.path();
                if path.extension().is_some_and(|e| e == "deb") {
                    files.push(path);
                }
            }
        }
        files.sort();
        Ok(files)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = quiet(program);
        // `-c` is read after the machine's own files and wins over them; APT_CONFIG alone would be read before.
        command.arg("-c").arg(self.folder.join("conf")).current_dir(self.folder.join("debs"));
        command
    }

    /// Runs apt-get; what may pass by itself is tried again, later and later.
    fn retrying(&self, args: &[&str], progress: &mut dyn FnMut(Progress)) -> Result<()> {
        let mut wait = Duration::from_secs(1);
        let mut attempt = 1;
        loop {
            let mut command = self.command("apt-get");
            command.args(["-o", "APT::Status-Fd=1"]).args(args);
            let error = match run(&mut command, Some(&self.folder), &mut |line| {
                if let Some(event) = status(line) {
                    progress(event);
                }
            }) {
                Ok(_) => return Ok(()),
                Err(error) => error,
            };
            if attempt >= patience(&error) {
                return Err(error);
            }
            let reason = error.help.first().cloned().unwrap_or_else(|| error.title.clone());
            progress(Progress::Retry { attempt, after: wait, reason });
            thread::sleep(wait);
            wait *= 2;
            attempt += 1;
        }
    }
}

/// How often a failure is worth trying in all.
fn patience(error: &ServerError) -> u32 {
    let said = error.help.join(" ");
    let busy =
        ["429", "Too Many Requests", " 502 ", " 503 ", " 504 ", "Hash Sum mismatch", "unexpected size"];
    match error.kind {
        ErrorKind::Unreachable if busy.iter().any(|word| said.contains(word)) => 6,
        ErrorKind::Unreachable => 2,
        _ => 1,
    }
}

/// The options of our apt. Hooks of the machine must not run for it.
fn configuration(folder: &Path) -> String {
    let quoted = |sub: &str| format!("\"{}\"", folder.join(sub).display());
    let mut text = String::new();
    for hook in ["APT::Update::Pre-Invoke", "APT::Update::Post-Invoke", "APT::Update::Post-Invoke-Success"] {
        text += &format!("#clear {hook};\n");
    }
    text += "#clear DPkg::Pre-Invoke;\n#clear DPkg::Post-Invoke;\n#clear DPkg::Pre-Install-Pkgs;\n";
    for (key, sub) in [
        ("Dir::State", "state"),
        ("Dir::State::lists", "state/lists"),
        ("Dir::State::status", "status"),
        ("Dir::State::extended_states", "state/extended_states"),
        ("Dir::Cache", "cache"),
        ("Dir::Cache::archives", "cache/archives"),
        ("Dir::Etc::sourcelist", "sources.list"),
        ("Dir::Etc::sourceparts", "parts"),
        ("Dir::Etc::preferencesparts", "parts"),
        ("Dir::Etc::preferences", "none"),
    ] {
        text += &format!("{key} {};\n", quoted(sub));
    }
    text += "Acquire::Languages \"none\";\nAcquire::PDiffs \"false\";\nAcquire::Retries \"1\";\n\
             Acquire::IndexTargets::deb::DEP-11::DefaultEnabled \"false\";\n\
             Acquire::IndexTargets::deb::CNF::DefaultEnabled \"false\";\n\
             APT::Update::Error-Mode \"any\";\nAPT::Get::List-Cleanup \"false\";\n";
    // Started by root, apt would fetch as another user, who cannot write into our folder.
    if os::uid() == 0 {
        text += "APT::Sandbox::User \"root\";\n";
    }
    text
}

/// Finds the Debian archive among the addresses that `apt-get update --print-uris` prints.
fn archives(uris: &str) -> Result<Archives> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for line in uris.lines() {
        let Some(uri) = line.strip_prefix('\'').and_then(|rest| rest.split('\'').next()) else { continue };
        let Some((base, rest)) = uri.split_once("/dists/") else { continue };
        let suite = rest.split('/').next().unwrap_or_default();
        let code = suite.split_once('-').map_or(suite, |(code, _)| code);
        if SUITES.contains(&code) && !seen.contains(&(base, suite)) {
            seen.push((base, suite));
        }
    }
    let security =
        seen.iter().find(|(_, suite)| suite.ends_with("-security")).map(|(base, _)| base.to_string());
    // A third party may name its suites alike; Debian's own is the one with -updates, or one called debian.
    let main = seen
        .iter()
        .filter(|(_, suite)| !suite.ends_with("-security"))
        .max_by_key(|(base, suite)| (suite.ends_with("-updates"), base.ends_with("/debian")))
        .map(|(base, _)| base.to_string());
    match main {
        Some(main) => Ok(Archives { main, security }),
        None => Err(ServerError::new(ErrorKind::MissingTool, "this machine's apt has no Debian archive")
            .help("servers come from suites of the Debian archive, by the address in the machine's own apt sources")),
    }
}

/// `dlstatus:3:41.5:Retrieving file 3 of 55`
fn status(line: &str) -> Option<Progress> {
    let mut parts = line.strip_prefix("dlstatus:")?.splitn(3, ':');
    let _file = parts.next()?;
    let percent: f64 = parts.next()?.parse().ok()?;
    let what = parts.next().unwrap_or_default().trim().to_string();
    Some(Progress::Download { percent: percent.clamp(0.0, 100.0) as u8, what })
}

fn quiet(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("LC_ALL", "C").env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
    command
}

/// Runs a program to its end; gives what it printed, or the reason why it failed.
///
/// `writes_to` is where it puts its files, if it does.
pub fn run(command: &mut Command, writes_to: Option<&Path>, line: &mut dyn FnMut(&str)) -> Result<String> {
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
        loop {
            // On a full disk apt may neither go on nor end: whoever watches it must.
            while stdout.buffer().is_empty() && !os::readable(fd, WATCH) {
                if writes_to.and_then(os::free_bytes).is_some_and(|free| free < FULL) {
                    os::kill_group(child.id());
                    let _ = child.wait();
                    return Err(ServerError::disk_full(writes_to.unwrap_or(Path::new("."))));
                }
            }
            if stdout.read_until(b'\n', &mut bytes).map_err(failed)? == 0 {
                break;
            }
            let text = String::from_utf8_lossy(&bytes);
            line(text.trim_end());
            output.push_str(&text);
            bytes.clear();
        }
    }
    let status = child.wait().map_err(failed)?;
    let errors = errors.join().unwrap_or_default();
    if status.success() { Ok(output) } else { Err(explain(&program, &output, &errors)) }
}

/// What a failing package client said, in one line, and what kind of failure that is.
fn explain(program: &str, output: &str, errors: &str) -> ServerError {
    let has = |words: &[&str]| words.iter().any(|word| errors.contains(word) || output.contains(word));
    let said = errors
        .lines()
        .find(|line| line.starts_with("E:") || line.contains("rror:"))
        .or_else(|| errors.lines().find(|line| !line.trim().is_empty()))
        .unwrap_or("it said nothing")
        .trim();
    if has(&["No space left on device", "enough free space", "Disk quota exceeded"]) {
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
    ]) {
        return ServerError::new(ErrorKind::Unreachable, "the package registry cannot be reached")
            .help(format!("{program}: {said}"))
            .help("check the network and the machine's apt settings (sources, proxy), then run the same command again");
    }
    ServerError::new(ErrorKind::Tool, format!("{program} failed")).help(format!("{program}: {said}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_debian_archive_is_found_among_others() {
        let uris = "'http://docker.example/linux/debian/dists/bookworm/InRelease' x 0\n\
                    'http://node.example/dists/nodistro/InRelease' x 0\n\
                    'http://mirror.example/debian/dists/bookworm/InRelease' x 0\n\
                    'http://mirror.example/debian/dists/bookworm-updates/InRelease' x 0\n\
                    'http://mirror.example/security/dists/bookworm-security/InRelease' x 0\n";
        let found = archives(uris).unwrap();
        assert_eq!(found.main, "http://mirror.example/debian");
        assert_eq!(found.security.as_deref(), Some("http://mirror.example/security"));
        assert!(archives("'http://archive.example/ubuntu/dists/noble/InRelease' x 0").is_err());
    }

    #[test]
    fn failures_are_told_apart() {
        let kind = |text| explain("apt-get", "", text).kind;
        assert_eq!(
            kind("E: Failed to fetch http://x  Could not connect to 127.0.0.1:9"),
            ErrorKind::Unreachable
        );
        assert_eq!(kind("dpkg-deb: error: write failed (No space left on device)"), ErrorKind::DiskFull);
        assert_eq!(kind("E: Unable to locate package x"), ErrorKind::Tool);
        assert_eq!(
            patience(&explain("apt-get", "", "E: Failed to fetch http://x  429  Too Many Requests")),
            6
        );
    }
}
