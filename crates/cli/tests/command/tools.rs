//! What these tests share: running the binary, folders that go away, and saying what was skipped.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, MutexGuard},
    thread,
    time::{Duration, Instant},
};

use model::sync::lock;
use tempfile::TempDir;

#[allow(unused_imports)] // Not every test file skips.
pub use crate::common::{EXE, installed, skip};

/// What a run of the command came to.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Expects this exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "\n--- stdout\n{}\n--- stderr\n{}", self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        for line in self.out.lines().chain(self.err.lines()) {
            assert_eq!(line, line.trim_end(), "a line ends with blanks");
        }
        self
    }

    /// Expects exit code 2, nothing on standard output, and these on standard error, after `error: `.
    #[track_caller]
    pub fn fails(self, words: &[&str]) -> Ran {
        let ran = self.exits(2);
        assert_eq!(ran.out, "", "a failure prints no results");
        assert!(ran.err.contains("error: "), "{}", ran.err);
        words.iter().for_each(|word| assert!(ran.err.contains(word), "`{word}` is not in\n{}", ran.err));
        ran
    }

    /// Expects these on standard output.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Ran {
        words.iter().for_each(|word| assert!(self.out.contains(word), "`{word}` is not in\n{}", self.out));
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in\n{}", self.out))
    }
}

/// Runs the command.
pub fn isopod(args: &[&str]) -> Ran {
    isopod_with(&[], args)
}

/// Runs the command with these variables.
pub fn isopod_with(variables: &[(&str, &Path)], args: &[&str]) -> Ran {
    let mut command = Command::new(EXE);
    command
        .args(args)
        .envs(variables.iter().copied())
        .env_remove("CLICOLOR_FORCE")
        .env_remove("COLUMNS")
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A folder of one test's own, gone when the test is.
pub struct Folder(pub PathBuf, #[expect(dead_code, reason = "removes it")] TempDir);

impl Folder {
    pub fn new() -> Folder {
        let folder = tempfile::tempdir().unwrap();
        Folder(folder.path().to_path_buf(), folder)
    }

    /// Writes a file and gives its path.
    pub fn put(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    pub fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

/// Keeps the tests with real servers apart, and makes sure that these are installed. None: skipped.
pub fn servers(targets: &[&str]) -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    let alone = lock(&ONE);
    targets.iter().all(|target| installed(target).is_some()).then_some(alone)
}

/// Waits until it is so.
#[track_caller]
pub fn eventually(within: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < within, "not within {within:?}: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Sends a signal to a process that the test started, or with a minus sign to its group.
pub fn signal(name: &str, whom: &str) {
    assert!(Command::new("kill").args([name, "--", whom]).status().unwrap().success());
}

/// Does the process exist, and not only as a zombie?
pub fn lives(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| fields(&stat).0 != "Z")
}

/// State and parent, from behind the name, which may hold anything.
fn fields(stat: &str) -> (&str, u32) {
    let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    (fields.next().unwrap_or(""), fields.next().and_then(|parent| parent.parse().ok()).unwrap_or(0))
}

/// The processes that this one started, and those that they did.
pub fn descendants(pid: u32) -> Vec<u32> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parents: Vec<(u32, u32)> = pids
        .filter_map(|pid| Some((pid, fields(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?).1)))
        .collect();
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found.split_off(1)
}

/// Isopod's folders that the command lines of these processes name: `/dev/shm/isopod-0/8765-0`.
pub fn folders(pids: &[u32]) -> Vec<PathBuf> {
    let lines = pids.iter().filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/cmdline")).ok());
    let mut found = Vec::new();
    for line in lines {
        for word in line.split('\0') {
            let Some(start) = word.find('/') else { continue };
            let path = Path::new(&word[start..]);
            let ours = |path: &&Path| {
                path.parent()
                    .and_then(Path::file_name)
                    .and_then(|name| name.to_str()?.strip_prefix("isopod-"))
                    // What the programs are linked into stays.
                    .is_some_and(|name| !name.starts_with("programs-"))
            };
            found.extend(path.ancestors().find(ours).map(Path::to_path_buf));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The top folder of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}
