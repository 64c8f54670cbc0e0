//! Fetches Debian packages with the machine's own apt, into a private folder, without root.
//!
//! apt is given a folder of its own for everything that it keeps, and an EMPTY list of installed packages, so that it
//! fetches the whole closure, the C library included. The addresses are read from the machine's own configuration
//! and only the suite is exchanged, so proxies and mirrors work as they do for the machine. Signatures are checked
//! against the machine's Debian archive keyring.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    client::{self, Download, quiet, run},
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
    pub fn new(folder: &Path, suite: &str, corrected: bool) -> Result<Apt> {
        let archives = configured()?;
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
        if corrected {
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
        self.fetch(&["-q", "update"], "state/lists", progress)
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
        closure: Option<&str>,
        alone: &[&str],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<PathBuf>> {
        if let Some(closure) = closure {
            let install = ["-q", "-d", "-y", "--no-install-recommends", "install", closure];
            self.fetch(&install, "cache/archives", progress)?;
        }
        if !alone.is_empty() {
            self.fetch(&[&["-q", "download"], alone].concat(), "debs", progress)?;
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

    /// Runs apt-get; what may pass by itself is tried again.
    fn fetch(&self, args: &[&str], into: &str, progress: &mut dyn FnMut(Progress)) -> Result<()> {
        let command = || {
            let mut command = self.command("apt-get");
            command.args(["-o", "APT::Status-Fd=1"]).args(args);
            command
        };
        let into = self.folder.join(into);
        client::fetch(&command, &Download { into: &into, about: None, status }, progress).map(|_| ())
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
    // Whatever this machine allows for itself.
    for insecure in [
        "APT::Get::AllowUnauthenticated",
        "Acquire::AllowInsecureRepositories",
        "Acquire::AllowWeakRepositories",
        "Acquire::AllowDowngradeToInsecureRepositories",
    ] {
        text += &format!("{insecure} \"false\";\n");
    }
    // Started by root, apt would fetch as another user, who cannot write into our folder.
    if os::uid() == 0 {
        text += "APT::Sandbox::User \"root\";\n";
    }
    text
}

/// The Debian archive that this machine's apt is set up for. Asks no network.
fn configured() -> Result<Archives> {
    archives(&run(quiet("apt-get").args(["update", "--print-uris"]), None, &mut |_| {})?)
}

/// Why nothing can be had from the Debian archive here.
pub fn obstacle() -> Option<String> {
    if let Some(missing) = ["apt-get", "dpkg-deb"].into_iter().find(|tool| client::on_path(tool).is_none()) {
        return Some(format!("{missing} is not on this machine"));
    }
    configured().err().map(|error| error.title)
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
fn status(line: &str) -> Option<(u8, String)> {
    let mut parts = line.strip_prefix("dlstatus:")?.splitn(3, ':');
    let _file = parts.next()?;
    let percent: f64 = parts.next()?.parse().ok()?;
    let what = parts.next().unwrap_or_default().trim().to_string();
    Some((percent.clamp(0.0, 100.0) as u8, what))
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

    /// Ours are read after those of the machine, and win.
    #[test]
    fn nothing_unsigned_is_taken_whatever_the_machine_allows() {
        let text = configuration(Path::new("/x"));
        for option in ["APT::Get::AllowUnauthenticated", "Acquire::AllowInsecureRepositories"] {
            assert!(text.contains(&format!("{option} \"false\";")), "{text}");
        }
        assert!(text.contains("#clear DPkg::Pre-Invoke;"), "{text}");
    }

    #[test]
    fn the_percentage_is_read() {
        let told = status("dlstatus:3:41.5:Retrieving file 3 of 55");
        assert_eq!(told, Some((41, "Retrieving file 3 of 55".to_string())));
        assert_eq!(status("Get:1 http://x"), None);
    }
}
