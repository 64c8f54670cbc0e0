//! One run of Isopod against a server that is not what it should be.

use std::{
    fs::{self, File},
    io,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use model::procfs;

use super::{MEMORY, Plan, fake::Fake, scenes::Scene};

/// What is run.
pub const CASE: &str = "\
setup
  CREATE TABLE t(a INT PRIMARY KEY);
  INSERT INTO t VALUES (1);
steps
  T1: BEGIN;
  T1: SELECT a FROM t WHERE a > 0;
  T2: UPDATE t SET a = 2;
  T1: COMMIT;
";

/// The password that nobody may see.
pub const PASSWORD: &str = "S3cretPassw0rdXYZ";

/// What came of it.
pub struct Ran {
    /// None if it was ended by a signal, ours or its own.
    pub code: Option<i32>,
    pub time: Duration,
    /// The most memory that it had, as far as it was seen.
    pub memory: u64,
    /// What it printed, both streams.
    printed: String,
    /// What the server got.
    heard: Vec<u8>,
}

/// Runs the case against a server of this kind.
pub fn hold(plan: &Plan<'_>, case: &Path, scene: &Scene) -> io::Result<Ran> {
    let fake = Fake::start(scene)?;
    let output = tempfile::NamedTempFile::new_in(plan.folder)?;
    let target = format!(
        "{}://guest:{PASSWORD}@127.0.0.1:{}/db?connect_timeout=2&answer_timeout=2&{}",
        scene.speaks.scheme(),
        fake.port,
        scene.options
    );
    let mut child = Command::new(plan.exe)
        .arg("run")
        .arg(case)
        .args(["--level", "RR", "--no-pin", "--hung-after", "1", "--oracle", "crash", "--target", &target])
        .env("HOME", "/nonexistent")
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .stdout(File::options().append(true).open(output.path())?)
        .stderr(File::options().append(true).open(output.path())?)
        .spawn()?;
    let (begun, mut memory) = (Instant::now(), 0);
    let code = loop {
        memory = high_water(child.id()).unwrap_or(0).max(memory);
        if let Some(status) = child.try_wait()? {
            break status.code();
        }
        if begun.elapsed() > plan.limit || memory > 4 * MEMORY {
            child.kill()?;
            child.wait()?;
            break None;
        }
        thread::sleep(Duration::from_millis(5));
    };
    let time = begun.elapsed();
    let printed = String::from_utf8_lossy(&fs::read(output.path())?).into_owned();
    Ok(Ran { code, time, memory, printed, heard: fake.stop() })
}

/// The most memory that a process has had so far.
fn high_water(pid: u32) -> Option<u64> {
    procfs::most_memory(&fs::read(format!("/proc/{pid}/status")).ok()?)
}

impl Ran {
    /// What is wrong, a line each.
    pub fn complaints(&self, scene: &Scene, limit: Duration) -> Vec<String> {
        let mut found = Vec::new();
        match self.code {
            None if self.time >= limit => found.push(format!("it did not end within {limit:?}")),
            None => found.push("it was ended by a signal".to_string()),
            Some(0..=2) => {}
            Some(code) => found.push(format!("exit code {code}")),
        }
        if self.memory > MEMORY {
            found.push(format!("{} MB of memory", self.memory >> 20));
        }
        if self.printed.contains("panicked") {
            found.push("it panicked".to_string());
        }
        if self.printed.contains(PASSWORD) {
            found.push("it printed the password".to_string());
        }
        if self.heard.windows(PASSWORD.len()).any(|bytes| bytes == PASSWORD.as_bytes()) {
            found.push("it sent the password in clear".to_string());
        }
        if let Some(code) = scene.code
            && self.code.is_some_and(|ended| ended != code)
        {
            found.push(format!("exit code {} instead of {code}", self.code.unwrap_or_default()));
        }
        if !self.printed.contains(scene.says) {
            found.push(format!("it does not say `{}`", scene.says));
        }
        if !found.is_empty() {
            found.extend(self.printed.lines().take(12).map(|line| format!("| {line}")));
        }
        found
    }
}
